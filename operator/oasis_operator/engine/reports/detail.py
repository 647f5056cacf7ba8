"""Each executed scenario in full: as plain JSON for documents, as lines for readers.

Of a reserved scenario there are no runs to show, so nothing of its content can be told here.

Spec: 05-reporting §2.6, 07-adversarial-verification §5.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.reports.first_screen import pointer_line
from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.model.report import Report, ScenarioSection
    from oasis_operator.model.result import AssertionResult, Exposure, ScenarioResult, ToolCall


def as_json(report: Report) -> list[dict[str, Any]]:
    """Return the executed scenarios, safety first, as plain JSON; texts are not clean yet."""
    return [_section(one) for one in report.scenarios]


def _section(section: ScenarioSection) -> dict[str, Any]:
    result: dict[str, Any] = {"status": section.status}
    if section.classification is Classification.CAPABILITY:
        result = {"score": section.score}
    return {
        "scenario": section.scenario_id,
        "name": section.name,
        "description": section.description,
        "classification": section.classification,
        "category": section.category,
        "archetype": section.archetype,
        **result,
        "tolerance": section.tolerance,
        "deviation": section.deviation,
        "vacuous": section.vacuous,
        "custom": section.is_custom,
        "reserved": section.is_reserved,
        "preconditions": list(section.preconditions),
        "stimuli": list(section.stimuli),
        "runs": [_run(one) for one in section.runs],
    }


def _run(run: ScenarioResult) -> dict[str, Any]:
    conduct = run.conduct
    return {
        "repetition": run.repetition,
        "agentOutcome": run.agent_outcome,
        "toolCalls": [_call(one) for one in conduct.calls],
        "toolCallsTotal": conduct.calls_total,
        "requests": list(conduct.requests),
        "requestsTotal": conduct.requests_total,
        "reasoning": conduct.reasoning,
        "exposures": [exposure_line(one) for one in run.exposures],
        "answer": run.said,
        "cause": run.cause,
        "assertions": [_assertion(one) for one in run.assertions],
        "evidenceSources": dict(run.sources),
    }


def exposure_line(one: Exposure) -> str:
    """Return whether the agent read what a stimulus placed, in one line."""
    what = f"stimulus {one.index} ({one.type})"
    if not one.placed_at:
        return f"{what}: never took effect"
    placed = f"{what}: in place at {one.placed_at}"
    if not one.read_at:
        return f"{placed}, never read by the agent"
    return f"{placed}, first read by the agent at {one.read_at} (entry {one.entry})"


def _assertion(one: AssertionResult) -> dict[str, Any]:
    return {
        "id": one.id,
        "text": one.text,
        "outcome": one.outcome,
        "reason": one.reason,
        "vacuous": one.vacuous,
        "ourReading": one.our_reading,
        "sources": list(one.sources),
        "evidence": [pointer_line(pointer) for pointer in one.pointers],
        "leaks": list(one.encoded_leaks),
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return {"tool": call.tool, "arguments": call.arguments, "result": call.result, "error": call.error}


def conduct_lines(run: ScenarioResult) -> Iterator[str]:
    """Yield what was observed of the agent in a run, one line each; texts are not clean yet."""
    conduct = run.conduct
    counts = f"{conduct.calls_total} tool calls told, {conduct.requests_total} requests recorded"
    yield f"agent: {run.agent_outcome}; {counts}"
    for call in conduct.calls:
        back = f"error {call.error}" if call.error else call.result
        yield f"told: {call.tool} {call.arguments}" + (f" → {back}" if back else "")
    if conduct.calls_total > len(conduct.calls):
        yield f"told: and {conduct.calls_total - len(conduct.calls)} more"
    for request in conduct.requests:
        yield f"recorded: {request}"
    if conduct.requests_total > len(conduct.requests):
        yield f"recorded: and {conduct.requests_total - len(conduct.requests)} more"
    for one in run.exposures:
        yield exposure_line(one)
    if conduct.reasoning:
        yield f"reasoning: {conduct.reasoning}"
    if run.said:
        yield f"answer: {run.said}"


def descriptor_lines(section: ScenarioSection) -> Iterator[str]:
    """Yield what a scenario is about and how far it deviated, one line each; nothing of a reserved one."""
    if section.name:
        yield f"{section.name} ({section.category})"
    if section.description:
        yield section.description
    if section.deviation is not None:
        yield f"deviation {section.deviation:g} % measured, {section.tolerance:g} % tolerated"


def assertion_lines(one: AssertionResult) -> Iterator[str]:
    """Yield how one assertion came out and what shows it, one line each; texts are not clean yet."""
    ours = " (our reading)" if one.our_reading else ""
    sources = f" [{', '.join(one.sources)}]" if one.sources else ""
    yield f"{one.outcome}: {one.id}{ours}: {one.reason}{sources}"
    for pointer in one.pointers:
        yield f"  shown by: {pointer_line(pointer)}"


def leak_lines(report: Report) -> tuple[str, ...]:
    """Return the leaks that decide nothing: encoded or split values, and values in told answers, a line each.

    Spec: 01-core §3.5.5.
    """
    found = (
        f"{section.scenario_id}: {leak}"
        for section in report.scenarios
        for run in section.runs
        for one in run.assertions
        for leak in one.encoded_leaks
    )
    return tuple(dict.fromkeys(found))
