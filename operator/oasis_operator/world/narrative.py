"""Events and log lines: what a world tells of its past."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from oasis_operator.world import moments
from oasis_operator.world.entries import is_label
from oasis_operator.world.manifests import (
    Built,
    Json,
    LogLines,
    Manifest,
    Surroundings,
    build_object,
)

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_AGE = re.compile(r"\d{1,5}[smhd]")
EVENT_KINDS = {
    "deployment": ("apps/v1", "Deployment", "deployment-controller"),
    "replicaset": ("apps/v1", "ReplicaSet", "replicaset-controller"),
    "statefulset": ("apps/v1", "StatefulSet", "statefulset-controller"),
    "pod": ("v1", "Pod", "kubelet"),
    "service": ("v1", "Service", "service-controller"),
    "ingress": ("networking.k8s.io/v1", "Ingress", "nginx-ingress-controller"),
    "node": ("v1", "Node", "node-controller"),
    "hpa": ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontal-pod-autoscaler"),
    "configmap": ("v1", "ConfigMap", "kubelet"),
    "pvc": ("v1", "PersistentVolumeClaim", "persistentvolume-controller"),
}
_EVENT_FIELDS = frozenset(["type", "reason", "object", "message", "age", "count"])


def build_events(reader: Reader, around: Surroundings) -> Built:
    """Build events of a namespace, which is the entry's name: ``events/default``."""
    namespace = reader.entry.namespace or reader.entry.name or "default"
    built = Built()
    for position, item in enumerate(reader.items("recent")):
        if isinstance(item, Mapping) and {"reason", "object", "message"} <= set(item) <= _EVENT_FIELDS:
            body = _event(reader, around, namespace, dict(item), position)
            built.manifests.append(Manifest(reader.entry.index, body))
        else:
            reader.refuse("recent", item, "want reason, object and message, with type, age and count at will")
    return built


def build_logs(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Keep the log lines of a workload or of one of its containers."""
    lines = reader.items("entries")
    container = reader.text("container")
    if container and not is_label(container):
        reader.refuse("container", container, "want a container's name of at most 63 characters")
    for line in lines:
        if not isinstance(line, str):
            reader.refuse("entries", line, "want a text")
    told = tuple(str(line) for line in lines)
    return Built(logs=[LogLines(reader.entry.name, reader.namespace, told, container)])


def _event(reader: Reader, around: Surroundings, namespace: str, item: Json, position: int) -> Json:
    kind, _, name = str(item["object"]).partition("/")
    api_version, api_kind, component = EVENT_KINDS.get(kind.lower(), ("", "", ""))
    if not api_kind or not name:
        reader.refuse(
            "recent.object", item["object"], f"want kind/name; possible kinds are {', '.join(EVENT_KINDS)}"
        )
    at = _moment(reader, around, item.get("age", "0s"))
    digest = hashlib.sha256(f"{namespace}/{name}/{position}".encode()).hexdigest()[:16]
    return build_object(
        "v1", "Event", f"{name or 'unknown'}.{digest}", namespace,
        type=item.get("type", "Normal"), reason=item["reason"], message=item["message"],
        involvedObject={"apiVersion": api_version, "kind": api_kind, "namespace": namespace, "name": name},
        source={"component": component}, reportingComponent=component, reportingInstance="",
        firstTimestamp=at, lastTimestamp=at, count=item.get("count", 1),
    )  # fmt: skip


def _moment(reader: Reader, around: Surroundings, age: object) -> str:
    found = moments.parse_age(age) if _AGE.fullmatch(str(age)) else None
    if found is None:
        reader.refuse("recent.age", age, "want an age of at most five digits such as 25m")
        return around.now
    return moments.moment_before(around.now, found)
