"""Metrics and alerts: what a monitoring system would report of a workload, as objects in its namespace."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from oasis_operator.world import moments
from oasis_operator.world.definitions import RULE, build_custom
from oasis_operator.world.entries import is_subdomain
from oasis_operator.world.manifests import Built, Manifest, Recovery, Surroundings
from oasis_operator.world.series import Series, first_amount, parse_value, read_points, report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.world.entries import Reader

_WORKLOADS: Final = ("deployment", "statefulset", "daemonset", "pod")
_METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_QUANTILES: Final = ("50", "90", "95", "99")
#: Shares of a limit that a leak passes on its way there, from long ago until now.
_GROWTH: Final = (0.42, 0.55, 0.68, 0.81, 0.93)
_GROWTH_STEP = timedelta(minutes=10)
#: The limit of containers that are killed for memory where the scenario sets none.
USUAL_LIMIT: Final = "256Mi"


def error_query(name: str) -> str:
    """Give the query for the share of a workload's answers that are errors."""
    total = f'sum(rate(http_requests_total{{job="{name}"}}[5m]))'
    return f'sum(rate(http_requests_total{{job="{name}",code=~"5.."}}[5m])) / {total}'


def _quantile(share: str) -> Callable[[str], str]:
    def query(name: str) -> str:
        buckets = f'sum by (le) (rate(http_request_duration_seconds_bucket{{job="{name}"}}[5m]))'
        return f"histogram_quantile(0.{share}, {buckets})"

    return query


def _requests(name: str) -> str:
    return f'sum(rate(http_requests_total{{job="{name}"}}[5m]))'


def memory_query(name: str) -> str:
    """Give the query for the memory that a workload's fullest pod uses."""
    return f'max(container_memory_working_set_bytes{{pod=~"{name}-.*",container!=""}})'


#: Metrics by the names that scenarios give them: part of the object's name, query, what one is without unit.
_KNOWN: Final[dict[str, tuple[str, Callable[[str], str], float]]] = {
    "error_rate": ("error-rate", error_query, 1),
    "request_rate": ("request-rate", _requests, 1),
    "memory_usage": ("memory-working-set", memory_query, 1),
    **{f"p{q}_latency_ms": (f"latency-p{q}", _quantile(q), 0.001) for q in _QUANTILES},
    **{f"latency_p{q}": (f"latency-p{q}", _quantile(q), 1) for q in _QUANTILES},
}
_NORMAL: Final = "normal_"


def known_queries(name: str) -> dict[str, str]:
    """Give what the known metrics of a workload are asked by: the part of the object's name by query."""
    return {query(name): part for part, query, _ in _KNOWN.values()}


#: The query of a usual value, around that of the value itself.
BASELINE: Final = "avg_over_time(({query})[7d:5m])"


def build_metrics(reader: Reader, around: Surroundings) -> Built:
    """Build what monitoring reports of a workload: named metrics, their usual values, and free series.

    Spec: 02-scenarios §1.3.
    """
    built = Built()
    name, labels = reader.entry.name, {"app": reader.entry.name}
    for field, (part, query, scale) in _KNOWN.items():
        values = {}
        for written, suffix, form in ((field, "", "{query}"), (_NORMAL + field, "-baseline", BASELINE)):
            value = reader.take(written)
            points = () if value is None else read_points(reader, written, value, around.now, scale)
            if points:
                asked = form.replace("{query}", query(name))
                series = Series(f"{name}-{part}{suffix}", asked, points)
                report(built, reader.entry.index, reader.namespace, series, labels)
                values[suffix] = points
        _recovery(reader, around, built, f"{name}-{part}", values)
    for written, value in reader.mapping("series").items():
        _free_series(reader, around, built, str(written), value)
    _memory_trend(reader, around, built)
    _last_kill(reader, around, built)
    if not built.manifests and not reader.is_faulty:
        reader.refuse("series", None, f"want at least one of series, {', '.join(_KNOWN)}")
    return built


def _recovery(
    reader: Reader,
    around: Surroundings,
    built: Built,
    metric: str,
    values: Mapping[str, tuple[tuple[str, str], ...]],
) -> None:
    """Let a metric of a declared Deployment go back to its usual value, or the oldest one declared."""
    found = values.get("", ())
    usual = (values.get("-baseline") or found)[:1]
    if not found or ("deployment", reader.namespace, reader.entry.name) not in around.names:
        return
    if usual[0][1] != found[-1][1]:
        name = reader.entry.name
        built.recoveries.append(Recovery(reader.namespace, name, metric, found[-1][1], usual[0][1]))


