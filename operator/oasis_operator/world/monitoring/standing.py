"""What the objects of a cluster are, as metrics: those that people know of kube-state-metrics.

A snapshot holds the values of a moment; a record of snapshots makes series of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from oasis_operator.world.monitoring.series import Labels, Series, Shape, labelled
from oasis_operator.world.series import parse_value

if TYPE_CHECKING:
    from oasis_operator.world.manifests import Json

Key = tuple[str, Labels]
_JOB: Final = {"job": "kube-state-metrics"}
_PHASES: Final = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
_UNITS: Final = {"cpu": "core", "memory": "byte", "ephemeral-storage": "byte"}


@dataclass(slots=True)
class Record:
    """The values that series have had, by name and labels."""

    begun: dict[Key, float] = field(default_factory=dict)
    points: dict[Key, list[tuple[float, float]]] = field(default_factory=dict)
    ended: dict[Key, float] = field(default_factory=dict)

    def take_in(self, snapshot: Mapping[Key, float], begin: float, at: float) -> None:
        """Add a snapshot.

        Args:
            snapshot: The values as they are.
            begin: Since when what is new has been so.
            at: When the snapshot was taken.
        """
        for key, value in snapshot.items():
            known = self.points.get(key)
            if known is None:
                self.begun[key], self.points[key] = begin, [(begin, value)]
            elif known[-1][1] != value:
                known.append((at, value))
            self.ended.pop(key, None)
        for key in self.points.keys() - snapshot.keys():
            self.ended.setdefault(key, at)

    def series(self) -> Iterator[Series]:
        """Give the series."""
        for (name, labels), points in self.points.items():
            key = (name, labels)
            yield Series(name, labels, Shape.STEP, tuple(points), self.begun[key], self.ended.get(key))


def take_snapshot(objects: Mapping[str, Sequence[Json]]) -> dict[Key, float]:
    """Give the values of a moment from Pods, Deployments and Nodes as the API server lists them."""
    found: dict[Key, float] = {}
    for kind, describe in (("Pod", _pod), ("Deployment", _deployment), ("Node", _node)):
        for item in objects.get(kind, ()):
            for name, labels, value in describe(item):
                found[name, labelled({**_JOB, **labels})] = float(value)
    return found


Told = Iterator[tuple[str, dict[str, str], float]]


def _pod(pod: Json) -> Told:
    metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
    own = {"namespace": metadata["namespace"], "pod": metadata["name"]}
    owner: Json = next(iter(metadata.get("ownerReferences", ())), {})
    about = {"node": spec.get("nodeName", ""), "pod_ip": status.get("podIP", "")}
    yield (
        "kube_pod_info",
        {**own, **about, "created_by_kind": owner.get("kind", ""), "created_by_name": owner.get("name", "")},
        1,
    )
    for phase in _PHASES:
        yield "kube_pod_status_phase", {**own, "phase": phase}, status.get("phase") == phase
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", ()))
    for said in ("true", "false"):
        yield "kube_pod_status_ready", {**own, "condition": said}, (said == "true") == ready
    for each in status.get("containerStatuses", ()):
        yield from _container(each, {**own, "container": each["name"]})
    for each in spec["containers"]:
        for part in ("limits", "requests"):
            for resource, amount in each.get("resources", {}).get(part, {}).items():
                value = parse_value(amount)
                if value is not None:
                    labels = {**own, "container": each["name"], "node": spec.get("nodeName", "")}
                    unit = {"resource": resource.replace("-", "_"), "unit": _UNITS.get(resource, "integer")}
                    yield f"kube_pod_container_resource_{part}", {**labels, **unit}, float(value)


def _container(status: Json, own: dict[str, str]) -> Told:
    yield "kube_pod_container_status_ready", own, bool(status.get("ready"))
    yield "kube_pod_container_status_restarts_total", own, status.get("restartCount", 0)
    state = status.get("state", {})
    yield "kube_pod_container_status_running", own, "running" in state
    yield "kube_pod_container_status_waiting", own, "waiting" in state
    if reason := state.get("waiting", {}).get("reason"):
        yield "kube_pod_container_status_waiting_reason", {**own, "reason": reason}, 1
    last = status.get("lastState", {}).get("terminated", {})
    if last.get("reason"):
        labels = {**own, "reason": last["reason"]}
        yield "kube_pod_container_status_last_terminated_reason", labels, 1
        yield "kube_pod_container_status_last_terminated_exitcode", own, last.get("exitCode", 0)


def _deployment(item: Json) -> Told:
    own = {"namespace": item["metadata"]["namespace"], "deployment": item["metadata"]["name"]}
    status = item.get("status", {})
    yield "kube_deployment_spec_replicas", own, item["spec"].get("replicas", 1)
    for part in ("replicas", "availableReplicas", "unavailableReplicas", "updatedReplicas", "readyReplicas"):
        suffix = "" if part == "replicas" else "_" + part.removesuffix("Replicas")
        yield f"kube_deployment_status_replicas{suffix}", own, status.get(part, 0)


def _node(node: Json) -> Told:
    own = {"node": node["metadata"]["name"]}
    info = node.get("status", {}).get("nodeInfo", {})
    yield "kube_node_info", {**own, "kubelet_version": info.get("kubeletVersion", "")}, 1
    yield "kube_node_spec_unschedulable", own, bool(node.get("spec", {}).get("unschedulable"))
    for each in node.get("status", {}).get("conditions", ()):
        for said in ("true", "false", "unknown"):
            labels = {**own, "condition": each["type"], "status": said}
            yield "kube_node_status_condition", labels, each["status"].lower() == said
