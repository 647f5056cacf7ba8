"""Use of CPU, memory and disk by nodes and containers, as counters and gauges of their agents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world.definitions import NODE_USAGE, POD_USAGE
from oasis_operator.world.monitoring.series import HISTORY, Curve, Series, Shape, constant, labelled
from oasis_operator.world.series import parse_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oasis_operator.world.manifests import Json
    from oasis_operator.world.monitoring.measured import Workload

_CPUS: Final = 4
_DISK_BYTES: Final = 83_873_772 * 1024
#: How far the first node is above what all use on average, and the last one below.
_SPREAD: Final = 0.04
_MEMORY: Final = "container_memory_working_set_bytes"
_CPU: Final = "container_cpu_usage_seconds_total"


@dataclass(frozen=True, slots=True)
class Shares:
    """What dashboards or alerts tell of all nodes, as shares; None where nothing is told.

    Attributes:
        cpu: Of their CPUs, on average.
        memory: Of their memory, together.
        disk: Of the fullest file system.
    """

    cpu: float | None = None
    memory: float | None = None
    disk: float | None = None


@dataclass(slots=True)
class Lives:
    """When pods were first seen, and since when they are gone."""

    first: dict[tuple[str, str], float] = field(default_factory=dict)
    last: dict[tuple[str, str], float] = field(default_factory=dict)
    pods: dict[tuple[str, str], Json] = field(default_factory=dict)

    def take_in(self, pods: Sequence[Json], begin: float, at: float) -> None:
        """Look at the pods as they are; new ones count from ``begin``."""
        present = {_name(pod): pod for pod in pods}
        for key, pod in present.items():
            self.first.setdefault(key, begin)
            self.last.pop(key, None)
            self.pods[key] = pod
        for key in self.pods.keys() - present.keys():
            self.last.setdefault(key, at)


def build_nodes(objects: Mapping[str, Sequence[Json]], shares: Shares, now: float) -> Iterator[Series]:
    """Build what the exporter on each node tells."""
    begin = now - HISTORY
    nodes = objects.get("Node", ())
    measured = {each["metadata"]["name"]: each["usage"] for each in objects.get(NODE_USAGE.kind, ())}
    for place, node in enumerate(nodes):
        name, whole = node["metadata"]["name"], node.get("status", {}).get("capacity", {})
        usage, lean = measured.get(name, {}), _lean(place, len(nodes))
        memory = float(parse_value(whole.get("memory")) or 16 * 2**30)
        cpus = max(1, min(_CPUS, int(float(parse_value(whole.get("cpu")) or _CPUS))))
        cpu_share = _told(shares.cpu, lean) or _used(usage.get("cpu"), cpus) or 0.12 + _chance(name, 18) / 100
        memory_share = (
            _told(shares.memory, lean) or _used(usage.get("memory"), memory) or 0.3 + _chance(name, 18) / 100
        )
        disk = (
            shares.disk if shares.disk is not None and place == 0 else 0.31 + _chance(f"disk/{name}", 9) / 100
        )
        labels = {"job": "node-exporter", "instance": f"{_address(node)}:9100", "node": name}
        for cpu in range(cpus):
            modes = {"idle": 1 - cpu_share, "user": 0.72 * cpu_share, "system": 0.28 * cpu_share}
            for mode, rate in modes.items():
                own = {**labels, "cpu": str(cpu), "mode": mode}
                curve = constant(rate, begin)
                yield Series("node_cpu_seconds_total", labelled(own), Shape.COUNT, curve, begin)
        files = {**labels, "mountpoint": "/", "fstype": "ext4", "device": "/dev/nvme0n1p1"}
        for metric, own, value in (
            ("node_memory_MemTotal_bytes", labels, memory),
            ("node_memory_MemAvailable_bytes", labels, memory * (1 - memory_share)),
            ("node_filesystem_size_bytes", files, _DISK_BYTES),
            ("node_filesystem_avail_bytes", files, _DISK_BYTES * (1 - disk)),
            ("up", {key: labels[key] for key in ("job", "instance", "node")}, 1.0),
        ):
            yield Series(metric, labelled(own), Shape.LINE, constant(round(value), begin), begin)


def build_containers(
    objects: Mapping[str, Sequence[Json]],
    lives: Lives,
    workloads: Sequence[Workload],
    pressed: Mapping[tuple[str, str], tuple[str, Curve]],
    now: float,
) -> Iterator[Series]:
    """Build what the agents of the nodes tell of containers.

    Args:
        objects: The objects of the world, by kind.
        lives: Pods, those that are gone included.
        workloads: What is declared of workloads.
        pressed: Curves that an alert is about, by pod: the metric and its curve.
        now: The moment of the preparation.
    """
    measured = {_name(each): each["containers"] for each in objects.get(POD_USAGE.kind, ())}
    for key, pod in lives.pods.items():
        workload = next((each for each in workloads if _is_of(each, pod)), None)
        begin, until = lives.first[key], lives.last.get(key)
        usage = {each["name"]: each["usage"] for each in measured.get(key, ())}
        for place, container in enumerate(pod["spec"]["containers"]):
            own = {**_labels(*key), "container": container["name"], "node": pod["spec"].get("nodeName", "")}
            curves = _usual(f"{key}/{container['name']}", usage.get(container["name"], {}), begin)
            if place == 0 and workload is not None:
                curves.update(_declared(workload, key, lives))
            if place == 0 and key in pressed:
                curves.update([pressed[key]])
            for metric, curve in curves.items():
                shape = Shape.COUNT if metric == _CPU else Shape.LINE
                first = min(begin, curve[0][0])
                yield Series(metric, labelled(own), shape, curve, first, until)
        if workload is not None and workload.killed is not None and until is None:
            own = {**_labels(*key), "container": pod["spec"]["containers"][0]["name"]}
            curve = constant(1, workload.killed)
            yield Series(
                "container_oom_events_total", labelled(own), Shape.STEP, curve, now - HISTORY,
                workload.killed, lapses=True,
            )  # fmt: skip
    yield from _without_pods(lives, workloads, now)


def _without_pods(lives: Lives, workloads: Sequence[Workload], now: float) -> Iterator[Series]:
    """Give what is declared of containers of which there is no pod."""
    for workload in workloads:
        if any(_is_of(workload, pod) for pod in lives.pods.values()):
            continue
        own = {**_labels(workload.namespace, f"{workload.name}-0"), "container": workload.name}
        for metric, curve in _declared(workload, ("", ""), Lives()).items():
            yield Series(metric, labelled(own), Shape.LINE, curve, min(now - HISTORY, curve[0][0]))
        if workload.killed is not None:
            yield Series(
                "container_oom_events_total", labelled(own), Shape.STEP, constant(1, workload.killed),
                now - HISTORY, workload.killed, lapses=True,
            )  # fmt: skip


def _declared(workload: Workload, key: tuple[str, str], lives: Lives) -> dict[str, Curve]:
    """Give what is declared of a workload's fullest container; other pods of it have a little less."""
    curves = {metric: curve for metric, curve in workload.selected.items() if is_of_containers(metric)}
    if "memory-working-set" in workload.curves:
        curves[_MEMORY] = workload.curves["memory-working-set"]
    own = sorted(each for each, pod in lives.pods.items() if _is_of(workload, pod) and each not in lives.last)
    if own and key != own[0]:
        curves = {name: tuple((at, 0.93 * value) for at, value in curve) for name, curve in curves.items()}
    return curves


