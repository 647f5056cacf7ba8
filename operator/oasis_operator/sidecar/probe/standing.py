"""What is seen of objects other than workloads, from their own status and from what belongs to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from oasis_operator.world.manifests import Condition, Expectation, Json, Kind

#: Whether the condition is there, and what is there.
Seen = tuple[bool, str]
Objects = Mapping[str, Sequence[Json]]
_TAINTS = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "Ready": "node.kubernetes.io/not-ready",
}


def condition_status(item: Json, kind: str) -> str:
    """Give the status of one of an object's conditions, empty where it has none of that type."""
    for condition in item.get("status", {}).get("conditions", ()):
        if condition["type"] == kind:
            return str(condition["status"])
    return ""


def see_rolling_update(expectation: Expectation, item: Json, pods: Sequence[Json]) -> Seen:
    """Tell whether some replicas are of the new revision and some are not yet."""
    status, wanted = item.get("status", {}), expectation.replicas
    updated, total = int(status.get("updatedReplicas", 0)), int(status.get("replicas", 0))
    current = status.get("observedGeneration", 0) >= item["metadata"].get("generation", 0)
    going_on = current and 0 < updated < wanted and total > updated and len(pods) == total
    return going_on, f"{updated} of {wanted} replicas updated, {total} in all"


def _see_claim(expectation: Expectation, item: Json, _: Objects) -> Seen:
    phase = str(item.get("status", {}).get("phase", "Pending"))
    volume = item.get("spec", {}).get("volumeName", "")
    wanted = "Bound" if expectation.condition is Condition.BOUND else "Pending"
    return phase == wanted, f"phase {phase}" + (f", volume {volume}" if volume else "")


def _see_job(expectation: Expectation, item: Json, _: Objects) -> Seen:
    status = item.get("status", {})
    done, failed = int(status.get("succeeded", 0)), int(status.get("failed", 0))
    if expectation.condition is Condition.FAILED:
        return condition_status(item, "Failed") == "True", f"{failed} pods failed"
    return done >= 1, f"{done} pods succeeded"


def _see_endpoints(expectation: Expectation, _: Json, objects: Objects) -> Seen:
    """Tell whether a Service has no ready endpoints, once its controller has looked at its pods."""
    slices = [
        each
        for each in objects.get("EndpointSlice", ())
        if each["metadata"].get("namespace") == expectation.namespace
        and each["metadata"].get("labels", {}).get("kubernetes.io/service-name") == expectation.message
    ]
    ready = sum(
        len(endpoint.get("addresses", ()))
        for each in slices
        for endpoint in each.get("endpoints") or ()
        if endpoint.get("conditions", {}).get("ready")
    )
    return bool(slices) and not ready, f"service {expectation.message} has {ready} ready endpoints"


def _see_node(expectation: Expectation, item: Json, _: Objects) -> Seen:
    kind = expectation.message
    status = condition_status(item, kind)
    taints = [taint["key"] for taint in item["spec"].get("taints", ())]
    troubled = status == ("False" if kind == "Ready" else "True")
    return troubled and _TAINTS[kind] in taints, f"{kind}={status}, taints {', '.join(taints) or 'none'}"


def _see_autoscaler(expectation: Expectation, item: Json, _: Objects) -> Seen:
    """Tell whether an autoscaler's own measurement asks for the declared number of replicas."""
    status, spec = item.get("status", {}), item["spec"]
    current = int(status.get("currentReplicas", 0))
    measured = [
        each["resource"]["current"].get("averageUtilization", 0)
        for each in status.get("currentMetrics") or ()
        if each.get("resource", {}).get("name") == "cpu"
    ]
    share = spec["metrics"][0]["resource"]["target"]["averageUtilization"]
    wanted = math.ceil(current * measured[0] / share) if measured else 0
    text = (
        f"{current} replicas, {measured[0] if measured else 'unknown'}% of {share}%, which asks for {wanted}"
    )
    return current == expectation.replicas and str(wanted) == expectation.message, text


def _see_application(expectation: Expectation, item: Json, _: Objects) -> Seen:
    status = item.get("status", {})
    sync, health = (str(status.get(part, {}).get("status", "")) for part in ("sync", "health"))
    return sync == expectation.message, f"{sync or 'no sync status'}, {health or 'no health status'}"


def _see_metric(expectation: Expectation, item: Json, _: Objects) -> Seen:
    value = str(item.get("status", {}).get("value", ""))
    return value == expectation.message, f"value {value or 'none'}"


#: How the condition of an object is seen, by kind.
SEEN: Mapping[Kind, Callable[[Expectation, Json, Objects], Seen]] = {
    Kind.CLAIM: _see_claim,
    Kind.JOB: _see_job,
    Kind.SERVICE: _see_endpoints,
    Kind.INGRESS: _see_endpoints,
    Kind.NODE: _see_node,
    Kind.AUTOSCALER: _see_autoscaler,
    Kind.APPLICATION: _see_application,
    Kind.METRIC: _see_metric,
}
