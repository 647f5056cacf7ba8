"""One pass over one Evaluation: look, decide, act, report, and say when to look again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api import conditions, fields
from oasis_operator.api.conditions import State, Type
from oasis_operator.reconcile.evaluation import decide
from oasis_operator.reconcile.evaluation.act import Results, act
from oasis_operator.reconcile.evaluation.observe import Observed, observe
from oasis_operator.reconcile.evaluation.plans import Note, Plan
from oasis_operator.reconcile.evaluation.status import Pass, report
from oasis_operator.reconcile.outcome import DONE, Requeue
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from oasis_operator.api.v1alpha1.evaluation_status import EvaluationStatus
    from oasis_operator.reconcile.deps import Deps

_REFUSED_SECONDS = 10.0
_PROGRESS_SECONDS = 3.0
_IDENTITY_PATIENCE = timedelta(seconds=120)


class EvaluationReconciler:
    """Drives Evaluations from their references to their verdict."""

    def __init__(self, deps: Deps) -> None:
        """Work with these ports and settings."""
        self._deps = deps
        # When each Evaluation's counts were last written; losing it costs one write.
        self._counted: dict[str, datetime] = {}

    async def reconcile(self, namespace: str, name: str) -> Requeue:
        """Make one pass.

        Raises:
            Transient: The pass must be repeated with backoff; nothing was lost.
            InvalidInput: The Evaluation cannot be read.
        """
        seen = await observe(self._deps, namespace, name)
        if seen is None:
            return DONE
        now = self._deps.clock.now()
        plan, results = await self._act(seen, decide.decide(seen, now, self._deps.settings), now)
        status = report(Pass(seen, plan, results, now, self._deps.settings))
        if self._is_only_progress(seen, status, now):
            soon = min(_PROGRESS_SECONDS, plan.wait_seconds or _PROGRESS_SECONDS)
            return Requeue(soon, also=_also(results))
        if status != seen.evaluation.status:
            await self._deps.kube.write_status(kinds.EVALUATION, seen.body, fields.dump(status))
            await self._tell(seen, status)
        return Requeue(plan.wait_seconds, also=_also(results))

    def _is_only_progress(self, seen: Observed, status: EvaluationStatus, now: datetime) -> bool:
        """Tell whether counts alone have moved, and so soon that the write can wait for the next move."""
        before, uid = seen.evaluation.status, seen.body["metadata"]["uid"]
        moved = {"counts": before.counts, "progress": before.progress}
        if status == before or status.model_copy(update=moved) != before:
            return False
        last = self._counted.get(uid)
        if last is not None and (now - last).total_seconds() < _PROGRESS_SECONDS:
            return True
        self._counted[uid] = now
        return False

    async def _act(self, seen: Observed, plan: Plan, now: datetime) -> tuple[Plan, Results]:
        """Carry out a plan; a fault met on the way becomes the plan."""
        try:
            return plan, await act(self._deps, seen, plan.steps, now)
        except errors.NotReady as error:
            return Plan(note=Note(error.reason, error.message), wait_seconds=_REFUSED_SECONDS), Results()
        except errors.AgentFault as error:
            began = seen.evaluation.status.start_time or now
            if now - began < _IDENTITY_PATIENCE:
                return Plan(note=Note(error.reason, error.message), wait_seconds=_REFUSED_SECONDS), Results()
            return decide.after_fault(seen, error), Results()
        except (errors.ProviderFault, errors.InvalidSpec) as error:
            self._deps.meter.fault(error.reason)
            return decide.after_fault(seen, error), Results()

    async def _tell(self, seen: Observed, status: EvaluationStatus) -> None:
        """Record an Event and count, once an attempt is over."""
        complete = conditions.find(status.conditions, Type.COMPLETE)
        if complete is None or complete.status is not State.TRUE:
            return
        self._counted.pop(seen.body["metadata"]["uid"], None)
        if not seen.is_complete:
            verdict = str(status.verdict) if status.verdict else "none"
            self._deps.meter.verdict(seen.body["metadata"]["namespace"], verdict)
        is_good = conditions.is_true(status.conditions, Type.PASSED)
        kind = "Normal" if is_good else "Warning"
        passed = conditions.find(status.conditions, Type.PASSED)
        shown = passed or complete
        await self._deps.recorder.event(seen.body, kind, shown.reason, shown.message)


def _also(results: Results) -> tuple[tuple[str, str], ...]:
    """Return the runs that were created, to be looked at without waiting for their event."""
    return tuple((body["metadata"]["namespace"], body["metadata"]["name"]) for body in results.created)
