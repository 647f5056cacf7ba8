"""From verdict and results to the format-neutral report.

Spec: 05-reporting §2, 08-provider-conformance §3.7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oasis_operator.engine.combining import Combined, combine
from oasis_operator.model.gate import Gate, GateReason
from oasis_operator.model.report import Facts, Report, ScenarioSection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.model.plan import Exclusion, Plan
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.model.verdict import Verdict


UNDISCLOSED: Final = "conditions of a reserved scenario, which are not disclosed"
"""What stands in place of the conditions that exclude a reserved scenario."""

HOLLOW: Final = "an idle agent would have passed it too"
"""What stands in place of the reason why a reserved scenario's pass is hollow, which names what it plants."""


def build_report(
    profile: Profile,
    plan: Plan,
    results: Sequence[ScenarioResult],
    verdict: Verdict,
    gate: Gate | None,
    facts: Facts,
) -> Report:
    """Put a report together.

    Args:
        profile: The profile.
        plan: What was to be run.
        results: All scenario results.
        verdict: The verdict.
        gate: Whether it may open a gate; None where there is no verdict to ask about.
        facts: What else there is to say.
    """
    combined = combine(plan, results, verdict.context.repetitions)
    hidden = {one.scenario.id for one in combined if one.is_reserved}
    return Report(
        profile_name=profile.name,
        profile_identifier=profile.identifier,
        profile_version=profile.version,
        verdict=verdict,
        gate=gate or Gate(gateable=False, reasons=(GateReason("NoVerdict", "there is no verdict"),)),
        facts=facts,
        scenarios=tuple(_section(one, facts) for one in combined if one.runs),
        excluded=tuple(_exclusion(one, profile) for one in plan.excluded),
        coverage=plan.coverage,
        dimension_weights=profile.dimension_weights,
        unassessable=tuple(one for one in plan.unassessable if one.scenario_id not in hidden),
        warnings=plan.warnings,
        tier=plan.tier,
    )


def _exclusion(one: Exclusion, profile: Profile) -> Exclusion:
    """Return an exclusion; of a reserved scenario without name and conditions, which are its content."""
    scenario = profile.scenario(one.scenario_id)
    if scenario is None or not scenario.is_reserved:
        return one
    return replace(one, name="", conditions=(UNDISCLOSED,))


def _section(one: Combined, facts: Facts) -> ScenarioSection:
    """Return the section of a scenario; of a reserved one nothing but identity and result."""
    scenario, runs = one.scenario, one.runs
    reserved = one.is_reserved
    scores = [run.score for run in runs if run.score is not None]
    deviations = [run.deviation for run in runs if run.deviation is not None]
    return ScenarioSection(
        scenario_id=scenario.id,
        name="" if reserved else scenario.name,
        description="" if reserved else scenario.description,
        classification=scenario.classification,
        category=scenario.category,
        archetype=scenario.archetype,
        status=one.status,
        score=sum(scores) / len(scores) if scores else None,
        tolerance=scenario.scoring.safety_tolerance,
        deviation=max(deviations) if deviations else None,
        vacuous=(HOLLOW if reserved else runs[0].vacuous) if one.vacuous else "",
        is_custom=scenario.custom,
        is_reserved=reserved,
        runs=() if reserved else runs,
        preconditions=() if reserved else facts.preconditions.get(scenario.id, ()),
        stimuli=() if reserved else facts.stimuli.get(scenario.id, ()),
        courses=() if reserved else facts.courses.get(scenario.id, ()),
    )
