"""What is wrong with a run's pods, in the pods' own words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.scenariorun import Stage
from oasis_operator.resources import agent_pod, environment_pod
from oasis_operator.wire.probe import PrepareState
from oasis_operator.wire.release import Expect

if TYPE_CHECKING:
    from oasis_operator.reconcile.scenariorun.observe import Observed
    from oasis_operator.resources.pod_state import PodState
    from oasis_operator.wire.adapter import AdapterState


_NOT_ITS_OWN = frozenset({"ContainerStatusUnknown", "ContainerCannotRun", "StartError"})
"""Ends of a container that the node brought about: it was lost, or never began."""


# Volumes that only the agent writes to, and what its container wrote beside them.
_OWN_DISK = re.compile(r'EmptyDir volume "(tmp|work-[0-9]+)"|[Cc]ontainer agent exceeded its local ephemeral')


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run cannot go on.

    Attributes:
        reason: CamelCase constant.
        message: One sentence.
        pod_reason: The pod's own reason, or empty.
    """

    reason: str
    message: str
    pod_reason: str = ""


def known_reason(text: object, fallback: Reason) -> Reason:
    """Return the reason that a sidecar gave, where it is one of ours."""
    try:
        return Reason(str(text))
    except ValueError:
        return fallback


def world_lost(seen: Observed) -> Failure | None:
    """Return why the environment can serve no more, or None while it can."""
    pod = seen.environment_pod
    if pod is None:
        return Failure(Reason.ENVIRONMENT_FAULT, "the environment pod was deleted by somebody else")
    if pod.deleting:
        return Failure(Reason.ENVIRONMENT_FAULT, "the environment pod is being deleted by somebody else")
    ended = next((item for item in pod.containers if item.ended or item.restarts), None)
    if pod.is_over or pod.is_lost or ended is not None:
        return _told(Reason.ENVIRONMENT_FAULT, "the environment pod ended", pod)
    return None


def waits_for_room(seen: Observed) -> bool:
    """Tell whether the scheduler has said that no node takes a pod of the run."""
    pods = (seen.environment_pod, seen.agent_pod)
    return any(pod and not pod.scheduled and pod.reason and not pod.is_over for pod in pods)


def world_broken(seen: Observed) -> Failure | None:
    """Return why nothing that the environment says can be trusted any more, though its probe can still tell.

    A control plane that ended or was started anew may have lost what it knew. What its log shows stands.
    """
    pod = seen.environment_pod
    lost = world_lost(seen)
    if pod is None or lost is None or pod.deleting or pod.is_over or pod.is_lost:
        return None
    probe = pod.container(environment_pod.PROBE)
    if not probe.running or probe.restarts:
        return None
    control_plane = pod.container(environment_pod.CONTROL_PLANE)
    if not control_plane.restarts:
        return lost
    message = f"the control plane was restarted {control_plane.restarts} times during the run"
    return Failure(Reason.ENVIRONMENT_FAULT, message, lost.pod_reason)


def agent_crash(seen: Observed) -> str | None:
    """Return how the agent's own container ended; None where it runs, or where something else ended it.

    Running out of the memory or the disk that it was given is the agent's own doing like any other end.
    """
    pod = seen.agent_pod
    if pod is None or seen.agent is None or seen.agent.image is None:
        return None
    if _filled_its_disk(pod):
        return "the agent used more disk than it was given (Evicted)"
    if pod.is_lost or pod.deleting:
        return None
    container = pod.container(agent_pod.AGENT)
    if not container.ended or container.ended in _NOT_ITS_OWN:
        return None
    code = "" if container.exit_code is None else f" with exit code {container.exit_code}"
    return f"the agent's container ended{code} ({container.ended})"


def _filled_its_disk(pod: PodState) -> bool:
    """Tell whether a kubelet took the pod away for what its agent wrote, by the kubelet's own words."""
    return pod.is_over and pod.reason == "Evicted" and _OWN_DISK.search(pod.message) is not None


def agent_pod_lost(seen: Observed) -> Failure | None:
    """Return why the agent's pod can serve no more though the agent did not end it, or None."""
    pod = seen.agent_pod
    if pod is None:
        return None
    if pod.deleting:
        return Failure(Reason.ADAPTER_FAULT, "the agent pod is being deleted by somebody else")
    if pod.is_lost or pod.is_over:
        return _told(Reason.ADAPTER_FAULT, "the agent pod ended", pod)
    return None


def isolation_failure(adapter: AdapterState) -> Failure:
    """Return why an adapter did not release its agent."""
    reached = [check.target for check in adapter.isolation if check.expect is Expect.DENY and check.reached]
    if reached:
        names = ", ".join(reached)
        return Failure(Reason.ISOLATION_LOST, f"the sandbox reached what it must not: {names}")
    return Failure(Reason.ADAPTER_FAULT, adapter.message or "the adapter was not released")


def explain(seen: Observed) -> Failure:
    """Return the best explanation of why a stage takes so long."""
    for pod in (seen.environment_pod, seen.agent_pod):
        if pod is None:
            continue
        reason, message = pod.account()
        if reason:
            trouble = pod.image_trouble()
            remedy = "; check the image's name, its registry and the pull secret" if trouble else ""
            return Failure(reason, f"{reason}: {message}{remedy}", reason)
    return Failure("", shown(seen))


def shown(seen: Observed) -> str:
    """Return what is waited for, in a few words."""
    sidecars = seen.sidecars
    told = sidecars.preparation
    adapter = sidecars.adapter
    waits = (
        sidecars.probe_trouble,
        sidecars.unhealthy or "",
        told.message if told is not None and told.status is PrepareState.PREPARING else "",
        sidecars.adapter_trouble,
        f"the adapter is {adapter.phase}" if adapter and seen.stage is Stage.PREPARING else "",
        "" if seen.deny_intact else "the deny policy is not in place",
    )
    return next((text for text in waits if text), f"nothing more is known of stage {seen.stage}")


def note(seen: Observed) -> tuple[str, str] | None:
    """Return what people should know while a stage is waited for; None where all goes its way."""
    for pod in (seen.environment_pod, seen.agent_pod):
        if pod is None:
            continue
        trouble = pod.image_trouble() or pod.config_trouble()
        if trouble is not None:
            return trouble.waiting, f"container {trouble.name} of the run cannot start: {trouble.waiting}"
    return None


def _told(reason: Reason, what: str, pod: PodState) -> Failure:
    """Return a failure with the pod's own account."""
    pod_reason, message = pod.account()
    # A container may end its account with its log, which the pod still has.
    detail = f": {pod_reason} {message.partition(chr(10))[0]}".rstrip() if pod_reason else ""
    return Failure(reason, f"{what}{detail}", pod_reason)
