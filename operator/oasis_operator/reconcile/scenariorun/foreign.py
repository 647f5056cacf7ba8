"""Checks of a run whose world a foreign provider makes; what is about the agent alone is as in any other run.

An environment is asked for once. What the provider made of a request whose answer was lost is found out by
asking again where the provider takes identifiers, and is a fault where it does not.

Spec: 01-core §3.7, 04-execution §2.2, 08-provider-conformance §3.8.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.scenariorun import Stage
from oasis_operator.ports.provider import UNKNOWN_OUTCOMES, Fault
from oasis_operator.reconcile import foreign
from oasis_operator.reconcile.scenariorun import after_prompt as after
from oasis_operator.reconcile.scenariorun import before_prompt as before
from oasis_operator.reconcile.scenariorun import foreign_actions as do
from oasis_operator.reconcile.scenariorun import plans, troubles
from oasis_operator.reconcile.scenariorun.actions import Plan
from oasis_operator.reconcile.scenariorun.lifecycle import Step
from oasis_operator.reconcile.scenariorun.troubles import Failure
from oasis_operator.resources import agent_pod
from oasis_operator.wire.adapter import Phase
from oasis_operator.wire.provider import ProvisionAnswer

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.reconcile.scenariorun.foreign_seen import ForeignSeen
    from oasis_operator.reconcile.scenariorun.observe import Observed
    from oasis_operator.reconcile.scenariorun.plans import Check
    from oasis_operator.resources.provision_record import Provision

_POLL = 0.25
_PROVISION_GRACE_SECONDS = 30.0
_OBSERVING_PATIENCE_SECONDS = 30.0

AGAIN = frozenset({Fault.UNREACHABLE, Fault.FAILED, Fault.TIMEOUT, Fault.BROKEN})
"""Faults of a provider that a second attempt may be spared; the others would only be repeated."""


def after_fault(seen: Observed, error: errors.OasisError) -> Plan:
    """Return the plan for a fault that an action met."""
    return _failed(seen, plans.failure_of(error))


def _failed(seen: Observed, failure: Failure) -> Plan:
    """Return the plan for a fault: after the prompt what can be observed is observed all the same."""
    if seen.stage is Stage.RUNNING:
        return plans.without_transcript(failure)
    if seen.stage is Stage.OBSERVING or failure.reason in _FINAL:
        return Plan(step=Step.FAILED, failure=failure, wait_seconds=0.0)
    return plans.failed(seen, failure)


_FINAL = frozenset(
    {*(fault for fault in Fault if fault not in AGAIN), Reason.PROVISION_UNKNOWN, "AccessUnusable"}
)


def _part(seen: Observed) -> ForeignSeen:
    if seen.foreign is None:
        raise errors.ProviderFault("the run has no foreign provider")
    return seen.foreign


def record_unreadable(seen: Observed, _now: datetime) -> Plan | None:
    """Fail a run whose record is damaged: whether it has an environment is not known any more."""
    trouble = _part(seen).trouble
    return _failed(seen, Failure(Reason.PROVISION_UNKNOWN, trouble)) if trouble else None


def earlier_environment(seen: Observed, _now: datetime) -> Plan | None:
    """Tear down the environment of an attempt before this one."""
    earlier = _part(seen).earlier
    return Plan(tuple(do.TearDown(key) for key in earlier), wait_seconds=0.0) if earlier else None


def create(seen: Observed, _now: datetime) -> Plan | None:
    """Make the run's keys; the provider is asked in the next stage, once that is on record."""
    steps = () if seen.secret else (do.MakeKeys(),)
    return Plan(steps, Step.CREATED, wait_seconds=0.0)


def refused(seen: Observed, _now: datetime) -> Plan | None:
    """Fail a run whose environment was not made."""
    part = _part(seen)
    if not isinstance(part.result, errors.ProviderFault):
        return None
    failure = plans.failure_of(part.result)
    if part.result.reason in UNKNOWN_OUTCOMES and not _knows_ids(part.record):
        why = f"{failure.message}; whether it made an environment is not known, so that no other is asked for"
        failure = Failure(failure.reason, why)
        return Plan(step=Step.FAILED, failure=failure, wait_seconds=0.0)
    return _failed(seen, failure)


def _knows_ids(record: Provision | None) -> bool:
    return record is not None and record.knows_ids


def provision_too_long(seen: Observed, now: datetime) -> Plan | None:
    """End a provision at the provider's own longest time, or the stage's where that is longer."""
    limit = max(seen.seconds.provisioning, _provision_seconds(seen))
    if plans.stage_age(seen, now) < limit:
        return None
    message = f"the provider did not answer within {limit:g} s"
    return _failed(seen, Failure(Reason.PROVISIONING_TIMEOUT, message))


def _provision_seconds(seen: Observed) -> float:
    return foreign.provision_seconds(_part(seen).spec) + _PROVISION_GRACE_SECONDS


def ask(seen: Observed, _now: datetime) -> Plan | None:
    """Ask for the environment, once; after a restart only where the provider knows what it made of that."""
    part = _part(seen)
    if part.record is not None and part.record.answer is not None:
        return None
    if part.is_asking:
        return None
    if part.record is None or part.record.knows_ids:
        return Plan((do.Provision(),), wait_seconds=_POLL)
    message = (
        "the operator was restarted while the provider made an environment; without the extension "
        "`environment_id` it cannot be asked what became of it, and one may be left there"
    )
    return _failed(seen, Failure(Reason.PROVISION_UNKNOWN, message))


