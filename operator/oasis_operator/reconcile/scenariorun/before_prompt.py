"""Checks of the stages before the prompt: a world is made, prepared and fenced, and the agent let in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api.conditions import Reason
from oasis_operator.reconcile.scenariorun import actions, plans, troubles
from oasis_operator.reconcile.scenariorun.actions import Plan
from oasis_operator.reconcile.scenariorun.lifecycle import Step
from oasis_operator.reconcile.scenariorun.troubles import Failure
from oasis_operator.resources import agent_pod, timeouts
from oasis_operator.wire.adapter import Phase
from oasis_operator.wire.probe import PrepareState

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.reconcile.scenariorun.observe import Observed

_POLL = 0.25
_SLOW_POLL = 1.0
_CAPACITY_POLL = 5.0


def stranger(seen: Observed, _now: datetime) -> Plan | None:
    """Refuse to use an object that somebody else made under one of our names."""
    if seen.stranger:
        message = f"{seen.stranger} exists already and belongs to something else; delete it"
        return plans.failed(seen, Failure(Reason.ENVIRONMENT_FAULT, message))
    return None


def clean_start(seen: Observed, _now: datetime) -> Plan | None:
    """Remove the attempt before this one, and wait until it is gone."""
    return plans.remove_leftovers(seen)


def fence_missing(seen: Observed, _now: datetime) -> Plan | None:
    """Wait for the deny policy: no pod may exist before it."""
    if seen.deny_intact:
        return None
    return Plan(
        wait_seconds=_SLOW_POLL, note=(Reason.ISOLATION_NOT_PROVEN, "the deny policy is not in place")
    )


def fence_lost(seen: Observed, _now: datetime) -> Plan | None:
    """End a run whose deny policy was changed or removed while its pods existed."""
    if seen.deny_intact:
        return None
    message = "the policy oasis-sandbox-default-deny was changed or removed while the run went on"
    return plans.failed(seen, Failure(Reason.ISOLATION_LOST, message))


def create(seen: Observed, now: datetime) -> Plan | None:
    """Claim or create what the world needs; its policy comes before it."""
    if seen.environment is None:
        return Plan(wait_seconds=_CAPACITY_POLL, note=(Reason.NOT_FOUND, "the Environment does not exist"))
    offer = seen.offer
    # Who made keys in a pass that was cut short goes on with those: a world of the pool has its own.
    members = offer.for_run(seen.objects, now) if offer and not seen.secret else ()
    world = actions.MakeWorld(offer.environment_uid if offer else "", members)
    policy = () if seen.has_policy else (actions.CreatePolicy(),)
    # What was booted ahead can be asked at once.
    ahead = bool(members) or seen.objects.world != seen.objects.id
    return Plan((*policy, world), Step.CREATED, wait_seconds=0.0 if ahead else _POLL)


def world_answers(seen: Observed, _now: datetime) -> Plan | None:
    """Begin to prepare as soon as the environment answers; the agent's pod starts meanwhile."""
    if seen.sidecars.unhealthy != "":
        return None
    return Plan((actions.Prepare(), actions.CreateAgentPod()), Step.ENVIRONMENT_UP, wait_seconds=_POLL)


def preparation_failed(seen: Observed, _now: datetime) -> Plan | None:
    """Fail a run whose state could not be established."""
    told = seen.sidecars.preparation
    if told is None or told.status is not PrepareState.FAILED:
        return None
    reason = troubles.known_reason(told.reason, Reason.STATE_NOT_ESTABLISHED)
    return plans.failed(seen, Failure(reason, told.message or "the state was not established"))


def preparation_lost(seen: Observed, _now: datetime) -> Plan | None:
    """Ask again for a preparation of which the probe knows nothing."""
    told = seen.sidecars.preparation
    if told is None or told.status is not PrepareState.NONE:
        return None
    missing = () if seen.agent_pod else (actions.CreateAgentPod(),)
    return Plan((actions.Prepare(), *missing), wait_seconds=_POLL)


def agent_pod_missing(seen: Observed, _now: datetime) -> Plan | None:
    """Create the agent's pod where the pass that should have done so was cut short."""
    if seen.agent_pod is None and seen.environment_pod and seen.environment_pod.ip:
        return Plan((actions.CreateAgentPod(),), wait_seconds=_POLL)
    return None


def agent_ended_early(seen: Observed, _now: datetime) -> Plan | None:
    """Go on to the evidence where the agent ended before it was asked anything; that is its own doing."""
    crash = troubles.agent_crash(seen)
    if crash is None:
        return None
    keep = actions.KeepTranscript("crashed", crash, said_nothing=True)
    return Plan((keep,), Step.AGENT_ENDED, wait_seconds=0.0)


def agent_pod_lost(seen: Observed, _now: datetime) -> Plan | None:
    """Fail a run whose agent pod ended for reasons that are not the agent's."""
    failure = troubles.agent_pod_lost(seen)
    return plans.failed(seen, failure) if failure else None


def release(seen: Observed, _now: datetime) -> Plan | None:
    """Hand the credential to the adapter once the state was seen; fail where isolation does not hold."""
    adapter, told = seen.sidecars.adapter, seen.sidecars.preparation
    if adapter is None:
        return None
    if adapter.phase is Phase.FAILED:
        return plans.failed(seen, troubles.isolation_failure(adapter))
    if adapter.phase is Phase.WAITING and told is not None and told.status is PrepareState.READY:
        return Plan((actions.Release(),), wait_seconds=_POLL)
    return None


def deliverable(seen: Observed, _now: datetime) -> Plan | None:
    """Record the delivery before the prompt is sent: the status write of this pass is what comes first."""
    adapter, told = seen.sidecars.adapter, seen.sidecars.preparation
    ready = told is not None and told.status is PrepareState.READY
    if adapter is None or adapter.phase is not Phase.RELEASED or not ready:
        return None
    if has_agent_container(seen) and not (
        seen.agent_pod and seen.agent_pod.container(agent_pod.AGENT).running
    ):
        return None
    return Plan(step=Step.PREPARED, boot_id=adapter.boot_id, wait_seconds=0.0)


def capacity(seen: Observed, now: datetime) -> Plan | None:
    """Wait for a node apart from the stage's own time; a full cluster is not a broken environment."""
    pods = [pod for pod in (seen.environment_pod, seen.agent_pod) if pod is not None]
    waiting = next((pod for pod in pods if not pod.scheduled and not pod.is_over), None)
    if waiting is None:
        return None
    if plans.stage_age(seen, now) < timeouts.CAPACITY_SECONDS:
        # A scheduler that has not said anything yet is only a moment away.
        note = (waiting.reason, waiting.message) if waiting.reason else None
        return Plan(wait_seconds=_CAPACITY_POLL if note else _POLL, note=note)
    message = f"no node took the pod within {timeouts.CAPACITY_SECONDS:g} s: {waiting.message}"
    return plans.failed(seen, Failure(Reason.PROVISIONING_TIMEOUT, message, waiting.reason))


def pending_too_long(seen: Observed, now: datetime) -> Plan | None:
    """End a run that could not even begin."""
    if plans.stage_age(seen, now) < timeouts.CAPACITY_SECONDS:
        return None
    message = f"the run could not begin within {timeouts.CAPACITY_SECONDS:g} s: {troubles.shown(seen)}"
    return plans.failed(seen, Failure(Reason.PROVISIONING_TIMEOUT, message))


def has_agent_container(seen: Observed) -> bool:
    """Tell whether the agent has a container of its own."""
    return seen.agent is not None and seen.agent.image is not None
