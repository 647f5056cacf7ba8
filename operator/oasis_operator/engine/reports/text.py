"""The report as plain text: the first screen answers what happened, what shows it and what to do next.

Spec: 01-core §3.2, 05-reporting §2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.engine.reports.cleaning import line
from oasis_operator.engine.reports.detail import (
    assertion_lines,
    conduct_lines,
    descriptor_lines,
    leak_lines,
)
from oasis_operator.engine.reports.first_screen import Violation, pointer_line, violations
from oasis_operator.engine.reports.sentences import on_comparison, on_repetitions
from oasis_operator.model.report import NOT_APPLICABLE_STATEMENT, SAME_TIER_STATEMENT
from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.model.report import Report, ScenarioSection
    from oasis_operator.model.result import ScenarioResult

SHOWN: Final = 3
"""Violations on the first screen."""

_WIDE: Final = 300
_LONG: Final = 1_200


def render(report: Report) -> str:
    """Return the report as text, with a final newline."""
    parts = (_head(report), _capability(report), _scenarios(report), _coverage(report), _facts(report))
    return "\n".join(line_ for part in parts for line_ in part) + "\n"


def _head(report: Report) -> Iterator[str]:
    """Yield the first screen."""
    verdict = report.verdict
    subject = report.facts.subject_digest or "unknown"
    status = str(verdict.status) if verdict.status is not None else "NO VERDICT"
    mark = " (incomplete)" if verdict.incomplete else ""
    yield f"{status}{mark}  {line(verdict.context.agent)} {line(verdict.context.agent_version)}".rstrip()
    profile = f"{line(report.profile_name)} {report.profile_version}"
    yield f"  profile {profile}, tier {report.tier}; subject {subject}"
    counts = f"{verdict.passed} passed, {verdict.failed} failed, {verdict.provider_failure} not verified"
    yield f"  safety: {counts} of {verdict.applicable} applicable; {verdict.not_applicable} not applicable"
    if verdict.no_verdict_reason:
        yield f"  no verdict: {line(verdict.no_verdict_reason)}"
    shown = list(violations(report))
    for violation in shown[:SHOWN]:
        yield ""
        yield from _violation(violation)
    if len(shown) > SHOWN:
        yield f"  … and {len(shown) - SHOWN} more violated assertions"
    for fault in verdict.provider_failures[:SHOWN]:
        yield ""
        yield f"  not verified: {line(fault.scenario_id)}"
        yield f"    cause: {line(fault.cause, _WIDE)}"
    if verdict.aborted:
        yield f"  aborted: {line(verdict.abort_reason, _WIDE)}"
    yield ""
    yield from _gate(report)
    if report.facts.next_command:
        yield f"  next: {line(report.facts.next_command)}"


def _violation(violation: Violation) -> Iterator[str]:
    yield f"  {line(violation.section.scenario_id)}: {line(violation.section.name)}"
    if violation.pointer is not None:
        yield f"    recorded: {line(pointer_line(violation.pointer), _WIDE)}"
    yield f"    violates: {violation.assertion.id}: {line(violation.assertion.text, _WIDE)}"
    yield f"    because:  {line(violation.assertion.reason, _WIDE)}"
    said = line(violation.run.said, _WIDE)
    yield f"    the agent said: {said!r}" if said else "    the agent said nothing"


def _gate(report: Report) -> Iterator[str]:
    gate = report.gate
    yield f"  a gate may {'rely on this verdict' if gate.gateable else 'not rely on this verdict:'}"
    for one in gate.reasons:
        yield f"    - {one.reason}: {line(one.message, _WIDE)}"
    for mark, reasons in (("waived", gate.waived), ("warning", gate.warnings)):
        for one in reasons:
            yield f"    - {mark}: {one.reason}: {line(one.message, _WIDE)}"


def _capability(report: Report) -> Iterator[str]:
    found = report.verdict.capability
    if found is None:
        return
    yield ""
    yield f"CAPABILITY at tier {found.tier}. {SAME_TIER_STATEMENT}."
    for name, score in found.dimensions.items():
        weights = ", ".join(
            f"{key} {value:g}" for key, value in report.dimension_weights.get(name, {}).items()
        )
        shown = "not scored" if score is None else f"{score:.3f}"
        yield f"  {name:18} {shown}" + (f"  ({weights})" if weights else "")
    for one in found.categories:
        shown = "not scored" if one.score is None else f"{one.score:.3f}"
        parts = ", ".join(f"{key} {value:.3f}" for key, value in one.archetypes.items())
        yield f"  {one.category:28} {shown}  → {', '.join(one.maps_to_dimensions)}" + (
            f"  ({parts})" if parts else ""
        )


def _scenarios(report: Report) -> Iterator[str]:
    yield ""
    yield "SAFETY"
    for category in report.verdict.categories:
        counts = (
            f"{category.passed} passed, {category.failed} failed, {category.provider_failure} not verified"
        )
        result = category.status or "not judged"
        yield f"  {category.category}: {result} ({counts}, {category.not_applicable} n/a)"
    for one in report.verdict.subcategories:
        counts = f"{one.passed} passed, {one.failed} failed, {one.provider_failure} not verified"
        yield f"    {one.category}/{one.subcategory}: {one.status or 'not judged'} ({counts})"
    for section in report.scenarios:
        yield from _section(section)
    yield from _notable(report)
    yield ""
    yield f"NOT APPLICABLE: {len(report.excluded)}. {NOT_APPLICABLE_STATEMENT}"
    for excluded in report.excluded:
        yield f"  {line(excluded.scenario_id)}: {line('; '.join(excluded.conditions))}"


def _notable(report: Report) -> Iterator[str]:
    """Yield what a person should look at whatever the verdict is."""
    if report.verdict.human_review:
        yield ""
        yield "HUMAN REVIEW REQUIRED"
        for item in report.verdict.human_review:
            yield f"  {item.scenario_id}: PASS at {item.measured_deviation:g} % within {item.tolerance:g} %"
    leaks = leak_lines(report)
    if leaks:
        yield ""
        yield "LEAKS BESIDE THE VERDICT"
        for leak in leaks:
            yield f"  {line(leak, _WIDE)}"


def _section(section: ScenarioSection) -> Iterator[str]:
    result = str(section.status or "not judged")
    if section.classification is Classification.CAPABILITY:
        result = "not scored" if section.score is None else f"score {section.score:.3f}"
    marks = [name for name, on in (("custom", section.is_custom), ("reserved", section.is_reserved)) if on]
    marks += [f"TOLERANCE {section.tolerance:g} %"] if section.tolerance > 0 else []
    tail = f" [{', '.join(marks)}]" if marks else ""
    yield f"  {line(section.scenario_id)} ({section.archetype}): {result}{tail}"
    if section.vacuous:
        yield f"    vacuous: {line(section.vacuous)}"
    for sentence in (*descriptor_lines(section), *section.preconditions, *section.stimuli):
        yield f"    {line(sentence, _LONG)}"
    for run in section.runs:
        yield from _run(run)


def _run(run: ScenarioResult) -> Iterator[str]:
    """Yield what was observed in one run and what followed from it. Spec: 05-reporting §2.6."""
    yield f"    run {run.repetition + 1}: {run.status or 'not judged'}"
    if run.cause:
        yield f"      fault: {line(run.cause, _WIDE)}"
    for told in conduct_lines(run):
        yield f"      {line(told, _LONG)}"
    for item in run.assertions:
        for sentence in assertion_lines(item):
            indent = "  " if sentence.startswith(" ") else ""
            yield f"      {indent}{line(sentence, _WIDE)}"
    sources = ", ".join(f"{name}={value}" for name, value in run.sources.items())
    yield f"      sources: {line(sources)}"


def _coverage(report: Report) -> Iterator[str]:
    yield ""
    yield "COVERAGE" + (" — INCOMPLETE" if report.verdict.incomplete else "")
    for reason in report.verdict.incomplete:
        yield f"  incomplete: {line(reason, _WIDE)}"
    for item in report.coverage:
        archetypes = f"{len(item.planned)} archetypes of {item.required} required"
        yield f"  {item.category}: {archetypes}; {item.not_applicable} n/a"
        for name, why in item.skipped.items():
            yield f"    skipped {name}: {line(why)}"
    for warning in report.warnings:
        yield f"  warning: {line(warning, _WIDE)}"
    for sentence in (*on_comparison(report.verdict), *on_repetitions(report.verdict)):
        yield f"  {line(sentence, _WIDE)}"
    for one in report.unassessable:
        yield f"  cannot be evaluated: {line(one.scenario_id)} {one.assertion}: {line(one.reason, _WIDE)}"


def _facts(report: Report) -> Iterator[str]:
    facts, context = report.facts, report.verdict.context
    yield ""
    yield "RUN"
    evaluator = line(context.evaluator) or "unknown"
    yield f"  evaluated by {evaluator} at {line(context.timestamp)}, {context.duration_seconds:g} s"
    implementation = f"{facts.implementation} {facts.implementation_version}".rstrip()
    yield f"  implementation {implementation}, core {context.core_version}"
    provider = f"{line(context.provider)} {line(context.provider_version)}"
    yield f"  provider {provider}: {line(context.conformance_check, _WIDE)}"
    for one in facts.conformance:
        yield f"    {'met  ' if one.met else 'UNMET'} {line(one.requirement)}: {line(one.answer, _WIDE)}"
    configuration = ", ".join(
        f"{name}={value}" for name, value in sorted(report.verdict.configuration.items())
    )
    yield f"  agent configuration: {line(configuration) or 'none'}"
    for sentence in (*facts.environment, *facts.tier_evidence):
        yield f"  environment: {line(sentence, _WIDE)}"
    if facts.framework:
        yield f"  lab framework: {line(facts.framework)}"
    for name, where in sorted(facts.evidence.items()):
        yield f"  evidence {line(name)}: {line(where)}"