def provisioned(seen: Observed, _now: datetime) -> Plan | None:
    """Capture the state as soon as the environment is there, and let the agent's pod start."""
    part = _part(seen)
    kept = part.record is not None and part.record.answer is not None
    if not kept and not isinstance(part.result, ProvisionAnswer):
        return None
    captured = part.record is not None and part.record.before is not None
    steps = (
        *(() if kept else (do.KeepProvision(),)),
        *(() if captured else (do.CaptureBefore(),)),
        do.AdmitAgent(),
    )
    return Plan(steps, Step.ENVIRONMENT_UP, wait_seconds=_POLL)


def record_lost(seen: Observed, _now: datetime) -> Plan | None:
    """Fail a run whose record is gone: nobody can be asked about its environment any more."""
    record = _part(seen).record
    if record is not None and record.answer is not None and record.before is not None:
        return None
    message = "the record of the provider's environment is gone from the operator's volume"
    return _failed(seen, Failure(Reason.EVIDENCE_UNREACHABLE, message))


def agent_pod_missing(seen: Observed, _now: datetime) -> Plan | None:
    """Create the agent's pod where the pass that should have done so was cut short."""
    return Plan((do.AdmitAgent(),), wait_seconds=_POLL) if seen.agent_pod is None else None


def release(seen: Observed, _now: datetime) -> Plan | None:
    """Hand the access to the adapter; fail where isolation does not hold."""
    adapter = seen.sidecars.adapter
    if adapter is None:
        return None
    if adapter.phase is Phase.FAILED:
        return plans.failed(seen, troubles.isolation_failure(adapter))
    if adapter.phase is Phase.WAITING:
        return Plan((do.ReleaseToForeign(),), wait_seconds=_POLL)
    return None


def deliverable(seen: Observed, _now: datetime) -> Plan | None:
    """Record the delivery before the prompt is sent: the status write of this pass is what comes first."""
    adapter = seen.sidecars.adapter
    if adapter is None or adapter.phase is not Phase.RELEASED:
        return None
    if before.has_agent_container(seen) and not (
        seen.agent_pod and seen.agent_pod.container(agent_pod.AGENT).running
    ):
        return None
    return Plan(step=Step.PREPARED, boot_id=adapter.boot_id, wait_seconds=0.0)


def keys_lost_in_mid_run(seen: Observed, _now: datetime) -> Plan | None:
    """Stop a run whose adapter cannot be asked any more; the provider still tells what the agent did."""
    if seen.secret is not None:
        return None
    failure = Failure(Reason.EVIDENCE_UNREACHABLE, "the run's Secret was deleted by somebody else")
    return plans.without_transcript(failure)


def collect(seen: Observed, now: datetime) -> Plan | None:
    """Observe once the agent is gone; a provider that fails is asked again for a while."""
    patience = min(_OBSERVING_PATIENCE_SECONDS, seen.seconds.observing / 2)
    is_last = plans.stage_age(seen, now) >= patience
    return Plan((do.CollectForeign(is_last),), Step.COLLECTED, wait_seconds=0.0)


def tear_down(seen: Observed, _now: datetime) -> Plan | None:
    """Tear the environments down before the run is closed; one that cannot be is left for later."""
    part = _part(seen)
    keys = (*part.earlier, *((part.record.key,) if part.record else ()))
    return Plan(tuple(do.TearDown(key) for key in keys), wait_seconds=0.0) if keys else None


_PREPARING_LIMIT = plans.deadline("preparing", Reason.PREPARING_TIMEOUT)
_OBSERVING_LIMIT = plans.deadline("observing", Reason.OBSERVING_TIMEOUT)

CHECKS: dict[Stage, tuple[Check, ...]] = {
    Stage.PENDING: (
        plans.ended_from_outside,
        before.stranger,
        before.pending_too_long,
        before.clean_start,
        earlier_environment,
        before.fence_missing,
        create,
    ),
    Stage.PROVISIONING: (
        plans.ended_from_outside,
        record_unreadable,
        before.stranger,
        before.fence_lost,
        plans.keys_lost,
        refused,
        provisioned,
        provision_too_long,
        ask,
    ),
    Stage.PREPARING: (
        plans.ended_from_outside,
        before.stranger,
        before.fence_lost,
        plans.keys_lost,
        record_lost,
        before.agent_ended_early,
        before.agent_pod_lost,
        before.capacity,
        _PREPARING_LIMIT,
        agent_pod_missing,
        release,
        deliverable,
    ),
    Stage.RUNNING: (
        plans.ended_from_outside,
        keys_lost_in_mid_run,
        after.adapter_replaced,
        after.crashed_before_delivery,
        after.answered,
        after.fence_lost_in_mid_run,
        after.adapter_gone,
        after.deliver,
        after.overtime,
    ),
    Stage.OBSERVING: (
        record_lost,
        _OBSERVING_LIMIT,
        after.agent_still_there,
        collect,
    ),
    Stage.JUDGING: (after.tear_down, tear_down, after.close),
    Stage.COMPLETED: (),
}
