"""Counts, progress and scores of an Evaluation's status."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from oasis_operator.api.v1alpha1 import evaluation_status as api
from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun, Stage
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.reconcile.evaluation import failures, policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.model.gate import Gate, GateReason
    from oasis_operator.reconcile.evaluation.act import Results
    from oasis_operator.reconcile.evaluation.conclusion import Conclusion
    from oasis_operator.reconcile.evaluation.observe import Observed


def progress(seen: Observed, results: Results) -> dict[str, Any]:
    """Return progress, counts and the failures that the runs themselves record."""
    plan = seen.assessment.plan if seen.assessment else None
    if plan is None:
        return {}
    by_scenario: dict[str, list[ScenarioRun]] = {item.id: [] for item in plan.scenarios}
    for run in seen.runs:
        by_scenario.setdefault(run.spec.scenario_id, []).append(run)
    repetitions = seen.evaluation.spec.repetitions
    completed = sum(run.status.stage is Stage.COMPLETED for run in seen.runs)
    running = len(seen.runs) - completed + len(results.created)
    over = completed + len(seen.lost)
    lost = _lost(seen)
    states = [_state(runs, lost.get(name, []), repetitions) for name, runs in by_scenario.items()]
    recorded = failures.recorded(by_scenario.values())
    return {
        "progress": f"{over}/{len(plan.scenarios) * repetitions}",
        "counts": api.Counts(
            total=len(plan.scenarios) + len(plan.excluded),
            applicable=len(plan.scenarios),
            not_applicable=len(plan.excluded),
            passed=states.count("passed"),
            failed=states.count("failed"),
            provider_failures=states.count("lost"),
            vacuous=sum(_is_vacuous(runs) for runs in by_scenario.values()),
            running=running,
            pending=max(0, len(plan.scenarios) * repetitions - over - running),
        ),
        "failures": recorded[: api.FAILURES_SHOWN],
        "failures_total": len(recorded),
    }


def conclusion(seen: Observed, concluded: Conclusion | None) -> dict[str, Any]:
    """Return verdict, gate, scores and failures as the engine gave them."""
    if concluded is None:
        return {}
    artifacts = {item.name: item for item in (*seen.evaluation.status.artifacts, *concluded.artifacts)}
    changes: dict[str, Any] = {"verdict": concluded.status, "artifacts": tuple(artifacts.values())}
    if concluded.gate is not None:
        changes["gateable"] = gateable(
            concluded.gate, concluded.status, concluded.adapter, concluded.provider
        )
    if concluded.record is not None:
        changes["subject_record"] = concluded.record
    if concluded.verdict is not None and concluded.verdict.capability is not None:
        changes["scores"] = policy.scores_of(concluded.verdict.capability)
    plan = seen.assessment.plan if seen.assessment else None
    judged = failures.of_results(seen.results, plan.scenarios if plan else ())
    if judged:
        changes["failures"] = judged[: api.FAILURES_SHOWN]
        changes["failures_total"] = len(judged)
    return changes


def gateable(gate: Gate, verdict: Verdict | None, adapter: str, provider: str) -> api.Gateable:
    """Return the gate as status shows it.

    Args:
        gate: The gate.
        verdict: The verdict; none but a PASS opens anything.
        adapter: Kind of the adapter that drove the agent; empty where it is not known.
        provider: URL of the foreign provider; empty for the operator's own environments.
    """
    return api.Gateable(
        allowed=gate.gateable and verdict is Verdict.PASS,
        reasons=gate_reasons(gate.reasons),
        reasons_total=len(gate.reasons),
        until=gate.until,
        warnings=gate_reasons(gate.warnings),
        waived=gate_reasons(gate.waived),
        policies=gate.policies[: api.GATE_REASONS_SHOWN],
        basis=api.GateBasis(
            adapter=adapter or None,
            provider=provider or None,
            reasons=gate_reasons(gate.own),
            reasons_total=len(gate.own),
        ),
    )


def gate_reasons(reasons: Sequence[GateReason]) -> tuple[str, ...]:
    """Return the lines of as many reasons as status lists, in their order.

    A reason of which there are many must not push out one of another kind: the first of each kind goes
    before the second of any.

    Args:
        reasons: All of them, the gravest first.
    """
    seen: Counter[str] = Counter()
    ranked = []
    for place, item in enumerate(reasons):
        ranked.append((seen[item.reason] > 0, place))
        seen[item.reason] += 1
    kept = sorted(place for _, place in sorted(ranked)[: api.GATE_REASONS_SHOWN])
    return tuple(policy.line_of(reasons[place]) for place in kept)


def _lost(seen: Observed) -> dict[str, list[Verdict]]:
    """Return the outcomes of runs that had begun and were deleted, by scenario."""
    failed = {item.run_uid for item in (seen.record.violations if seen.record else ())}
    found: dict[str, list[Verdict]] = {}
    for start in seen.lost:
        outcome = Verdict.FAIL if start.run_uid in failed else Verdict.PROVIDER_FAILURE
        found.setdefault(start.scenario_id, []).append(outcome)
    return found


def _state(runs: list[ScenarioRun], lost: list[Verdict], repetitions: int) -> str:
    """Return what became of a scenario over its repetitions; a violation in one is a violation."""
    outcomes = [*(run.status.outcome for run in runs), *lost]
    if Verdict.FAIL in outcomes:
        return "failed"
    if Verdict.PROVIDER_FAILURE in outcomes:
        return "lost"
    return "passed" if outcomes.count(Verdict.PASS) == repetitions else "open"


def _is_vacuous(runs: list[ScenarioRun]) -> bool:
    passed = [run for run in runs if run.status.outcome is Verdict.PASS]
    return bool(passed) and len(passed) == len(runs) and all(run.status.vacuous for run in passed)
