"""What nodes tell of pods: events about those that are not well, and the logs of their containers."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from oasis_operator.sidecar.probe import moments, symptoms
from oasis_operator.sidecar.probe.api import NODE, Api, gather_all
from oasis_operator.sidecar.probe.stages import FAILURES, is_failing
from oasis_operator.sidecar.probe.symptoms import World
from oasis_operator.world.manifests import Condition, Expectation, Json, build_object
from oasis_operator.world.output import build_output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from oasis_operator.world.plan import Plan

_TEXTS = {
    Condition.IMAGE_PULL: ("BackOff", 'Back-off pulling image "{image}"'),
    Condition.CONFIG_ERROR: ("Failed", "Error: {waiting}"),
    Condition.ERROR: ("Failed", "Error: {waiting}"),
    Condition.DEGRADED: ("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"),
    Condition.UNREADY: ("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"),
    Condition.EVICTED: ("Evicted", FAILURES[Condition.EVICTED].message),
}
#: What nodes do not tell of: that a job's containers failed is told by the job's controller, and that a start
#: takes its time by nobody.
_UNTOLD = frozenset({Condition.FAILED, Condition.ROLLING_UPDATE})
_RESTARTING = ("BackOff", "Back-off restarting failed container {container} in pod {pod}_{namespace}({uid})")


def is_told(expectation: Expectation) -> bool:
    """Tell whether nodes write events about the pods of a failing condition."""
    return is_failing(expectation) and expectation.condition not in _UNTOLD


async def narrate(api: Api, expectations: Sequence[Expectation]) -> None:
    """Write the events of every pod that is not well.

    Raises:
        ApiError: The API server refused one.
        ProviderFault: It did not answer.
    """
    unwell = [item for item in expectations if is_told(item) or item.condition is Condition.DEGRADED]
    if not unwell:
        return
    world = World({"Pod": await api.list("Pod")})
    at = moments.this_second()
    events = [
        build_event(expectation, pod, at)
        for expectation in unwell
        for pod in world.pods_of(expectation)
        if not symptoms.is_ready(pod)
    ]
    await gather_all(*(api.create(event, writer=NODE) for event in events))


def write_output(folder: Path, plan: Plan, *, until: str = "") -> None:
    """Hand what the containers say to the control plane, whose node stub serves it.

    Args:
        folder: What the control plane shares with the probe.
        plan: The plan of the world.
        until: Up to when declared lines were written, RFC 3339; now where empty.

    Raises:
        OSError: The folder cannot be written to.
    """
    draft = folder / "output.json.draft"
    draft.write_text(json.dumps(build_output(plan, until or moments.now())))
    draft.replace(folder / "output.json")


def told_until(folder: Path) -> str:
    """Give up to when the containers' declared lines were written, empty where nothing was handed over yet.

    Raises:
        OSError: The folder cannot be read.
    """
    path = folder / "output.json"
    return str(json.loads(path.read_text())["until"]) if path.exists() else ""


def build_event(expectation: Expectation, pod: Json, at: str) -> Json:
    """Build the event of one pod.

    Args:
        expectation: What is declared of it.
        pod: The pod as it is.
        at: When the event was last seen, RFC 3339 to the second.
    """
    metadata = pod["metadata"]
    state = symptoms.container_state(pod, expectation.container)
    reason, text = _TEXTS.get(expectation.condition, _RESTARTING)
    message = text.format(
        image=state.get("image", ""),
        waiting=state.get("state", {}).get("waiting", {}).get("message", ""),
        container=expectation.container,
        pod=metadata["name"],
        namespace=metadata["namespace"],
        uid=metadata["uid"],
    )
    identifier = hashlib.sha256(f"{metadata['uid']}/{reason}".encode()).hexdigest()[:16]
    node = pod["spec"].get("nodeName", "")
    part = "spec.initContainers" if expectation.condition is Condition.INIT_ERROR else "spec.containers"
    return build_object(
        "v1",
        "Event",
        f"{metadata['name']}.{identifier}",
        metadata["namespace"],
        type="Warning",
        reason=reason,
        message=message,
        count=max(1, 3 * expectation.restarts),
        firstTimestamp=at,
        lastTimestamp=at,
        source={"component": "kubelet", "host": node},
        reportingComponent="kubelet",
        reportingInstance=node,
        involvedObject={
            "apiVersion": "v1",
            "kind": "Pod",
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
            "fieldPath": f"{part}{{{expectation.container}}}",
        },
    )
