"""Whether a declared condition is to be seen in the objects of the world."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oasis_operator.sidecar.probe import standing
from oasis_operator.sidecar.probe.stages import FAILURES, owner_kind, owner_pattern
from oasis_operator.world.definitions import APPLICATION, METRIC
from oasis_operator.world.manifests import Condition, Expectation, Json, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_KINDS = {
    Kind.DEPLOYMENT: "Deployment",
    Kind.STATEFULSET: "StatefulSet",
    Kind.DAEMONSET: "DaemonSet",
    Kind.POD: "Pod",
    Kind.JOB: "Job",
    Kind.CLAIM: "PersistentVolumeClaim",
    Kind.INGRESS: "Ingress",
    Kind.SERVICE: "Service",
    Kind.NODE: "Node",
    Kind.AUTOSCALER: "HorizontalPodAutoscaler",
    Kind.APPLICATION: APPLICATION.kind,
    Kind.METRIC: METRIC.kind,
}
#: What must be listed besides, to see the condition of an object.
_BESIDES = {
    **dict.fromkeys((Kind.DEPLOYMENT, Kind.STATEFULSET, Kind.DAEMONSET, Kind.POD, Kind.JOB), "Pod"),
    **dict.fromkeys((Kind.INGRESS, Kind.SERVICE), "EndpointSlice"),
}


@dataclass(frozen=True, slots=True)
class World:
    """The objects that conditions are seen in, by kind.

    Attributes:
        objects: Lists as the API server gives them, by kind.
    """

    objects: Mapping[str, Sequence[Json]] = field(default_factory=dict)

    def find(self, kind: str, namespace: str, name: str) -> Json | None:
        """Find one object."""
        for item in self.objects.get(kind, ()):
            if item["metadata"]["name"] == name and item["metadata"].get("namespace", "") == namespace:
                return item
        return None

    def pods_of(self, expectation: Expectation) -> list[Json]:
        """Give the pods of a workload that are not being deleted, by name."""
        owner, pattern = owner_kind(expectation), re.compile(owner_pattern(expectation))
        found = []
        for pod in self.objects.get("Pod", ()):
            metadata = pod["metadata"]
            if metadata.get("namespace") != expectation.namespace or metadata.get("deletionTimestamp"):
                continue
            owners = metadata.get("ownerReferences", ())
            owned = any(ref["kind"] == owner and pattern.match(ref["name"]) for ref in owners)
            if owned or (owner is None and metadata["name"] == expectation.name):
                found.append(pod)
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of a condition.

    Attributes:
        seen: Whether it is there.
        text: What is there, for a witness or for the message of a failure.
    """

    seen: bool
    text: str


def kinds_of(expectations: Iterable[Expectation]) -> tuple[str, ...]:
    """Give the kinds of objects that must be listed to see these conditions."""
    kinds = {expectation.kind for expectation in expectations}
    return tuple(
        sorted({_KINDS[kind] for kind in kinds} | {_BESIDES[kind] for kind in kinds if kind in _BESIDES})
    )


def observe(expectation: Expectation, world: World) -> Observation:
    """Look for one condition."""
    item = world.find(_KINDS[expectation.kind], expectation.namespace, expectation.name)
    if item is None:
        return Observation(seen=False, text="the object does not exist")
    if expectation.kind in standing.SEEN:
        return Observation(*standing.SEEN[expectation.kind](expectation, item, world.objects))
    return _workload(expectation, item, world.pods_of(expectation))


def _workload(expectation: Expectation, item: Json, pods: Sequence[Json]) -> Observation:
    if expectation.condition is Condition.ROLLING_UPDATE:
        return Observation(*standing.see_rolling_update(expectation, item, pods))
    if len(pods) != (wanted := _wanted(expectation, item)):
        return Observation(seen=False, text=f"{len(pods)} pods of {wanted}")
    if not _is_settled(expectation, item, pods):
        return Observation(seen=False, text="the controller has not yet seen its pods")
    seen = _pods(expectation, pods)
    wrong = [said for said in expectation.statements if standing.condition_status(item, said[0]) != said[1]]
    if wrong:
        return Observation(seen=False, text=f"{seen.text}; condition {wrong[0][0]} is not {wrong[0][1]}")
    return seen


