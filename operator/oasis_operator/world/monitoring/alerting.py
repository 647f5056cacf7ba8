"""Rules of alerts and the alerts that are active, as Prometheus and Alertmanager tell them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from oasis_operator.world.definitions import METRIC, RULE
from oasis_operator.world.monitoring.series import (
    ONSET,
    Curve,
    Series,
    Shape,
    constant,
    draw,
    labelled,
    value_at,
)
from oasis_operator.world.monitoring.tools import PROMETHEUS
from oasis_operator.world.observability import EXPRESSIONS
from oasis_operator.world.series import parse_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.world.manifests import Json
    from oasis_operator.world.monitoring.measured import Workload

_ASKED = re.compile(r'ALERTS\{alertname="([^"]*)",alertstate="(\w+)"\}')
_DURATION = re.compile(r"(\d+)(ms|s|m|h|d)")
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
#: By how much what an alert is about is over what it allows.
_LIMIT_SHARE: Final = 0.94
_USUAL_SHARE: Final = 0.55
#: How full the fullest file system is that an alert is about.
DISK_SHARE: Final = 0.93
#: What expressions about workloads ask of, above which value they hold, and the value of one in trouble.
_OF_WORKLOADS: Final = {"error": ("error-rate", 0.05, 0.08), "latency": ("latency-p99", 1.0, 1.8)}
_MEMORY: Final = "container_memory_working_set_bytes"
_CPU: Final = "container_cpu_usage_seconds_total"
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert that is active.

    Attributes:
        labels: Its own, and those of what it is about.
        annotations: As its rule has them.
        state: ``firing`` or ``pending``.
        active_at: Since when its expression holds.
        firing_at: Since when it fires, or would.
        value: What the expression gave.
        expression: What was asked.
    """

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    state: str
    active_at: float
    firing_at: float
    value: float
    expression: str

    def to_json(self) -> Json:
        """Give the alert as the file has it."""
        return {
            "labels": dict(self.labels),
            "annotations": dict(self.annotations),
            "state": self.state,
            "active_at": self.active_at,
            "firing_at": self.firing_at,
            "value": self.value,
            "generator": f"http://{PROMETHEUS.host}:{PROMETHEUS.port}/graph?g0.expr={quote(self.expression)}&g0.tab=1",
        }

    def series(self) -> list[Series]:
        """Give the series by which Prometheus tells that it is active."""
        found = []
        if self.state == "firing":
            labels = labelled({**self.labels, "alertstate": "pending"})
            found.append(
                Series(
                    "ALERTS", labels, Shape.STEP, constant(1, self.active_at), self.active_at, self.firing_at
                )
            )
        begin = self.firing_at if self.state == "firing" else self.active_at
        labels = labelled({**self.labels, "alertstate": self.state})
        found.append(Series("ALERTS", labels, Shape.STEP, constant(1, begin), begin))
        own, since = labelled(self.labels), constant(self.active_at, self.active_at)
        found.append(Series("ALERTS_FOR_STATE", own, Shape.STEP, since, self.active_at))
        return found


@dataclass(frozen=True, slots=True)
class Alerting:
    """What there is of alerts.

    Attributes:
        groups: The groups of rules, as the file has them.
        alerts: The alerts that are active.
        pressed: Curves that alerts are about, by pod: the metric and its curve.
        troubled: What alerts are about of workloads, as (namespace, name, what, value).
        full_disk: Whether one is about a file system.
    """

    groups: tuple[Json, ...]
    alerts: tuple[Alert, ...]
    pressed: Mapping[tuple[str, str], tuple[str, Curve]]
    troubled: tuple[tuple[str, str, str, float], ...]
    full_disk: bool


def build_alerting(
    objects: Mapping[str, Sequence[Json]], workloads: Sequence[Workload], now: float
) -> Alerting:
    """Read rules and states from the objects of the world.

    Args:
        objects: Rules, the metrics that report on alerts, pods, Deployments and nodes, by kind.
        workloads: What is declared of workloads.
        now: The moment of the preparation.
    """
    states = _states(objects.get(METRIC.kind, ()))
    causes = _Causes(objects, workloads, now)
    groups, alerts = [], []
    for item in objects.get(RULE.kind, ()):
        namespace, name = item["metadata"]["namespace"], item["metadata"]["name"]
        for group in item["spec"]["groups"]:
            rules = []
            for rule in group["rules"]:
                state = states.get(rule["alert"], "inactive")
                rules.append(_rule(rule, state))
                if state != "inactive":
                    about, value = causes.find(rule["expr"], namespace)
                    alerts.append(_alert(rule, state, about, value, now))
            place = f"/etc/prometheus/rules/{namespace}-{name}.yaml"
            groups.append({"name": group["name"], "file": place, "rules": rules})
    return Alerting(
        tuple(groups), tuple(alerts), causes.pressed, tuple(causes.troubled), full_disk=causes.full_disk
    )


