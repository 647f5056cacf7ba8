"""What an evaluation will run: tier, applicability, selection, coverage, and what it can never show.

Spec: 04-execution §3, 05-reporting §2.5, 01-core §5.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from oasis_operator.engine.applicability import (
    effective_configuration,
    invalid_configuration,
    is_match,
    unmet,
)
from oasis_operator.engine.assessable import find_unassessable
from oasis_operator.engine.coverage import category_coverage, coverage_gaps, coverage_warnings
from oasis_operator.engine.readings import NO_READINGS, Readings
from oasis_operator.model.plan import Exclusion, Plan, Selection
from oasis_operator.model.scenario import Classification, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from oasis_operator.model.profile import Profile


def build_plan(
    profile: Profile,
    selection: Selection,
    tier: int,
    configuration: Mapping[str, Any],
    readings: Readings = NO_READINGS,
) -> Plan:
    """Choose the scenarios of an evaluation and say what it leaves out.

    Args:
        profile: The domain profile.
        selection: Which scenarios are wanted.
        tier: Claimed complexity tier, 1-3; scenarios that need a higher one are left out.
        configuration: Configuration as the agent's adapter reported it.
        readings: Rules of ours for the profile's prose.
    """
    effective = effective_configuration(profile, configuration)
    wanted = _selected(profile, selection)
    within = [scenario for scenario in wanted if scenario.tier <= tier]
    planned, excluded = _applicable(profile, within, effective)
    everything, everything_excluded = _applicable(
        profile, [scenario for scenario in profile.scenarios if scenario.tier <= tier], effective
    )
    coverage = category_coverage(profile, tier, planned, everything, everything_excluded)
    left_out = {one.id for one in everything} - {one.id for one in planned}
    return Plan(
        scenarios=tuple(planned),
        excluded=tuple(sorted(excluded, key=lambda item: item.scenario_id)),
        incomplete=(
            *_incomplete(profile, tier, coverage_gaps(coverage), len(left_out)),
            *_unvaried(profile, tier, planned),
        ),
        unassessable=tuple(
            item for scenario in planned for item in find_unassessable(profile, scenario, effective, readings)
        ),
        refused=_refused(profile, selection, planned, effective),
        tier=tier,
        configuration=effective,
        coverage=coverage,
        warnings=(*coverage_warnings(coverage, effective), *_warnings(profile, wanted, tier)),
        is_custom_selection=bool(left_out),
    )


def _selected(profile: Profile, selection: Selection) -> list[Scenario]:
    """Return the selected scenarios, safety first, each group in suite order or as the profile has them.

    Spec: 03-profiles §2.14, 08-provider-conformance §3.1.
    """
    pool: Iterable[Scenario] = profile.scenarios
    if selection.suite is not None:
        suite = profile.suite(selection.suite)
        found = [profile.scenario(identifier) for identifier in (suite.scenarios if suite else ())]
        pool = [scenario for scenario in found if scenario is not None]
    chosen = [scenario for scenario in pool if _is_wanted(scenario, selection)]
    return sorted(chosen, key=lambda scenario: scenario.classification is not Classification.SAFETY)


def _is_wanted(scenario: Scenario, selection: Selection) -> bool:
    """Whether a scenario meets every restriction of a selection."""
    return (
        (
            not selection.classes
            or str(scenario.classification) in {name.lower() for name in selection.classes}
        )
        and (not selection.categories or scenario.category in selection.categories)
        and (not selection.subcategories or scenario.subcategory in selection.subcategories)
        and (not selection.scenarios or any(fnmatchcase(scenario.id, glob) for glob in selection.scenarios))
    )


def _applicable(
    profile: Profile, scenarios: Iterable[Scenario], configuration: Mapping[str, Any]
) -> tuple[list[Scenario], list[Exclusion]]:
    """Split scenarios into those that apply and those that the configuration excludes.

    Spec: 02-scenarios §1.9.
    """
    planned, excluded = [], []
    for scenario in scenarios:
        reasons = unmet(scenario.applicability, configuration, profile)
        if not reasons:
            planned.append(scenario)
        else:
            excluded.append(
                Exclusion(
                    scenario.id,
                    scenario.name,
                    scenario.classification,
                    scenario.category,
                    scenario.archetype,
                    reasons,
                )
            )
    return planned, excluded


def _refused(
    profile: Profile, selection: Selection, planned: list[Scenario], configuration: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return why nothing may be run."""
    reasons = [
        f"the agent's configuration is invalid: {fault}"
        for fault in invalid_configuration(profile, configuration)
    ]
    reasons += _selection_faults(profile, selection)
    if selection.suite is not None:
        reasons += _suite_faults(profile, selection.suite)
    if not any(scenario.classification is Classification.SAFETY for scenario in planned):
        reasons.append(
            "no applicable safety scenario is selected, so that there is nothing to gate capability on"
        )
    for scenario in planned:
        matching = [
            index
            for index, entry in enumerate(scenario.assertions.conditional)
            if is_match(entry.when, configuration, profile)
        ]
        if len(matching) > 1:
            which = " and ".join(f"conditional/{index}" for index in matching)
            reasons.append(f"{scenario.id}: {which} both match the agent's configuration")
    return tuple(reasons)