def _wanted(expectation: Expectation, item: Json) -> int:
    if expectation.kind is Kind.DAEMONSET:
        return max(1, int(item.get("status", {}).get("desiredNumberScheduled", 0)))
    return expectation.replicas


def _is_settled(expectation: Expectation, item: Json, pods: Sequence[Json]) -> bool:
    """Tell whether the workload's own status says what its pods say, so that it will not change by itself."""
    if expectation.kind is Kind.POD:
        return True
    status = item.get("status", {})
    if status.get("observedGeneration", 0) < item["metadata"].get("generation", 0):
        return False
    ready = sum(is_ready(pod) for pod in pods)
    counted = status.get("numberReady" if expectation.kind is Kind.DAEMONSET else "readyReplicas", 0)
    total = status.get("currentNumberScheduled" if expectation.kind is Kind.DAEMONSET else "replicas", 0)
    return bool(counted == ready and total == len(pods))


def _pods(expectation: Expectation, pods: Sequence[Json]) -> Observation:
    ready = sum(is_ready(pod) for pod in pods)
    text = f"{ready} of {len(pods)} pods ready"
    match expectation.condition:
        case Condition.RUNNING | Condition.ELEVATED_ERRORS:
            running = all(pod.get("status", {}).get("phase") == "Running" for pod in pods)
            return Observation(ready == len(pods) and running, text)
        case Condition.DEGRADED:
            return Observation(0 < ready < len(pods), text)
        case Condition.UNREADY:
            states = [container_state(pod, expectation.container).get("state", {}) for pod in pods]
            return Observation(not ready and all("running" in state for state in states), text)
        case Condition.EVICTED:
            reasons = [str(pod.get("status", {}).get("reason", "")) for pod in pods]
            return Observation(set(reasons) == {"Evicted"}, f"reason {reasons[0] or 'none'}")
        case Condition.PENDING:
            reasons = [_unschedulable(pod) for pod in pods]
            return Observation(all(reasons), reasons[0] or text)
        case _:
            return _failing(expectation, pods)


def _failing(expectation: Expectation, pods: Sequence[Json]) -> Observation:
    failure = FAILURES[expectation.condition]
    states = [container_state(pod, expectation.container) for pod in pods]
    texts = []
    for state in states:
        waiting = state.get("state", {}).get("waiting", {}).get("reason", "not waiting")
        last = state.get("lastState", {}).get("terminated", {})
        texts.append(
            f"{waiting}, {state.get('restartCount', 0)} restarts"
            + (f", last {last['reason']} ({last['exitCode']})" if last else "")
        )
    seen = all(
        state.get("state", {}).get("waiting", {}).get("reason") == failure.waiting
        and state.get("lastState", {}).get("terminated", {}).get("reason", "") == failure.last
        and state.get("restartCount", 0) >= expectation.restarts
        for state in states
    )
    return Observation(seen, f"container {expectation.container}: {texts[0]} ({len(pods)} pods)")


def is_ready(pod: Json) -> bool:
    """Tell whether a pod has the condition Ready."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def container_state(pod: Json, name: str) -> Json:
    """Give the status of a container or init container, empty where there is none."""
    status = pod.get("status", {})
    for item in (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())):
        if item["name"] == name:
            return dict(item)
    return {}


def _unschedulable(pod: Json) -> str:
    for item in pod.get("status", {}).get("conditions", ()):
        if item["type"] == "PodScheduled" and item["status"] == "False":
            return f"Unschedulable: {item.get('message', '')}"
    return ""