def _states(metrics: Sequence[Json]) -> dict[str, str]:
    """Give the states of alerts by name, as the metrics report them that ask for them."""
    found = {}
    for item in metrics:
        match = _ASKED.search(item["spec"]["query"])
        if match and item.get("status", {}).get("value") not in (None, "", "0"):
            found[match[1]] = match[2]
    return found


def _rule(rule: Json, state: str) -> Json:
    return {
        "name": rule["alert"],
        "query": rule["expr"],
        "duration": seconds(rule.get("for", "0s")),
        "labels": dict(rule.get("labels", {})),
        "annotations": dict(rule.get("annotations", {})),
        "state": state,
    }


def seconds(written: str) -> float:
    """Give a duration as Prometheus writes it, such as 1h30m, in seconds."""
    return float(sum(int(number) * _SECONDS[unit] for number, unit in _DURATION.findall(written)))


def _alert(rule: Json, state: str, about: Mapping[str, str], value: float, now: float) -> Alert:
    wait = seconds(rule.get("for", "0s"))
    begun = now - max(ONSET, 1.5 * wait) if state == "firing" else now - _HALF * wait
    labels = {"alertname": rule["alert"], **about, **rule.get("labels", {})}
    return Alert(labels, rule.get("annotations", {}), state, begun, begun + wait, value, rule["expr"])


class _Causes:
    """What alerts are about, and what must be so for their expressions to hold."""

    def __init__(
        self, objects: Mapping[str, Sequence[Json]], workloads: Sequence[Workload], now: float
    ) -> None:
        self._objects = objects
        self._workloads = workloads
        self._now = now
        self.pressed: dict[tuple[str, str], tuple[str, Curve]] = {}
        self.troubled: list[tuple[str, str, str, float]] = []
        self.full_disk = False

    def find(self, expression: str, namespace: str) -> tuple[dict[str, str], float]:
        """Give the labels of what an alert is about, and its value.

        Where nothing that is declared makes a known expression hold, something in the namespace does from
        now on; of other expressions nobody knows what they are about.
        """
        for word, metric in (("memory", _MEMORY), ("cpu", _CPU)):
            if expression == EXPRESSIONS[word] and (found := self._press(namespace, word, metric)):
                return found, _LIMIT_SHARE
        for word, (part, least, value) in _OF_WORKLOADS.items():
            if expression == EXPRESSIONS[word]:
                return self._trouble(namespace, part, least, value)
        if expression == EXPRESSIONS["disk"]:
            self.full_disk = True
            node = next(iter(self._objects.get("Node", ())), None)
            labels = {"node": str(node["metadata"]["name"]), "mountpoint": "/"} if node else {}
            return labels, DISK_SHARE
        return {"namespace": namespace}, 1.0

    def _press(self, namespace: str, resource: str, metric: str) -> dict[str, str]:
        for pod in self._objects.get("Pod", ()):
            limit = _limit(pod, resource)
            if pod["metadata"]["namespace"] == namespace and limit is not None:
                name = str(pod["metadata"]["name"])
                usual, over = _USUAL_SHARE * limit, _LIMIT_SHARE * limit
                self.pressed[namespace, name] = (metric, draw([(self._now, over)], hold=0, usual=usual))
                return {"namespace": namespace, "pod": name}
        return {}

    def _trouble(self, namespace: str, part: str, least: float, value: float) -> tuple[dict[str, str], float]:
        for each in self._workloads:
            known = value_at(each.curves[part], self._now) if part in each.curves else 0
            if each.namespace == namespace and known > least:
                return {"job": each.name}, known
        for item in self._objects.get("Deployment", ()):
            if item["metadata"]["namespace"] == namespace:
                name = str(item["metadata"]["name"])
                self.troubled.append((namespace, name, part, value))
                return {"job": name}, value
        return {"namespace": namespace}, value


def _limit(pod: Json, resource: str) -> float | None:
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
    value = parse_value(limits.get(resource))
    return None if value is None else float(value)
