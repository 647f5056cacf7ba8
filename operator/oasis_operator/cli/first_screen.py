"""The first screen of a report: what a person must know, in the order in which it is asked.

Verdict, scenario, the audit line that proves it, the assertion that it breaks, what the agent said instead,
the subject, whether a gate may rely on it and why not, and the next command. Built from status alone.
"""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel

from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.evaluation_status import CheckResult, Failure
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.cli import console, gate_line, outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.api.v1alpha1.evaluation import Evaluation
    from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun
    from oasis_operator.cli.invocation import Invocation

LABEL_WIDTH = 10
NOT_RECORDED = "not recorded in status; the evidence document has it"


@dataclass(frozen=True, slots=True)
class Screen:
    """The first screen's facts; an empty text means that the line does not apply.

    Attributes:
        verdict: PASS, FAIL, PROVIDER_FAILURE, `no verdict` or `not complete`.
        reason: CamelCase reason behind it.
        audit_proven: An audit entry proves the failure; `audit` is that entry then.
        cause: Why there is no verdict, or what broke; for a person.
        more: Further findings of the same kind that are not shown.
        gate_warnings: What policies that only warn find missing; they shut no gate.
        gate_waived: Reasons that a waiver excuses for now.
    """

    evaluation: str
    namespace: str
    verdict: str
    reason: str
    summary: str
    scenario: str = ""
    audit: str = ""
    audit_proven: bool = False
    assertion: str = ""
    seen: str = ""
    answer: str = ""
    cause: str = ""
    more: int = 0
    subject: str = ""
    gateable: bool = False
    gate_reasons: tuple[str, ...] = ()
    gate_reasons_total: int = 0
    gate_warnings: tuple[str, ...] = ()
    gate_waived: tuple[str, ...] = ()
    next_command: str = ""


def build_screen(evaluation: Evaluation, scenario_runs: Sequence[ScenarioRun]) -> Screen:
    """Build the first screen of an Evaluation.

    Args:
        evaluation: As read from the cluster.
        scenario_runs: Its runs, in any order; they name the cause of a provider failure.
    """
    known = outcome.read_outcome(evaluation)
    status, meta = evaluation.status, evaluation.metadata
    digests, reasons = status.digests, known.gate_reasons or _default_gate_reasons(known)
    base = Screen(
        evaluation=meta.name,
        namespace=meta.namespace,
        verdict=_verdict_text(known),
        reason=known.reason,
        summary=_summary(evaluation),
        subject=(digests.subject or "") if digests else "",
        gateable=known.gateable,
        gate_reasons=reasons,
        gate_reasons_total=max(known.gate_reasons_total, len(reasons)),
        gate_warnings=known.gate_warnings,
        gate_waived=known.gate_waived,
        next_command=next_command(evaluation, known),
    )
    match known.verdict:
        case Verdict.FAIL:
            return _with_failure(base, evaluation)
        case Verdict.PROVIDER_FAILURE:
            return _with_fault(base, known, scenario_runs)
        case Verdict.PASS:
            return base
        case None:
            return _with_cause(base, evaluation, known)


def _verdict_text(known: outcome.Outcome) -> str:
    """Name the verdict, or what stands in its place."""
    if known.verdict is not None:
        return known.verdict.value
    return "no verdict" if known.complete or known.stalled else "not complete"


def _summary(evaluation: Evaluation) -> str:
    """Say what was evaluated: agent, profile, tier, run and counts."""
    status, spec = evaluation.status, evaluation.spec
    parts = [f"agent {spec.agent_ref.name}"]
    if status.profile is not None:
        parts.append(f"{status.profile.name} {status.profile.version}")
    parts.append(f"tier {spec.tier}")
    if status.attempt > 1:
        parts.append(f"attempt {status.attempt}")
    if status.counts is not None:
        counts = status.counts
        parts.append(
            f"{counts.passed} passed ({counts.vacuous} vacuous), {counts.failed} failed, "
            f"{counts.provider_failures} lost, of {counts.applicable} applicable"
        )
    return console.clean(", ".join(parts))


def _default_gate_reasons(known: outcome.Outcome) -> tuple[str, ...]:
    """Say why a gate may not rely on it where the operator gave no reason."""
    if known.gateable:
        return ()
    return (f"{_verdict_text(known)} ({known.reason})",)


def _with_failure(base: Screen, evaluation: Evaluation) -> Screen:
    """Add the failure that proves most: the first one with an audit entry, else the first."""
    status = evaluation.status
    leading = leading_failure(status.failures)
    if leading is None:
        return dataclasses.replace(base, cause="status lists no failed assertion")
    return dataclasses.replace(
        base,
        scenario=console.clean(leading.scenario),
        audit=console.clean(leading.audit) or "none: the assertion is not about an API request",
        audit_proven=bool(leading.audit),
        assertion=console.clean(leading.assertion),
        seen=console.clean(leading.message),
        answer=console.clean(leading.answer) or NOT_RECORDED,
        more=max(status.failures_total, len(status.failures)) - 1,
    )


def leading_failure(failures: Sequence[Failure]) -> Failure | None:
    """Choose the failure to show first; None when there is none."""
    proven = (failure for failure in failures if failure.audit)
    return next(proven, failures[0] if failures else None)


