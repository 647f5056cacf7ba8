"""Checks of the stages from the prompt on: it is sent once, and what came of it is kept and judged."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from oasis_operator.api.conditions import Reason
from oasis_operator.reconcile.scenariorun import actions, before_prompt, plans, troubles
from oasis_operator.reconcile.scenariorun.actions import Plan
from oasis_operator.reconcile.scenariorun.lifecycle import Step
from oasis_operator.reconcile.scenariorun.troubles import Failure
from oasis_operator.resources import names
from oasis_operator.wire.adapter import Outcome, RunState, RunStatus
from oasis_operator.wire.probe import StopState

if TYPE_CHECKING:
    from oasis_operator.reconcile.scenariorun.observe import Observed

_POLL = 0.25
_SLOW_POLL = 1.0
_GONE_POLL = 0.3
_CANCEL_GRACE_SECONDS = 30.0
_SILENCE_SECONDS = 30.0
_KUBELET_SECONDS = 10.0


def fence_lost_in_mid_run(seen: Observed, _now: datetime) -> Plan | None:
    """Stop a run whose fence fell: what it did until then is still evidence."""
    if seen.deny_intact:
        return None
    message = "the policy oasis-sandbox-default-deny was changed or removed while the agent worked"
    return plans.without_transcript(Failure(Reason.ISOLATION_LOST, message))


def world_broken(seen: Observed, _now: datetime) -> Plan | None:
    """Stop a run whose control plane broke, and collect what can still be told of it.

    Nothing of it can become a PASS, but a violation on record stays one.

    Spec: 01-core §3.6.
    """
    failure, adapter = troubles.world_broken(seen), seen.sidecars.adapter
    if failure is None or adapter is None:
        return None
    if adapter.run is None or adapter.boot_id != seen.run.status.adapter_boot_id:
        return plans.without_transcript(failure)
    if adapter.run.status is RunStatus.FINISHED:
        return Plan((actions.KeepTranscript(),), Step.FINISHED, failure=failure, wait_seconds=0.0)
    return Plan((actions.Cancel(),), wait_seconds=_POLL)


def note_broken_world(seen: Observed, _now: datetime) -> Plan | None:
    """Record once that the world broke while its evidence was being collected, and go on collecting."""
    failure = troubles.world_broken(seen)
    if failure is None or seen.run.status.failure is not None:
        return None
    return Plan(failure=failure, wait_seconds=0.0)


def adapter_replaced(seen: Observed, _now: datetime) -> Plan | None:
    """Give up a prompt whose adapter is another process by now: whether it was sent cannot be known."""
    adapter = seen.sidecars.adapter
    if adapter is None or adapter.boot_id == seen.run.status.adapter_boot_id:
        return None
    message = "the adapter was restarted after the prompt was recorded as sent"
    return plans.without_transcript(Failure(Reason.ADAPTER_FAULT, message))


def crashed_before_delivery(seen: Observed, now: datetime) -> Plan | None:
    """Judge an agent that ended by itself before its prompt reached it like one that crashed later.

    The adapter tells that nothing was delivered, the cluster that the agent ended. A kubelet tells of an end
    some time after the adapter was refused, which is waited for.
    """
    adapter = seen.sidecars.adapter
    if adapter is None or not _is_undelivered(adapter.run):
        return None
    crash = troubles.agent_crash(seen)
    if crash is not None:
        keep = actions.KeepTranscript("crashed", crash, said_nothing=True)
        return Plan((keep,), Step.FINISHED, wait_seconds=0.0)
    finished = adapter.run.finished_at if adapter.run else None
    if finished is None or not before_prompt.has_agent_container(seen):
        return None
    age = (now - datetime.fromisoformat(finished)).total_seconds()
    # Clocks differ; an end in the future is none to wait for.
    return Plan(wait_seconds=_POLL) if 0 <= age < _KUBELET_SECONDS else None


def _is_undelivered(run: RunState | None) -> bool:
    """Tell whether an adapter is sure that its agent never had the word."""
    return run is None or (
        not run.delivered_at
        and not run.fault
        and run.outcome in (None, Outcome.NOT_DELIVERED, Outcome.CANCELLED)
    )


def deliver(seen: Observed, now: datetime) -> Plan | None:
    """Send the prompt that was recorded; the adapter takes the same run once only."""
    adapter = seen.sidecars.adapter
    if adapter is None or adapter.run is not None:
        return None
    if plans.stage_age(seen, now) >= seen.seconds.running:
        message = "the prompt could not be sent while the run's time lasted"
        return plans.without_transcript(Failure(Reason.ADAPTER_FAULT, message))
    return Plan((actions.Deliver(),), wait_seconds=_POLL)


def answered(seen: Observed, _now: datetime) -> Plan | None:
    """Keep the transcript of a finished run; one that the adapter itself broke is no testimony."""
    run = seen.sidecars.adapter.run if seen.sidecars.adapter else None
    if run is None or run.status is not RunStatus.FINISHED:
        return None
    reason = troubles.known_reason(run.cause, Reason.ADAPTER_FAULT)
    failure = Failure(reason, run.detail or "the adapter broke") if run.fault else None
    return Plan((actions.KeepTranscript(),), Step.FINISHED, failure=failure, wait_seconds=0.0)


def adapter_gone(seen: Observed, now: datetime) -> Plan | None:
    """Go on without a transcript where the adapter cannot be asked any more."""
    if seen.sidecars.adapter is not None:
        return None
    if seen.agent_pod is not None and not seen.agent_pod.is_over:
        silent = (now - seen.silent_since).total_seconds() if seen.silent_since else 0.0
        if silent < _SILENCE_SECONDS:
            return None
        why = seen.sidecars.adapter_trouble or "it cannot be reached"
        message = f"the adapter has not answered for {silent:.0f} s: {why}"
        return plans.without_transcript(Failure(Reason.ADAPTER_FAULT, message))
    crash = troubles.agent_crash(seen)
    if crash is not None:
        return Plan((actions.KeepTranscript("crashed", crash),), Step.FINISHED, wait_seconds=0.0)
    failure = troubles.agent_pod_lost(seen) or Failure(Reason.ADAPTER_FAULT, "the agent's pod is gone")
    return plans.without_transcript(failure)


def overtime(seen: Observed, now: datetime) -> Plan | None:
    """Stop an agent whose adapter did not end it in time; the time counts from the delivery."""
    run = seen.sidecars.adapter.run if seen.sidecars.adapter else None
    delivered = datetime.fromisoformat(run.delivered_at) if run and run.delivered_at else None
    age = (now - delivered).total_seconds() if delivered else plans.stage_age(seen, now)
    over = age - seen.seconds.running
    if over < 0:
        return None
    if over > _CANCEL_GRACE_SECONDS:
        failure = Failure(Reason.ADAPTER_FAULT, "the adapter did not end the run when it was told to")
        return plans.without_transcript(failure)
    return Plan((actions.Cancel(),), wait_seconds=_SLOW_POLL)


def agent_still_there(seen: Observed, _now: datetime) -> Plan | None:
    """Delete the agent's pod, and confirm that it is gone, before anything is collected."""
    pod = seen.agent_pod
    if pod is None:
        return None
    steps = () if pod.deleting else (actions.DeletePod(names.agent_pod(seen.objects.id), pod.uid),)
    return Plan(steps, wait_seconds=_GONE_POLL)


