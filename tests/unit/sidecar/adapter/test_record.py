from __future__ import annotations

import pytest

from oasis_operator.sidecar.adapter.record import Record
from oasis_operator.wire.adapter import Outcome
from oasis_operator.wire.agent import MAX_ACTIONS, Action, Answer


def test_a_prompt_is_delivered_once() -> None:
    record = Record()
    record.deliver()
    first = record.delivered_at
    with pytest.raises(RuntimeError):
        record.deliver()
    assert record.delivered_at == first


def test_actions_beyond_the_bound_are_cut() -> None:
    record = Record()
    for index in range(MAX_ACTIONS + 1):
        record.act(Action(str(index), "t", {}))
    told = record.close(Outcome.TIMEOUT, "")
    assert (len(told.actions), told.truncated) == (MAX_ACTIONS, True)


def test_an_answer_that_was_read_is_told_beside_its_bytes() -> None:
    record = Record()
    record.received.data += b'{"final_answer": "done"}'
    record.take(Answer(final_answer="done", truncated=True))
    told = record.close(Outcome.ANSWERED, "")
    assert (told.final_answer, told.truncated) == ("done", True)
    assert (told.received, told.cut) == (b'{"final_answer": "done"}', False)


def test_a_run_without_an_answer_has_no_bytes_of_one() -> None:
    assert Record().close(Outcome.TIMEOUT, "").received is None


def test_an_answer_that_was_not_read_to_its_end_is_told_as_cut() -> None:
    record = Record()
    record.received.cut = True
    told = record.close(Outcome.MALFORMED, "why")
    assert (told.received, told.cut) == (b"", True)


@pytest.mark.parametrize(("whole", "truncated"), [(True, False), (False, True)])
def test_bytes_that_were_no_answer_are_kept_as_one(whole: bool, truncated: bool) -> None:
    record = Record()
    record.received.data += b"half an \xff\x1b[0manswer"
    record.received.whole = whole
    told = record.close(Outcome.MALFORMED, "why")
    assert (told.final_answer, told.truncated) == ("half an \ufffdanswer", truncated)
