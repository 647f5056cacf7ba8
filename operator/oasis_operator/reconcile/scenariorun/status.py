"""The status of a ScenarioRun after a pass: one function per part, nothing read but the arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from oasis_operator.api import conditions, fields
from oasis_operator.api.conditions import Fact, Reason, State, Type
from oasis_operator.api.v1alpha1 import scenariorun as api
from oasis_operator.api.v1alpha1.scenariorun import ScenarioRunStatus, Stage
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.model import result as model
from oasis_operator.reconcile.scenariorun.lifecycle import WITHOUT_VERDICT, Step, next_stage
from oasis_operator.resources import names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from oasis_operator.reconcile.scenariorun.act import Results
    from oasis_operator.reconcile.scenariorun.actions import Plan
    from oasis_operator.reconcile.scenariorun.observe import Observed

_EVIDENCE_POINTERS = 4


def report(seen: Observed, plan: Plan, results: Results, now: datetime) -> ScenarioRunStatus:
    """Return the status as it must be after the pass; equal to the present one where nothing is new."""
    before = seen.run.status
    stage = next_stage(seen.stage, plan.step)
    changes: dict[str, Any] = {
        "observed_generation": seen.run.metadata.generation,
        "stage": stage,
        "timings": _timings(before.timings, seen, stage, now),
        "pods": _pods(seen, plan, results),
        "failure": _failure(seen, plan),
    }
    if plan.boot_id:
        changes |= {"prompt_sent_at": now, "adapter_boot_id": plan.boot_id}
    if results.evidence is not None:
        kept = results.evidence
        changes["evidence"] = fields.ArtifactRef(uri=kept.uri, digest=kept.digest, size_bytes=kept.size_bytes)
    if results.budget is not None:
        changes["budget"] = _spent(results.budget)
    after = before.model_copy(update=changes)
    if stage is Stage.COMPLETED:
        after = _judged(after, results.judged)
    facts, gone = _facts(after, plan)
    conditions_after = conditions.with_facts(
        before.conditions, facts, generation=seen.run.metadata.generation, now=now
    )
    for type_ in gone:
        conditions_after = conditions.without(conditions_after, type_)
    return after.model_copy(update={"conditions": conditions_after})


def outcome_of(failure: api.RunFailure | None, judged: model.ScenarioResult | None) -> Verdict | None:
    """Return the outcome of a run that is over.

    A violation on record stays a FAIL whatever broke beside it, and nothing that broke can end in a PASS. A
    run that was cancelled, or whose subject changed, has no outcome unless a violation was judged.

    Spec: 01-core §3.6.
    """
    status = judged.status if judged else None
    if status is model.Status.FAIL:
        return Verdict.FAIL
    if failure is not None:
        return None if failure.reason in WITHOUT_VERDICT else Verdict.PROVIDER_FAILURE
    return Verdict(status.value) if status is not None else None


def _spent(budget: Mapping[str, Any]) -> api.BudgetUse:
    """Return what the evidence has of a budget; seconds count when they have begun."""
    found = {
        name: api.Spent(
            used=math.ceil(part["used"]), limit=None if part["limit"] is None else math.ceil(part["limit"])
        )
        for name, part in budget.items()
        if name != "overallExceeded"
    }
    estimated = budget["tokens"]["estimated"] if "tokens" in budget else None
    return api.BudgetUse(**found, tokens_estimated=estimated)


def _timings(
    timings: tuple[api.StageTiming, ...], seen: Observed, stage: Stage, now: datetime
) -> tuple[api.StageTiming, ...]:
    """Close the stage that ended and open the one that began; a retry starts the record anew."""
    if stage is seen.stage and timings:
        return timings
    if stage is Stage.PENDING:
        return (api.StageTiming(stage=stage, started_at=now),)
    began = seen.run.metadata.creation_timestamp or now
    known = timings or (api.StageTiming(stage=Stage.PENDING, started_at=began),)
    if stage is seen.stage:
        return known
    closed = tuple(
        item.model_copy(update={"finished_at": now}) if item.finished_at is None else item for item in known
    )
    finished = now if stage is Stage.COMPLETED else None
    return (*closed, api.StageTiming(stage=stage, started_at=now, finished_at=finished))


def _pods(seen: Observed, plan: Plan, results: Results) -> api.Pods | None:
    """Record the pods of the attempt; a retry forgets those of the one before."""
    if plan.step is Step.RETRIED:
        return None
    before = seen.run.status.pods or api.Pods()
    world = results.environment_pod or before.environment or _found_world(seen, plan)
    subject = results.agent_pod or before.agent
    if world is None and subject is None:
        return None
    pod = seen.agent_pod
    if subject is not None and pod is not None and pod.uid == subject.uid:
        subject = subject.model_copy(update={"restarts": pod.restarts})
    return api.Pods(environment=world, agent=subject)


def _found_world(seen: Observed, plan: Plan) -> api.PodRef | None:
    """Return the world that an earlier pass made or claimed and could not record any more."""
    pod = seen.environment_pod
    if plan.step is not Step.CREATED or pod is None:
        return None
    return api.PodRef(name=names.environment_pod(seen.objects.world), uid=pod.uid)


def _failure(seen: Observed, plan: Plan) -> api.RunFailure | None:
    """Record what broke; a second attempt that got as far as the agent takes the first one's failure back."""
    if plan.failure is not None:
        return api.RunFailure(
            reason=str(plan.failure.reason)[:64],
            message=fields.clip(plan.failure.message, 1024),
            pod_reason=plan.failure.pod_reason[:256] or None,
        )
    return None if plan.step in (Step.PREPARED, Step.AGENT_ENDED) else seen.run.status.failure


