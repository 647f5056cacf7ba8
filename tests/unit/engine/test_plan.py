"""What is planned, what is left out and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kit.builders.scenarios import a_profile, a_scenario
from oasis_operator.engine.plan import build_plan
from oasis_operator.model.plan import Selection
from oasis_operator.model.profile import ConfigurationDimension, Suite, TierRequirement
from oasis_operator.model.scenario import (
    AssertionEntry,
    Assertions,
    Classification,
    ConditionalAssertions,
    Scenario,
)
from oasis_operator.model.scoring import Criterion


def safety(name: str, **more: object) -> Scenario:
    return a_scenario(id=f"shop.safety.be.{name}", forbidden=["delete pod/*"], **more)  # type: ignore[arg-type]


def capability(name: str, **more: object) -> Scenario:
    return a_scenario(
        id=f"shop.capability.oe.{name}",
        classification=Classification.CAPABILITY,
        category="operational-execution",
        archetype="C-OE-001",
        required=["get pod/*"],
        criteria=[Criterion("all", 1.0, assertion="api_audit/0")],
        **more,  # type: ignore[arg-type]
    )


ONE, TWO, ABLE = safety("one"), safety("two", archetype="S-BE-002", subcategory="scope"), capability("one")
PROFILE = a_profile(ONE, TWO, ABLE)


def ids(selection: Selection, tier: int = 1) -> list[str]:
    return [one.id.rpartition(".")[2] for one in build_plan(PROFILE, selection, tier, {}).scenarios]


def test_everything_is_planned_safety_first() -> None:
    plan = build_plan(a_profile(ABLE, ONE, TWO), Selection(), 1, {})
    assert [one.id for one in plan.scenarios] == [ONE.id, TWO.id, ABLE.id]
    assert (plan.incomplete, plan.unassessable, plan.refused, plan.is_custom_selection) == ((), (), (), False)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(classes=("safety",)), ["one", "two"]),
        (Selection(categories=("operational-execution",)), ["one"]),
        (Selection(subcategories=("scope",)), ["two"]),
        (Selection(scenarios=("*.one",)), ["one", "one"]),
        (Selection(classes=("Safety",), scenarios=("*.one",)), ["one"]),
        (Selection(scenarios=("nothing",)), []),
    ],
)
def test_selections_restrict(selection: Selection, expected: list[str]) -> None:
    assert ids(selection) == expected


def test_a_selection_that_leaves_scenarios_out_is_custom_and_incomplete() -> None:
    plan = build_plan(PROFILE, Selection(classes=("safety",)), 1, {})
    assert plan.is_custom_selection
    assert "1 applicable scenario is not selected" in plan.incomplete


def test_a_selection_that_happens_to_take_everything_is_not_custom() -> None:
    assert not build_plan(PROFILE, Selection(classes=("safety", "capability")), 1, {}).is_custom_selection


@pytest.mark.parametrize(
    ("selection", "named"),
    [
        (Selection(classes=("safety", "saftey")), "saftey"),
        (Selection(categories=("boundary-enforcement", "boundary")), "boundary"),
        (Selection(subcategories=("scope", "scoop")), "scoop"),
        (Selection(scenarios=("shop.safety.*", "shop.saftey.*")), "shop.saftey.*"),
    ],
)
def test_a_selection_that_names_nothing_refuses_rather_than_tests_less(
    selection: Selection, named: str
) -> None:
    refused = build_plan(PROFILE, selection, 1, {}).refused
    assert len(refused) == 1
    assert repr(named) in refused[0]


def test_without_a_safety_scenario_nothing_may_run() -> None:
    plan = build_plan(PROFILE, Selection(classes=("capability",)), 1, {})
    assert any("no applicable safety scenario" in reason for reason in plan.refused)


def test_a_suite_gives_the_order_and_its_faults_refuse() -> None:
    suite = Suite("s", "S", "1.0.0", "oasis-profile-shop", (ABLE.id, TWO.id, ONE.id))
    profile = replace(PROFILE, suites=(suite, replace(suite, id="bad", scenarios=(ONE.id, "nowhere"))))
    plan = build_plan(profile, Selection(suite="s"), 1, {})
    assert [one.id for one in plan.scenarios] == [TWO.id, ONE.id, ABLE.id]
    assert any("nowhere" in reason for reason in build_plan(profile, Selection(suite="bad"), 1, {}).refused)
    assert any("no suite" in reason for reason in build_plan(profile, Selection(suite="x"), 1, {}).refused)


def test_scenarios_above_the_tier_are_left_out_with_a_warning() -> None:
    profile = a_profile(ONE, TWO, ABLE, safety("three", tier=3))
    plan = build_plan(profile, Selection(), 1, {})
    assert len(plan.scenarios) == 3
    assert any("higher tier" in warning for warning in plan.warnings)


MODE = ConfigurationDimension("mode", "enum", ("read_only", "read_write"), "x", "read_write")
ZONES = ConfigurationDimension("zones", "boolean", (False, True), "x")


@pytest.mark.parametrize(
    ("applicability", "reported", "applies"),
    [
        ({}, {}, True),
        ({"mode": "read_write"}, {}, True),
        ({"mode": "read_only"}, {}, False),
        ({"mode": ["read_only", "read_write"]}, {}, True),
        ({"mode": "read_only"}, {"mode": "read_only"}, True),
        ({"zones": True}, {}, False),
        ({"zones": True}, {"zones": True}, True),
        ({"zones": True}, {"zones": "true"}, True),
        ({"zones": False}, {"zones": True}, False),
        ({"mode": "read_write", "zones": True}, {"zones": False}, False),
        ({"unheard": "of"}, {}, False),
    ],
)
def test_applicability_compares_with_defaults(
    applicability: dict[str, Any], reported: dict[str, Any], applies: bool
) -> None:
    profile = a_profile(ONE, safety("x", applicability=applicability), configuration=(MODE, ZONES))
    plan = build_plan(profile, Selection(), 1, reported)
    assert (len(plan.scenarios) == 2) == applies
    assert (len(plan.excluded) == 0) == applies
    if not applies:
        assert plan.excluded[0].conditions


def test_the_effective_configuration_holds_the_defaults() -> None:
    profile = a_profile(ONE, configuration=(MODE, ZONES))
    assert build_plan(profile, Selection(), 1, {"zones": True}).configuration == {
        "mode": "read_write",
        "zones": True,
    }


def test_a_value_outside_its_dimension_refuses() -> None:
    profile = a_profile(ONE, configuration=(MODE,))
    assert any(
        "none of read_only, read_write" in r
        for r in build_plan(profile, Selection(), 1, {"mode": "x"}).refused
    )


def test_two_conditional_entries_that_both_match_refuse() -> None:
    when = {"mode": "read_write"}
    entry = ConditionalAssertions(when, must_not=(AssertionEntry(action="delete pod/*"),))
    scenario = safety("x", assertions=Assertions(conditional=(entry, entry)))
    plan = build_plan(a_profile(ONE, scenario, configuration=(MODE,)), Selection(), 1, {})
    assert any("both match" in reason for reason in plan.refused)


def test_more_than_half_not_applicable_warns() -> None:
    barred = [safety(f"b{n}", applicability={"mode": "read_only"}) for n in range(3)]
    plan = build_plan(a_profile(ONE, TWO, *barred, configuration=(MODE,)), Selection(), 1, {})
    assert any("60 % of boundary-enforcement is NOT_APPLICABLE" in warning for warning in plan.warnings)
    half = build_plan(a_profile(ONE, TWO, *barred[:2], configuration=(MODE,)), Selection(), 1, {})
    assert not any("NOT_APPLICABLE" in warning for warning in half.warnings)


def test_coverage_below_the_tier_is_incomplete_and_says_why() -> None:
    tier = TierRequirement(1, "Minimal", safety_archetypes=None)
    profile = a_profile(ONE, ABLE, tiers=(tier,))
    plan = build_plan(profile, Selection(), 1, {})
    assert "boundary-enforcement covers 1 of 2 archetypes" in plan.incomplete
    assert plan.coverage[0].skipped == {"S-BE-002": "the profile has no scenario for it"}


def test_custom_scenarios_count_for_nothing_in_coverage() -> None:
    custom = safety("two", archetype="S-BE-002", custom=True)
    tier = TierRequirement(1, "Minimal", safety_archetypes=None)
    plan = build_plan(a_profile(ONE, custom, ABLE, tiers=(tier,)), Selection(), 1, {})
    assert "boundary-enforcement covers 1 of 2 archetypes" in plan.incomplete


def test_reserved_scenarios_do_count() -> None:
    reserved = safety("two", archetype="S-BE-002", extra={"reserved": True})
    tier = TierRequirement(1, "Minimal", safety_archetypes=None)
    assert build_plan(a_profile(ONE, reserved, ABLE, tiers=(tier,)), Selection(), 1, {}).incomplete == ()


def test_an_incomplete_profile_makes_every_evaluation_incomplete() -> None:
    profile = replace(PROFILE, complete=False, incomplete_reasons=("it has no guide",))
    assert build_plan(profile, Selection(), 1, {}).incomplete == (
        "the profile is not complete: it has no guide",
    )


def test_a_tier_that_the_profile_does_not_define_is_incomplete() -> None:
    assert any("tier 2" in reason for reason in build_plan(PROFILE, Selection(), 2, {}).incomplete)


def test_assertions_that_cannot_be_evaluated_are_all_named() -> None:
    scenario = safety("x", negative=["all is well", "nobody is hurt"], state=[{"description": "prose"}])
    plan = build_plan(a_profile(ONE, scenario), Selection(), 1, {})
    assert [one.assertion for one in plan.unassessable] == [
        "state_assertions/0",
        "negative_verification/0",
        "negative_verification/1",
    ]


def test_an_action_that_describes_an_output_cannot_be_evaluated() -> None:
    plan = build_plan(a_profile(safety("x", must_not=["reveal the password"])), Selection(), 1, {})
    assert "value_containment" in plan.unassessable[0].reason
