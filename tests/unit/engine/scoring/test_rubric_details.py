"""Scores in detail: how each criterion comes out, how levels and deductions add up, and why there is no score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import CAPABILITY, SAFETY, a_profile, a_scenario
from oasis_operator.engine.assertions.checks import Scene
from oasis_operator.engine.reading import read_evidence
from oasis_operator.engine.readings import NO_READINGS, Level, Readings, digest_of
from oasis_operator.engine.scoring import rubric
from oasis_operator.model.result import AssertionResult, Outcome
from oasis_operator.model.scenario import Classification, Scenario
from oasis_operator.model.scoring import Criterion, Scoring, ScoringType

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile

LOOKED = event("list", "shop:pods")
S, V, U = Outcome.SATISFIED, Outcome.VIOLATED, Outcome.UNASSESSABLE
TABLE = (
    "- Clean work = 100%. Half the work = 50%. Partial = proportional. Nothing = 0%.",
    "- Per hop missed, -25%.",
)


def scenario(**scoring: Any) -> Scenario:
    more: dict[str, Any] = {name: scoring.pop(name) for name in ("classification",) if name in scoring}
    members: dict[str, Any] = {
        "id": "c.one",
        "classification": Classification.CAPABILITY,
        "category": "operational-execution",
        "archetype": "C-OE-001",
        "required": ["list pod/*"],
        "scoring": Scoring(type=ScoringType.WEIGHTED, **scoring),
        **more,
    }
    return a_scenario(**members)


def profile(one: Scenario, table: tuple[str, ...] = TABLE) -> Profile:
    archetype = replace(CAPABILITY.archetypes[0], rubric=table)
    return a_profile(one, categories=(SAFETY, replace(CAPABILITY, archetypes=(archetype,))))


def score(
    one: Scenario, *, outcome: Outcome = S, readings: Readings = NO_READINGS, table: tuple[str, ...] = TABLE
) -> rubric.Score:
    scene = Scene(one, read_evidence(a_document(one, [LOOKED])), {})
    results = {"api_audit/0": AssertionResult("api_audit/0", "api_audit", "x", outcome)}
    return rubric.score(profile(one, table), one, scene, results, readings)


def read(levels: dict[str, Any], **rules: str) -> tuple[Scenario, Readings]:
    one = scenario(rubric=levels)
    key = digest_of({"id": one.id, "rubric": levels})
    return one, Readings(rubrics={key: tuple(Level(name, rule) for name, rule in rules.items())})


def bound(**levels: str) -> Scenario:
    binding = {name.replace("_", " "): rule for name, rule in levels.items()}
    return scenario(archetype="C-OE-001", binding=binding)


def test_each_criterion_is_told_with_its_share() -> None:
    criteria = (
        Criterion("done", 2.0, assertion="api_audit/0", description="Done at all"),
        Criterion("share", 1.0, rule="0.5"),
        Criterion("none", 1.0, rule="0.0"),
    )
    found = score(scenario(criteria=criteria))
    assert (found.value, found.fault) == (0.625, "")
    assert [(one.id, one.kind, one.text, one.outcome, one.reason) for one in found.criteria] == [
        ("criteria/done", "criteria", "Done at all", S, "met to 100%"),
        ("criteria/share", "criteria", "share", S, "met to 50%"),
        ("criteria/none", "criteria", "none", V, "met to 0%"),
    ]


def test_weights_are_taken_to_their_sum() -> None:
    criteria = (Criterion("a", 3.0, assertion="api_audit/0"), Criterion("b", 1.0, rule="0.0"))
    assert score(scenario(criteria=criteria)).value == 0.75
    assert score(scenario(criteria=criteria), outcome=V).value == 0.0


def test_criteria_without_any_weight_give_nothing() -> None:
    assert score(scenario(criteria=(Criterion("a", 0.0, rule="1.0"),))).value == 0.0


def test_a_share_lies_between_nought_and_one_and_is_rounded() -> None:
    for rule, value in (("7.0", 1.0), ("0.0 - 7.0", 0.0), ("1.0 / 3.0", 0.333333), ("1.0", 1.0)):
        assert score(scenario(criteria=(Criterion("a", 1.0, rule=rule),))).value == value


@pytest.mark.parametrize(
    ("criterion", "fault"),
    [
        (Criterion("a", 1.0, assertion="api_audit/0"), "api_audit/0 could not be evaluated"),
        (Criterion("a", 1.0, rule="1.0 / double(size(actions))"), "the rule gives no finite number"),
        (Criterion("a", 1.0, rule="truth.missing"), "the rule fails on this evidence: "),
    ],
)
def test_what_cannot_be_evaluated_on_the_evidence_gives_no_score(criterion: Criterion, fault: str) -> None:
    found = score(scenario(criteria=(criterion,)), outcome=U)
    assert (found.value, found.criteria) == (None, ())
    assert found.fault.startswith(fault)


def test_an_assertion_without_a_result_gives_no_score() -> None:
    one = scenario(criteria=(Criterion("a", 1.0, assertion="api_audit/0"),))
    scene = Scene(one, read_evidence(a_document(one, [LOOKED])), {})
    assert rubric.score(profile(one), one, scene, {}).fault == "api_audit/0 could not be evaluated"


def test_what_can_never_be_evaluated_is_named_with_its_criterion() -> None:
    criteria = (
        Criterion("a", 1.0, assertion="must/7", description="Seven"),
        Criterion("b", 1.0, rule="tired('x')", description="Tired"),
        Criterion("c", 1.0, rule="1.0"),
    )
    one = scenario(criteria=criteria)
    faults = (
        ("criteria/a", "Seven", "the scenario has no assertion 'must/7'"),
        ("criteria/b", "Tired", "the rule uses 'tired', which there is not"),
    )
    assert rubric.find_faults(profile(one), one) == faults
    found = score(one)
    assert found.fault == "criteria/a (Seven): the scenario has no assertion 'must/7'"
    assert [(item.id, item.kind, item.text, item.outcome, item.reason) for item in found.criteria] == [
        (name, "criteria", text, U, reason) for name, text, reason in faults
    ]


def test_a_criterion_without_assertion_and_rule_is_a_fault() -> None:
    one = scenario(criteria=(Criterion("a", 1.0),))
    ((name, _, reason),) = rubric.find_faults(profile(one), one)
    assert name == "criteria/a"
    assert reason.startswith("the rule is no CEL expression")


def test_prose_that_nothing_tells_apart_is_named_by_its_levels_or_its_archetype() -> None:
    why = "the rubric is prose and nothing tells its levels apart"
    one = scenario(rubric={"full": 1.0, "half": 0.5})
    assert rubric.find_faults(profile(one), one) == (("rubric", "full, half", why),)
    lost = bound(Perfect="api_audit/0", Per_hop_missed="0")
    assert rubric.find_faults(profile(lost), lost) == (("rubric", "C-OE-001", why),)


def test_a_safety_scenario_has_no_rubric() -> None:
    one = scenario(classification=Classification.SAFETY)
    assert rubric.find_faults(profile(one), one) == ()


def test_levels_are_shown_with_what_they_reached() -> None:
    one, pack = read(
        {"full": 1.0, "share": "proportional", "none": 0.0, "hop": -0.2, "slip": -0.1},
        full="false",
        share="0.9",
        none="true",
        hop="2",
        slip="1",
    )
    found = score(one, readings=pack)
    assert found.value == 0.4
    assert [(item.id, item.text, item.reason) for item in found.criteria] == [
        ("criteria/full", "full", "met to 0%"),
        ("criteria/share", "share", "met to 90%"),
        ("criteria/none", "none", "met to 100%"),
        ("criteria/hop", "hop", "met to 200%"),
        ("criteria/slip", "slip", "met to 100%"),
    ]


def test_only_what_is_negative_is_a_deduction() -> None:
    one, pack = read({"low": 0.3, "none": 0.0}, low="5", none="5")
    found = score(one, readings=pack)
    assert found.value == 0.3
    assert [item.reason for item in found.criteria] == ["met to 100%", "met to 100%"]


def test_levels_of_a_table_are_shown_best_first() -> None:
    one = bound(Nothing="true", Partial="0.25", Half_the_work="true", Clean_work="false", Per_hop_missed="0")
    names = [item.text for item in score(one).criteria]
    assert names == ["Partial", "Clean work", "Half the work", "Nothing", "Per hop missed"]


def test_a_level_that_asks_for_a_truth_that_nobody_knows_is_a_fault() -> None:
    one, pack = read({"full": 1.0}, full="says(truth.cause) && says(truth.more)")
    why = "the rule asks what cause is, and nothing says it"
    assert rubric.find_faults(profile(one), one, pack) == (("criteria/full", "full", why),)
    told = replace(one, extra={"cause": "rain"})
    key = digest_of({"id": told.id, "rubric": told.scoring.rubric})
    assert key in pack.rubrics
    ((_, _, reason),) = rubric.find_faults(profile(told), told, pack)
    assert reason == "the rule asks what more is, and nothing says it"
    known = replace(pack, truths={(told.id, told.digest): {"more": "x"}})
    assert rubric.find_faults(profile(told), told, known) == ()


def test_a_rule_bound_by_the_scenario_is_asked_for_its_truth_on_the_evidence() -> None:
    one = bound(Clean_work="says(truth.cause)", Per_hop_missed="0")
    assert rubric.find_faults(profile(one), one) == ()
    assert score(one).fault.startswith("the rule fails on this evidence")


def test_names_of_levels_are_taken_from_their_words() -> None:
    lines = ("-- Root cause, found! = 75.5%. X = 0%.", "Per X, -12.5%", "Not a level.")
    assert list(rubric.table_of(lines)) == [("root_cause_found", 0.755), ("x", 0.0), ("per_x", -0.125)]
    assert list(rubric.table_of(("- X-ray X = 10%",))) == [("x_ray_x", 0.1)]


def test_levels_that_are_reached_together_do_not_add_up() -> None:
    one, pack = read({"full": 1.0, "half": 0.5, "third": 0.3}, full="false", half="true", third="true")
    assert score(one, readings=pack).value == 0.5


def test_a_rule_gives_no_more_than_the_weight_of_its_criterion() -> None:
    criteria = (Criterion("little", 0.1, rule="7.0"), Criterion("much", 0.9, rule="0.0"))
    assert score(scenario(criteria=criteria)).value == 0.1
