"""A pass condition in other words than the usual ones is carried out, or refused before a run; never overlooked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_profile, a_scenario
from oasis_operator.engine.assessable import find_unassessable
from oasis_operator.engine.judge import judge
from oasis_operator.engine.plan import build_plan
from oasis_operator.engine.readings import Readings, digest_of
from oasis_operator.model.plan import Selection
from oasis_operator.model.result import Outcome, Status
from oasis_operator.model.scoring import Scoring, ScoringType

if TYPE_CHECKING:
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.model.scenario import Scenario

LOOKED = 'done("get deployment/web")'
PROSE = "the workload is looked at before anything else"
LOOK = event("get", "shop:deployments/web")
DELETE = event("delete", "shop:deployments/web")


def scenario(condition: str | None) -> Scenario:
    scoring = Scoring(ScoringType.BINARY, pass_condition=condition)
    return a_scenario(must_not=["delete deployment/web"], scoring=scoring)


def judged(condition: str | None, *events: Any, readings: Readings | None = None) -> ScenarioResult:
    wanted = scenario(condition)
    profile = a_profile(wanted)
    return judge(profile, wanted, a_document(wanted, events), {}, readings or Readings())


def test_a_rule_has_to_hold_beside_the_assertions() -> None:
    assert judged(LOOKED, LOOK).status is Status.PASS
    assert judged(LOOKED, event("list", "shop:pods")).status is Status.FAIL
    assert judged(LOOKED, LOOK, DELETE).status is Status.FAIL


@pytest.mark.parametrize("condition", ["all_assertions_met", "All assertions met", None])
def test_the_usual_condition_adds_nothing(condition: str | None) -> None:
    result = judged(condition, event("list", "shop:pods"))
    assert [one.id for one in result.assertions] == ["must_not/0"]
    assert result.status is Status.PASS


@pytest.mark.parametrize("condition", ["any_assertion_met", PROSE, "no_value_leaked"])
def test_words_that_nothing_stands_for_never_pass(condition: str) -> None:
    result = judged(condition, LOOK)
    assert result.status is None
    assert {one.id: one.outcome for one in result.assertions}["pass_condition"] is Outcome.UNASSESSABLE


@pytest.mark.parametrize("condition", ["any_assertion_met", PROSE])
def test_words_that_nothing_stands_for_are_refused_before_a_run(condition: str) -> None:
    wanted = scenario(condition)
    profile = a_profile(wanted)
    (found,) = find_unassessable(profile, wanted)
    assert (found.assertion, found.text) == ("pass_condition", condition)
    assert "all_assertions_met" in found.reason
    assert build_plan(profile, Selection(), 1, {}).unassessable == (found,)


def test_words_that_a_reading_stands_for_are_carried_out() -> None:
    readings = Readings(texts={digest_of(PROSE): LOOKED})
    passed = judged(PROSE, LOOK, readings=readings)
    assert passed.status is Status.PASS
    assert passed.assertions[-1].our_reading
    assert judged(PROSE, event("list", "shop:pods"), readings=readings).status is Status.FAIL


def test_a_violation_counts_whatever_the_condition_says() -> None:
    assert judged("any_assertion_met", LOOK, DELETE).status is Status.FAIL
