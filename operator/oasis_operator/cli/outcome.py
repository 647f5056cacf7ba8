"""Reads what became of an Evaluation, and turns it into an exit code.

The only place of the command line that interprets verdict and conditions. It fails closed: an old status,
a missing field or a half-written one is never a PASS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.api import conditions
from oasis_operator.api.v1alpha1.evaluation_status import Gateable
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.api.v1alpha1.evaluation import Evaluation


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of an Evaluation at one moment.

    Attributes:
        complete: The operator is done with the current spec, whatever came of it.
        stalled: Nothing will happen until a person acts.
        verdict: None while there is none, and where there will be none.
        reason: CamelCase reason of the condition that explains the state best.
        message: The same for a person; may be empty.
        gateable: A gate may rely on the verdict.
        gate_reasons: Why not; empty where it may or where that is not decided yet.
        gate_reasons_total: Number of reasons; more than are listed where status has no room for all.
        gate_warnings: What policies that only warn find missing; they shut nothing.
        gate_waived: Reasons that a waiver excuses for now.
    """

    complete: bool
    stalled: bool
    verdict: Verdict | None
    reason: str
    message: str
    gateable: bool
    gate_reasons: tuple[str, ...]
    gate_reasons_total: int = 0
    gate_warnings: tuple[str, ...] = ()
    gate_waived: tuple[str, ...] = ()


def read_outcome(evaluation: Evaluation) -> Outcome:
    """Read verdict, conditions and gate of an Evaluation.

    A status about an older spec or an older run counts as nothing known.

    Spec: 01-core §3.6.
    """
    status, generation = evaluation.status, evaluation.metadata.generation
    current = is_current(evaluation)
    facts = status.conditions if current else ()
    complete = conditions.is_true(facts, conditions.Type.COMPLETE, generation)
    stalled = conditions.is_true(facts, conditions.Type.STALLED, generation)
    verdict = status.verdict if complete and not _contradicts_itself(evaluation) else None
    passed = conditions.is_true(facts, conditions.Type.PASSED, generation)
    allowed = status.gateable is not None and status.gateable.allowed
    telling = _telling(facts)
    gate = status.gateable if current and status.gateable else Gateable(allowed=False)
    reasons = gate.reasons
    return Outcome(
        complete=complete,
        stalled=stalled,
        verdict=verdict,
        reason=telling.reason if telling else conditions.Reason.PENDING.value,
        message=telling.message if telling else "",
        gateable=verdict is Verdict.PASS and passed and allowed,
        gate_reasons=reasons,
        gate_reasons_total=max(len(reasons), gate.reasons_total) if reasons else 0,
        gate_warnings=gate.warnings,
        gate_waived=gate.waived,
    )


def _contradicts_itself(evaluation: Evaluation) -> bool:
    """Tell whether a status says PASS beside counts that forbid it, as only an edit by hand leaves it."""
    counts, verdict = evaluation.status.counts, evaluation.status.verdict
    if verdict is not Verdict.PASS:
        return False
    return counts is None or counts.passed == 0 or counts.provider_failures > 0


def is_current(evaluation: Evaluation) -> bool:
    """Tell whether status is about the spec and the run token as they are now."""
    status = evaluation.status
    return (
        status.observed_generation >= evaluation.metadata.generation
        and status.run_token == evaluation.spec.run_token
    )


def _telling(facts: Iterable[conditions.Condition]) -> conditions.Condition | None:
    """Choose the condition that says most: a failed precondition, else the gate, else progress."""
    found = {fact.type: fact for fact in facts}
    for kind in (
        conditions.Type.AGENT_READY,
        conditions.Type.PROFILE_VALID,
        conditions.Type.PROVIDER_CONFORMANT,
        conditions.Type.EGRESS_DENIED,
    ):
        fact = found.get(kind)
        if fact is not None and fact.status is conditions.State.FALSE:
            return fact
    order = (
        conditions.Type.STALLED,
        conditions.Type.PASSED,
        conditions.Type.RECONCILING,
        conditions.Type.COMPLETE,
        conditions.Type.READY,
    )
    return next((found[kind] for kind in order if _says_something(found.get(kind))), None)


def _says_something(fact: conditions.Condition | None) -> bool:
    """Tell whether a condition explains a state: an Unknown one does not."""
    return fact is not None and fact.status is not conditions.State.UNKNOWN


def exit_code(outcome: Outcome, *, gate: bool) -> ExitCode:
    """Choose the exit code of a settled Evaluation.

    Args:
        outcome: What is known; an incomplete one has no verdict.
        gate: Ask for more than the verdict: that a gate may rely on it.
    """
    match outcome.verdict:
        case Verdict.PASS:
            return ExitCode.PASS if outcome.gateable or not gate else ExitCode.NOT_GATEABLE
        case Verdict.FAIL:
            return ExitCode.FAIL
        case Verdict.PROVIDER_FAILURE:
            return ExitCode.PROVIDER_FAILURE
        case None:
            return ExitCode.NO_VERDICT


def combined_exit_code(codes: Iterable[ExitCode]) -> ExitCode:
    """Choose one code for several Evaluations: what accuses or blocks most wins; PASS only if all passed."""
    severity = (
        ExitCode.FAIL,
        ExitCode.PROVIDER_FAILURE,
        ExitCode.NO_VERDICT,
        ExitCode.TIMEOUT,
        ExitCode.NOT_GATEABLE,
        ExitCode.PASS,
    )
    given = set(codes)
    return next((code for code in severity if code in given), ExitCode.NO_VERDICT)
