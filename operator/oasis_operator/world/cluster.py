"""Namespaces, nodes and quotas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from oasis_operator.wire.probe import ZONE_LABEL
from oasis_operator.world.entries import is_quantity
from oasis_operator.world.manifests import (
    Built,
    Condition,
    Expectation,
    Json,
    Kind,
    Manifest,
    Surroundings,
    Usage,
    build_object,
)
from oasis_operator.world.nodes import TROUBLES, build_node, build_trouble_event
from oasis_operator.world.usage import read_usage

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_CONDITION_FIELDS: Final = frozenset({"type", "status", "reason", "message"})
#: What a node has of it where little is left.
_LOW: Final = {"cpu": "500m", "memory": "1Gi"}


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
    troubled = [name for name, condition in conditions.items() if condition["status"] == _TROUBLED.get(name)]
    node["status"]["conditions"] = [
        {**condition, **conditions.pop(condition["type"], {})} for condition in node["status"]["conditions"]
    ]
    for name, condition in conditions.items():
        reader.refuse("conditions", condition, f"a node has no condition {name}")
    built = Built([Manifest(reader.entry.index, node)], usage=read_usage(reader, "node", ""))
    for name in troubled:
        event = build_trouble_event(reader.entry.name, name, around.now)
        built.manifests.append(Manifest(reader.entry.index, event))
        built.expectations.append(
            Expectation(Kind.NODE, "", reader.entry.name, Condition.UNDER_PRESSURE, message=name)
        )
    return built


def build_nodes(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Set how many nodes there are, how large each is, and how much of that is in use."""
    amounts = {part: _amount(reader, part) for part in ("cpu", "memory")}
    used = reader.text("current_utilization")
    if used and not used.endswith("%"):
        reader.refuse("current_utilization", used, "want a share such as 60%")
    return Built(
        node_count=reader.count("count", 3, low=1, high=50),
        node_allocatable={key: value for key, value in amounts.items() if value},
        usage=[Usage("node", "", "", used, used)] if used else [],
    )


def _amount(reader: Reader, part: str) -> str | None:
    """Take how much each node has of something: an amount, or that it is little."""
    exact, rough = reader.quantity(f"allocatable_{part}_per_node"), reader.text(f"allocatable_{part}")
    if rough and exact:
        reader.refuse(f"allocatable_{part}", rough, f"contradicts allocatable_{part}_per_node {exact}")
    if not rough or rough == "low":
        return _LOW[part] if rough else exact
    if not is_quantity(rough):
        reader.refuse(f"allocatable_{part}", rough, "want low, or an amount such as 500m or 8Gi")
    return rough


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


_PRESSURES: Final = {
    "memory_pressure": "MemoryPressure",
    "disk_pressure": "DiskPressure",
    "pid_pressure": "PIDPressure",
}
#: The status of each condition of a node that means trouble.
_TROUBLED: Final = {name: "False" if name == "Ready" else "True" for name in TROUBLES}


def _conditions(reader: Reader) -> dict[str, Json]:
    """Take the conditions that differ from those of a node that is well, with words for those in trouble."""
    result: dict[str, Json] = {}
    for item in reader.items("conditions"):
        if isinstance(item, Mapping) and {"type", "status"} <= set(item) <= _CONDITION_FIELDS:
            result[str(item["type"])] = {**item, "status": str(item["status"])}
        else:
            reader.refuse("conditions", item, "want type and status, with reason and message at will")
    for field, name in _PRESSURES.items():
        pressure = reader.flag(field)
        if pressure is not None:
            result[name] = {"type": name, "status": "True" if pressure else "False"}
    for name, condition in result.items():
        if condition["status"] == _TROUBLED.get(name):
            reason, message, _ = TROUBLES[name]
            result[name] = {"reason": reason, "message": message, **condition}
    return result
