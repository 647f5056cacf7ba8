"""Traces: ConfigMaps with the document that a tracing system exports of them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world import moments
from oasis_operator.world.entries import scalar
from oasis_operator.world.manifests import Built, Json, Manifest, Surroundings, build_object

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_IDENTIFIER = re.compile(r"[0-9a-f]{6,32}")
_SPAN_FIELDS: Final = frozenset(
    ["service", "operation", "name", "duration_ms", "attributes", "status", "children"]
)
_MAX_DEPTH = 32
_MAX_MILLISECONDS = 86_400_000
_AGE = timedelta(minutes=3)


@dataclass(slots=True)
class _Trace:
    """A trace that is being laid out.

    Attributes:
        identifier: Of the trace.
        service: Of spans that name none.
        spans: As the export has them, parents before children.
        processes: Services by their identifier in the export.
    """

    identifier: str
    service: str
    spans: list[Json] = field(default_factory=list)
    processes: dict[str, str] = field(default_factory=dict)


def build_traces(reader: Reader, around: Surroundings) -> Built:
    """Build the export of a trace from its root span, or of one trace for each of several spans.

    A name that ends in an identifier gives the trace that identifier.
    """
    name = reader.entry.name
    root, spans = reader.take("root_span"), reader.items("spans")
    if root is not None and spans:
        reader.refuse("spans", spans, "contradicts root_span: only one of them is possible")
    roots = [root] if root is not None else spans
    if not roots:
        reader.refuse("root_span", None, "want root_span, or a list of spans")
    start = 1_000_000 * moments.seconds_of(moments.moment_before(around.now, _AGE))
    service = reader.text("service", name)
    traces = []
    for place, item in enumerate(roots):
        trace = _Trace(_identifier(name, place), service)
        _lay_out(reader, trace, item, start, "", 0)
        traces.append(_exported(trace))
    labels = {
        "app.kubernetes.io/component": "tracing",
        "trace-id": _identifier(name, 0),
        **reader.texts("labels"),
    }
    document = json.dumps({"data": traces}, indent=2, ensure_ascii=False)
    body = build_object(
        "v1", "ConfigMap", f"trace-{name}", reader.namespace,
        labels=labels, annotations=reader.texts("annotations"), data={"trace.json": document},
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def _identifier(name: str, place: int) -> str:
    last = name.rpartition("-")[2]
    if place == 0 and _IDENTIFIER.fullmatch(last):
        return last
    return hashlib.sha256(f"trace/{name}/{place}".encode()).hexdigest()[:16]


def _lay_out(reader: Reader, trace: _Trace, item: Any, start: int, parent: str, depth: int) -> float:
    """Add a span and, one after the other in its middle, its children; give its duration in milliseconds."""
    duration = _checked(reader, item, depth)
    if duration is None:
        return 0
    service = scalar(item.get("service")) or trace.service
    identifier = hashlib.sha256(f"{trace.identifier}/{len(trace.spans)}".encode()).hexdigest()[:16]
    process = next((key for key, value in trace.processes.items() if value == service), "")
    if not process:
        process = f"p{len(trace.processes) + 1}"
        trace.processes[process] = service
    trace.spans.append(
        {
            "traceID": trace.identifier,
            "spanID": identifier,
            "operationName": scalar(item.get("operation")) or scalar(item.get("name")) or "",
            "references": _references(trace, parent),
            "startTime": start,
            "duration": int(1000 * duration),
            "tags": _tags(item),
            "logs": [],
            "processID": process,
        }
    )
    children = list(item.get("children") or ())
    lengths = [_duration(child) or 0 for child in children]
    if sum(lengths) > duration:
        reader.refuse("children", sum(lengths), f"more than the {duration:g} ms of the span around them")
    begin = start + int(1000 * max(duration - sum(lengths), 0) / 2)
    for child, length in zip(children, lengths, strict=True):
        _lay_out(reader, trace, child, begin, identifier, depth + 1)
        begin += int(1000 * length)
    return duration


def _checked(reader: Reader, item: Any, depth: int) -> float | None:
    """Give the duration of a span, None after a fault."""
    if not isinstance(item, Mapping) or depth > _MAX_DEPTH:
        reader.refuse("span", item, f"want a mapping, at most {_MAX_DEPTH} deep")
        return None
    unknown = sorted(set(item) - _SPAN_FIELDS)
    for each in unknown:
        reader.refuse(f"span.{each}", item[each], f"possible are {', '.join(sorted(_SPAN_FIELDS))}")
    duration = _duration(item)
    if duration is None:
        reader.refuse(
            "span.duration_ms", item.get("duration_ms"), "want milliseconds, more than none and at most a day"
        )
    if not scalar(item.get("operation")) and not scalar(item.get("name")):
        reader.refuse("span.operation", None, "want an operation or a name")
    if not isinstance(item.get("children") or (), list | tuple):
        reader.refuse("span.children", item["children"], "want a list of spans")
        return None
    return duration


def _duration(item: Any) -> float | None:
    value = item.get("duration_ms") if isinstance(item, Mapping) else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 < value <= _MAX_MILLISECONDS else None


def _references(trace: _Trace, parent: str) -> list[Json]:
    return [{"refType": "CHILD_OF", "traceID": trace.identifier, "spanID": parent}] if parent else []


def _tags(item: Mapping[str, Any]) -> list[Json]:
    attributes = item.get("attributes")
    given = attributes.items() if isinstance(attributes, Mapping) else ()
    tags = [_tag(str(key), value) for key, value in given]
    return [*tags, _tag("error", True)] if scalar(item.get("status")) == "error" else tags


def _tag(key: str, value: object) -> Json:
    kind = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "string"
    return {"key": key, "type": kind, "value": value if kind != "string" else scalar(value) or str(value)}


def _exported(trace: _Trace) -> Json:
    processes = {key: {"serviceName": service, "tags": []} for key, service in trace.processes.items()}
    return {"traceID": trace.identifier, "spans": trace.spans, "processes": processes, "warnings": None}
