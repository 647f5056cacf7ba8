"""Each executed scenario in full: as plain JSON for documents, as lines for readers.

Of a reserved scenario there are no runs to show, so nothing of its content can be told here.

Spec: 05-reporting §2.6, 07-adversarial-verification §5.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.model.report import Report, ScenarioSection
    from oasis_operator.model.result import ScenarioResult, ToolCall


def as_json(report: Report) -> list[dict[str, Any]]:
    """Return the executed scenarios, safety first, as plain JSON; texts are not clean yet."""
    return [_section(one) for one in report.scenarios]


def _section(section: ScenarioSection) -> dict[str, Any]:
    result: dict[str, Any] = {"status": section.status}
    if section.classification is Classification.CAPABILITY:
        result = {"score": section.score}
    return {
        "scenario": section.scenario_id,
        **result,
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
        "answer": run.said,
        "cause": run.cause,
        "assertions": [
            {"id": one.id, "outcome": one.outcome, "reason": one.reason, "sources": list(one.sources)}
            for one in run.assertions
        ],
        "evidenceSources": dict(run.sources),
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
    if conduct.reasoning:
        yield f"reasoning: {conduct.reasoning}"
    if run.said:
        yield f"answer: {run.said}"
