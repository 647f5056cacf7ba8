"""What the preflight's pods show: whether isolation holds on this cluster, and whether the agent is there.

Each deny is tried twice: by a control pod that no policy selects and must reach it, and by a canary that the
policies select and must not. Only both together prove something.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from oasis_operator.resources import agent_pod, reach_pod

if TYPE_CHECKING:
    from oasis_operator.resources.access import Reach
    from oasis_operator.resources.pod_state import PodState
    from oasis_operator.settings import Settings
    from oasis_operator.wire.adapter import AdapterState

ROUNDS = 3
"""How often the canary is tried, since a policy may lag behind a pod's start."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The environment of a self-test.

    Attributes:
        pod: Its pod, None where there is none.
        has_secret: Whether its Secret exists.
        reach: How its probe is reached, None where it is not yet.
    """

    pod: PodState | None = None
    has_secret: bool = False
    reach: Reach | None = None

    @property
    def is_gone(self) -> bool:
        """Whether nothing of it is left that must be deleted."""
        return not self.has_secret and (self.pod is None or self.pod.deleting)


@dataclass(frozen=True, slots=True)
class Preflight:
    """The pods that check isolation and identity; None for those that do not exist.

    Attributes:
        control: The control pod.
        canaries: The canary of each round, from the first.
        identity: The identity pod.
        adapter: What the identity pod's adapter says.
        access: How that adapter is reached.
        has_secret: Whether the identity pod's Secret exists.
        trial: The environment of the self-test.
    """

    control: PodState | None = None
    canaries: tuple[PodState | None, ...] = (None,) * ROUNDS
    identity: PodState | None = None
    adapter: AdapterState | None = None
    access: Reach | None = None
    has_secret: bool = False
    trial: Trial = field(default_factory=Trial)


class Proof(StrEnum):
    """Whether isolation is proven."""

    PENDING = "pending"
    HOLDS = "holds"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Isolation:
    """What the two kinds of pods show together.

    Attributes:
        proof: Whether isolation is proven.
        message: What was seen, or what is waited for.
        canary_round: Round whose canary must be made now, or None.
        needs_control: Whether the control pod must be made now.
    """

    proof: Proof
    message: str
    canary_round: int | None = None
    needs_control: bool = False


def judge_isolation(found: Preflight, settings: Settings) -> Isolation:
    """Return what the pods show so far."""
    targets = reach_pod.denied_targets(settings, "node")
    unknown = [item.name for item in targets if not item.host]
    if unknown:
        return Isolation(Proof.BROKEN, f"the operator does not know the address of: {', '.join(unknown)}")
    expected = tuple(item.name for item in targets)
    control = _told(found.control, expected)
    if isinstance(control, Isolation):
        return control
    if control is not None and control.blocked:
        blocked = ", ".join(control.blocked)
        message = f"without any policy a pod does not reach {blocked}, so that a block would prove nothing"
        return Isolation(Proof.BROKEN, message)
    return _judge_canaries(found, expected, is_control_done=control is not None)


def _judge_canaries(found: Preflight, expected: tuple[str, ...], *, is_control_done: bool) -> Isolation:
    """Look at the canaries in order; a later round is tried only where an earlier one got through."""
    needs_control = found.control is None
    reached = ""
    for number, pod in enumerate(found.canaries):
        canary = _told(pod, expected)
        if isinstance(canary, Isolation):
            return canary
        if canary is None:
            waits = None if pod is not None else number
            return Isolation(Proof.PENDING, "the isolation is being tried", waits, needs_control)
        if not canary.reached:
            if not is_control_done:
                return Isolation(Proof.PENDING, "the control is being tried", None, needs_control)
            message = f"{', '.join(expected)}: reached without the policies and blocked by them"
            return Isolation(Proof.HOLDS, message)
        reached = ", ".join(canary.reached)
    message = f"a sandboxed pod reaches {reached}: the cluster's network does not enforce NetworkPolicy"
    return Isolation(Proof.BROKEN, message)


def _told(pod: PodState | None, expected: tuple[str, ...]) -> reach_pod.Reached | Isolation | None:
    """Return what a pod found; an Isolation where it ended without telling; None while it goes on."""
    if pod is None or not pod.is_over:
        return None
    message = pod.container(reach_pod.CONTAINER).message
    reached = reach_pod.parse_reach(message, expected)
    if reached is not None:
        return reached
    reason, detail = pod.account()
    why = f"{reason} {detail}".strip() or message[:200] or "no result"
    return Isolation(Proof.BROKEN, f"a reachability pod ended without telling what it reached: {why}")


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a preflight pod does not get anywhere.

    Attributes:
        reason: The pod's own reason, or one of ours.
        message: What a person should read, with the remedy where it is known.
        is_final: Whether waiting cannot help.
    """

    reason: str
    message: str
    is_final: bool


def trouble_of(pods: tuple[PodState | None, ...], now: datetime, limit_seconds: float) -> Trouble | None:
    """Return what holds the pods up; final once they have had a node for `limit_seconds`."""
    for pod in pods:
        if pod is None or pod.is_over:
            continue
        since = pod.scheduled_at or (datetime.fromisoformat(pod.created) if pod.created else now)
        late = (now - since).total_seconds() >= limit_seconds
        reason, message = pod.account()
        image = pod.image_trouble()
        if image is not None:
            message = f"{message}; check the image's name, its registry and the pull secret"
        if late:
            return Trouble(reason or "NotReady", message or "the pod is not ready in time", is_final=True)
        if reason:
            return Trouble(reason, message, is_final=False)
    return None


def agent_ended(pod: PodState | None) -> str:
    """Return how the agent's container ended in its identity pod, or an empty text while it has not."""
    container = pod.container(agent_pod.AGENT) if pod else None
    if container is None or not container.ended:
        return ""
    code = "" if container.exit_code is None else f" with exit code {container.exit_code}"
    return f"the agent's container ended{code} ({container.ended}) before it was asked anything"
