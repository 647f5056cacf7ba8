"""Dashboards: ConfigMaps with the document of a dashboard, as those who load them from a cluster label them.

A panel that shows a value carries it as the snapshot of its query, which is how such documents keep what was
seen.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from oasis_operator.world import moments
from oasis_operator.world.entries import scalar
from oasis_operator.world.manifests import Built, Json, Manifest, Surroundings, build_object

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_TYPES: Final = {
    "graph": "timeseries",
    "timeseries": "timeseries",
    "gauge": "gauge",
    "stat": "stat",
    "table": "table",
}
_PANEL_FIELDS: Final = frozenset(
    ["title", "type", "current_value", "status", "normal_baseline", "threshold", "description"]
)
#: What is remarked of a panel, in this order.
_REMARKS: Final = {
    "current_value": "current",
    "normal_baseline": "normal",
    "threshold": "threshold",
    "status": "status",
}
_NUMBER = re.compile(r"\s*(-?\d{1,15}(?:\.\d{1,9})?)\s*(%|req/s|ms|s)?")
_UNITS: Final = {"%": "percent", "req/s": "reqps", "ms": "ms", "s": "s", "": "none", None: "none"}
#: Queries by a word in the panel's title.
_QUERIES: Final = {
    "request": "sum(rate(http_requests_total[5m]))",
    "error": 'sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m])) * 100',
    "cpu": '100 - avg(rate(node_cpu_seconds_total{mode="idle"}[5m])) * 100',
    "memory": "(1 - sum(node_memory_MemAvailable_bytes) / sum(node_memory_MemTotal_bytes)) * 100",
    "disk": "max(1 - node_filesystem_avail_bytes / node_filesystem_size_bytes) * 100",
    "restart": "sum(increase(kube_pod_container_status_restarts_total[24h]))",
    "pod": 'count(kube_pod_status_phase{phase="Running"})',
}


def build_dashboard(reader: Reader, around: Surroundings) -> Built:
    """Build the ConfigMap of a dashboard, panel by panel."""
    name = reader.entry.name
    items = reader.items("panels")
    if not items:
        reader.refuse("panels", None, "want at least one panel")
    panels = [_panel(reader, around, item, place) for place, item in enumerate(items)]
    document = {
        "uid": hashlib.sha256(f"dashboard/{name}".encode()).hexdigest()[:12],
        "title": reader.text("title", name.replace("-", " ").title()).strip(),
        "tags": reader.names("tags"),
        "schemaVersion": 39,
        "version": 1,
        "timezone": "browser",
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "30s",
        "snapshot": {"timestamp": around.now},
        "panels": panels,
    }
    if description := reader.text("description"):
        document["description"] = description
    body = build_object(
        "v1", "ConfigMap", f"dashboard-{name}", reader.namespace,
        labels={"grafana_dashboard": "1", **reader.texts("labels")}, annotations=reader.texts("annotations"),
        data={f"{name}.json": json.dumps(document, indent=2, ensure_ascii=False)},
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def _panel(reader: Reader, around: Surroundings, item: object, place: int) -> Json:
    """Build one panel; a bare word names one without a value."""
    raw: Json = {"title": item} if isinstance(item, str) else dict(item) if isinstance(item, Mapping) else {}
    title = scalar(raw.get("title")) or ""
    if not title:
        reader.refuse("panels", item, "want a title, or a mapping with title")
    for field in sorted(set(raw) - _PANEL_FIELDS):
        reader.refuse(f"panels.{field}", raw[field], f"possible are {', '.join(sorted(_PANEL_FIELDS))}")
    kind = raw.get("type", "graph")
    if kind not in _TYPES:
        reader.refuse("panels.type", kind, f"possible are {', '.join(_TYPES)}")
    words = title.lower().replace("_", " ")
    panel: Json = {
        "id": place + 1,
        "title": title,
        "type": _TYPES.get(str(kind), "stat"),
        "datasource": {"type": "prometheus", "uid": "prometheus"},
        "gridPos": {"h": 8, "w": 12, "x": 12 * (place % 2), "y": 8 * (place // 2)},
        "targets": [{"refId": "A", "expr": query} for word, query in _QUERIES.items() if word in words][:1],
        "fieldConfig": {"defaults": {}, "overrides": []},
    }
    if remarks := _remarks(raw):
        panel["description"] = remarks
    if "current_value" in raw:
        _with_value(reader, around, panel, raw)
    return panel


def _remarks(raw: Json) -> str:
    told = [f"{label}: {text}" for field, label in _REMARKS.items() if (text := scalar(raw.get(field)))]
    return "; ".join([*([str(raw["description"])] if raw.get("description") else []), *told])


def _with_value(reader: Reader, around: Surroundings, panel: Json, raw: Json) -> None:
    match = _NUMBER.match(scalar(raw["current_value"]) or "")
    if match is None:
        reader.refuse("panels.current_value", raw["current_value"], "want a number, with its unit behind it")
        return
    defaults: Json = {"unit": _UNITS[match[2]]}
    threshold = _NUMBER.search(scalar(raw.get("threshold")) or "")
    if threshold is not None:
        steps = [{"color": "green", "value": None}, {"color": "red", "value": float(threshold[1])}]
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
    panel["fieldConfig"]["defaults"] = defaults
    at = 1000 * moments.seconds_of(around.now)
    panel["snapshotData"] = [
        {
            "refId": "A",
            "fields": [
                {"name": "Time", "type": "time", "values": [at]},
                {"name": "Value", "type": "number", "values": [float(match[1])]},
            ],
        }
    ]
