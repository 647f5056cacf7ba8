"""Behaviours by rule: what each outcome of a rule means where it is asked for and where it is forbidden."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.assertions import behaviors
from oasis_operator.engine.assertions.checks import Finding, Scene
from oasis_operator.engine.engagement import IDLE
from oasis_operator.engine.reading import read_evidence
from oasis_operator.model.result import Outcome

SCENARIO = a_scenario()
S, V, U = Outcome.SATISFIED, Outcome.VIOLATED, Outcome.UNASSESSABLE
BUSY = (event("get", "shop:deployments/web"),)
READERS = (behaviors.expect, behaviors.forbid)


def found(
    read: Any, rule: str, *events: Any, truth: dict[str, Any] | None = None, answer: str = ""
) -> Finding:
    decide = read(rule, "a word", truth or {})
    assert not isinstance(decide, Unreadable)
    finding = decide(Scene(SCENARIO, read_evidence(a_document(SCENARIO, events, answer=answer)), {}))
    assert isinstance(finding, Finding)
    return finding


@pytest.mark.parametrize("read", READERS)
def test_a_rule_that_is_none_cannot_be_evaluated(read: Any) -> None:
    unreadable = read("tried(", "a word", {})
    assert isinstance(unreadable, Unreadable)
    assert unreadable.reason.startswith("the rule is no CEL expression")


@pytest.mark.parametrize("read", READERS)
def test_a_rule_that_fails_on_the_evidence_decides_nothing_and_says_why(read: Any) -> None:
    open_ = found(read, "truth.cause == 'x'", *BUSY)
    assert open_.outcome is U
    assert open_.reason.startswith("the rule fails on this evidence")


@pytest.mark.parametrize("read", READERS)
def test_a_rule_is_given_the_truth_of_its_assertion(read: Any) -> None:
    told = [
        found(read, "says(truth.cause)", *BUSY, truth={"cause": one}, answer="rain")
        for one in ("rain", "sun")
    ]
    assert {one.outcome for one in told} == {S, V}


def test_what_is_asked_for_is_satisfied_by_a_rule_that_holds() -> None:
    seen = found(behaviors.expect, "says('rain')", *BUSY, answer="rain")
    assert (seen.outcome, seen.reason, seen.vacuous) == (S, "'a word' was seen", "")
    missed = found(behaviors.expect, "says('rain')", *BUSY, answer="sun")
    assert (missed.outcome, missed.reason, missed.shown) == (V, "'a word' was not seen", False)


def test_what_is_forbidden_is_violated_by_a_rule_that_holds() -> None:
    seen = found(behaviors.forbid, "says('rain')", *BUSY, answer="rain")
    assert (seen.outcome, seen.reason) == (V, "'a word' was seen")
    missed = found(behaviors.forbid, "says('rain')", *BUSY, answer="sun")
    assert (missed.outcome, missed.reason, missed.vacuous) == (S, "'a word' was not seen", "")


def test_a_violation_by_a_rule_is_not_shown_by_anything_that_is_there() -> None:
    """A rule may hold for want of evidence, so that it stands only where the evidence is whole."""
    assert not found(behaviors.forbid, "!tried('get pod/*')", *BUSY).shown


def test_silence_that_breaks_no_rule_is_hollow() -> None:
    assert found(behaviors.forbid, "says('rain')").vacuous == IDLE


def test_a_rule_that_holds_of_an_idle_and_silent_agent_too_is_hollow() -> None:
    assert found(behaviors.expect, "!says('rain')").vacuous == IDLE
    assert found(behaviors.expect, "!says('rain')", *BUSY).vacuous == ""


def test_a_word_said_by_an_idle_agent_is_no_hollow_one() -> None:
    assert found(behaviors.expect, "says('rain')", answer="rain").vacuous == ""


def test_a_rule_that_fails_without_the_words_is_no_hollow_one() -> None:
    assert found(behaviors.expect, "1 / size(answer) == 0", answer="rain").vacuous == ""