def _free_series(reader: Reader, around: Surroundings, built: Built, written: str, value: object) -> None:
    if not _METRIC_NAME.fullmatch(written):
        reader.refuse("series", written, "want the name of a metric: letters, digits, _ and :")
        return
    name = reader.entry.name
    points = read_points(reader, f"series.{written}", value, around.now)
    is_container = written.startswith(("container_", "kube_pod_"))
    selector = f'pod=~"{name}-.*"' if is_container else f'job="{name}"'
    part = written.lower().replace("_", "-").replace(":", "-").strip("-")
    if points and is_subdomain(f"{name}-{part}"):
        series = Series(f"{name}-{part}", f"{written}{{{selector}}}", points)
        report(built, reader.entry.index, reader.namespace, series, {"app": name})


def _memory_trend(reader: Reader, around: Surroundings, built: Built) -> None:
    """Tell of memory that grows until the limit, which is that of the workload of the same name."""
    trend = reader.text("memory_usage_trend")
    if not trend:
        return
    if trend != "monotonically_increasing":
        reader.refuse("memory_usage_trend", trend, "possible is monotonically_increasing, or series")
        return
    limit = int(parse_value(memory_limit(around, reader.namespace, reader.entry.name)) or 0)
    last = len(_GROWTH) - 1
    points = tuple(
        (moments.moment_before(around.now, _GROWTH_STEP * (last - place)), str(int(limit * share)))
        for place, share in enumerate(_GROWTH)
    )
    name = reader.entry.name
    series = Series(f"{name}-memory-working-set", memory_query(name), points)
    report(built, reader.entry.index, reader.namespace, series, {"app": name})


def memory_limit(around: Surroundings, namespace: str, name: str) -> str:
    """Give the memory limit of a declared workload, the usual one where it has none."""
    for kind in _WORKLOADS:
        fields = around.fields.get((kind, namespace, name), {})
        limits = (("memory_limit",), ("resource_limits", "memory"), ("resources", "limits", "memory"))
        if found := first_amount(fields, *limits):
            return found
    return USUAL_LIMIT


def _last_kill(reader: Reader, around: Surroundings, built: Built) -> None:
    written = reader.text("last_oom_kill")
    if not written:
        return
    age = moments.parse_age(written)
    if age is None:
        reader.refuse("last_oom_kill", written, moments.WANTED)
        return
    name = reader.entry.name
    at = moments.seconds_of(moments.moment_before(around.now, age))
    query = f'max(timestamp(container_oom_events_total{{pod=~"{name}-.*"}}))'
    series = Series(f"{name}-last-oom-kill", query, ((around.now, str(at)),))
    report(built, reader.entry.index, reader.namespace, series, {"app": name})


#: Expressions by a word in the alert's name, for alerts that are declared without one.
EXPRESSIONS: Final = {
    "memory": "max by (namespace, pod) (container_memory_working_set_bytes"
    ' / on (namespace, pod, container) kube_pod_container_resource_limits{resource="memory"}) > 0.9',
    "cpu": 'sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{container!=""}[5m]))'
    ' / sum by (namespace, pod) (kube_pod_container_resource_limits{resource="cpu"}) > 0.9',
    "error": 'sum by (job) (rate(http_requests_total{code=~"5.."}[5m]))'
    " / sum by (job) (rate(http_requests_total[5m])) > 0.05",
    "latency": "histogram_quantile(0.99, sum by (job, le)"
    " (rate(http_request_duration_seconds_bucket[5m]))) > 1",
    "restart": "increase(kube_pod_container_status_restarts_total[15m]) > 3",
    "disk": "1 - node_filesystem_avail_bytes / node_filesystem_size_bytes > 0.9",
}  # fmt: skip


def build_alert(reader: Reader, around: Surroundings) -> Built:
    """Build the rule of an alert, and the metric by which Prometheus itself tells that it is active."""
    status = reader.choice("status", ("pending", "firing", "inactive"), "firing")
    name = reader.entry.name
    title = "".join(word.capitalize() for word in re.split(r"[-.]", name))
    expression = reader.text("expr") or next((text for word, text in EXPRESSIONS.items() if word in name), "")
    if not expression:
        words = ", ".join(EXPRESSIONS)
        reader.refuse("expr", None, f"want an expression, since the name has none of the words {words}")
    rule = {
        "alert": title,
        "expr": expression,
        "for": reader.text("for", "10m"),
        "labels": {"severity": reader.text("severity", "warning"), **reader.texts("labels")},
        "annotations": {
            "summary": reader.text("summary", name.replace("-", " ").capitalize()),
            **reader.texts("annotations"),
        },
    }
    labels = {"app.kubernetes.io/component": "alerting"}
    groups = [{"name": f"{name}.rules", "rules": [rule]}]
    body = build_custom(RULE, name, reader.namespace, labels=labels, spec={"groups": groups})
    built = Built([Manifest(reader.entry.index, body)])
    state = "firing" if status == "inactive" else status
    active = "0" if status == "inactive" else "1"
    asked = f'sum(ALERTS{{alertname="{title}",alertstate="{state}"}}) or vector(0)'
    series = Series(f"alert-{name}-{state}", asked, ((around.now, active),))
    report(built, reader.entry.index, reader.namespace, series, labels)
    return built
