"""Values of metrics as scenarios write them, and the objects that report them.

A metric is an object that names its query and reports the newest answer and the earlier ones. Values are in
the base units of the field: ratios from 0 to 1, seconds, bytes.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world import moments
from oasis_operator.world.definitions import METRIC, build_custom
from oasis_operator.world.entries import inner, listed, scalar
from oasis_operator.world.manifests import Condition, Expectation, Kind, Manifest

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader
    from oasis_operator.world.manifests import Built, Json

_VALUE = re.compile(r"(-?\d{1,15}(?:\.\d{1,9})?)\s*(%|ms|s|m|k|Ki|Mi|Gi|Ti|M|G|T|req/s|rps)?")
_SCALES: Final = {
    "%": 0.01, "ms": 0.001, "m": 0.001, "s": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "req/s": 1, "rps": 1,
}  # fmt: skip
WANTED: Final = "want a number, with a unit such as %, ms, s or Mi at will"
_FETCH_SECONDS = 30
_LARGE = 1e6


@dataclass(frozen=True, slots=True)
class Series:
    """One metric over time.

    Attributes:
        name: Name of the object that reports it.
        query: What was asked, in the query language of Prometheus.
        points: (moment, value) from the oldest to the newest, at least one.
    """

    name: str
    query: str
    points: tuple[tuple[str, str], ...]


def first_amount(fields: Mapping[str, Any], *paths: tuple[str, ...]) -> str:
    """Give the first amount that a declared workload, or one of its containers, has at one of some paths.

    Args:
        fields: The fields of the entry.
        paths: Members to follow, in the order in which they count; empty text where there is nothing.
    """
    for part in (fields, *listed(fields.get("containers"))):
        for path in paths:
            amount: object = part
            for member in path:
                amount = inner(amount, member)
            if parse_value(amount) is not None:
                return str(amount)
    return ""


def parse_value(written: object, scale: float = 1) -> str | None:
    """Give a value in base units as text, None where it is no number.

    Args:
        written: As the scenario has it, such as ``8%`` or ``1.2Gi``.
        scale: What one of it is in base units where no unit is written.
    """
    match = _VALUE.fullmatch(scalar(written) or "")
    if match is None:
        return None
    number = float(match[1]) * (_SCALES[match[2]] if match[2] else scale)
    # Of large amounts, such as bytes, only whole ones are told.
    if number % 1 == 0 or abs(number) >= _LARGE:
        return f"{number:.0f}"
    return f"{number:.9f}".rstrip("0").rstrip(".")


def read_points(
    reader: Reader, field: str, value: object, now: str, scale: float = 1
) -> tuple[tuple[str, str], ...]:
    """Read one value, or a list of ``{t, value}``, into points; faults are noted and give no points."""
    items = value if isinstance(value, list | tuple) else ({"t": "now", "value": value},)
    points = []
    for item in items:
        if not isinstance(item, Mapping) or set(item) != {"t", "value"}:
            reader.refuse(field, item, "want t and value, such as {t: -30m, value: 8%}")
            return ()
        age, number = moments.parse_age(item["t"]), parse_value(item["value"], scale)
        if age is None or number is None:
            wrong, wanted = (item["t"], moments.WANTED) if age is None else (item["value"], WANTED)
            reader.refuse(field, wrong, wanted)
            return ()
        points.append((moments.moment_before(now, age), number))
    if not points:
        reader.refuse(field, value, "want at least one value")
    return tuple(sorted(points))


def answered(value: str, at: str) -> Json:
    """Build the status of an object that reports a metric: its newest value, and when that was."""
    return {"value": value, "rawValue": base64.b64encode(value.encode()).decode(), "lastUpdated": at}


def report(built: Built, index: int, namespace: str, series: Series, labels: Mapping[str, str]) -> None:
    """Add the object that reports a metric, and that it is to be seen."""
    newest, value = series.points[-1]
    spec = {
        "provider": {"name": "prometheus"},
        "query": series.query,
        "fetchIntervalSeconds": _FETCH_SECONDS,
    }
    status = answered(value, newest)
    if len(series.points) > 1:
        window = {"interval": "5m", "step": "1m", "aggregation": "avg", "storedResults": len(series.points)}
        spec["range"] = window
        status["intervalResults"] = [
            {"value": number, "lastUpdated": at, "range": window} for at, number in reversed(series.points)
        ]
    body = build_custom(METRIC, series.name, namespace, labels=labels, spec=spec, status=status)
    built.manifests.append(Manifest(index, body))
    built.expectations.append(
        Expectation(Kind.METRIC, namespace, series.name, Condition.REPORTED, message=value)
    )
