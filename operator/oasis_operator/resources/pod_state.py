"""A pod's own account of how it fares, as the few facts that decide a stage.

A container that waits or ended says why in a reason (`ErrImagePull`, `OOMKilled`, ...) and a message; both
are passed on as they are, since they name the remedy better than we could.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_IMAGE_REASONS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
)
_CONFIG_REASONS = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})


@dataclass(frozen=True, slots=True)
class Container:
    """One container.

    Attributes:
        name: Its name.
        running: Whether it runs now.
        ready: Whether it is ready, or has started where it has a startup probe.
        restarts: How often it was restarted.
        waiting: Reason for which it waits, or empty.
        ended: Reason for which it ended, or empty while it has not.
        exit_code: Exit code where it ended, else None.
        message: What was said with the reason, or the termination message.
        image_id: Image as really run, or empty.
    """

    name: str
    running: bool = False
    ready: bool = False
    restarts: int = 0
    waiting: str = ""
    ended: str = ""
    exit_code: int | None = None
    message: str = ""
    image_id: str = ""


@dataclass(frozen=True, slots=True)
class PodState:
    """One pod.

    Attributes:
        uid: Its UID.
        phase: `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
        ip: Its address, or empty.
        node_ip: Address of its node, or empty.
        scheduled: Whether it has a node.
        scheduled_at: Since when, or None.
        deleting: Whether it is being deleted.
        created: Creation time as text.
        disrupted: Whether the cluster says that it takes the pod away.
        reason: The pod's own reason, such as `Evicted`, or why it is not scheduled.
        message: What was said with it.
        containers: Its containers, native sidecars included.
        labels: Its labels.
        ips: All its addresses in canonical form, `ip` included; one of each family in a dual-stack cluster.
    """

    uid: str
    phase: str
    ip: str
    node_ip: str
    scheduled: bool
    scheduled_at: datetime | None
    deleting: bool
    disrupted: bool
    created: str
    reason: str
    message: str
    containers: tuple[Container, ...]
    labels: Mapping[str, str]
    ips: tuple[str, ...] = ()

    def container(self, name: str) -> Container:
        """Return a container; one that the kubelet has not told of yet neither runs nor waits."""
        return next((item for item in self.containers if item.name == name), Container(name))

    @property
    def restarts(self) -> int:
        """Restarts of all containers together."""
        return sum(item.restarts for item in self.containers)

    @property
    def is_over(self) -> bool:
        """Whether no container will run any more."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_lost(self) -> bool:
        """Whether the cluster took it away: eviction, preemption, its deadline or a lost node.

        A kubelet gives a pod that is over a reason of its own only then; where containers ended by
        themselves, they alone have reasons.
        """
        return self.phase == "Unknown" or self.disrupted or (self.is_over and bool(self.reason))

    def image_trouble(self) -> Container | None:
        """Return the container whose image cannot be had, or None."""
        return next((item for item in self.containers if item.waiting in _IMAGE_REASONS), None)

    def config_trouble(self) -> Container | None:
        """Return the container that cannot be created, or None."""
        return next((item for item in self.containers if item.waiting in _CONFIG_REASONS), None)

    def account(self) -> tuple[str, str]:
        """Return the most telling reason and message; both may be empty."""
        for item in self.containers:
            if item.ended and (item.exit_code or item.ended != "Completed"):
                code = "" if item.exit_code is None else f" (exit code {item.exit_code})"
                return item.ended, f"container {item.name}{code}: {item.message}".rstrip(": ")
            if item.waiting and item.waiting not in ("ContainerCreating", "PodInitializing"):
                return item.waiting, f"container {item.name}: {item.message}".rstrip(": ")
        return self.reason, self.message


def pod_state(pod: Mapping[str, Any] | None) -> PodState | None:
    """Return the facts about a pod; None for a pod that does not exist."""
    if pod is None:
        return None
    meta, status = pod["metadata"], pod.get("status") or {}
    told: list[Mapping[str, Any]] = status.get("conditions") or []
    scheduled: Mapping[str, Any] = next((item for item in told if item.get("type") == "PodScheduled"), {})
    taken: Mapping[str, Any] = next((item for item in told if item.get("type") == "DisruptionTarget"), {})
    unscheduled = scheduled.get("status") == "False"
    disrupted = taken.get("status") == "True"
    account = {**(scheduled if unscheduled else {}), **(taken if disrupted else {})}
    statuses = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return PodState(
        uid=meta["uid"],
        phase=status.get("phase") or "Pending",
        ip=status.get("podIP") or "",
        node_ip=status.get("hostIP") or "",
        scheduled=bool((pod.get("spec") or {}).get("nodeName")),
        scheduled_at=None if unscheduled else _time(scheduled.get("lastTransitionTime")),
        deleting="deletionTimestamp" in meta,
        disrupted=disrupted,
        created=meta.get("creationTimestamp") or "",
        reason=status.get("reason") or account.get("reason") or "",
        message=status.get("message") or account.get("message") or "",
        containers=tuple(_container(item) for item in statuses),
        labels=meta.get("labels") or {},
        ips=_addresses(status),
    )


def _addresses(status: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every address that a status tells of, as an API server writes it, without repetitions."""
    told = (status.get("podIP"), *(item.get("ip") for item in status.get("podIPs") or ()))
    return tuple(dict.fromkeys(_canonical(address) for address in told if address))


def _canonical(text: str) -> str:
    """Return the one spelling of an address; a text that is none stays as it is and equals no address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def _container(status: Mapping[str, Any]) -> Container:
    state = status.get("state") or {}
    last = (status.get("lastState") or {}).get("terminated") or {}
    waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
    told = ended or (last if waiting.get("reason") == "CrashLoopBackOff" else {})
    return Container(
        name=status["name"],
        running="running" in state,
        ready=bool(status.get("ready") or status.get("started")),
        restarts=int(status.get("restartCount") or 0),
        waiting=waiting.get("reason") or "",
        ended=(ended.get("reason") or "Error") if ended else "",
        exit_code=told.get("exitCode"),
        message=str(ended.get("message") or waiting.get("message") or last.get("reason") or "")[:4096],
        image_id=status.get("imageID") or "",
    )


def _time(text: str | None) -> datetime | None:
    """Return a time of the API server, or None."""
    return datetime.fromisoformat(text) if text else None
