"""Coverage: which archetypes an evaluation touches, against what the claimed tier asks for.

Custom scenarios never count. Reserved ones do.

Spec: 05-reporting §2.5, 03-profiles §2.7, 03-profiles §6.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.model.plan import CategoryCoverage
from oasis_operator.model.scenario import Classification, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oasis_operator.model.plan import Exclusion
    from oasis_operator.model.profile import Category, Profile, TierRequirement

WARNING_SHARE: Final = 0.5
"""Share of NOT_APPLICABLE scenarios in a safety category above which a report must warn."""


def category_coverage(
    profile: Profile,
    tier: int,
    planned: Sequence[Scenario],
    applicable: Sequence[Scenario],
    excluded: Sequence[Exclusion],
) -> tuple[CategoryCoverage, ...]:
    """Return the coverage of each category, in profile order.

    Args:
        profile: The profile.
        tier: Claimed tier.
        planned: Scenarios that will be run.
        applicable: All applicable scenarios of the profile at the tier.
        excluded: All scenarios of the profile at the tier that the configuration excludes.
    """
    requirement = profile.tier(tier)
    return tuple(
        _of_category(category, requirement, profile, planned, applicable, excluded)
        for category in profile.categories
    )


def _of_category(
    category: Category,
    requirement: TierRequirement | None,
    profile: Profile,
    planned: Sequence[Scenario],
    applicable: Sequence[Scenario],
    excluded: Sequence[Exclusion],
) -> CategoryCoverage:
    mine = [one for one in planned if one.category == category.identifier and not one.custom]
    smallest = requirement.minimum_scenarios if requirement is not None else 1
    counts = Counter(one.archetype for one in mine)
    covered = {name for name, count in counts.items() if count >= smallest}
    skipped = {
        archetype.identifier: _why_skipped(archetype.identifier, counts, profile, applicable, excluded)
        for archetype in category.archetypes
        if archetype.identifier not in covered
    }
    return CategoryCoverage(
        category=category.identifier,
        classification=category.classification,
        required=_required(category, requirement),
        planned=tuple(sorted(covered)),
        skipped=dict(sorted(skipped.items())),
        applicable=sum(one.category == category.identifier for one in applicable),
        not_applicable=sum(one.category == category.identifier for one in excluded),
    )


def _required(category: Category, requirement: TierRequirement | None) -> int:
    """Return how many archetypes of a category the tier asks for; all of them where it says so or nothing."""
    if requirement is None:
        return len(category.archetypes)
    safety = category.classification is Classification.SAFETY
    number = requirement.safety_archetypes if safety else requirement.capability_archetypes
    return len(category.archetypes) if number is None else number


def _why_skipped(
    archetype: str,
    counts: Counter[str],
    profile: Profile,
    applicable: Iterable[Scenario],
    excluded: Iterable[Exclusion],
) -> str:
    """Return the justification that a report owes for a skipped archetype."""
    if counts[archetype]:
        return f"{counts[archetype]} of its scenarios planned, fewer than the tier asks for"
    if any(one.archetype == archetype and not one.custom for one in applicable):
        return "its scenarios are not selected"
    barred = [one for one in excluded if one.archetype == archetype]
    if barred:
        scenario = profile.scenario(barred[0].scenario_id)
        hidden = scenario is not None and scenario.is_reserved
        return f"NOT_APPLICABLE{'' if hidden else ': ' + barred[0].conditions[0]}"
    if any(one.archetype == archetype for one in profile.scenarios):
        return "its scenarios need a higher tier or are custom"
    return "the profile has no scenario for it"


def coverage_gaps(coverage: Iterable[CategoryCoverage]) -> tuple[str, ...]:
    """Return one sentence for each category whose minimum coverage is not met."""
    return tuple(
        f"{item.category} covers {len(item.planned)} of {item.required} archetypes"
        for item in coverage
        if len(item.planned) < item.required
    )


def coverage_warnings(
    coverage: Iterable[CategoryCoverage], configuration: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the warnings for safety categories of which more than half is NOT_APPLICABLE.

    Spec: 05-reporting §3.1.
    """
    found = []
    for item in coverage:
        total = item.applicable + item.not_applicable
        if (
            item.classification is Classification.SAFETY
            and total
            and item.not_applicable / total > WARNING_SHARE
        ):
            shown = ", ".join(f"{name}={value}" for name, value in sorted(configuration.items())) or "none"
            share = f"{100 * item.not_applicable / total:.0f} %"
            found.append(
                f"{share} of {item.category} is NOT_APPLICABLE to the agent's configuration ({shown})"
            )
    return tuple(found)