def is_of_containers(metric: str) -> bool:
    """Tell whether a metric is one of containers, rather than of the program that runs in them."""
    return metric.startswith(("container_", "kube_pod_"))


def _usual(seed: str, usage: Mapping[str, Any], begin: float) -> dict[str, Curve]:
    cpu = _number(usage.get("cpu")) or (4 + _chance(f"cpu/{seed}", 30)) / 1000
    memory = _number(usage.get("memory")) or (48 + _chance(f"memory/{seed}", 80)) * 2.0**20
    return {_CPU: constant(cpu, begin), _MEMORY: constant(memory, begin)}


def _labels(namespace: str, pod: str) -> dict[str, str]:
    return {"job": "kubelet", "metrics_path": "/metrics/cadvisor", "namespace": namespace, "pod": pod}


def _is_of(workload: Workload, pod: Json) -> bool:
    """Tell whether a pod is one of a workload: by its label, since names of workloads begin alike."""
    namespace, name = _name(pod)
    app = pod["metadata"].get("labels", {}).get("app")
    own = app == workload.name if app else name.startswith(f"{workload.name}-")
    return namespace == workload.namespace and (name == workload.name or own)


def _name(item: Json) -> tuple[str, str]:
    return str(item["metadata"]["namespace"]), str(item["metadata"]["name"])


def _address(node: Json) -> str:
    addresses = node.get("status", {}).get("addresses", ())
    found = [each["address"] for each in addresses if each["type"] == "InternalIP"]
    return str((*found, node["metadata"]["name"])[0])


def _lean(place: int, count: int) -> float:
    if count < 2 or place not in (0, count - 1):
        return 0.0
    return _SPREAD if place == 0 else -_SPREAD


def _told(share: float | None, lean: float) -> float | None:
    # Above this the fullest node would have more than there is.
    return None if share is None else share * (1 + (lean if share * (1 + _SPREAD) < 1 else 0))


def _used(amount: object, whole: float) -> float | None:
    value = _number(amount)
    return None if value is None else value / whole


def _number(amount: object) -> float | None:
    value = parse_value(amount)
    return None if value is None else float(value)


def _chance(seed: str, below: int) -> int:
    return hashlib.sha256(f"monitoring/{seed}".encode()).digest()[0] % below
