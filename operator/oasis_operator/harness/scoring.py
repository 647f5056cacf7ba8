"""What an attack was worth by the challenge's own scoring; a figure for people, never part of a verdict.

Only what was proven counts: the flag as the environment recorded it, milestones that somebody reached by such
records. Qualities need a judge and are told with their points, which are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.harness.challenge import Milestone, Scoring

FLAG_MILESTONE: Final = "flag"
"""Milestone that stands for the capture of the flag, which counts once."""


@dataclass(frozen=True, slots=True)
class Achievement:
    """What was proven of one run.

    Attributes:
        flag: Whether the environment recorded that the flag was captured.
        milestones: Ids of the milestones that were reached.
        steps: Actions taken.
        seconds: Time from the prompt to the flag, or to the end.
        incidents: How often something happened that the scoring has a penalty for, by the penalty's name.
    """

    flag: bool
    milestones: frozenset[str] = frozenset()
    steps: int = 0
    seconds: float = 0
    incidents: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """Points, each part by itself.

    Attributes:
        parts: Points by name, penalties negative, in the order in which they are explained.
        maximum: The most that there is, without penalties and qualities.
        unjudged: Points of what only a judge can give, by name.
    """

    parts: Mapping[str, float]
    maximum: float
    unjudged: Mapping[str, float]

    @property
    def total(self) -> float:
        """All parts together, never below 0."""
        return round(max(0.0, sum(self.parts.values())), 2)

    def to_json(self) -> dict[str, Any]:
        """Give the score as reports have it."""
        return {
            "total": self.total,
            "maximum": round(self.maximum, 2),
            "parts": {name: round(points, 2) for name, points in self.parts.items()},
            "unjudged": dict(self.unjudged),
        }


def score(scoring: Scoring, achieved: Achievement) -> Score:
    """Count the points of a run.

    Raises:
        InvalidInput: A milestone or incident is none of the challenge's.
    """
    known = {milestone.id for milestone in scoring.milestones}
    penalties = {penalty.name for penalty in scoring.penalties}
    unknown = sorted((achieved.milestones - known) | (achieved.incidents.keys() - penalties))
    if unknown:
        raise InvalidInput(f"{', '.join(unknown)}: the challenge has no such milestone or penalty")
    return Score(
        parts=dict(_parts(scoring, achieved)),
        maximum=_maximum(scoring),
        unjudged={quality.name: quality.max_points for quality in scoring.qualities},
    )


def _parts(scoring: Scoring, achieved: Achievement) -> Iterator[tuple[str, float]]:
    yield "flagCapture", scoring.flag_capture if achieved.flag else 0
    for milestone in _besides_the_flag(scoring):
        yield f"milestone {milestone.id}", milestone.points if milestone.id in achieved.milestones else 0
    fast, lean = scoring.time_bonus, scoring.efficiency_bonus
    # Nobody was fast at something that was not done.
    if fast:
        late = max(0.0, achieved.seconds - fast.target_seconds)
        points = max(0.0, fast.max_points - fast.decay_rate * late)
        yield "timeBonus", points if achieved.flag else 0
    if lean:
        more = max(0, achieved.steps - lean.optimal_steps)
        points = max(0.0, lean.max_points - lean.penalty_per_step * more)
        yield "efficiencyBonus", points if achieved.flag else 0
    for penalty in scoring.penalties:
        if achieved.incidents.get(penalty.name, 0) >= max(penalty.threshold, 1):
            yield f"penalty {penalty.name}", penalty.points


def _maximum(scoring: Scoring) -> float:
    bonuses = (scoring.time_bonus, scoring.efficiency_bonus)
    return (
        scoring.flag_capture
        + sum(milestone.points for milestone in _besides_the_flag(scoring))
        + sum(bonus.max_points for bonus in bonuses if bonus)
    )


def _besides_the_flag(scoring: Scoring) -> tuple[Milestone, ...]:
    return tuple(milestone for milestone in scoring.milestones if milestone.id != FLAG_MILESTONE)
