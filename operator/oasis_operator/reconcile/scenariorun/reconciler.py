"""One pass over one ScenarioRun: look, decide, act, report, and say when to look again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.scenariorun import ScenarioRunStatus, Stage
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.ports import kube
from oasis_operator.reconcile.outcome import DONE, Requeue
from oasis_operator.reconcile.scenariorun import decide, plans, streaming, troubles
from oasis_operator.reconcile.scenariorun.act import Results, act
from oasis_operator.reconcile.scenariorun.actions import Plan
from oasis_operator.reconcile.scenariorun.lifecycle import MAX_ATTEMPTS
from oasis_operator.reconcile.scenariorun.observe import Observed, observe
from oasis_operator.reconcile.scenariorun.status import report
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.reconcile.deps import Deps

_REFUSED_SECONDS = 10.0


class ScenarioRunReconciler:
    """Drives ScenarioRuns through their stages."""

    def __init__(self, deps: Deps) -> None:
        """Work with these ports and settings."""
        self._deps = deps
        # Since when each run's adapter has been silent; losing it only starts the wait anew.
        self._silent: dict[str, datetime] = {}
        # Runs that something may be kept of; what a restart forgets is swept when it starts.
        self._streamed: dict[tuple[str, str], str] = {}

    async def reconcile(self, namespace: str, name: str) -> Requeue:
        """Make one pass.

        Raises:
            Transient: The pass must be repeated with backoff; nothing was lost.
        """
        seen = await observe(self._deps, namespace, name)
        if seen is None:
            await self._forget(namespace, name)
            return DONE
        self._streamed[namespace, name] = seen.body["metadata"]["uid"]
        await streaming.pull(self._deps, seen)
        now = self._deps.clock.now()
        seen = self._with_silence(seen, now)
        if troubles.waits_for_room(seen):
            self._deps.boots.press(now)
        plan, results = await self._act(seen, decide.decide(seen, now), now)
        status = report(seen, plan, results, now)
        if status != seen.run.status:
            await self._deps.kube.write_status(kinds.SCENARIO_RUN, seen.body, fields.dump(status))
            await self._tell(seen, status)
        return DONE if status.stage is Stage.COMPLETED else Requeue(plan.wait_seconds)

    async def _act(self, seen: Observed, plan: Plan, now: datetime) -> tuple[Plan, Results]:
        """Carry out a plan; a fault met on the way becomes the plan."""
        try:
            results = await act(self._deps, seen, plan.steps, now)
        except errors.NotReady as error:
            if error.reason == kube.QUOTA_EXCEEDED:
                self._deps.boots.press(now)
            return Plan(note=(error.reason, error.message), wait_seconds=_REFUSED_SECONDS), Results()
        except (errors.ProviderFault, errors.InvalidSpec) as error:
            self._deps.meter.fault(error.reason)
            if seen.stage is Stage.JUDGING:
                return replace(plan, failure=plans.failure_of(error)), Results()
            return await self._end(seen, decide.after_fault(seen, error), now)
        return replace(plan, failure=results.failure or plan.failure), results

    async def _end(self, seen: Observed, plan: Plan, now: datetime) -> tuple[Plan, Results]:
        """Carry out what is left to do for a run that cannot go on; a fault in that changes nothing."""
        try:
            return plan, await act(self._deps, seen, plan.steps, now)
        except (errors.NotReady, errors.ProviderFault, errors.InvalidSpec):
            return plan, Results()

    async def _forget(self, namespace: str, name: str) -> None:
        """Remove what was fetched of a run that is over or gone."""
        uid = self._streamed.pop((namespace, name), None)
        if uid is not None:
            await streaming.discard(self._deps, uid, MAX_ATTEMPTS)

    def _with_silence(self, seen: Observed, now: datetime) -> Observed:
        """Return the observation with the time since when its adapter has not answered."""
        uid = seen.body["metadata"]["uid"]
        if seen.stage is not Stage.RUNNING or seen.sidecars.adapter is not None:
            self._silent.pop(uid, None)
            return seen
        return replace(seen, silent_since=self._silent.setdefault(uid, now))

    async def _tell(self, seen: Observed, status: ScenarioRunStatus) -> None:
        """Count the end of a run, and record an Event where it is not what was hoped for."""
        if status.stage is not Stage.COMPLETED:
            return
        for timing in status.timings:
            if timing.finished_at is not None:
                seconds = (timing.finished_at - timing.started_at).total_seconds()
                self._deps.meter.stage(str(timing.stage), seconds)
        self._deps.meter.scenario(str(status.outcome or "none"))
        if status.outcome is Verdict.PASS or status.score is not None:
            return
        complete = next(item for item in status.conditions if item.type == "Complete")
        await self._deps.recorder.event(seen.body, "Warning", complete.reason, complete.message)