def _judged(status: ScenarioRunStatus, judged: model.ScenarioResult | None) -> ScenarioRunStatus:
    """Add the outcome and, where the evidence was judged, the assertions."""
    outcome = outcome_of(status.failure, judged)
    if judged is None:
        return status.model_copy(update={"outcome": outcome})
    changes: dict[str, Any] = {"outcome": outcome, "vacuous": bool(judged.vacuous)}
    if judged.score is not None:
        changes["score"] = f"{judged.score:.3f}"
    if outcome is Verdict.PROVIDER_FAILURE and status.failure is None:
        message = fields.clip(judged.cause or "the evidence could not be read", 1024)
        changes["failure"] = api.RunFailure(reason=Reason.EVIDENCE_UNREACHABLE, message=message)
    shown = tuple(_assertion(item) for item in judged.assertions)
    return api.with_assertions(status.model_copy(update=changes), shown)


def _assertion(item: model.AssertionResult) -> api.Assertion:
    return api.Assertion(
        kind=item.kind[:128] or "assertion",
        text=fields.clip(f"{item.id}: {item.text}", 256),
        result=api.AssertionResult(item.outcome.value.capitalize()),
        vacuous=bool(item.vacuous),
        reason=fields.clip(item.reason, 256),
        evidence=tuple(_pointer(pointer) for pointer in item.pointers[:_EVIDENCE_POINTERS]),
    )


def _pointer(pointer: model.Pointer) -> str:
    place = f"#{pointer.seq}" if pointer.seq is not None else f": {pointer.detail}" if pointer.detail else ""
    return f"{pointer.source}{place}"[:128]


def _facts(status: ScenarioRunStatus, plan: Plan) -> tuple[tuple[Fact, ...], tuple[Type, ...]]:
    """Return the conditions of the pass and those that must not be there."""
    if status.stage is not Stage.COMPLETED:
        return _facts_under_way(status, plan), (Type.STALLED,)
    reason, message = _end(status)
    if plan.left_behind:
        message = f"{message}; still terminating: {', '.join(plan.left_behind)}"
    complete = Fact(Type.COMPLETE, State.TRUE, reason, message)
    if status.outcome in (Verdict.PASS, Verdict.FAIL):
        ready = Fact(Type.READY, State.TRUE, reason, message)
        return (complete, ready), (Type.RECONCILING, Type.STALLED)
    stalled = Fact(Type.STALLED, State.TRUE, reason, message)
    ready = Fact(Type.READY, State.FALSE, reason, message)
    return (complete, ready, stalled), (Type.RECONCILING,)


def _facts_under_way(status: ScenarioRunStatus, plan: Plan) -> tuple[Fact, ...]:
    stage = status.stage or Stage.PENDING
    reason, message = plan.note or (Reason.PROGRESSING, f"stage {stage}")
    return (
        Fact(Type.COMPLETE, State.FALSE, Reason.PROGRESSING, f"stage {stage}"),
        Fact(Type.READY, State.FALSE, reason, message),
        Fact(Type.RECONCILING, State.TRUE, Reason.PROGRESSING, f"stage {stage}"),
    )


def _end(status: ScenarioRunStatus) -> tuple[str, str]:
    """Return reason and message of a run that is over; a low capability score violates nothing."""
    if status.score is not None:
        return Reason.FINISHED, f"capability score {status.score}"
    if status.outcome is Verdict.PASS:
        return Reason.SAFETY_PASSED, "every assertion is satisfied"
    if status.outcome is Verdict.FAIL:
        violated = next((a for a in status.assertions if a.result is api.AssertionResult.VIOLATED), None)
        return Reason.SAFETY_VIOLATED, violated.text if violated else "an assertion is violated"
    if status.failure is not None:
        return status.failure.reason, status.failure.message
    return Reason.REPORT_ONLY, "some assertions cannot be evaluated; diagnostics only"
