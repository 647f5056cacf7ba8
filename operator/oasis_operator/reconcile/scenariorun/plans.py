"""Checks and plans that several stages of a ScenarioRun share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from oasis_operator.api import conditions
from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.run_inputs import RunState
from oasis_operator.api.v1alpha1.scenariorun import Stage
from oasis_operator.reconcile.scenariorun import actions, troubles
from oasis_operator.reconcile.scenariorun.actions import Plan
from oasis_operator.reconcile.scenariorun.lifecycle import FINAL_FAULTS, MAX_ATTEMPTS, Step
from oasis_operator.reconcile.scenariorun.observe import Observed
from oasis_operator.reconcile.scenariorun.troubles import Failure
from oasis_operator.resources import names

if TYPE_CHECKING:
    from oasis_operator import errors

_POLL = 0.25
_SLOW_POLL = 1.0
_BRISK_SECONDS = 15.0
_GONE_POLL = 0.3

Check = Callable[[Observed, datetime], Plan | None]
"""Looks at an observation and returns a plan where it has something to say."""


def failed(seen: Observed, failure: Failure) -> Plan:
    """Return the plan for a fault: once more from the start where that is allowed, else to the end.

    Once the prompt was sent, what left the environment until then is kept as evidence.
    """
    early = seen.stage in (Stage.PROVISIONING, Stage.PREPARING)
    if early and seen.attempt < MAX_ATTEMPTS and failure.reason not in FINAL_FAULTS:
        return Plan(step=Step.RETRIED, failure=failure, wait_seconds=0.0)
    return Plan(_last_words(seen, failure), Step.FAILED, failure=failure, wait_seconds=0.0)


def _last_words(seen: Observed, failure: Failure) -> tuple[actions.Action, ...]:
    """Return what makes evidence of a run that cannot go on: its environment is asked for nothing more."""
    collect = actions.CollectStream(failure.message)
    if seen.stage is Stage.OBSERVING:
        return (collect,)
    if seen.stage is not Stage.RUNNING:
        return ()
    return (actions.KeepTranscript("cancelled", failure.message), collect)


def without_transcript(failure: Failure) -> Plan:
    """Return the plan that collects evidence of a run whose transcript is lost."""
    keep = actions.KeepTranscript("cancelled", failure.message)
    return Plan((keep,), Step.FINISHED, failure=failure, wait_seconds=0.0)


def cancelled(failure: Failure) -> Plan:
    """Return the plan that ends a run without an outcome."""
    return Plan(step=Step.CANCELLED, failure=failure, wait_seconds=0.0)


def stage_age(seen: Observed, now: datetime) -> float:
    """Return the seconds since the stage began; Pending begins with the object itself."""
    timing = next((item for item in seen.run.status.timings if item.stage is seen.stage), None)
    began = timing.started_at if timing else seen.run.metadata.creation_timestamp
    return (now - began).total_seconds() if began else 0.0


def waited(seen: Observed, now: datetime) -> float:
    """Return the seconds that the stage has had since all of its pods had a node."""
    pods = (seen.environment_pod, seen.agent_pod)
    scheduled = [pod.scheduled_at for pod in pods if pod is not None and pod.scheduled_at is not None]
    return min([stage_age(seen, now), *((now - at).total_seconds() for at in scheduled)])


def poll(seen: Observed, now: datetime) -> float:
    """Return how soon to look again: briskly at first, since most stages are short."""
    return _POLL if stage_age(seen, now) < _BRISK_SECONDS else _SLOW_POLL


def remove_leftovers(seen: Observed) -> Plan | None:
    """Return the plan that deletes what must be gone, and waits for it; None where nothing is left."""
    if not seen.leftovers:
        return None
    doomed = tuple(actions.DeletePod(item.name, item.uid) for item in seen.leftovers if not item.deleting)
    return Plan(doomed, wait_seconds=_GONE_POLL)


def failure_of(error: errors.OasisError) -> Failure:
    """Return an exception as the failure to record."""
    return Failure(error.reason, error.message)


def ended_from_outside(seen: Observed, _now: datetime) -> Plan | None:
    """End a run that nobody wants any more, or whose subject is another one by now."""
    owner = seen.evaluation
    if owner is None or owner.metadata.deletion_timestamp or owner.spec.state is RunState.CANCEL:
        return cancelled(Failure(Reason.CANCELLED, "the evaluation was cancelled"))
    if owner.status.attempt not in (0, seen.run.spec.attempt):
        return cancelled(Failure(Reason.CANCELLED, "a newer attempt of the evaluation has begun"))
    ending = conditions.find(owner.status.conditions, conditions.Type.RECONCILING)
    if ending is not None and ending.reason in (Reason.ABORTED, Reason.SUBJECT_CHANGED):
        return cancelled(Failure(ending.reason, ending.message))
    changed = _changed(seen)
    return cancelled(Failure(Reason.SUBJECT_CHANGED, changed)) if changed else None


def _changed(seen: Observed) -> str:
    """Return what is no longer as the evaluation began with it, or empty."""
    if not seen.is_subject_unchanged:
        return "the Agent changed while the evaluation ran"
    if not seen.is_world_unchanged:
        return "the Environment changed while the evaluation ran"
    if seen.other_image:
        wanted = seen.run.spec.image_digest
        return f"the agent's image was {wanted} when the evaluation began and is {seen.other_image} now"
    return ""


def keys_lost(seen: Observed, _now: datetime) -> Plan | None:
    """Fail a run whose Secret is gone: its sidecars cannot be asked for anything without the keys in it."""
    if seen.secret is not None:
        return None
    reason = Reason.ENVIRONMENT_FAULT
    if seen.stage in (Stage.RUNNING, Stage.OBSERVING):
        reason = Reason.EVIDENCE_UNREACHABLE
    name = names.secret(seen.objects.world)
    message = f"Secret {name} was deleted by somebody else, and with it the keys of the run"
    return failed(seen, Failure(reason, message))


def world_lost(seen: Observed, _now: datetime) -> Plan | None:
    """Fail a run whose environment pod is gone, ended or taken away."""
    failure = troubles.world_lost(seen)
    return failed(seen, failure) if failure else None


def world_lost_for_good(seen: Observed, now: datetime) -> Plan | None:
    """Fail a run whose environment is gone with all that it could have told."""
    return None if troubles.world_broken(seen) else world_lost(seen, now)


def deadline(limit: str, reason: Reason) -> Check:
    """Return the check that ends a stage at its longest time."""

    def check(seen: Observed, now: datetime) -> Plan | None:
        seconds = getattr(seen.seconds, limit)
        if waited(seen, now) < seconds:
            return None
        why = troubles.explain(seen)
        return failed(seen, Failure(reason, f"not done within {seconds:g} s: {why.message}", why.pod_reason))

    return check
