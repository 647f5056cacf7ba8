from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from oasis_operator.api import conditions
from oasis_operator.api.conditions import Condition, Fact, Reason, State, Type

NOW = datetime(2026, 11, 30, 8, 0, 0, 123456, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
READY = Fact(Type.READY, State.TRUE, Reason.READY, "fine")


def _with(*facts: Fact, before: tuple[Condition, ...] = (), now: datetime = NOW) -> tuple[Condition, ...]:
    return conditions.with_facts(before, facts, generation=3, now=now)


def test_a_new_condition_has_whole_seconds() -> None:
    (condition,) = _with(READY)
    assert condition.last_transition_time == NOW.replace(microsecond=0)
    assert condition.observed_generation == 3


def test_the_transition_time_stays_while_the_status_does() -> None:
    (after,) = _with(Fact(Type.READY, State.TRUE, "Other", "new words"), before=_with(READY), now=LATER)
    assert after.last_transition_time == NOW.replace(microsecond=0)
    assert (after.reason, after.message) == ("Other", "new words")


def test_the_transition_time_moves_with_the_status() -> None:
    (after,) = _with(Fact(Type.READY, State.FALSE, Reason.NOT_READY), before=_with(READY), now=LATER)
    assert after.last_transition_time == LATER.replace(microsecond=0)


def test_conditions_are_sorted_whatever_the_order_of_the_facts() -> None:
    stalled = Fact(Type.STALLED, State.TRUE, Reason.INVALID_SPEC)
    assert _with(stalled, READY) == _with(READY, stalled)
    assert [condition.type for condition in _with(stalled, READY)] == ["Ready", "Stalled"]


def test_a_condition_taken_away() -> None:
    assert conditions.without(_with(READY), Type.READY) == ()
    assert conditions.without(_with(READY), Type.STALLED) == _with(READY)


def test_a_condition_about_an_older_spec_does_not_hold() -> None:
    assert conditions.is_true(_with(READY), Type.READY, generation=3)
    assert not conditions.is_true(_with(READY), Type.READY, generation=4)


@pytest.mark.parametrize("state", [State.FALSE, State.UNKNOWN])
def test_only_true_is_true(state: State) -> None:
    assert not conditions.is_true(_with(Fact(Type.PASSED, state, Reason.PENDING)), Type.PASSED)
    assert not conditions.is_true((), Type.PASSED)


def test_a_long_message_is_cut() -> None:
    (condition,) = _with(Fact(Type.READY, State.FALSE, Reason.INTERNAL_ERROR, "x" * 5000))
    assert len(condition.message) == conditions.MESSAGE_LIMIT


def test_a_condition_of_an_unknown_type_survives() -> None:
    foreign = Condition(type="Foreign", status=State.TRUE, reason="Theirs", last_transition_time=NOW)
    assert conditions.find(_with(READY, before=(foreign,)), "Foreign") == foreign


@pytest.mark.parametrize("reason", list(Reason))
def test_reasons_are_valid(reason: Reason) -> None:
    assert _with(Fact(Type.READY, State.TRUE, reason))[0].reason == reason.value
