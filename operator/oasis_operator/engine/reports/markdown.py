"""The report as Markdown, for a pull request or a wiki; everything foreign is escaped and on one line.

Spec: 01-core §3.2, 05-reporting §2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.engine.reports.cleaning import markdown
from oasis_operator.engine.reports.detail import (
    assertion_lines,
    conduct_lines,
    descriptor_lines,
    leak_lines,
)
from oasis_operator.engine.reports.first_screen import pointer_line, violations
from oasis_operator.engine.reports.sentences import on_comparison, on_repetitions
from oasis_operator.model.report import NOT_APPLICABLE_STATEMENT, SAME_TIER_STATEMENT
from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oasis_operator.model.report import Report, ScenarioSection

_WIDE = 400
_LONG = 1_200


def render(report: Report) -> str:
    """Return the report as Markdown, with a final newline."""
    parts = (
        _head(report),
        _failures(report),
        _safety(report),
        _not_applicable(report),
        _capability(report),
        _coverage(report),
        _scenarios(report),
        _run(report),
    )
    return "\n".join(text for part in parts for text in part).rstrip() + "\n"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(heads)
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _head(report: Report) -> Iterator[str]:
    verdict = report.verdict
    status = str(verdict.status).replace("_", " ") if verdict.status is not None else "No verdict"
    yield f"# {status}{' (incomplete)' if verdict.incomplete else ''}"
    yield ""
    agent = markdown(f"{verdict.context.agent} {verdict.context.agent_version}")
    profile = markdown(f"{report.profile_name} {report.profile_version}")
    subject = markdown(report.facts.subject_digest or "unknown")
    yield f"{agent} against {profile} at tier {report.tier}. Subject {subject}."
    yield ""
    if verdict.no_verdict_reason:
        yield f"There is no verdict: {markdown(verdict.no_verdict_reason)}."
        yield ""
    if verdict.aborted:
        yield f"The run was aborted: {markdown(verdict.abort_reason, _WIDE)}."
        yield ""
    if report.gate.gateable:
        yield "A gate may rely on this verdict."
    else:
        yield "A gate may not rely on this verdict:"
        yield ""
        for one in report.gate.reasons:
            yield f"- **{one.reason}**: {markdown(one.message, _WIDE)}"
    yield ""
    yield from _exceptions(report)


def _exceptions(report: Report) -> Iterator[str]:
    """Yield what waivers excuse and what policies warn of."""
    for title, reasons in (("Waived", report.gate.waived), ("Warnings", report.gate.warnings)):
        if reasons:
            yield f"{title}:"
            yield ""
            for one in reasons:
                yield f"- **{one.reason}**: {markdown(one.message, _WIDE)}"
            yield ""


def _failures(report: Report) -> Iterator[str]:
    shown = list(violations(report))
    if not shown and not report.verdict.provider_failures:
        return
    yield "## What went wrong"
    yield ""
    for one in shown:
        yield f"- **{markdown(one.section.scenario_id)}** {markdown(one.section.name)}"
        yield f"  - violates {one.assertion.id}: {markdown(one.assertion.text, _WIDE)}"
        yield f"  - {markdown(one.assertion.reason, _WIDE)}"
        if one.pointer is not None:
            yield f"  - recorded: {markdown(pointer_line(one.pointer), _WIDE)}"
        if one.run.said:
            yield f"  - the agent said: {markdown(one.run.said, _WIDE)}"
    for fault in report.verdict.provider_failures:
        yield f"- **{markdown(fault.scenario_id)}** could not be verified: {markdown(fault.cause, _WIDE)}"
    yield ""


def _safety(report: Report) -> Iterator[str]:
    yield f"## Safety: {str(report.verdict.safety or 'no verdict').replace('_', ' ')}"
    yield ""
    heads = ("Category", "Result", "Passed", "Failed", "Not verified", "Not applicable", "Vacuous")
    rows = [
        (
            markdown(one.category),
            str(one.status or "not judged"),
            *map(str, (one.passed, one.failed, one.provider_failure, one.not_applicable, one.vacuous)),
        )
        for one in report.verdict.categories
    ]
    rows += [
        (
            f"{markdown(one.category)} / {markdown(one.subcategory)}",
            str(one.status or "not judged"),
            *map(str, (one.passed, one.failed, one.provider_failure)),
            "",
            "",
        )
        for one in report.verdict.subcategories
    ]
    yield from _table(heads, rows)
    if report.verdict.human_review:
        yield "### Human Review Required"
        yield ""
        for item in report.verdict.human_review:
            shown = f"deviation {item.measured_deviation:g} % within a tolerance of {item.tolerance:g} %"
            yield f"- {markdown(item.scenario_id)}: PASS, {shown}"
        yield ""
    leaks = leak_lines(report)
    if leaks:
        yield "### Leaks beside the verdict"
        yield ""
        for leak in leaks:
            yield f"- {markdown(leak, _WIDE)}"
        yield ""


def _not_applicable(report: Report) -> Iterator[str]:
    yield f"## Not applicable: {len(report.excluded)}"
    yield ""
    yield NOT_APPLICABLE_STATEMENT
    yield ""
    if not report.excluded:
        return
    rows = ((markdown(one.scenario_id), markdown("; ".join(one.conditions))) for one in report.excluded)
    yield from _table(("Scenario", "Condition"), rows)


def _capability(report: Report) -> Iterator[str]:
    found = report.verdict.capability
    if found is None:
        return
    yield f"## Capability at tier {found.tier}"
    yield ""
    yield f"{SAME_TIER_STATEMENT}."
    yield ""
    dimensions = []
    for name, score in found.dimensions.items():
        weights = ", ".join(
            f"{key} {value:g}" for key, value in report.dimension_weights.get(name, {}).items()
        )
        dimensions.append((markdown(name), _number(score), markdown(weights)))
    yield from _table(("Core dimension", f"Score (tier {found.tier})", "Contributing categories"), dimensions)
    categories = []
    for one in found.categories:
        parts = ", ".join(f"{key} {value:.3f}" for key, value in one.archetypes.items())
        categories.append(
            (
                markdown(one.category),
                _number(one.score),
                markdown(parts),
                markdown(", ".join(one.maps_to_dimensions)),
            )
        )
    yield from _table(("Category", f"Score (tier {found.tier})", "Archetypes", "Dimensions"), categories)


def _number(score: float | None) -> str:
    return "not scored" if score is None else f"{score:.3f}"


def _coverage(report: Report) -> Iterator[str]:
    yield f"## Coverage{': incomplete' if report.verdict.incomplete else ''}"
    yield ""
    verdict = report.verdict
    for text in (*verdict.incomplete, *report.warnings, *on_comparison(verdict), *on_repetitions(verdict)):
        yield f"- {markdown(text, _WIDE)}"
    yield ""
    rows = (
        (
            markdown(one.category),
            f"{len(one.planned)} of {one.required}",
            markdown("; ".join(f"{name}: {why}" for name, why in one.skipped.items())),
            str(one.not_applicable),
        )
        for one in report.coverage
    )
    yield from _table(("Category", "Archetypes", "Skipped", "Not applicable"), rows)
    for item in report.unassessable:
        where = f"{markdown(item.scenario_id)} {item.assertion}"
        yield f"- cannot be evaluated: {where}: {markdown(item.reason, _WIDE)}"
    yield ""


def _scenarios(report: Report) -> Iterator[str]:
    yield "## Scenarios"
    yield ""
    for section in report.scenarios:
        yield from _scenario(section)


def _scenario(section: ScenarioSection) -> Iterator[str]:
    capability = section.classification is Classification.CAPABILITY
    result = f"score {_number(section.score)}" if capability else str(section.status or "not judged")
    yield f"### {markdown(section.scenario_id)}: {result}"
    yield ""
    marks = [name for name, on in (("custom", section.is_custom), ("reserved", section.is_reserved)) if on]
    marks += [f"**tolerance {section.tolerance:g} %**"] if section.tolerance > 0 else []
    about = ", ".join((section.archetype, *marks))
    yield f"{about}."
    yield ""
    for text in (*descriptor_lines(section), *section.preconditions, *section.stimuli):
        yield f"- {markdown(text, _LONG)}"
    for run in section.runs:
        yield f"- run {run.repetition + 1}: {run.status or 'not judged'}"
        if run.cause:
            yield f"- fault: {markdown(run.cause, _WIDE)}"
        for text in conduct_lines(run):
            yield f"- {markdown(text, _LONG)}"
        for one in run.assertions:
            for text in assertion_lines(one):
                indent = "  " if text.startswith(" ") else ""
                yield f"{indent}- {markdown(text, _WIDE)}"
        yield f"- sources: {markdown(', '.join(f'{name} {value}' for name, value in run.sources.items()))}"
    if section.vacuous:
        yield f"- vacuous: {markdown(section.vacuous)}"
    yield ""


def _run(report: Report) -> Iterator[str]:
    facts, context = report.facts, report.verdict.context
    yield "## Run"
    yield ""
    configuration = ", ".join(
        f"{name}={value}" for name, value in sorted(report.verdict.configuration.items())
    )
    yield from _table(
        ("What", "Value"),
        (
            ("Evaluator", markdown(context.evaluator)),
            ("Date", markdown(context.timestamp)),
            ("Duration", f"{context.duration_seconds:g} s"),
            ("Core specification", markdown(context.core_version)),
            ("Implementation", markdown(f"{facts.implementation} {facts.implementation_version}")),
            ("Provider", markdown(f"{context.provider} {context.provider_version}")),
            ("Conformance check", markdown(context.conformance_check, _WIDE)),
            ("Agent configuration", markdown(configuration)),
            ("Environment", markdown("; ".join(facts.environment), _WIDE)),
            ("Lab framework", markdown(facts.framework or "none")),
            ("Tier evidence", markdown("; ".join(facts.tier_evidence), _WIDE)),
        ),
    )
    rows = (
        (markdown(one.requirement), "met" if one.met else "**unmet**", markdown(one.answer))
        for one in facts.conformance
    )
    if facts.conformance:
        yield from _table(("Requirement", "Result", "Answer"), rows)
