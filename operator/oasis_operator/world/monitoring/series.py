"""Time series as the program that evaluates PromQL reads them: functions of time, not samples.

Times are seconds since 1970. A curve is a list of (time, value) in order; two values at one time are a jump.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from oasis_operator.world.manifests import Json

Curve = tuple[tuple[float, float], ...]
Labels = tuple[tuple[str, str], ...]

#: How long what is declared of a moment has been so by then, so that a rate over five minutes shows it.
RATE_HOLD: Final = 360.0
#: The same for what is looked at as it is, which may be a scrape old.
GAUGE_HOLD: Final = 60.0
#: How long ago what is not usual began, where a scenario says that it is so now.
ONSET: Final = 900.0
_RISE: Final = 60.0
#: How long the history of a series is that no scenario limits.
HISTORY: Final = 14 * 86400.0


class Shape(StrEnum):
    """What lies between two points of a series."""

    LINE = "line"
    STEP = "step"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Series:
    """One time series.

    Attributes:
        name: Name of the metric.
        labels: Its labels.
        shape: What lies between two points; of a count they are rates per second.
        points: The curve.
        begin: When it begins.
        until: When it ends, None while it goes on.
        lapses: Whether it ends without a word, as what nobody scrapes any more.
        whole: Whether a count is of whole things.
    """

    name: str
    labels: Labels
    shape: Shape
    points: Curve
    begin: float
    until: float | None = None
    lapses: bool = False
    whole: bool = False

    def to_json(self) -> Json:
        """Give the series as the file has it."""
        result: Json = {
            "labels": {"__name__": self.name, **dict(self.labels)},
            "shape": self.shape.value,
            "from": self.begin,
            "points": [list(point) for point in self.points],
        }
        if self.until is not None:
            result["until"] = self.until
        return {**result, **{key: True for key in ("lapses", "whole") if getattr(self, key)}}


def labelled(labels: Mapping[str, str]) -> Labels:
    """Give labels in their order, without empty ones, which are the same as none."""
    return tuple(sorted((key, value) for key, value in labels.items() if value))


def constant(value: float, at: float) -> Curve:
    """Give the curve of what never changes."""
    return ((at, value),)


def draw(
    points: Sequence[tuple[float, float]],
    *,
    hold: float,
    usual: float | None = None,
    changes: Sequence[tuple[float, float]] = (),
) -> Curve:
    """Draw the curve through declared points.

    Each value has held for a while at the moment that it is declared of, and holds from the last one on.

    Args:
        points: What is declared, in order, at least one.
        hold: How long a value has held at its moment, in seconds, or for half the time since the one before.
        usual: What it was before, None where that is not known.
        changes: What it jumped to later, and when.
    """
    first = points[0]
    knots: list[tuple[float, float]] = []
    start = first[0] - (ONSET if len(points) == 1 else hold)
    if usual is not None and usual != first[1]:
        knots.append((start - _RISE, usual))
    knots.append((start, first[1]))
    for before, after in zip((first, *points), points, strict=False):
        if before is not after:
            knots.append((max(after[0] - hold, (before[0] + after[0]) / 2), after[1]))
        knots.append(after)
    for at, value in changes:
        knots += [(max(at, knots[-1][0]), knots[-1][1]), (max(at, knots[-1][0]), value)]
    return tuple(knots)


def value_at(curve: Curve, at: float) -> float:
    """Give the value of a curve at a moment; at a jump the later one."""
    before = curve[0]
    if at < before[0]:
        return before[1]
    for after in curve[1:]:
        if after[0] > at:
            return before[1] + (after[1] - before[1]) * (at - before[0]) / (after[0] - before[0])
        before = after
    return before[1]


def value_before(curve: Curve, at: float) -> float:
    """Give the value of a curve just before a moment, which differs from that at it where it jumps."""
    earlier = tuple(point for point in curve if point[0] < at)
    jump = [point for point in curve if point[0] == at]
    return value_at((*earlier, *jump[:1]), at) if earlier or jump else curve[0][1]


def merge(curves: Sequence[Curve], together: Callable[[list[float]], float]) -> Curve:
    """Draw the curve of a value that follows from those of some curves, bending where any of them does."""
    moments = sorted({point[0] for curve in curves for point in curve})
    knots: list[tuple[float, float]] = []
    for at in moments:
        before = together([value_before(curve, at) for curve in curves])
        after = together([value_at(curve, at) for curve in curves])
        knots += [(at, before)] if before == after else [(at, before), (at, after)]
    return tuple(knots)
