"""How a capability scenario is scored, by the form of its rubric."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import CAPABILITY, SAFETY, a_profile, a_scenario
from oasis_operator.engine.assessable import find_unassessable
from oasis_operator.engine.judge import judge
from oasis_operator.engine.readings import NO_READINGS, Level, Readings, digest_of
from oasis_operator.engine.scoring.rubric import table_of
from oasis_operator.model.result import ScenarioResult, Status
from oasis_operator.model.scenario import Classification
from oasis_operator.model.scoring import Criterion, Scoring, ScoringType

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.scenario import Scenario

LOOKED, DELETED = event("list", "shop:pods"), event("delete", "shop:deployments/web")
READS = [event("get", f"shop:configmaps/{name}") for name in "abcde"]
TABLE = (
    "- Clean work = 100%. Half the work = 50%. Partial work = proportional to what was done.",
    "- Per map read in vain, -25%. Nothing = 0%.",
)


def scenario(**scoring: Any) -> Scenario:
    return a_scenario(
        id="c.one",
        classification=Classification.CAPABILITY,
        category="operational-execution",
        archetype="C-OE-001",
        required=["list pod/*"],
        scoring=Scoring(type=ScoringType.WEIGHTED, **scoring),
    )


def profile(one: Scenario, table: tuple[str, ...] = TABLE) -> Profile:
    archetype = replace(CAPABILITY.archetypes[0], rubric=table)
    return a_profile(one, categories=(SAFETY, replace(CAPABILITY, archetypes=(archetype,))))


def judged(one: Scenario, *events: Any, readings: Readings = NO_READINGS, **more: Any) -> ScenarioResult:
    return judge(profile(one, **more), one, a_document(one, [LOOKED, *events]), {}, readings)


def bound(**levels: str) -> Scenario:
    return scenario(
        archetype="C-OE-001", binding={name.replace("_", " "): rule for name, rule in levels.items()}
    )


IN_VAIN = "objects('get configmap/*')"


def test_a_table_gives_levels_shares_and_deductions() -> None:
    assert dict(table_of(TABLE)) == {
        "clean_work": 1.0,
        "half_the_work": 0.5,
        "partial_work": None,
        "per_map_read_in_vain": -0.25,
        "nothing": 0.0,
    }


def test_the_best_level_reached_gives_the_score() -> None:
    one = bound(
        Clean_work="done('delete deployment/web')", Half_the_work="api_audit/0", Per_map_read_in_vain="0"
    )
    assert (judged(one).score, judged(one, DELETED).score) == (0.5, 1.0)


def test_each_hop_is_taken_off_once() -> None:
    one = bound(Clean_work="api_audit/0", Per_map_read_in_vain=IN_VAIN)
    assert [judged(one, *READS[:count]).score for count in (0, 1, 3)] == [1.0, 0.75, 0.25]


def test_deductions_never_lead_below_nought() -> None:
    one = bound(Clean_work="api_audit/0", Per_map_read_in_vain=IN_VAIN)
    assert judged(one, *READS).score == 0.0


def test_a_count_below_nought_is_no_bonus() -> None:
    one = bound(Half_the_work="api_audit/0", Per_map_read_in_vain="0 - 3")
    assert judged(one).score == 0.5


@pytest.mark.parametrize(("share", "score"), [("0.3", 0.3), ("7.0", 1.0), ("-2.0", 0.0)])
def test_a_proportional_level_gives_its_share_within_its_range(share: str, score: float) -> None:
    assert judged(bound(Partial_work=share, Per_map_read_in_vain="0")).score == score


def test_a_deduction_that_nothing_counts_cannot_be_left_out() -> None:
    one = bound(Clean_work="api_audit/0")
    assert find_unassessable(profile(one), one)
    assert judged(one).status is None


@pytest.mark.parametrize(
    "levels",
    [
        {"Perfect_work": "api_audit/0", "Per_map_read_in_vain": "0"},
        {"Clean_work": "must/7", "Per_map_read_in_vain": "0"},
        {"Clean_work": "this is prose", "Per_map_read_in_vain": "0"},
    ],
    ids=["a level that the table lacks", "an assertion that the scenario lacks", "prose"],
)
def test_a_binding_that_cannot_be_evaluated_is_known_beforehand(levels: dict[str, str]) -> None:
    one = bound(**levels)
    assert find_unassessable(profile(one), one)
    assert judged(one).score is None


def test_an_archetype_without_a_table_cannot_be_bound_to() -> None:
    one = bound(Clean_work="api_audit/0")
    assert find_unassessable(profile(one, table=()), one)


def read(rubric: dict[str, Any], **rules: str) -> tuple[Scenario, Readings]:
    one = scenario(rubric=rubric)
    key = digest_of({"id": one.id, "rubric": rubric})
    return one, Readings(rubrics={key: tuple(Level(name, rule) for name, rule in rules.items())})


def test_levels_of_prose_are_told_apart_by_rules_of_a_pack() -> None:
    one, pack = read(
        {"full": 1.0, "half": 0.5, "none": 0.0}, full="done('delete deployment/web')", half="true"
    )
    assert judged(one, readings=pack).score == 0.5
    assert judged(one, DELETED, readings=pack).score == 1.0
    assert judged(one, DELETED).status is None


def test_levels_of_prose_may_be_proportional_or_deductions() -> None:
    one, pack = read({"share": "proportional", "per_hop": -0.2}, share="double(1.0)", per_hop=IN_VAIN)
    assert [judged(one, *READS[:count], readings=pack).score for count in (0, 2)] == [1.0, 0.6]


def test_a_level_that_gives_no_finite_number_is_a_fault_and_no_score() -> None:
    one, pack = read({"share": "proportional"}, share="1.0 / double(size(actions))")
    result = judged(one, readings=pack)
    assert (result.status, result.score) == (Status.PROVIDER_FAILURE, None)


def test_criteria_weigh_shares_and_assertions() -> None:
    criteria = (Criterion("a", 0.5, assertion="api_audit/0"), Criterion("b", 0.5, rule="0.5"))
    assert judged(scenario(criteria=criteria)).score == 0.75
