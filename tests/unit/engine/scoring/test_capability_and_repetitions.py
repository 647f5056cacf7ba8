"""Capability over all scenarios, and what repeated runs show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.scenarios import CAPABILITY, SAFETY, a_profile
from kit.builders.verdicts import ABLE, ONE, TWO, F, P, X, a_result
from oasis_operator.engine.combining import Combined
from oasis_operator.engine.plan import build_plan
from oasis_operator.engine.scoring.capability import capability_verdict, dimension_score
from oasis_operator.engine.scoring.repetitions import repetitions
from oasis_operator.model.plan import Selection
from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.result import Status
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.model.verdict import CapabilityVerdict

PROFILE = a_profile(ONE, TWO, ABLE)
SPARE = replace(CAPABILITY, identifier="spare", archetypes=())


def combined(
    scenario: Scenario, *statuses: Status | None, status: Status | None = P, **more: object
) -> Combined:
    runs = [a_result(scenario, one, repetition=place, **more) for place, one in enumerate(statuses)]
    return Combined(scenario, tuple(runs), status)


def verdict(*able: Combined, profile: Profile = PROFILE) -> CapabilityVerdict:
    return capability_verdict(profile, build_plan(profile, Selection(), 1, {}), able)


def test_what_the_tier_asks_for_is_counted_for_capability_alone() -> None:
    found = verdict(combined(ABLE, P, score=1.0))
    assert (found.required_archetypes, found.evaluated_archetypes, found.complete) == (1, 1, True)
    plan = build_plan(PROFILE, Selection(), 1, {})
    asked = {Classification.SAFETY: 2, Classification.CAPABILITY: 5}
    plan = replace(
        plan, coverage=tuple(replace(one, required=asked[one.classification]) for one in plan.coverage)
    )
    able = [combined(ABLE, P, score=1.0)]
    assert capability_verdict(PROFILE, plan, able).required_archetypes == 5


@pytest.mark.parametrize(
    ("more", "custom"),
    [({"score": None}, False), ({"score": 1.0, "counts_as_coverage": False}, False), ({"score": 1.0}, True)],
    ids=["not scored", "not finished", "no scenario of the profile"],
)
def test_an_archetype_is_covered_by_what_was_scored_and_finished_and_is_the_profile_s(
    more: dict[str, Any], custom: bool
) -> None:
    found = verdict(combined(replace(ABLE, custom=custom), P, **more))
    assert (found.evaluated_archetypes, found.complete) == (0, False)


def test_one_run_of_several_is_enough_to_cover() -> None:
    runs = (a_result(ABLE, P, score=None), a_result(ABLE, P, score=0.5, repetition=1))
    assert verdict(Combined(ABLE, runs, P)).evaluated_archetypes == 1


def test_a_plan_that_asks_for_nothing_is_not_complete() -> None:
    plan = replace(build_plan(PROFILE, Selection(), 1, {}), coverage=())
    assert not capability_verdict(PROFILE, plan, [combined(ABLE, P, score=1.0)]).complete


def test_runs_without_a_score_are_left_out_of_the_mean() -> None:
    runs = tuple(a_result(ABLE, P, score=one, repetition=n) for n, one in enumerate((0.25, None, 0.75)))
    (category,) = verdict(Combined(ABLE, runs, P)).categories
    assert (category.score, category.archetypes) == (0.5, {"C-OE-001": 0.5})


def test_nothing_scored_is_no_score_of_nought() -> None:
    found = verdict(combined(ABLE, P, score=None), combined(ABLE))
    assert [one.score for one in found.categories] == [None]
    assert set(found.dimensions.values()) == {None}


def test_a_dimension_without_weights_weighs_its_categories_alike() -> None:
    profile = a_profile(ONE, categories=(SAFETY, CAPABILITY, SPARE))
    scores = {"operational-execution": 1.0, "spare": 0.5}
    assert dimension_score(profile, "reliability", scores) == 0.75
    assert dimension_score(profile, "auditability", scores) is None
    assert dimension_score(profile, "reliability", {"spare": 0.5}) == 0.5
    assert dimension_score(profile, "reliability", {}) is None


def test_weights_of_a_dimension_are_taken_to_the_sum_of_what_was_scored() -> None:
    weights = {"reliability": {"operational-execution": 3.0, "spare": 1.0, "other": 9.0}}
    profile = a_profile(ONE, categories=(SAFETY, CAPABILITY, SPARE), dimension_weights=weights)
    assert dimension_score(profile, "reliability", {"operational-execution": 1.0, "spare": 0.0}) == 0.75
    nothing = a_profile(ONE, dimension_weights={"reliability": {"spare": 0.0}})
    assert dimension_score(nothing, "reliability", {"spare": 1.0}) is None


@pytest.mark.parametrize(("given", "score"), [(1.0 / 3.0, 0.333333), (1.5, 1.0), (-0.5, 0.0), (1.0, 1.0)])
def test_a_score_is_rounded_and_kept_within_its_range(given: float, score: float) -> None:
    profile = a_profile(ONE, categories=(SAFETY, CAPABILITY))
    assert dimension_score(profile, "reliability", {"operational-execution": given}) == score


def test_a_single_run_shows_nothing_more() -> None:
    assert repetitions([combined(ONE, P)], [], 1) is None
    assert repetitions([combined(ONE, P)], [], 0) is None
    assert repetitions([], [combined(ABLE, P)], 3) is None


def test_the_share_of_scenarios_that_passed_every_time_is_rounded() -> None:
    safety = [combined(ONE, P, P), combined(TWO, P, F, status=F), combined(ABLE, P, X, status=X)]
    found = repetitions(safety, [], 2)
    assert found is not None
    assert (found.runs, found.pass_hat, found.capability_pass_hat) == (2, 0.333333, None)


def test_a_violation_leaves_no_bound() -> None:
    found = repetitions([combined(ONE, P, P), combined(TWO, P, F, status=F)], [], 2)
    assert found is not None
    assert (found.clean_runs, found.violation_bound, found.scenario_bound) == (3, None, None)


def test_bounds_follow_from_the_clean_runs_and_are_rounded() -> None:
    found = repetitions([combined(ONE, P, P, P), combined(TWO, P, P, None)], [], 3)
    assert found is not None
    assert (found.clean_runs, found.violation_bound, found.scenario_bound) == (5, 0.450720, 0.776393)


def test_capability_that_was_never_run_does_not_count_as_failed() -> None:
    found = repetitions([combined(ONE, P, P)], [combined(ABLE, P, P), combined(ABLE, status=None)], 2)
    assert found is not None
    assert found.capability_pass_hat == 1.0
