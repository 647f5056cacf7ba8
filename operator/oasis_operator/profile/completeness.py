"""What a profile as a whole must contain, and whether this one does.

Gaps are warnings: a profile with gaps can be run, but it is labelled incomplete and nothing may rely on it.

Spec: 03-profiles §2, 03-profiles §3, 01-core §3.1, 01-core §4.2, 01-core §5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.model.scenario import Classification
from oasis_operator.model.spec import CoreDimension, CoreSafetyCategory
from oasis_operator.profile import layout
from oasis_operator.profile.tables import CRITERIA

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile
    from oasis_operator.profile.collector import Collector


def check_completeness(profile: Profile, collector: Collector) -> tuple[str, ...]:
    """Return what is missing, in fixed order; each gap is also filed as a warning."""
    reasons: list[str] = []
    for check in (_mappings, _archetypes, _companions, _parts, _statement):
        reasons += check(profile, collector)
    if not profile.configuration:
        # A published profile lacks the schema and is run with an empty one, so this alone does not
        # make a profile incomplete.
        message = "The profile declares no agent configuration schema."
        collector.in_file(layout.PROFILE).report("PRO010", message)
    return tuple(reasons)


def _mappings(profile: Profile, collector: Collector) -> list[str]:
    """Return what the core model asks for and nothing maps to.

    Spec: 01-core §3.1, 01-core §4.2, 03-profiles §2.4, 03-profiles §2.5.
    """
    mapped = {
        name for category in profile.categories for name in category.core_mappings if category.archetypes
    }
    reasons = []
    for category in profile.categories:
        if category.classification is Classification.CAPABILITY and not category.core_mappings:
            reasons.append(f"The capability category {category.identifier} maps to no core dimension.")
            at = (category.source.line, category.source.column)
            reporter = collector.in_file(category.source.file)
            reporter.report("PRO021", reasons[-1], at=at, value=category.identifier)
    for kind, file, noun in (
        (CoreSafetyCategory, layout.SAFETY, "core safety category"),
        (CoreDimension, layout.CAPABILITY, "core dimension"),
    ):
        for item in kind:
            if item not in mapped:
                reasons.append(f"No category with an archetype maps to the {noun} {item}.")
                collector.in_file(file).report("PRO021", reasons[-1], value=item)
    return reasons


def _archetypes(profile: Profile, collector: Collector) -> list[str]:
    used = {scenario.archetype for scenario in profile.scenarios if not scenario.custom}
    reasons = []
    for category in profile.categories:
        for archetype in category.archetypes:
            if archetype.identifier not in used:
                reasons.append(f"The archetype {archetype.identifier} has no scenario.")
                at = (archetype.source.line, archetype.source.column)
                reporter = collector.in_file(archetype.source.file)
                reporter.report("PRO025", reasons[-1], at=at, value=archetype.identifier)
    return reasons


def _companions(profile: Profile, collector: Collector) -> list[str]:
    """Return the safety archetypes without a companion or a reason. Spec: 03-profiles §3.4."""
    answered = {item.archetype for item in profile.companions if item.scenario or item.justification}
    answered |= {item.archetype for item in profile.scenarios if item.quality.companion_scenario}
    reasons = []
    for category in profile.categories:
        if category.classification is not Classification.SAFETY:
            continue
        for archetype in category.archetypes:
            if archetype.identifier not in answered and archetype.companion is None:
                reasons.append(f"The safety archetype {archetype.identifier} has no companion.")
                at = (archetype.source.line, archetype.source.column)
                reporter = collector.in_file(archetype.source.file)
                reporter.report("PRO026", reasons[-1], at=at, value=archetype.identifier)
    return reasons


def _parts(profile: Profile, collector: Collector) -> list[str]:
    """Return the required parts that are missing. Spec: 03-profiles §2, 01-core §5."""
    present = {
        "vocabulary": bool(profile.vocabulary),
        "behaviour definitions": bool(profile.behaviors),
        "mapping for all three capability tiers": set(profile.operations) == {1, 2, 3},
        "description of all three complexity tiers": {tier.tier for tier in profile.tiers} == {1, 2, 3},
        "dimension weights": bool(profile.dimension_weights),
        "stimulus library": bool(profile.stimuli),
        "provider requirements": bool(profile.requirements),
        "conformance schema": profile.conformance_schema is not None,
        "provider implementation guide": layout.GUIDE in profile.files,
    }
    reasons = [f"The profile has no {part}." for part, is_there in present.items() if not is_there]
    for reason in reasons:
        collector.in_file(layout.PROFILE).report("PRO024", reason)
    return reasons


def _statement(profile: Profile, collector: Collector) -> list[str]:
    """Return the criteria that the quality statement leaves out, by its headings.

    Spec: 03-profiles §3, 03-profiles §3.1, 03-profiles §3.2, 03-profiles §3.3, 03-profiles §3.4.
    """
    headings = " | ".join(profile.quality_statement)
    reasons = [f"The quality statement does not address {word}." for word in CRITERIA if word not in headings]
    for reason in reasons:
        collector.in_file(layout.PROFILE).report("PRO023", reason)
    return reasons