def _with_fault(base: Screen, known: outcome.Outcome, scenario_runs: Sequence[ScenarioRun]) -> Screen:
    """Add the cause of a provider failure, from the run that broke first rather than those it took along."""
    broken = [run for run in scenario_runs if run.status.failure is not None]
    first = next(
        (run for run in broken if run.status.failure and run.status.failure.reason != Reason.ABORTED.value),
        broken[0] if broken else None,
    )
    if first is None or first.status.failure is None:
        return dataclasses.replace(base, cause=console.clean(known.message))
    failure = first.status.failure
    pod = f" (pod: {failure.pod_reason})" if failure.pod_reason else ""
    return dataclasses.replace(
        base,
        scenario=console.clean(first.spec.scenario_id),
        cause=console.clean(f"{failure.reason}: {failure.message}{pod}"),
        more=len(broken) - 1,
    )


def _with_cause(base: Screen, evaluation: Evaluation, known: outcome.Outcome) -> Screen:
    """Add why there is no verdict: each gap, failed check or assertion that stands in the way."""
    status = evaluation.status
    gaps = [
        f"{gap.requirement}: wants {gap.expected}, got {gap.actual}. {gap.remedy}"
        for gap in status.conformance_gaps
    ]
    checks = status.preflight.checks if status.preflight else ()
    failed = [f"{check.name}: {check.message}" for check in checks if check.result is not CheckResult.PASSED]
    unassessable = [f"{item.scenario}: {item.assertion}: {item.reason}" for item in status.unassessable]
    # A condition's message tells of a failed check already.
    details = [*gaps, *unassessable, *(() if known.message else failed)]
    text = "; ".join(filter(None, (known.message, *details[:1])))
    return dataclasses.replace(base, cause=console.clean(text), more=max(0, len(details) - 1))


def next_command(evaluation: Evaluation, known: outcome.Outcome) -> str:
    """Choose the command that helps most from here."""
    name, space = evaluation.metadata.name, f"-n {evaluation.metadata.namespace}"
    if not known.complete and not known.stalled:
        return f"oasis wait {name} {space}"
    match known.verdict:
        case Verdict.PASS:
            return (
                f"oasis report {name} {space} --all"
                if known.gateable
                else f"oasis wait {name} {space} --gate"
            )
        case Verdict.FAIL:
            return f"oasis report {name} {space} --all{_then_evidence(evaluation)}"
        case Verdict.PROVIDER_FAILURE:
            return f"oasis doctor {space}"
        case None:
            return _next_without_verdict(evaluation, known)


def _then_evidence(evaluation: Evaluation) -> str:
    """Add the command that fetches the evidence of the failure shown; its output names `oasis replay`."""
    leading = leading_failure(evaluation.status.failures)
    if leading is None:
        return ""
    name, space = evaluation.metadata.name, f"-n {evaluation.metadata.namespace}"
    scenario = shlex.quote(console.clean(leading.scenario))
    return f"; oasis evidence {name} {scenario} {space} --to ."


def _next_without_verdict(evaluation: Evaluation, known: outcome.Outcome) -> str:
    """Choose the command that removes the reason for which there is no verdict."""
    name, space = evaluation.metadata.name, f"-n {evaluation.metadata.namespace}"
    agent = evaluation.spec.agent_ref.name
    commands = {
        Reason.INVALID_PROFILE.value: "oasis validate PROFILE_FOLDER",
        Reason.UNASSESSABLE.value: f"oasis report {name} {space} --all",
        Reason.ISOLATION_NOT_PROVEN.value: f"oasis doctor {space} --probe",
        Reason.REPORT_ONLY.value: f"oasis report {name} {space} --all",
        Reason.IDENTITY_UNAVAILABLE.value: f"kubectl {space} describe agents.oasis-operator.dev {agent}",
    }
    return commands.get(known.reason, f"kubectl {space} describe evaluations.oasis-operator.dev {name}")


def screen_lines(screen: Screen) -> tuple[tuple[str, str], ...]:
    """Give the first screen as label and text, in order; lines that do not apply are left out."""
    more = f" (and {screen.more} more)" if screen.more > 0 else ""
    pairs = (
        ("Verdict", f"{screen.verdict} ({screen.reason})"),
        ("Evaluated", f"{screen.namespace}/{screen.evaluation}: {screen.summary}"),
        ("Scenario", screen.scenario),
        ("Audit", screen.audit),
        ("Breaks", f"{screen.assertion}{more}" if screen.assertion else ""),
        ("Seen", screen.seen),
        ("Said", screen.answer),
        ("Cause", f"{console.clean(screen.cause)}{more}" if screen.cause else ""),
        ("Subject", screen.subject or "not known yet"),
        ("Gate", _gate(screen)),
        ("Next", screen.next_command),
    )
    return tuple((label, text) for label, text in pairs if text)


def _gate(screen: Screen) -> str:
    """Say whether a gate may rely on the verdict, and with which exceptions and warnings."""
    shut = gate_line.gate_text(screen.gate_reasons, screen.gate_reasons_total)
    notes = (("with", screen.gate_waived), ("warning", screen.gate_warnings))
    told = [f"{word} {gate_line.gate_text(lines, len(lines))}" for word, lines in notes if lines]
    return "; ".join(["yes" if screen.gateable else f"no: {shut}", *told])


def show(invocation: Invocation, screen: Screen) -> None:
    """Print the first screen as text on stdout."""
    for label, text in screen_lines(screen):
        invocation.out.print(f"{label:<{LABEL_WIDTH}}{text}", soft_wrap=True)


def as_document(screen: Screen) -> dict[str, Any]:
    """Give the first screen as a JSON object with camelCase members."""
    return {to_camel(name): value for name, value in dataclasses.asdict(screen).items()}
