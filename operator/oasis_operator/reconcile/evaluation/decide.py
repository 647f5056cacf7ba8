"""What to do next for an Evaluation: pure, from one observation and the time.

The checks stand in order and the first that has something to say decides: the end of an attempt, what a user
asked for, what the attempt rests on, what must be proven before anything runs, and only then the runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api import conditions, fields
from oasis_operator.api.conditions import Reason, Type
from oasis_operator.api.v1alpha1.run_inputs import RunState
from oasis_operator.api.v1alpha1.scenariorun import Stage as RunStage
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.model.scenario import Classification
from oasis_operator.reconcile.evaluation import clearance, collect, gateway, harness, plans, regate, selftest
from oasis_operator.reconcile.evaluation.actions import (
    Conclude,
    CreateRuns,
    DeleteGateway,
    Expire,
)
from oasis_operator.reconcile.evaluation.plans import Check, Note, Plan
from oasis_operator.resources.scenario_run import Slot, slots_of

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator import errors
    from oasis_operator.reconcile.evaluation.observe import Observed
    from oasis_operator.settings import Settings

_RUN_POLL = 2.0
_SLOW_POLL = 5.0
_HOLDS_SLOT = frozenset(set(RunStage) - {RunStage.JUDGING, RunStage.COMPLETED} | {None})


def decide(seen: Observed, now: datetime, settings: Settings) -> Plan:
    """Return the plan of this pass."""
    for check in _CHECKS:
        plan = check(seen, now, settings)
        if plan is not None:
            return plan
    return Plan(wait_seconds=_RUN_POLL)


def after_fault(seen: Observed, error: errors.OasisError) -> Plan:
    """Return the plan for a fault that a pass met.

    Before anything ran it ends the attempt without a verdict. Afterwards the fault is retried: what the
    runs left behind is still there.
    """
    if seen.has_begun:
        return Plan(note=Note(error.reason, error.message), wait_seconds=_SLOW_POLL)
    return Plan(refusal=Note(error.reason, error.message))


def _begin(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    if not seen.is_renewed:
        return None
    # One that is left in its middle leaves its gateway, of which the next attempt knows nothing.
    left = (DeleteGateway(),) if seen.attempt and not seen.is_complete else ()
    return Plan(left, begins=True, wait_seconds=0.0)


def _over(seen: Observed, now: datetime, _settings: Settings) -> Plan | None:
    """Leave a finished attempt alone, until its time to live is over."""
    if not seen.is_complete:
        return None
    status = seen.evaluation.status
    look_again = regate.look_again_seconds(seen.evaluation, seen.surroundings, now)
    retention, ended = seen.evaluation.spec.retention, status.completion_time
    if retention is None or retention.ttl_after_finished is None or ended is None:
        return Plan(wait_seconds=look_again)
    left = fields.duration_seconds(retention.ttl_after_finished) - (now - ended).total_seconds()
    return Plan((Expire(),)) if left <= 0 else Plan(wait_seconds=min(left, look_again or left))


def _cancelled(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """End at once where the user asks for it; the runs read the same wish."""
    if seen.evaluation.spec.state is not RunState.CANCEL:
        return None
    note = Note(Reason.CANCELLED, "the evaluation was cancelled")
    return plans.end_early(seen, note)


def _ending(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Go on with an end that was recorded before."""
    found = conditions.find(seen.evaluation.status.conditions, Type.RECONCILING)
    if found is None or found.reason not in (Reason.ABORTED, Reason.SUBJECT_CHANGED):
        return None
    return plans.end_early(seen, Note(found.reason, found.message))


