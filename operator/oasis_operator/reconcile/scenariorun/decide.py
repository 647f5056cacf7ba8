"""What to do next for a ScenarioRun: pure, from one observation and the time.

Per stage the checks stand in order, and the first that has something to say decides. The order is: what ends
the run whatever else holds, what broke, what is still missing, the way on, and last the deadline's wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.scenariorun import Stage
from oasis_operator.reconcile.scenariorun import after_prompt as after
from oasis_operator.reconcile.scenariorun import before_prompt as before
from oasis_operator.reconcile.scenariorun import foreign, plans, troubles
from oasis_operator.reconcile.scenariorun.actions import Plan

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator import errors
    from oasis_operator.reconcile.scenariorun.observe import Observed
    from oasis_operator.reconcile.scenariorun.plans import Check


def decide(seen: Observed, now: datetime) -> Plan:
    """Return the plan of this pass."""
    checks = foreign.CHECKS if seen.foreign is not None else _CHECKS
    for check in checks[seen.stage]:
        plan = check(seen, now)
        if plan is not None:
            return plan
    return Plan(wait_seconds=plans.poll(seen, now), note=troubles.note(seen))


def after_fault(seen: Observed, error: errors.OasisError) -> Plan:
    """Return the plan for a fault that an action met."""
    if seen.foreign is not None:
        return foreign.after_fault(seen, error)
    return plans.failed(seen, plans.failure_of(error))


_PROVISIONING_LIMIT = plans.deadline("provisioning", Reason.PROVISIONING_TIMEOUT)
_PREPARING_LIMIT = plans.deadline("preparing", Reason.PREPARING_TIMEOUT)
_OBSERVING_LIMIT = plans.deadline("observing", Reason.OBSERVING_TIMEOUT)

_CHECKS: dict[Stage, tuple[Check, ...]] = {
    Stage.PENDING: (
        plans.ended_from_outside,
        before.stranger,
        before.pending_too_long,
        before.clean_start,
        before.fence_missing,
        before.create,
    ),
    Stage.PROVISIONING: (
        plans.ended_from_outside,
        before.stranger,
        before.fence_lost,
        plans.world_lost,
        plans.keys_lost,
        before.capacity,
        _PROVISIONING_LIMIT,
        before.world_answers,
    ),
    Stage.PREPARING: (
        plans.ended_from_outside,
        before.stranger,
        before.fence_lost,
        plans.world_lost,
        plans.keys_lost,
        before.preparation_failed,
        before.agent_ended_early,
        before.agent_pod_lost,
        before.capacity,
        _PREPARING_LIMIT,
        before.preparation_lost,
        before.agent_pod_missing,
        before.release,
        before.deliverable,
    ),
    Stage.RUNNING: (
        plans.ended_from_outside,
        plans.world_lost_for_good,
        plans.keys_lost,
        after.world_broken,
        after.adapter_replaced,
        after.crashed_before_delivery,
        after.answered,
        after.fence_lost_in_mid_run,
        after.adapter_gone,
        after.deliver,
        after.overtime,
    ),
    Stage.OBSERVING: (
        plans.world_lost_for_good,
        plans.keys_lost,
        _OBSERVING_LIMIT,
        after.note_broken_world,
        after.agent_still_there,
        after.collect,
    ),
    Stage.JUDGING: (after.tear_down, after.close),
    Stage.COMPLETED: (),
}
