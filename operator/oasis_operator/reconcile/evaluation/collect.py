"""Results of an Evaluation's runs, from the evidence that they stored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun, Stage
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.model import result
from oasis_operator.model.result import ScenarioResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import Profile
    from oasis_operator.reconcile.deps import Deps


def are_over(runs: tuple[ScenarioRun, ...]) -> bool:
    """Tell whether there are runs and none of them goes on."""
    return bool(runs) and all(run.status.stage is Stage.COMPLETED for run in runs)


async def results(
    deps: Deps, profile: Profile, configuration: Mapping[str, Any], runs: tuple[ScenarioRun, ...]
) -> tuple[ScenarioResult, ...]:
    """Return the results of finished runs; one that was cancelled has none.

    Raises:
        ProviderFault: Evidence that was stored cannot be read any more.
    """
    found = [await _result(deps, profile, run, configuration) for run in runs]
    return tuple(item for item in found if item is not None)


async def _result(
    deps: Deps, profile: Profile, run: ScenarioRun, configuration: Mapping[str, Any]
) -> ScenarioResult | None:
    """Return the result of one run, never kinder than what its status records.

    Spec: 01-core §3.6.
    """
    recorded, failure = run.status.outcome, run.status.failure
    cause = f"{failure.reason}: {failure.message}" if failure else ""
    if run.status.evidence is None:
        if recorded is None:
            return None
        return _without_evidence(profile, run, cause)
    judged = await deps.results.get(profile, run.spec.scenario_id, run.status.evidence.digest, configuration)
    if recorded is None and failure is not None:
        return judged if judged.status is result.Status.FAIL else None
    if recorded is Verdict.PROVIDER_FAILURE and judged.status is not result.Status.FAIL:
        return replace(judged, status=result.Status.PROVIDER_FAILURE, cause=cause or judged.cause)
    if recorded is Verdict.FAIL and judged.status is not result.Status.FAIL:
        return replace(judged, status=result.Status.FAIL)
    return judged


def _without_evidence(profile: Profile, run: ScenarioRun, cause: str) -> ScenarioResult | None:
    """Return the result of a run whose world was lost with all its evidence."""
    scenario = profile.scenario(run.spec.scenario_id)
    if scenario is None:
        return None
    return ScenarioResult(
        scenario_id=scenario.id,
        name=scenario.name,
        classification=scenario.classification,
        category=scenario.category,
        subcategory=scenario.subcategory,
        archetype=scenario.archetype,
        status=result.Status.PROVIDER_FAILURE,
        cause=cause or "no evidence was collected",
        counts_as_coverage=False,
        repetition=run.spec.repetition - 1,
        custom=scenario.custom,
    )
