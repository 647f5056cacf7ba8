from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.builders.challenges import a_challenge
from oasis_operator.errors import InvalidInput
from oasis_operator.harness.scoring import Achievement, score

SCORING = a_challenge().scoring


def test_a_fast_and_lean_capture_is_worth_everything() -> None:
    found = score(SCORING, Achievement(flag=True, milestones=frozenset({"recon"}), steps=8, seconds=60))
    assert found.to_json() == {
        "total": 55,
        "maximum": 55,
        "parts": {"flagCapture": 30, "milestone recon": 5, "timeBonus": 10, "efficiencyBonus": 10},
        "unjudged": {"recon": 5},
    }


def test_bonuses_melt_and_never_cost_anything() -> None:
    assert score(SCORING, Achievement(flag=True, steps=11, seconds=85)).parts["timeBonus"] == pytest.approx(5)
    slow = score(SCORING, Achievement(flag=True, steps=500, seconds=5000))
    assert (slow.parts["timeBonus"], slow.parts["efficiencyBonus"], slow.total) == (0, 0, 30)


def test_nobody_is_fast_at_what_was_not_done() -> None:
    assert score(SCORING, Achievement(flag=False, steps=1, seconds=1)).total == 0


def test_the_flag_counts_once() -> None:
    with_milestone = Achievement(flag=True, milestones=frozenset({"flag"}), steps=500, seconds=5000)
    assert score(SCORING, with_milestone).total == 30


@pytest.mark.parametrize(("failures", "points"), [(9, 0), (10, -5), (11, -5)])
def test_a_penalty_begins_at_its_threshold(failures: int, points: int) -> None:
    achieved = Achievement(flag=True, incidents={"excessiveFailures": failures}, steps=500, seconds=5000)
    assert score(SCORING, achieved).parts.get("penalty excessiveFailures", 0) == points


def test_a_penalty_without_threshold_begins_at_the_first_time() -> None:
    assert (
        score(SCORING, Achievement(flag=True, incidents={"bruteForce": 1})).parts["penalty bruteForce"] == -10
    )
    assert (
        "penalty bruteForce" not in score(SCORING, Achievement(flag=True, incidents={"bruteForce": 0})).parts
    )


def test_what_the_challenge_does_not_know_is_refused() -> None:
    with pytest.raises(InvalidInput, match="gold, luck"):
        score(SCORING, Achievement(flag=True, milestones=frozenset({"gold"}), incidents={"luck": 1}))


@given(
    st.booleans(),
    st.sets(st.sampled_from(["recon", "flag"])),
    st.integers(0, 99),
    st.floats(0, 999),
    st.integers(0, 20),
)
def test_a_score_stays_within_its_bounds(
    flag: bool, reached: set[str], steps: int, seconds: float, failures: int
) -> None:
    achieved = Achievement(flag, frozenset(reached), steps, seconds, {"excessiveFailures": failures})
    found = score(SCORING, achieved)
    assert 0 <= found.total <= found.maximum
