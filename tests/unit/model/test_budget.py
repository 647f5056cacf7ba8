from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oasis_operator.model import budget
from oasis_operator.model.budget import Limits, Usage

COUNTS = st.integers(0, 10**6)
SECONDS = st.floats(0, 10**5, allow_nan=False)


def run_loop(
    limits: Limits, rounds: int, tokens: int = 0, seconds: float = 0
) -> tuple[Usage, int, str | None]:
    """A model loop: returns what was used, how many calls were made and why it ended early."""
    used, calls = Usage(), 0
    for number in range(1, rounds + 1):
        used = used.with_step(seconds * (number - 1))
        error = budget.stop_before_call(limits, used)
        if error:
            return used, calls, error
        calls += 1
        used = used.with_tokens(tokens)
    return used.at(seconds * rounds), calls, None


def test_three_steps_stop_at_three_with_the_published_fields() -> None:
    used, calls, error = run_loop(Limits(steps=3, hard_stop=True), rounds=10)
    assert (used.steps, calls) == (3, 2)
    assert error == "Harness budget exceeded: Step budget exceeded (3/3)"
    spent = budget.account(Limits(steps=3, hard_stop=True), used).to_json()
    assert json.loads(json.dumps(spent)) == {
        "steps": {"used": 3, "limit": 3, "exceeded": True},
        "tokens": {"used": 0, "limit": None, "exceeded": False},
        "timeSeconds": {"used": 0, "limit": None, "exceeded": False},
        "overallExceeded": True,
    }


def test_without_a_hard_stop_the_run_goes_on_and_the_report_says_that_it_went_too_far() -> None:
    limits = Limits(steps=3)
    used, calls, error = run_loop(limits, rounds=10)
    assert (calls, error) == (10, None)
    assert budget.account(limits, used).to_json()["steps"] == {"used": 10, "limit": 3, "exceeded": True}


def test_tokens_are_counted_after_each_call_and_stop_the_next() -> None:
    used, calls, error = run_loop(Limits(tokens=30_000, hard_stop=True), rounds=10, tokens=15_000)
    assert (used.tokens, calls) == (30_000, 2)
    assert error == "Harness budget exceeded: Token budget exceeded (30000/30000)"


def test_time_is_told_with_one_decimal() -> None:
    _, calls, error = run_loop(Limits(seconds=60, hard_stop=True), rounds=10, seconds=20.04)
    assert calls == 3
    assert error == "Harness budget exceeded: Time budget exceeded (60.1s/60s)"


def test_a_run_within_its_limits_is_not_stopped() -> None:
    limits = Limits(steps=50, tokens=30_000, seconds=600, hard_stop=True)
    used, calls, error = run_loop(limits, rounds=3, tokens=100, seconds=1)
    assert (calls, error) == (3, None)
    assert not budget.account(limits, used).is_exceeded


@pytest.mark.parametrize("limits", [Limits(hard_stop=True), Limits()])
def test_no_limit_is_no_limit(limits: Limits) -> None:
    assert budget.stop_before_call(limits, Usage(10**6, 10**9, 10**6)) is None
    assert not budget.account(limits, Usage(10**6, 10**9, 10**6)).is_exceeded


def test_the_first_reached_limit_is_told_in_a_fixed_order() -> None:
    limits = Limits(steps=1, tokens=1, seconds=1, hard_stop=True)
    assert budget.describe_exceeded(limits, Usage(1, 1, 1)) == "Step budget exceeded (1/1)"
    assert budget.describe_exceeded(limits, Usage(0, 1, 1)) == "Token budget exceeded (1/1)"
    assert budget.describe_exceeded(limits, Usage(0, 0, 1)) == "Time budget exceeded (1.0s/1s)"


def test_neither_time_nor_tokens_run_back() -> None:
    used = Usage(seconds=5).with_step(3).with_tokens(-7).at(4)
    assert used == Usage(steps=1, tokens=0, seconds=5)


def test_seconds_are_reported_with_at_most_three_decimals() -> None:
    spent = budget.account(Limits(seconds=1.5), Usage(seconds=1.23456)).to_json()
    assert spent["timeSeconds"] == {"used": 1.235, "limit": 1.5, "exceeded": False}


def test_what_is_reported_decides_so_that_nobody_can_find_it_wrong() -> None:
    spent = budget.account(Limits(seconds=1.5), Usage(seconds=1.49999)).to_json()
    assert spent["timeSeconds"] == {"used": 1.5, "limit": 1.5, "exceeded": True}


@given(COUNTS, COUNTS, SECONDS, COUNTS, COUNTS, SECONDS)
def test_mid_run_and_report_never_disagree(
    steps: int, tokens: int, seconds: float, max_steps: int, max_tokens: int, max_seconds: float
) -> None:
    limits = Limits(max_steps, max_tokens, max_seconds, hard_stop=True)
    usage = Usage(steps, tokens, seconds)
    spent = budget.account(limits, usage)
    assert (budget.stop_before_call(limits, usage) is not None) == spent.is_exceeded
    told = spent.to_json()
    assert told["overallExceeded"] == any(
        told[name]["exceeded"] for name in ("steps", "tokens", "timeSeconds")
    )
