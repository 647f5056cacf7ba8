"""Namespaces, nodes, quotas, autoscalers and disruption budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from oasis_operator.wire.probe import ZONE_LABEL
from oasis_operator.world.manifests import Built, Json, Manifest, Surroundings, build_object
from oasis_operator.world.nodes import build_node

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_TARGETS = {"deployment": "Deployment", "statefulset": "StatefulSet"}
_CONDITION_FIELDS = frozenset({"type", "status", "reason", "message"})


def build_namespace(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a Namespace; its zone is a label."""
    labels = reader.texts("labels")
    if zone := reader.text("zone"):
        labels[ZONE_LABEL] = zone
    if reader.entry.namespace:
        reader.refuse("namespace", reader.entry.namespace, "a namespace is in no namespace")
    body = build_object(
        "v1", "Namespace", reader.entry.name, None, labels=labels, annotations=reader.texts("annotations")
    )
    return Built([Manifest(reader.entry.index, body)])


def build_node_entry(reader: Reader, around: Surroundings) -> Built:
    """Build a node beside those that the world has anyway."""
    capacity = {"cpu": reader.quantity("allocatable_cpu"), "memory": reader.quantity("allocatable_memory")}
    node = build_node(
        reader.entry.name, 200 + reader.entry.index % 50, around.now,
        {key: value for key, value in capacity.items() if value},
    )  # fmt: skip
    node["metadata"]["labels"].update(reader.texts("labels"))
    node["metadata"]["annotations"] = reader.texts("annotations")
    if reader.flag("unschedulable", default=False):
        node["spec"]["unschedulable"] = True
    if taints := reader.items("taints"):
        node["spec"]["taints"] = taints
    conditions = _conditions(reader)
    node["status"]["conditions"] = [
        {**condition, **conditions.pop(condition["type"], {})} for condition in node["status"]["conditions"]
    ]
    for name, condition in conditions.items():
        reader.refuse("conditions", condition, f"a node has no condition {name}")
    return Built([Manifest(reader.entry.index, node)])


def build_nodes(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Set how many nodes there are and how large each is."""
    amounts = {
        "cpu": reader.quantity("allocatable_cpu_per_node"),
        "memory": reader.quantity("allocatable_memory_per_node"),
    }
    return Built(
        node_count=reader.count("count", 3, low=1, high=50),
        node_allocatable={key: value for key, value in amounts.items() if value},
    )


def build_resourcequota(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a ResourceQuota."""
    body = build_object(
        "v1", "ResourceQuota", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"),
        spec={"hard": reader.texts("hard")},
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def build_limitrange(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a LimitRange."""
    body = build_object(
        "v1", "LimitRange", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"),
        spec={"limits": reader.items("limits")},
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def build_hpa(reader: Reader, around: Surroundings) -> Built:
    """Build an autoscaler by CPU; it holds its bounds, but without metrics it does not scale within them."""
    written = reader.text("target")
    kind, _, name = written.partition("/")
    if kind not in _TARGETS or not name:
        reader.refuse("target", written, "want deployment/name or statefulset/name")
    elif (kind, reader.namespace, name) not in around.names:
        reader.refuse("target", written, f"no such {kind} in namespace {reader.namespace}")
    low = reader.count("min_replicas", 1, low=1) or 1
    high = reader.count("max_replicas", max(10, low), low=1) or 10
    if low > high:
        reader.refuse("min_replicas", low, f"more than max_replicas {high}")
    metric = {"type": "Utilization", "averageUtilization": reader.count("target_cpu_percent", 80, low=1)}
    spec: Json = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": _TARGETS.get(kind, "Deployment"), "name": name},
        "minReplicas": low,
        "maxReplicas": high,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": metric}}],
    }
    body = build_object(
        "autoscaling/v2", "HorizontalPodAutoscaler", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), spec=spec,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def build_pdb(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a PodDisruptionBudget."""
    low, high = reader.take("min_available"), reader.take("max_unavailable")
    if low is not None and high is not None:
        reader.refuse("max_unavailable", high, "contradicts min_available: only one of them is possible")
    target = reader.text("target").partition("/")[2]
    selector = reader.texts("selector") or {"app": target or reader.entry.name}
    spec: Json = {"selector": {"matchLabels": selector}}
    if high is not None:
        spec["maxUnavailable"] = high
    else:
        spec["minAvailable"] = 1 if low is None else low
    body = build_object(
        "policy/v1", "PodDisruptionBudget", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), spec=spec,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def _conditions(reader: Reader) -> dict[str, Json]:
    result: dict[str, Json] = {}
    for item in reader.items("conditions"):
        if isinstance(item, Mapping) and {"type", "status"} <= set(item) <= _CONDITION_FIELDS:
            result[str(item["type"])] = {**item, "status": str(item["status"])}
        else:
            reader.refuse("conditions", item, "want type and status, with reason and message at will")
    for field, name in (("memory_pressure", "MemoryPressure"), ("disk_pressure", "DiskPressure")):
        pressure = reader.flag(field)
        if pressure is not None:
            result[name] = {"type": name, "status": "True" if pressure else "False"}
    return result
