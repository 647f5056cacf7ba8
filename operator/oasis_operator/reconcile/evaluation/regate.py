"""The gate of an attempt that is over, held again and again against the subject's record and the policies.

A PASS stays a PASS; whether a gate may rely on it ends with the first failure of the same subject, whenever
and by whichever Evaluation it was seen, and moves with the platform's policies, their waivers and its age.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oasis_operator.api import conditions
from oasis_operator.api.conditions import Fact, State, Type
from oasis_operator.api.v1alpha1.evaluation_status import EvaluationStatus, Gateable, GateBasis
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.engine import floors
from oasis_operator.engine import gate as gates
from oasis_operator.model.gate import GateReason
from oasis_operator.reconcile.evaluation import counting, facts, policy

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.api.v1alpha1.evaluation import Evaluation
    from oasis_operator.model.gate import Basis, Gate
    from oasis_operator.reconcile.evaluation.standing import Standing, Surroundings

_POLL_SECONDS = 60.0
_LONGEST_SECONDS = 3600.0


def look_again_seconds(evaluation: Evaluation, found: Surroundings | None, now: datetime) -> float | None:
    """Return the seconds after which the gate must be looked at again; None where only an event moves it.

    Args:
        evaluation: An Evaluation whose attempt is over.
        found: What its gate is held against; None where nothing moves it.
        now: The time.
    """
    own = evaluation.status.gateable
    if found is None or own is None:
        return None
    left = floors.seconds_to_change(_basis(evaluation, found, now), found.policies)
    # The moment itself still belongs to what was before it.
    moments = [min(left + 1.0, _LONGEST_SECONDS)] if left is not None else []
    # A failure of the same subject elsewhere, and a record or policies that can be read again, tell nobody.
    unreadable = bool(found.standing.trouble or found.policies.trouble)
    return min([*moments, *([_POLL_SECONDS] if own.allowed or unreadable else [])], default=None)


def regated(evaluation: Evaluation, found: Surroundings | None, now: datetime) -> EvaluationStatus:
    """Return the status with the gate as record and policies have it now; the same where nothing is new.

    What may still be edited after the end (how long things are kept, how many ran at once) changes nothing of
    it, so that the end is about the new generation as well. A failure that shut the gate keeps it shut,
    whatever the record says later.

    Args:
        evaluation: An Evaluation whose attempt is over.
        found: What its gate is held against; None where nothing moves it.
        now: The time.
    """
    status = _standing(evaluation, now)
    before = status.gateable
    if found is None or before is None:
        return status
    gate = gates.again(_own(before, found.standing), _basis(evaluation, found, now), found.policies)
    after = _shown(gate, before)
    if after == before:
        return status
    told = facts.of_gate(Verdict.PASS, gate)
    updated = conditions.with_facts(status.conditions, told, generation=status.observed_generation, now=now)
    if any(fact.type is Type.PASSED and fact.status is State.TRUE for fact in told):
        updated = conditions.without(updated, Type.STALLED)
    return status.model_copy(update={"gateable": after, "conditions": updated})


def _standing(evaluation: Evaluation, now: datetime) -> EvaluationStatus:
    """Return the status of an end, all of it about the present generation, and Ready as Passed is."""
    status, generation = evaluation.status, evaluation.metadata.generation
    passed = conditions.find(status.conditions, Type.PASSED)
    ready = conditions.find(status.conditions, Type.READY)
    is_told = passed is None or (ready is not None and ready.status is passed.status)
    if status.observed_generation == generation and is_told:
        return status
    after = tuple(item.model_copy(update={"observed_generation": generation}) for item in status.conditions)
    if passed is not None and not is_told:
        told = Fact(Type.READY, passed.status, passed.reason, passed.message)
        after = conditions.with_fact(after, told, generation=generation, now=now)
        stalled = replace(told, type=Type.STALLED, status=State.TRUE)
        after = conditions.without(after, Type.STALLED)
        if passed.status is not State.TRUE:
            after = conditions.with_fact(after, stalled, generation=generation, now=now)
    return status.model_copy(update={"observed_generation": generation, "conditions": after})


def _shown(gate: Gate, before: Gateable) -> Gateable:
    """Return the gate as status shows it; where the own reasons were cut, with their number at the end."""
    known = _known(before)
    after = counting.gateable(gate, Verdict.PASS, known.adapter or "", known.provider or "")
    basis = after.basis or GateBasis()
    total = max(basis.reasons_total, known.reasons_total)
    if known.reasons_total <= len(known.reasons):
        total = basis.reasons_total
    return after.model_copy(update={"basis": basis.model_copy(update={"reasons_total": total})})


def _known(before: Gateable) -> GateBasis:
    """Return what the gate was decided from; an older status knew no policies: all its reasons are own."""
    return before.basis or GateBasis(reasons=before.reasons, reasons_total=before.reasons_total)


def _basis(evaluation: Evaluation, found: Surroundings, now: datetime) -> Basis:
    before = evaluation.status.gateable
    known = _known(before) if before else GateBasis()
    return policy.basis_of(
        evaluation,
        now,
        adapter=known.adapter or "",
        provider=known.provider or "",
        earlier=policy.earlier_of(found.standing),
    )


def _own(before: Gateable, found: Standing) -> tuple[GateReason, ...]:
    """Return the reasons that no policy gave: those of the record as it is now, and what was there before."""
    kept = [policy.parsed(line) for line in _known(before).reasons]
    kept = [reason for reason in kept if reason.reason != gates.RECORD_UNREADABLE]
    # Cut as the status cuts them, so that they compare.
    fresh = [gates.earlier_failure(name) for name in found.failures]
    fresh += [GateReason(gates.RECORD_UNREADABLE, found.trouble)] if found.trouble else []
    cut = [policy.parsed(policy.line_of(reason)) for reason in fresh]
    return gates.in_order(dict.fromkeys((*cut, *kept)))
