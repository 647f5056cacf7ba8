"""What the objects of a world report of its metrics, by the workload that they are about."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from oasis_operator.world import moments
from oasis_operator.world.monitoring.series import GAUGE_HOLD, RATE_HOLD, Curve, draw
from oasis_operator.world.observability import BASELINE, known_queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oasis_operator.world.manifests import Json

_BASELINE_HEAD, _, _BASELINE_TAIL = BASELINE.partition("{query}")
_HIGHEST = re.compile(r"max_over_time\((.+)\[10m:30s\]\)")
_SELECTED = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{[^{}]*\}")
_CREATED = re.compile(r"sum\(increase\(([a-z_]+)\{[^{}]*\}\[(\d+)m\]\)\)")
_LAST_KILL: Final = "max(timestamp(container_oom_events_total{"

Points = tuple[tuple[float, float], ...]


@dataclass(slots=True)
class Workload:
    """What is reported of one workload.

    Attributes:
        namespace: Where it is.
        name: Its name.
        curves: Curves by what they are of: ``error-rate``, ``request-rate``, ``latency-p99`` and so on,
            ``memory-working-set``.
        selected: Curves of metrics that are reported as they are, by name.
        created: Of things that are counted: metric to (how many, in how many seconds).
        killed: When it was last killed for memory, None where that is not reported.
    """

    namespace: str
    name: str
    curves: dict[str, Curve] = field(default_factory=dict)
    selected: dict[str, Curve] = field(default_factory=dict)
    created: dict[str, tuple[float, float]] = field(default_factory=dict)
    killed: float | None = None

    @property
    def serves(self) -> bool:
        """Whether anything is reported of requests to it."""
        return any(part.startswith(("error-", "request-", "latency-")) for part in self.curves)


@dataclass(slots=True)
class Reports:
    """What was reported first, and to what it changed since, for each object that reports a metric."""

    first: dict[tuple[str, str], Points] = field(default_factory=dict)
    changes: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)

    def take_in(self, metrics: Iterable[Json]) -> None:
        """Look at the objects as they are."""
        for item in metrics:
            key = _key(item)
            points = _points(item)
            if not points:
                continue
            if key not in self.first:
                self.first[key] = points
                continue
            known = self.changes.get(key) or self.first[key]
            if points[-1][1] != known[-1][1]:
                self.changes.setdefault(key, []).append(points[-1])


def read_workloads(metrics: Sequence[Json], reports: Reports) -> tuple[Workload, ...]:
    """Give what is reported of each workload, in the order of the objects."""
    found: dict[tuple[str, str], Workload] = {}
    usual = {
        (*_about(item), query): points[-1][1]
        for item in metrics
        if (query := _usual_of(item["spec"]["query"])) and (points := reports.first.get(_key(item)))
    }
    for item in metrics:
        about, points = _about(item), reports.first.get(_key(item))
        if points and about[1] and not _usual_of(item["spec"]["query"]):
            workload = found.setdefault(about, Workload(*about))
            changes = reports.changes.get(_key(item), ())
            _add(workload, item["spec"]["query"], points, changes, usual)
    return tuple(found.values())


def _add(
    workload: Workload,
    asked: str,
    points: Points,
    changes: Sequence[tuple[float, float]],
    usual: Mapping[tuple[str, str, str], float],
) -> None:
    highest = _HIGHEST.fullmatch(asked)
    query = highest[1] if highest else asked
    part = known_queries(workload.name).get(query)
    if part is not None:
        before = usual.get((workload.namespace, workload.name, query))
        hold = GAUGE_HOLD if part.startswith("memory-") else RATE_HOLD
        workload.curves[part] = draw(points, hold=hold, usual=before, changes=changes)
    elif match := _SELECTED.fullmatch(query):
        workload.selected[match[1]] = draw(points, hold=GAUGE_HOLD, changes=changes)
    elif match := _CREATED.fullmatch(query):
        workload.created[match[1]] = (points[-1][1], 60.0 * int(match[2]))
    elif query.startswith(_LAST_KILL):
        workload.killed = points[-1][1]


def _usual_of(query: str) -> str:
    """Give the query whose usual value another one asks for, empty where it is none of these."""
    if query.startswith(_BASELINE_HEAD) and query.endswith(_BASELINE_TAIL):
        return query.removeprefix(_BASELINE_HEAD).removesuffix(_BASELINE_TAIL)
    return ""


def _key(item: Json) -> tuple[str, str]:
    return str(item["metadata"]["namespace"]), str(item["metadata"]["name"])


def _about(item: Json) -> tuple[str, str]:
    metadata = item["metadata"]
    return str(metadata["namespace"]), str(metadata.get("labels", {}).get("app", ""))


def _points(item: Json) -> Points:
    status = item.get("status", {})
    told = [*reversed(status.get("intervalResults", ())), status]
    points = {
        float(moments.seconds_of(each["lastUpdated"])): float(each["value"])
        for each in told
        if each.get("lastUpdated") and _is_number(each.get("value"))
    }
    return tuple(sorted(points.items()))


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True
