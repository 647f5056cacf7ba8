"""Dashboards as Grafana has them, and what their panels say of nodes and requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from oasis_operator.world.monitoring.machines import Shares
from oasis_operator.world.monitoring.measured import Workload
from oasis_operator.world.monitoring.series import RATE_HOLD, draw
from oasis_operator.world.monitoring.tools import DASHBOARD_LABEL, TRACE_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oasis_operator.world.manifests import Json

#: The program that counts requests of which a dashboard only knows the sum.
_ENTRANCE = "ingress-gateway"


def read_dashboards(config_maps: Sequence[Json]) -> tuple[Json, ...]:
    """Give the dashboards that ConfigMaps carry, as the file has them; what cannot be read is none."""
    found = []
    for item in config_maps:
        if DASHBOARD_LABEL not in item["metadata"].get("labels", {}):
            continue
        for name, text in sorted(item.get("data", {}).items()):
            document = _parsed(text)
            if name.endswith(".json") and isinstance(document, dict) and document.get("uid"):
                found.append({"folder": name, "document": document})
    return tuple(found)


def read_traces(config_maps: Sequence[Json]) -> tuple[Json, ...]:
    """Give the traces that ConfigMaps carry, as a tracing system exports them."""
    found: list[Json] = []
    for item in config_maps:
        document = _parsed(item.get("data", {}).get(TRACE_KEY, ""))
        traces = document.get("data") if isinstance(document, dict) else None
        found += [each for each in traces or () if isinstance(each, dict) and each.get("traceID")]
    return tuple(found)


def read_shares(dashboards: Sequence[Json]) -> Shares:
    """Give what panels say of the nodes."""
    found: dict[str, float] = {}
    for query, value in _values(dashboards):
        for part, metric in (("cpu", "node_cpu_"), ("memory", "node_memory_"), ("disk", "node_filesystem_")):
            if metric in query:
                found[part] = value / 100
    return Shares(**found)


def read_entrance(dashboards: Sequence[Json], namespace: str, now: float) -> Workload | None:
    """Give what panels say of all requests, as those of one program; None where they say nothing."""
    entrance = Workload(namespace, _ENTRANCE)
    for query, value in _values(dashboards):
        if "http_requests_total" in query:
            part, scale = ("error-rate", 100) if 'code=~"5.."' in query else ("request-rate", 1)
            entrance.curves[part] = draw([(now, value / scale)], hold=RATE_HOLD)
    return entrance if entrance.curves else None


def _values(dashboards: Sequence[Json]) -> Iterator[tuple[str, float]]:
    """Yield the queries of panels with the values that they were seen with."""
    for each in dashboards:
        for panel in each["document"].get("panels", ()):
            query = next((one.get("expr", "") for one in panel.get("targets", ())), "")
            for frame in panel.get("snapshotData", ()):
                fields: Sequence[Mapping[str, Any]] = frame.get("fields", ())
                values = [one["values"] for one in fields if one.get("type") == "number"]
                if query and values and values[0]:
                    yield query, float(values[0][-1])


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
