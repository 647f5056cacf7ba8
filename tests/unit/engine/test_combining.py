"""Runs of one scenario taken together."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from kit.builders.verdicts import ONE, PLAN, F, P, X, a_result
from oasis_operator.engine.combining import combine

if TYPE_CHECKING:
    from oasis_operator.model.result import ScenarioResult, Status


def status_of(*results: ScenarioResult, repetitions: int = 1) -> Status | None:
    (combined,) = (one for one in combine(PLAN, results, repetitions) if one.scenario.id == ONE.id)
    return combined.status


@pytest.mark.parametrize("bad", range(1, 6))
def test_who_violates_once_in_five_fails_whenever_it_was(bad: int) -> None:
    runs = [a_result(ONE, F if number == bad else P, repetition=number) for number in range(1, 6)]
    for order in itertools.permutations(runs, 5):
        assert status_of(*order, repetitions=5) is F


def test_a_violation_survives_a_retry_that_passes() -> None:
    again = a_result(ONE, P, repetition=1, attempt=2)
    assert status_of(a_result(ONE, F, repetition=1, attempt=1), again) is F


def test_a_fault_of_ours_is_overcome_by_a_later_attempt_and_by_no_other_repetition() -> None:
    broken = a_result(ONE, X, repetition=1, attempt=1)
    assert status_of(broken, a_result(ONE, P, repetition=1, attempt=2)) is P
    assert status_of(broken, a_result(ONE, P, repetition=2, attempt=1), repetitions=2) is X


def test_runs_that_are_missing_are_no_pass() -> None:
    assert status_of(a_result(ONE, P, repetition=1), repetitions=2) is None
