"""The conditions of an Evaluation: one function per condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api import conditions, fields
from oasis_operator.api.conditions import Fact, Reason, State, Type
from oasis_operator.api.v1alpha1 import evaluation_status as api
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.engine import floors
from oasis_operator.reconcile.evaluation.plans import Plan, profile_faults

if TYPE_CHECKING:
    from oasis_operator.model.gate import Gate
    from oasis_operator.reconcile.evaluation.act import Results
    from oasis_operator.reconcile.evaluation.conclusion import Conclusion
    from oasis_operator.reconcile.evaluation.observe import Observed

_PREFLIGHT = (Type.PROFILE_VALID, Type.PROVIDER_CONFORMANT, Type.EGRESS_DENIED, Type.AGENT_READY)
_PASSED_REASONS = {
    "SafetyViolated": Reason.SAFETY_VIOLATED,
    "ProviderFault": Reason.PROVIDER_FAULT,
    "Vacuous": Reason.VACUOUS,
    "Unassessable": Reason.UNASSESSABLE,
    "Incomplete": Reason.INCOMPLETE,
    "CustomSelection": Reason.INCOMPLETE,
    floors.UNREADABLE: Reason.POLICY_UNREADABLE,
    **dict.fromkeys(floors.OF_POLICY, Reason.POLICY_UNMET),
}


def first_facts() -> tuple[Fact, ...]:
    """Return the conditions of an attempt that has just begun."""
    message = "the attempt has begun"
    return (
        Fact(Type.COMPLETE, State.FALSE, Reason.PROGRESSING, message),
        Fact(Type.PASSED, State.UNKNOWN, Reason.PENDING, message),
        Fact(Type.READY, State.FALSE, Reason.PROGRESSING, message),
        Fact(Type.RECONCILING, State.TRUE, Reason.PROGRESSING, message),
        *(Fact(type_, State.UNKNOWN, Reason.PENDING, "not checked yet") for type_ in _PREFLIGHT),
    )


def facts(seen: Observed, plan: Plan, results: Results) -> tuple[tuple[Fact, ...], tuple[Type, ...]]:
    """Return the conditions of a pass and those that must not be there."""
    checked = (
        _profile_valid(seen),
        _provider_conformant(seen),
        _egress_denied(plan),
        _agent_ready(seen, plan, results),
    )
    present = tuple(fact for fact in checked if fact is not None)
    if results.conclusion is not None:
        ended = _concluded(results.conclusion)
    elif plan.refusal is not None:
        ended = _without_verdict(plan.refusal.reason, plan.refusal.message)
    else:
        return (*present, *_under_way(seen, plan, results)), _absent_under_way(plan)
    absent = (Type.RECONCILING,)
    is_good = any(fact.type is Type.PASSED and fact.status is State.TRUE for fact in ended)
    return (*present, *ended), (*absent, Type.STALLED) if is_good else absent


def checks(seen: Observed, plan: Plan) -> tuple[api.Check, ...]:
    """Return the preflight checks as a list, in order."""
    found = {item.type: item for item in seen.evaluation.status.conditions}
    fresh = [_profile_valid(seen), _provider_conformant(seen), _egress_denied(plan)]
    states = {
        **{type_: (found[type_].status, found[type_].message) for type_ in _PREFLIGHT if type_ in found},
        **{fact.type: (fact.status, fact.message) for fact in fresh if fact is not None},
    }
    results = {
        State.TRUE: api.CheckResult.PASSED,
        State.FALSE: api.CheckResult.FAILED,
        State.UNKNOWN: api.CheckResult.UNKNOWN,
    }
    return tuple(
        api.Check(
            name=str(type_), result=results[states[type_][0]], message=fields.clip(states[type_][1], 256)
        )
        for type_ in _PREFLIGHT
        if type_ in states
    )


def _profile_valid(seen: Observed) -> Fact | None:
    if seen.profile_trouble is not None:
        reason, message = seen.profile_trouble
        return Fact(Type.PROFILE_VALID, State.FALSE, reason, message)
    if seen.reading is None:
        return None
    if seen.profile is None:
        return Fact(Type.PROFILE_VALID, State.FALSE, Reason.INVALID_PROFILE, profile_faults(seen))
    warnings = len(seen.reading.faults)
    message = f"{seen.profile.identifier} {seen.profile.version}, {warnings} warnings"
    return Fact(Type.PROFILE_VALID, State.TRUE, Reason.PROFILE_VALID, message)


def _provider_conformant(seen: Observed) -> Fact | None:
    if seen.assessment is None or seen.environment is None:
        return None
    gaps, declared = seen.assessment.gaps, seen.assessment.declaration
    if not gaps and declared is not None and declared.is_untested:
        return None
    if not gaps:
        return Fact(Type.PROVIDER_CONFORMANT, State.TRUE, Reason.CONFORMANT, "every requirement is met")
    message = "; ".join(gap.message for gap in gaps)
    return Fact(Type.PROVIDER_CONFORMANT, State.FALSE, Reason.PREFLIGHT_GAP, message)


def _egress_denied(plan: Plan) -> Fact | None:
    if plan.proven:
        return Fact(Type.EGRESS_DENIED, State.TRUE, Reason.ISOLATION_PROVEN, plan.proven)
    if plan.refusal is not None and plan.refusal.reason == Reason.ISOLATION_NOT_PROVEN:
        return Fact(Type.EGRESS_DENIED, State.FALSE, plan.refusal.reason, plan.refusal.message)
    if plan.ending is not None and Reason.ISOLATION_LOST in plan.ending.message:
        return Fact(Type.EGRESS_DENIED, State.FALSE, Reason.ISOLATION_LOST, plan.ending.message)
    return None


def _agent_ready(seen: Observed, plan: Plan, results: Results) -> Fact | None:
    answer = results.answer or seen.answer
    if answer is not None:
        identity = answer["identity"]
        message = f"{identity['name']} {identity['version']}{_differences(seen, answer['configuration'])}"
        return Fact(Type.AGENT_READY, State.TRUE, Reason.READY, message)
    proven = conditions.is_true(seen.evaluation.status.conditions, Type.EGRESS_DENIED)
    note = plan.refusal or plan.note
    if note is not None and (proven or seen.agent is None or seen.agent_trouble):
        return Fact(Type.AGENT_READY, State.FALSE, note.reason, note.message)
    return None


def _differences(seen: Observed, reported: dict[str, object]) -> str:
    """Return where the declared configuration differs from the reported one; the latter counts."""
    declared = seen.agent.configuration if seen.agent else {}
    differing = [name for name, value in declared.items() if reported.get(name) != value]
    return f"; declared otherwise than reported: {', '.join(sorted(differing))}" if differing else ""


def _under_way(seen: Observed, plan: Plan, results: Results) -> tuple[Fact, ...]:
    note = plan.ending or plan.note or results.note
    reason = note.reason if note else Reason.PROGRESSING
    message = note.message if note else _doing(seen)
    ready = Fact(Type.READY, State.FALSE, reason, message)
    if plan.note is not None and plan.note.is_stalled:
        return ready, Fact(Type.STALLED, State.TRUE, reason, message)
    return ready, Fact(Type.RECONCILING, State.TRUE, reason, message)


def _absent_under_way(plan: Plan) -> tuple[Type, ...]:
    stalled = plan.note is not None and plan.note.is_stalled
    return (Type.RECONCILING,) if stalled else (Type.STALLED,)


def _doing(seen: Observed) -> str:
    return "scenarios run" if seen.has_begun else "what must be known before a run is being checked"


def _concluded(found: Conclusion) -> tuple[Fact, ...]:
    """Return the conditions at the end of an attempt that ran something."""
    verdict = found.status
    if verdict is None:
        reason = found.reason or Reason.INCOMPLETE
        told = found.verdict.no_verdict_reason if found.verdict else ""
        return _without_verdict(reason, found.message or told or "there is no verdict")
    message = found.message or f"verdict {verdict}"
    complete = Fact(Type.COMPLETE, State.TRUE, found.reason or Reason.FINISHED, message)
    return (complete, *of_gate(verdict, found.gate))


def of_gate(verdict: Verdict, gate: Gate | None) -> tuple[Fact, ...]:
    """Return what verdict and gate say together: Passed, Ready, and Stalled where the gate is shut."""
    message = f"verdict {verdict}"
    if verdict is Verdict.PASS and gate is not None and gate.gateable:
        return (
            Fact(Type.PASSED, State.TRUE, Reason.SAFETY_PASSED, _remarked(message, gate)),
            Fact(Type.READY, State.TRUE, Reason.SAFETY_PASSED, message),
        )
    first = gate.reasons[0] if gate and gate.reasons else None
    reason = _PASSED_REASONS.get(first.reason, Reason.NOT_GATEABLE) if first else _by_verdict(verdict)
    why = "; ".join(item.message for item in gate.reasons) if gate and gate.reasons else message
    return (
        Fact(Type.PASSED, State.FALSE, reason, f"{message}: {why}"),
        Fact(Type.READY, State.FALSE, reason, f"{message}: {why}"),
        Fact(Type.STALLED, State.TRUE, reason, f"{message}: {why}"),
    )


def _remarked(message: str, gate: Gate) -> str:
    """Add what a waiver excuses and what policies warn of."""
    notes = [("", gate.waived), ("warning: ", gate.warnings)]
    told = [f"{prefix}{item.reason}: {item.message}" for prefix, items in notes for item in items]
    return "; ".join((message, *told))


def _by_verdict(verdict: Verdict) -> Reason:
    match verdict:
        case Verdict.PASS:
            return Reason.NOT_GATEABLE
        case Verdict.FAIL:
            return Reason.SAFETY_VIOLATED
        case Verdict.PROVIDER_FAILURE:
            return Reason.PROVIDER_FAULT


def _without_verdict(reason: str, message: str) -> tuple[Fact, ...]:
    return (
        Fact(Type.COMPLETE, State.TRUE, reason, message),
        Fact(Type.PASSED, State.FALSE, reason, f"no verdict: {message}"),
        Fact(Type.READY, State.FALSE, reason, message),
        Fact(Type.STALLED, State.TRUE, reason, message),
    )
