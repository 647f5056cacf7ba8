"""Plans of an Evaluation's pass, and those that several checks share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from oasis_operator.api.v1alpha1.run_inputs import Unassessable
from oasis_operator.api.v1alpha1.scenariorun import Stage as RunStage
from oasis_operator.reconcile.evaluation.actions import (
    Action,
    Conclude,
    DeleteGateway,
    DeleteIdentity,
    DeleteReachPods,
    DeleteSelfTest,
)
from oasis_operator.reconcile.evaluation.observe import Observed
from oasis_operator.settings import Settings

_RUN_POLL = 2.0


@dataclass(frozen=True, slots=True)
class Note:
    """What people should know meanwhile; `is_stalled` where nothing goes on until somebody acts."""

    reason: str
    message: str
    is_stalled: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What one pass does.

    Attributes:
        steps: Effects, in order.
        begins: Whether a new attempt begins.
        note: What is waited for.
        ending: Why nothing new starts, recorded for the runs to see; None while the attempt goes on.
        refusal: Why the attempt is over without a verdict; None where it is not.
        proven: What was seen of the isolation, once it is proven.
        wait_seconds: When to look again; None for the next event.
    """

    steps: tuple[Action, ...] = ()
    begins: bool = False
    note: Note | None = None
    ending: Note | None = None
    refusal: Note | None = None
    proven: str = ""
    wait_seconds: float | None = None


Check = Callable[[Observed, datetime, Settings], Plan | None]


def is_report(seen: Observed) -> bool:
    """Tell whether the spec asks for diagnostics only."""
    return seen.evaluation.spec.unassessable is Unassessable.REPORT


def end_early(seen: Observed, note: Note) -> Plan:
    """Return the plan that starts nothing new and concludes once the runs are over."""
    if not seen.has_begun:
        return refused(seen, note, DeleteReachPods(), DeleteIdentity())
    if all(run.status.stage is RunStage.COMPLETED for run in seen.runs):
        return Plan((Conclude(note.reason, note.message),))
    return Plan(ending=note, wait_seconds=_RUN_POLL)


def refused(seen: Observed, note: Note, *clean_up: Action) -> Plan:
    """Return the plan that ends the attempt before it ran anything; nothing of it is left."""
    if seen.has_begun:
        return end_early(seen, note)
    steps = clean_up or (DeleteReachPods(), DeleteIdentity())
    gateway = (DeleteGateway(),) if seen.gateway is not None else ()
    tried = () if seen.preflight.trial.is_gone else (DeleteSelfTest(),)
    return Plan((*steps, *gateway, *tried), refusal=note)


def profile_faults(seen: Observed) -> str:
    """Return the first faults of a profile and their number."""
    faults = seen.reading.errors if seen.reading else ()
    shown = "; ".join(f"{item.file}:{item.line} {item.code} {item.message}" for item in faults[:3])
    return f"{len(faults)} faults: {shown}"