def collect(seen: Observed, _now: datetime) -> Plan | None:
    """Stop the world's clock and take its evidence."""
    told = seen.sidecars.stopping
    if told is None:
        return None
    if told.status is StopState.NONE:
        return Plan((actions.Stop(),), wait_seconds=_POLL)
    if told.status is StopState.FAILED:
        message = told.message or "the evidence could not be collected"
        broken = troubles.world_broken(seen)
        return plans.failed(seen, broken or Failure(Reason.EVIDENCE_UNREACHABLE, message))
    if told.status is StopState.STOPPED:
        collect = actions.Collect(told.size_bytes, told.sha256)
        return Plan((collect,), Step.COLLECTED, wait_seconds=0.0)
    return None


def tear_down(seen: Observed, now: datetime) -> Plan | None:
    """Remove the pods and wait until they are gone, but not for ever."""
    if plans.stage_age(seen, now) >= seen.seconds.judging:
        return None
    return plans.remove_leftovers(seen)


def close(seen: Observed, now: datetime) -> Plan | None:
    """Remove keys and policy, the policy last, and judge what was collected."""
    age, limit = plans.stage_age(seen, now), seen.seconds.judging
    left = tuple(item.name for item in seen.leftovers) if age >= limit else ()
    clean = actions.DeleteKeysAndPolicies()
    if seen.run.status.evidence is None:
        return Plan((clean,), Step.CLOSED, left_behind=left)
    if age >= 2 * limit:
        failure = Failure(Reason.JUDGING_TIMEOUT, f"the evidence was not judged within {2 * limit:g} s")
        return Plan((clean,), Step.CLOSED, failure=failure, left_behind=left)
    return Plan((clean, actions.Judge()), Step.CLOSED, left_behind=left)
