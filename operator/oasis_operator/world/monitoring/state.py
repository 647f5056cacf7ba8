"""What the tools beside a cluster say, as one file for the programs that answer for them.

It is compiled from the objects of the world as they are, so that no tool says anything else than the objects
do; what they were before is remembered, so that there is a history.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from oasis_operator.world.definitions import KINDS, METRIC
from oasis_operator.world.monitoring.alerting import DISK_SHARE, Alerting, build_alerting
from oasis_operator.world.monitoring.machines import (
    Lives,
    build_containers,
    build_nodes,
    is_of_containers,
)
from oasis_operator.world.monitoring.measured import Reports, Workload, read_workloads
from oasis_operator.world.monitoring.panels import (
    read_dashboards,
    read_entrance,
    read_shares,
    read_traces,
)
from oasis_operator.world.monitoring.series import (
    HISTORY,
    RATE_HOLD,
    Series,
    Shape,
    constant,
    draw,
    labelled,
)
from oasis_operator.world.monitoring.standing import Record, take_snapshot
from oasis_operator.world.monitoring.tools import ADDRESS, PROMETHEUS, Tool, listening
from oasis_operator.world.monitoring.traffic import build_traffic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oasis_operator.world.manifests import Json

#: Kinds of objects that are looked at; those that are defined by objects only where they are.
LOOKED_AT: Final = ("ConfigMap", "Deployment", "Node", "Pod", *KINDS)
_BEFORE: Final = 3600.0
#: What is usual where an alert tells of trouble.
_WELL: Final = {"error-rate": 0.002, "latency-p99": 0.21}
_HELP: Final[Mapping[str, tuple[str, str]]] = {
    "http_requests_total": ("counter", "Number of HTTP requests by status code."),
    "http_request_duration_seconds": ("histogram", "Time that HTTP requests took."),
    "container_memory_working_set_bytes": ("gauge", "Current working set of the container in bytes."),
    "container_cpu_usage_seconds_total": ("counter", "Cumulative cpu time consumed by the container."),
    "container_oom_events_total": ("counter", "Count of out of memory events observed for the container."),
    "node_cpu_seconds_total": ("counter", "Seconds the CPUs spent in each mode."),
    "node_memory_MemTotal_bytes": ("gauge", "Memory information field MemTotal_bytes."),
    "node_memory_MemAvailable_bytes": ("gauge", "Memory information field MemAvailable_bytes."),
    "node_filesystem_size_bytes": ("gauge", "Filesystem size in bytes."),
    "node_filesystem_avail_bytes": ("gauge", "Filesystem space available to non-root users in bytes."),
    "kube_pod_status_phase": ("gauge", "The pods current phase."),
    "kube_pod_container_status_restarts_total": (
        "counter",
        "The number of container restarts per container.",
    ),
    "kube_deployment_status_replicas_available": ("gauge", "The number of available replicas."),
}


@dataclass(slots=True)
class Watched:
    """What is remembered of a world from one look at it to the next.

    Attributes:
        now: The moment of the preparation, seconds since 1970.
        tools: The tools that listen.
    """

    now: float
    tools: tuple[Tool, ...]
    _reports: Reports = field(default_factory=Reports)
    _record: Record = field(default_factory=Record)
    _lives: Lives = field(default_factory=Lives)

    def look(self, objects: Mapping[str, Sequence[Json]], at: float) -> Json:
        """Take in the world as it is, and give the file's content.

        Args:
            objects: Lists as the API server gives them, by kind.
            at: When they were listed, seconds since 1970.
        """
        # What is there from the beginning is taken to have been so for a while.
        begin = at if self._lives.pods or self._record.points else self.now - _BEFORE
        self._reports.take_in(objects.get(METRIC.kind, ()))
        self._record.take_in(take_snapshot(objects), begin, at)
        self._lives.take_in(objects.get("Pod", ()), begin, at)
        workloads = read_workloads(objects.get(METRIC.kind, ()), self._reports)
        alerting = build_alerting(objects, workloads, self.now)
        dashboards = read_dashboards(objects.get("ConfigMap", ()))
        state: Json = {
            "now": self.now,
            "listen": listening(self.tools),
            "alerts": [alert.to_json() for alert in alerting.alerts],
            "traces": list(read_traces(objects.get("ConfigMap", ()))),
            "dashboards": list(dashboards),
        }
        if PROMETHEUS in self.tools:
            state["prometheus"] = self._prometheus(objects, workloads, alerting, dashboards)
        return state

    def _prometheus(
        self,
        objects: Mapping[str, Sequence[Json]],
        declared: Sequence[Workload],
        alerting: Alerting,
        dashboards: Sequence[Json],
    ) -> Json:
        workloads = _with_trouble(declared, alerting, self.now)
        serving = [each for each in workloads if each.serves]
        entrance = read_entrance(dashboards, "default", self.now)
        if entrance is not None and not serving:
            serving.append(entrance)
        shares = read_shares(dashboards)
        if alerting.full_disk and shares.disk is None:
            shares = replace(shares, disk=DISK_SHARE)
        series = [
            *(one for each in serving for one in build_traffic(each, self.now)),
            *(one for each in workloads for one in _own(each, self.now)),
            *build_nodes(objects, shares, self.now),
            *build_containers(objects, self._lives, workloads, alerting.pressed, self.now),
            *self._record.series(),
            *(one for alert in alerting.alerts for one in alert.series()),
            *_itself(self.now),
        ]
        return {
            "series": [one.to_json() for one in _distinct(series)],
            "metadata": {
                name: {"type": kind, "help": text, "unit": ""} for name, (kind, text) in _HELP.items()
            },
            "targets": _targets(series),
            "groups": list(alerting.groups),
        }


def _with_trouble(workloads: Sequence[Workload], alerting: Alerting, now: float) -> list[Workload]:
    """Add what alerts are about of workloads of which nothing of that sort is declared."""
    found = {(each.namespace, each.name): each for each in workloads}
    for namespace, name, part, value in alerting.troubled:
        workload = found.setdefault((namespace, name), Workload(namespace, name))
        workload.curves.setdefault(part, draw([(now, value)], hold=RATE_HOLD, usual=_WELL[part]))
    return list(found.values())


def _own(workload: Workload, now: float) -> Iterable[Series]:
    """Give what a workload's program reports beside its requests."""
    begin = now - HISTORY
    labels = labelled({"job": workload.name, "namespace": workload.namespace})
    for metric, curve in workload.selected.items():
        if not is_of_containers(metric):
            yield Series(metric, labels, Shape.LINE, curve, min(begin, curve[0][0]))
    for metric, (count, span) in workload.created.items():
        since, rate = now - span, count / span
        yield Series(metric, labels, Shape.COUNT, ((since, 0.0), (since, rate)), since - 60)


def _itself(now: float) -> Iterable[Series]:
    begin = now - HISTORY
    for job, instance in (("prometheus", "localhost:9090"), ("kube-state-metrics", f"{ADDRESS}:8080")):
        labels = labelled({"job": job, "instance": instance})
        yield Series("up", labels, Shape.STEP, constant(1, begin), begin)


def _distinct(series: Iterable[Series]) -> Iterable[Series]:
    """Leave out series whose name and labels came before: a store has each only once."""
    seen = set()
    for one in series:
        key = (one.name, one.labels)
        if key not in seen:
            seen.add(key)
            yield one


def _targets(series: Iterable[Series]) -> list[Json]:
    return [
        {
            "labels": {key: value for key, value in one.labels if key in ("job", "instance", "namespace")},
            "pool": dict(one.labels)["job"],
            "url": f"http://{dict(one.labels)['instance']}/metrics",
        }
        for one in series
        if one.name == "up"
    ]