def _selection_faults(profile: Profile, selection: Selection) -> list[str]:
    """Return the parts of a selection that mean nothing, since a misspelt one would silently test less."""
    scenarios = {scenario.id for scenario in profile.scenarios}
    classes = {str(one) for one in Classification}
    categories = {one.identifier for one in profile.categories}
    subcategories = {one.identifier for one in profile.subcategories}
    subcategories |= {scenario.subcategory or "" for scenario in profile.scenarios}
    return [
        *(f"there is no class {name!r}" for name in selection.classes if name.lower() not in classes),
        *(f"the profile has no category {name!r}" for name in selection.categories if name not in categories),
        *(
            f"the profile has no subcategory {name!r}"
            for name in selection.subcategories
            if name not in subcategories
        ),
        *(
            f"no scenario of the profile is called {glob!r}"
            for glob in selection.scenarios
            if not any(fnmatchcase(name, glob) for name in scenarios)
        ),
    ]


def _suite_faults(profile: Profile, name: str) -> list[str]:
    suite = profile.suite(name)
    if suite is None:
        return [f"the profile has no suite {name!r}"]
    missing = [identifier for identifier in suite.scenarios if profile.scenario(identifier) is None]
    return [f"the suite names {identifier!r}, which the profile does not have" for identifier in missing]


def _incomplete(profile: Profile, tier: int, gaps: tuple[str, ...], left_out: int) -> tuple[str, ...]:
    """Return why the evaluation cannot be complete. Spec: 05-reporting §3.3."""
    reasons = [f"the profile is not complete: {reason}" for reason in profile.incomplete_reasons]
    if not profile.complete and not reasons:
        reasons.append("the profile is not complete")
    if profile.tier(tier) is None:
        reasons.append(f"the profile defines no requirements for tier {tier}")
    if left_out:
        noun = "scenario is" if left_out == 1 else "scenarios are"
        reasons.append(f"{left_out} applicable {noun} not selected")
    return (*reasons, *gaps)


def _unvaried(profile: Profile, tier: int, planned: list[Scenario]) -> Iterator[str]:
    """Yield which safety scenarios lack the variants that the tier asks for. Spec: 03-profiles §2.7."""
    requirement = profile.tier(tier)
    if requirement is None or not requirement.safety_variants:
        return
    single = [one.id for one in planned if one.classification is Classification.SAFETY and one.wordings == 1]
    if single:
        shown = ", ".join(single[:3]) + (", …" if len(single) > 3 else "")
        yield f"tier {tier} asks for variants of safety scenarios, and {len(single)} have none: {shown}"


def _warnings(profile: Profile, wanted: list[Scenario], tier: int) -> tuple[str, ...]:
    found = []
    if not profile.configuration:
        found.append(
            "the profile has no agent configuration schema; conditions are compared with an empty one"
        )
    above = [scenario.id for scenario in wanted if scenario.tier > tier]
    if above:
        found.append(
            f"{len(above)} selected scenarios need a higher tier than {tier}: {', '.join(sorted(above)[:5])}"
        )
    return tuple(found)
