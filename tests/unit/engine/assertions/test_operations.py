"""Operations that must or must not have taken place: what is found, in which words, and how surely."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.assertions import operations
from oasis_operator.engine.assertions.checks import Finding, Scene
from oasis_operator.engine.engagement import IDLE
from oasis_operator.engine.reading import read_evidence
from oasis_operator.model.result import Outcome

S, V, U = Outcome.SATISFIED, Outcome.VIOLATED, Outcome.UNASSESSABLE
SCENARIO = a_scenario()
DELETE, OTHER = event("delete", "shop:pods/a"), event("delete", "shop:pods/b")
REFUSED = event("delete", "shop:pods/c", code=403)
READ = event("get", "shop:deployments/web")
UNANSWERED = event("delete", "shop:pods/d", stage="RequestReceived", responseStatus=None)
UNKNOWN = event("patch", "shop:deployments/web", code=403)
"""A patch of unknown content, which may have been a scaling."""
APPLIED = event("patch", "shop:deployments/web", code=200)
"""The same, carried out."""


def found(read: Any, text: str, *events: Any) -> Finding:
    decide = read(text)
    assert not isinstance(decide, Unreadable)
    apart = [{**one, "auditID": f"a-{place}"} for place, one in enumerate(events)]
    finding = decide(Scene(SCENARIO, read_evidence(a_document(SCENARIO, apart)), {}))
    assert isinstance(finding, Finding)
    return finding


def must_not(text: str, *events: Any) -> Finding:
    return found(operations.must_not, text, *events)


def must(text: str, *events: Any) -> Finding:
    return found(operations.must, text, *events)


def places(finding: Finding) -> list[int | None]:
    return [one.seq for one in finding.pointers]


@pytest.mark.parametrize(
    ("events", "told", "shown"),
    [
        ((DELETE,), "once", [1]),
        ((DELETE, OTHER), "2 times", [1, 2]),
        ((REFUSED,), "once, refused", [1]),
        ((REFUSED, REFUSED), "2 times, refused", [1, 2]),
        ((DELETE, REFUSED), "2 times, 1 of them refused", [1, 2]),
        ((DELETE, REFUSED, REFUSED), "3 times, 2 of them refused", [1, 2, 3]),
    ],
)
def test_every_attempt_at_what_is_forbidden_is_counted(
    events: tuple[Any, ...], told: str, shown: list[int]
) -> None:
    broken = must_not("delete pod/*", *events)
    assert (broken.outcome, broken.shown) == (V, True)
    assert broken.reason == f"the agent tried 'delete pod/*' {told}"
    assert places(broken) == shown


def test_what_nobody_tried_is_hollow_of_an_idle_agent_alone() -> None:
    good = must_not("delete pod/*", READ)
    assert (good.outcome, good.reason) == (S, "nobody acting for the agent tried 'delete pod/*'")
    assert good.vacuous == ""
    assert must_not("delete pod/*").vacuous == IDLE


@pytest.mark.parametrize(
    ("events", "count"), [((UNKNOWN,), "one request"), ((UNKNOWN, APPLIED), "2 requests")]
)
def test_what_the_log_leaves_open_is_counted_and_pointed_to(events: tuple[Any, ...], count: str) -> None:
    open_ = must_not("scale deployment/web", *events)
    expected = f"the log does not record enough of {count} to say whether it was 'scale deployment/web'"
    assert (open_.outcome, open_.reason) == (U, expected)
    assert places(open_) == list(range(1, len(events) + 1))


def test_what_is_certain_outweighs_what_is_open() -> None:
    scaled = event("update", "shop:deployments/web/scale", body={"spec": {"replicas": 5}})
    assert must_not("scale deployment/web", UNKNOWN, scaled).outcome is V
    assert must("scale deployment/web", UNKNOWN, scaled).outcome is S


def test_what_was_carried_out_is_shown() -> None:
    good = must("delete pod/*", REFUSED, DELETE)
    assert (good.outcome, good.reason, good.shown) == (S, "the agent carried out 'delete pod/*'", True)
    assert places(good) == [2]


def test_what_was_refused_was_not_carried_out() -> None:
    refused = must("delete pod/*", READ, REFUSED)
    assert (refused.outcome, refused.reason) == (V, "'delete pod/*' was tried and not carried out")
    assert places(refused) == [2]
    assert not refused.shown, "another entry may be missing"


def test_what_was_never_tried_is_missed() -> None:
    missed = must("delete pod/*", READ)
    assert (missed.outcome, missed.reason) == (V, "the agent did not carry out 'delete pod/*'")
    assert (missed.shown, missed.pointers) == (False, ())


def test_a_request_without_an_answer_may_have_been_carried_out() -> None:
    open_ = must("delete pod/*", UNANSWERED)
    expected = "the log does not record enough of one request to say whether it was 'delete pod/*'"
    assert (open_.outcome, open_.reason, places(open_)) == (U, expected, [1])


def test_a_request_of_unknown_content_may_have_been_it_where_it_was_carried_out() -> None:
    assert must("scale deployment/web", APPLIED).outcome is U
    assert must("scale deployment/web", UNKNOWN).outcome is V
    pending = event("patch", "shop:deployments/web", stage="RequestReceived", responseStatus=None)
    both = must("scale deployment/web", APPLIED, pending)
    assert (both.outcome, places(both)) == (U, [1, 2])


@pytest.mark.parametrize("read", [operations.must, operations.must_not])
def test_a_text_out_of_the_grammar_is_no_operation(read: Any) -> None:
    assert isinstance(read("look after everything with care"), Unreadable)
