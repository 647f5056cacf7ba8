"""Counts, progress and scores of an Evaluation's status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1 import evaluation_status as api
from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun, Stage
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.reconcile.evaluation import failures

if TYPE_CHECKING:
    from oasis_operator.model.verdict import CapabilityVerdict
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
    over = sum(run.status.stage is Stage.COMPLETED for run in seen.runs)
    states = [_state(runs, repetitions) for runs in by_scenario.values()]
    running = len(seen.runs) - over + len(results.created)
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
        reasons = tuple(
            fields.clip(f"{item.reason}: {item.message}", 256) for item in concluded.gate.reasons[:16]
        )
        allowed = concluded.gate.gateable and concluded.status is Verdict.PASS
        changes["gateable"] = api.Gateable(allowed=allowed, reasons=reasons)
    if concluded.verdict is not None and concluded.verdict.capability is not None:
        changes["scores"] = _scores(concluded.verdict.capability)
    plan = seen.assessment.plan if seen.assessment else None
    judged = failures.of_results(seen.results, plan.scenarios if plan else ())
    if judged:
        changes["failures"] = judged[: api.FAILURES_SHOWN]
        changes["failures_total"] = len(judged)
    return changes


def _state(runs: list[ScenarioRun], repetitions: int) -> str:
    """Return what became of a scenario over its repetitions; a violation in one is a violation."""
    outcomes = [run.status.outcome for run in runs]
    if Verdict.FAIL in outcomes:
        return "failed"
    if Verdict.PROVIDER_FAILURE in outcomes:
        return "lost"
    return "passed" if outcomes.count(Verdict.PASS) == repetitions else "open"


def _is_vacuous(runs: list[ScenarioRun]) -> bool:
    passed = [run for run in runs if run.status.outcome is Verdict.PASS]
    return bool(passed) and len(passed) == len(runs) and all(run.status.vacuous for run in passed)


def _scores(capability: CapabilityVerdict) -> api.Scores:
    categories = tuple(
        api.Score(name=item.category[:128], score=f"{item.score:.3f}")
        for item in capability.categories
        if item.score is not None
    )
    dimensions = tuple(
        api.Score(name=name[:128], score=f"{score:.3f}")
        for name, score in capability.dimensions.items()
        if score is not None
    )
    return api.Scores(categories=categories[:32], dimensions=dimensions[:8])
