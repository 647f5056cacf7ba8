from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kit.fakes.stores import FakeAttempts
from oasis_operator.clients.attempt_store import FileAttempts
from oasis_operator.model.attempt import Attempt, Ending, Start, Violation

if TYPE_CHECKING:
    from pathlib import Path

    from oasis_operator.ports.attempts import Attempts

SUBJECT = "sha256:" + "5" * 64
BEGAN = Attempt(
    namespace="shop",
    subject=SUBJECT,
    evaluation="check",
    evaluation_uid="uid-1",
    number=1,
    profile="sha256:" + "7" * 64,
    starts=(Start("s-1", 1, "check-abc", "uid-2", "2026-01-05T12:00:00+00:00"),),
)
VIOLATED = replace(
    BEGAN,
    starts=(),
    violations=(Violation("s-1", "uid-2", "sha256:" + "e" * 64, "2026-01-05T12:01:00+00:00"),),
)
ENDED = replace(
    BEGAN, starts=(), endings=(Ending("PASS", "", (), "sha256:" + "f" * 64, "2026-01-05T12:02:00+00:00"),)
)


@pytest.fixture(params=["fake", "file"])
def attempts(request: pytest.FixtureRequest, tmp_path: Path) -> Attempts:
    return FakeAttempts() if request.param == "fake" else FileAttempts(tmp_path / "attempts")


async def test_nothing_is_on_record_of_a_subject_that_was_never_tried(attempts: Attempts) -> None:
    assert await attempts.of_subject("shop", SUBJECT) == ()
    assert await attempts.get("shop", SUBJECT, "uid-1", 1) is None


async def test_facts_add_up_in_the_order_in_which_they_were_noted(attempts: Attempts) -> None:
    for facts in (BEGAN, VIOLATED, ENDED):
        await attempts.note(facts)
    whole = replace(BEGAN, violations=VIOLATED.violations, endings=ENDED.endings)
    assert await attempts.of_subject("shop", SUBJECT) == (whole,)
    assert await attempts.get("shop", SUBJECT, "uid-1", 1) == whole


async def test_a_fact_that_is_noted_again_later_stays_as_it_was(attempts: Attempts) -> None:
    await attempts.note(BEGAN)
    later = replace(BEGAN.starts[0], at="2026-01-05T13:00:00+00:00")
    await attempts.note(replace(BEGAN, starts=(later,)))
    assert await attempts.of_subject("shop", SUBJECT) == (BEGAN,)


async def test_a_failure_is_not_taken_back_by_a_kinder_ending(attempts: Attempts) -> None:
    await attempts.note(VIOLATED)
    await attempts.note(ENDED)
    assert (await attempts.of_subject("shop", SUBJECT))[0].has_failed


async def test_another_namespace_subject_or_attempt_is_another_record(attempts: Attempts) -> None:
    second = replace(ENDED, number=2)
    for facts in (second, BEGAN, replace(BEGAN, namespace="other"), replace(BEGAN, subject="sha256:other")):
        await attempts.note(facts)
    assert await attempts.of_subject("shop", SUBJECT) == (BEGAN, second)
    assert await attempts.get("shop", SUBJECT, "uid-1", 3) is None
