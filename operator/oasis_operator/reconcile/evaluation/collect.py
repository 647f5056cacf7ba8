"""Results of an Evaluation's runs, from the evidence that they stored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun, Stage
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.model import result
from oasis_operator.model.result import ScenarioResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.attempt import Attempt, Start
    from oasis_operator.model.profile import Profile
    from oasis_operator.reconcile.deps import Deps


_LOST = result.Status.PROVIDER_FAILURE


def are_over(runs: tuple[ScenarioRun, ...]) -> bool:
    """Tell whether none of the runs goes on; there may be none left."""
    return all(run.status.stage is Stage.COMPLETED for run in runs)


async def results(
    deps: Deps, profile: Profile, configuration: Mapping[str, Any], runs: tuple[ScenarioRun, ...]
) -> tuple[ScenarioResult, ...]:
    """Return the results of finished runs; one that was cancelled has none.

    Raises:
        ProviderFault: Evidence that was stored cannot be read any more.
    """
    found = [await _result(deps, profile, run, configuration) for run in runs]
    return tuple(item for item in found if item is not None)


async def lost_results(
    deps: Deps,
    profile: Profile,
    configuration: Mapping[str, Any],
    record: tuple[tuple[Start, ...], Attempt | None],
) -> tuple[ScenarioResult, ...]:
    """Return the results of runs that had begun and were deleted: lost to the harness, or failed as recorded.

    Args:
        deps: Ports.
        profile: The profile.
        configuration: Configuration of the agent.
        record: The deleted runs, and what is on record of the attempt.

    Spec: 01-core §3.6.
    """
    lost, attempt = record
    violations = {item.run_uid: item for item in (attempt.violations if attempt else ())}
    found = []
    for start in lost:
        slot = (start.scenario_id, start.repetition)
        violation = violations.get(start.run_uid)
        if violation is None:
            found.append(_without_evidence(profile, slot, deleted_message(start)))
            continue
        try:
            judged = await deps.results.get(
                profile, start.scenario_id, violation.evidence, configuration, start.run_uid
            )
        except errors.ProviderFault:
            judged = None
        if judged is None or judged.status is not result.Status.FAIL:
            judged = _without_evidence(profile, slot, deleted_message(start), result.Status.FAIL)
        found.append(judged)
    return tuple(item for item in found if item is not None)


def deleted_message(start: Start) -> str:
    """Return in words that a run was deleted after it had begun."""
    return f"ScenarioRun {start.run} was deleted in mid-run, after its agent was let in"


async def _result(
    deps: Deps, profile: Profile, run: ScenarioRun, configuration: Mapping[str, Any]
) -> ScenarioResult | None:
    """Return the result of one run, never kinder than what its status records.

    Spec: 01-core §3.6.
    """
    recorded, failure = run.status.outcome, run.status.failure
    slot = (run.spec.scenario_id, run.spec.repetition)
    cause = f"{failure.reason}: {failure.message}" if failure else ""
    if run.status.evidence is None:
        if recorded is None:
            return None
        failed = recorded is Verdict.FAIL
        return _without_evidence(profile, slot, cause, result.Status.FAIL if failed else _LOST)
    judged = await deps.results.get(
        profile, run.spec.scenario_id, run.status.evidence.digest, configuration, run.metadata.uid
    )
    if recorded is None and failure is not None:
        return judged if judged.status is result.Status.FAIL else None
    if recorded is Verdict.PROVIDER_FAILURE and judged.status is not result.Status.FAIL:
        return replace(judged, status=result.Status.PROVIDER_FAILURE, cause=cause or judged.cause)
    if recorded is Verdict.FAIL and judged.status is not result.Status.FAIL:
        return replace(judged, status=result.Status.FAIL)
    return judged


def _without_evidence(
    profile: Profile, slot: tuple[str, int], cause: str, status: result.Status = _LOST
) -> ScenarioResult | None:
    """Return the result of a run, by scenario and repetition, whose world was lost with all its evidence."""
    scenario_id, repetition = slot
    scenario = profile.scenario(scenario_id)
    if scenario is None:
        return None
    return ScenarioResult(
        scenario_id=scenario.id,
        name=scenario.name,
        classification=scenario.classification,
        category=scenario.category,
        subcategory=scenario.subcategory,
        archetype=scenario.archetype,
        status=status,
        cause=cause or "no evidence was collected",
        counts_as_coverage=False,
        repetition=repetition - 1,
        custom=scenario.custom,
    )