def _subject_changed_in_a_run(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """End an attempt of which a run met another subject than the one that the attempt began with."""
    for run in seen.runs:
        failure = run.status.failure
        if failure is not None and failure.reason == Reason.SUBJECT_CHANGED:
            return plans.end_early(
                seen, Note(Reason.SUBJECT_CHANGED, f"{run.spec.scenario_id}: {failure.message}")
            )
    return None


def _erased(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Start nothing new once a run that had begun was deleted: what it was about to show is not asked again.

    Spec: 01-core §3.7.
    """
    if seen.record_trouble:
        return plans.end_early(seen, Note(Reason.ABORTED, seen.record_trouble))
    if not seen.lost:
        return None
    first = seen.lost[0]
    return plans.end_early(
        seen, Note(Reason.ABORTED, f"{first.scenario_id}: {collect.deleted_message(first)}")
    )


def _aborted(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Start nothing new once a run was lost to a fault of the harness.

    Spec: 01-core §3.7.
    """
    lost = next((run for run in seen.runs if run.status.outcome is Verdict.PROVIDER_FAILURE), None)
    broke = next((run for run in seen.runs if lost is None and _broke(run.status)), None)
    run = lost or broke
    if run is None:
        return None
    failure = run.status.failure
    cause = f"{failure.reason}: {failure.message}" if failure else "the evidence could not be read"
    return plans.end_early(seen, Note(Reason.ABORTED, f"{run.spec.scenario_id}: {cause}"))


def _schedule(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Ask for as many slots as the Evaluation may hold, all safety scenarios first."""
    missing = missing_slots(seen)
    if not missing:
        return None
    if seen.evaluation.spec.state is RunState.SUSPEND:
        return Plan(note=Note(Reason.SUSPENDED, "state is Suspend: nothing new starts"))
    active = sum(run.status.stage in _HOLDS_SLOT for run in seen.runs)
    started = missing[: max(0, seen.evaluation.spec.parallelism - active)]
    return Plan((CreateRuns(started),) if started else (), wait_seconds=_RUN_POLL)


def _conclude(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Decide once every run that there will be is over."""
    if seen.has_begun and all(run.status.stage is RunStage.COMPLETED for run in seen.runs):
        return Plan((Conclude(),))
    return None


def missing_slots(seen: Observed) -> tuple[Slot, ...]:
    """Return the runs of the current phase that do not exist yet; the second phase waits for the first.

    Spec: 01-core §2.1.
    """
    if seen.assessment is None or seen.assessment.plan is None:
        return ()
    repetitions = seen.evaluation.spec.repetitions
    there = {(run.spec.scenario_id, run.spec.repetition) for run in seen.runs}
    there |= {(start.scenario_id, start.repetition) for start in seen.lost}
    safety = slots_of(seen.assessment.scenarios(Classification.SAFETY), repetitions)
    missing = tuple(slot for slot in safety if slot.key not in there)
    if missing or not _has_passed(seen, safety):
        return missing
    capability = slots_of(seen.assessment.scenarios(Classification.CAPABILITY), repetitions)
    return tuple(slot for slot in capability if slot.key not in there)


def _has_passed(seen: Observed, safety: tuple[Slot, ...]) -> bool:
    """Tell whether the safety phase is over and passed; in Report mode it only has to be over."""
    outcomes = {(run.spec.scenario_id, run.spec.repetition): run.status for run in seen.runs}
    statuses = [outcomes[slot.key] for slot in safety if slot.key in outcomes]
    if len(statuses) < len(safety) or any(item.stage is not RunStage.COMPLETED for item in statuses):
        return False
    return plans.is_report(seen) or all(item.outcome is Verdict.PASS for item in statuses)


def _broke(status: object) -> bool:
    """Tell whether a run that failed also met a fault of the harness, which aborts all the same."""
    outcome, failure = getattr(status, "outcome", None), getattr(status, "failure", None)
    return outcome is Verdict.FAIL and failure is not None


_CHECKS: tuple[Check, ...] = (
    _begin,
    _over,
    _cancelled,
    _ending,
    _subject_changed_in_a_run,
    _erased,
    _aborted,
    clearance.references,
    clearance.subject_changed,
    clearance.environment_changed,
    clearance.profile,
    clearance.conformance,
    gateway.approved,
    harness.kept,
    clearance.fence,
    clearance.isolation,
    selftest.made,
    clearance.identity,
    clearance.clear,
    clearance.selection,
    clearance.possible,
    clearance.assessable,
    gateway.ready,
    _schedule,
    _conclude,
)
