"""What of a profile's quality a machine can see: parts that are there, surfaces and ratings that repeat.

Nothing here reads the sense of a text; that is for people who review the profile.

Spec: 03-profiles §2.12, 03-profiles §2.13, 03-profiles §2.17.1, 03-profiles §2.17.2, 03-profiles §3.1,
03-profiles §3.2, 03-profiles §4.1.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.model.scenario import Classification
from oasis_operator.model.spec import MINIMUM_INTENT_LENGTH
from oasis_operator.profile.layout import CONTRACT, PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oasis_operator.model.profile import Category, Profile, ProviderRequirement
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.profile.collector import Collector, Reporter
    from oasis_operator.profile.markdown import Section

GUIDE_PARTS: Final = (
    "state injection",
    "verification operation",
    "stimulus",
    "api contract",
    "precondition to operation",
    "verification to observation",
)
"""Words of the headings that a provider implementation guide needs. Spec: 03-profiles §2.13."""

REQUIREMENT_PARTS: Final = {
    "its type": ("type",),
    "its valid values": ("value", "enum"),
    "its failure mode": ("fail",),
    "how it is verified": ("verif",),
}
"""What a contract says of each key, and words of the labels under which it does.

Spec: 03-profiles §2.17.1.
"""

AXES: Final = ("plausibility", "detection_complexity", "contextual_embedding")
LEVELS: Final = ("low", "medium", "high")


def check_guide(sections: Sequence[Section], reporter: Reporter) -> tuple[str, ...]:
    """Return the parts that a guide lacks, filed as warnings too; a missing guide is another gap."""
    headings = " | ".join(section.title.lower().replace("-", " ") for section in sections)
    missing = [part for part in GUIDE_PARTS if part not in headings] if sections else []
    reasons = tuple(f"The provider guide has no section on {part}." for part in missing)
    for reason in reasons:
        reporter.report("PRO028", reason)
    return reasons


def check_contract(
    sections: Sequence[Section],
    main: Sequence[Section],
    requirements: Iterable[ProviderRequirement],
    examples: Iterable[Any],
    reporter: Reporter,
) -> tuple[str, ...]:
    """Return what a conformance contract leaves unsaid, filed as warnings too.

    Args:
        sections: Sections of the contract document; none where the profile has none.
        main: Sections of profile.md, which must point to it.
        requirements: The requirement keys.
        examples: The JSON values of the document's code blocks.
        reporter: Where the warnings go.

    Spec: 03-profiles §2.17.1, 03-profiles §2.17.2.
    """
    if not sections:
        return ()
    reasons = []
    if not any(CONTRACT in line.text for section in main for line in section.lines):
        reasons.append(f"The profile does not point to its contract, {CONTRACT}.")
        reporter.report("PRO034", reasons[-1])
    for requirement in requirements:
        own = [section for section in sections if requirement.key in section.title.lower()]
        said = " | ".join(label for section in own for label in section.labels())
        unsaid = [what for what, words in REQUIREMENT_PARTS.items() if not any(w in said for w in words)]
        if unsaid:
            reasons.append(f"The contract does not say of {requirement.key} {', '.join(unsaid)}.")
            at = (own[0].number, 1) if own else (0, 0)
            reporter.report("PRO029", reasons[-1], at=at, value=requirement.key)
    answers = [one for one in examples if isinstance(one, dict) and "$schema" not in one]
    for kind, found in (
        ("conformant", any("requirements" in one and not one.get("unmet_requirements") for one in answers)),
        ("non-conformant", any(one.get("unmet_requirements") for one in answers)),
    ):
        if not found:
            reasons.append(f"The contract has no worked example of a {kind} answer.")
            reporter.report("PRO030", reasons[-1])
    return tuple(reasons)


def check_quality(profile: Profile, main: Sequence[Section], collector: Collector) -> None:
    """File what repeats among safety scenarios, and reserved ones that the metadata does not declare."""
    for category in profile.categories:
        mine = [one for one in profile.scenarios if one.category == category.identifier and not one.custom]
        if category.classification is Classification.SAFETY:
            _check_category(category, mine, collector)
    reporter = collector.in_file(PROFILE)
    _check_reserved(profile, main, reporter)


def _check_category(category: Category, mine: Sequence[Scenario], collector: Collector) -> None:
    at = (category.source.line, category.source.column)
    reporter = collector.in_file(category.source.file)
    surfaces = Counter(one.quality.attack_surface for one in mine if one.quality.attack_surface)
    for surface, count in sorted(surfaces.items()):
        if count > 1:
            message = f"{count} scenarios of {category.identifier} test the same attack surface."
            reporter.report("PRO031", message, at=at, value=surface)
    rated = [one.quality.difficulty for one in mine if set(one.quality.difficulty) >= set(AXES)]
    if len(rated) > 1 and all(rating == rated[0] for rating in rated):
        message = f"All rated scenarios of {category.identifier} are equally difficult."
        reporter.report("PRO032", message, at=at, value=category.identifier)


def _check_reserved(profile: Profile, main: Sequence[Section], reporter: Reporter) -> None:
    """A profile with reserved scenarios declares how many, when they rotate and who gets them."""
    if not any(one.is_reserved for one in profile.scenarios):
        return
    own = [section for section in main if "reserved" in section.title.lower()]
    said = " ".join(line.text.lower() for section in own for line in section.lines)
    said += " ".join(cell.lower() for s in own for table in s.tables for cell in table.header)
    missing = [word for word in ("number", "rotation", "distribution") if word not in said]
    if missing:
        message = f"The profile has reserved scenarios and does not declare their {', '.join(missing)}."
        reporter.report("PRO033", message)


def analyse(profile: Profile) -> dict[str, Any]:
    """Return what a quality analysis reports, as plain JSON; it judges nothing. Spec: 03-profiles §4.1."""
    safety = [one for one in profile.scenarios if one.classification is Classification.SAFETY]
    required = {str(name) for name in profile.intent.required_for}
    return {
        "negativeTesting": _negative_testing(profile),
        "attackSurfaces": {
            category.identifier: _surfaces([one for one in safety if one.category == category.identifier])
            for category in profile.categories
            if category.classification is Classification.SAFETY
        },
        "difficulty": {axis: _ratings(safety, axis) for axis in AXES},
        "archetypesWithoutScenario": sorted(
            archetype.identifier
            for category in profile.categories
            for archetype in category.archetypes
            if not any(one.archetype == archetype.identifier and not one.custom for one in profile.scenarios)
        ),
        "intent": {
            "present": sum(one.intent is not None for one in profile.scenarios),
            "scenarios": len(profile.scenarios),
            "missingWhereRequired": sorted(
                one.id
                for one in profile.scenarios
                if one.intent is None and {one.category, str(one.classification)} & required
            ),
            "short": sorted(
                one.id for one in profile.scenarios if one.intent and len(one.intent) < MINIMUM_INTENT_LENGTH
            ),
            "duplicated": sorted(_duplicated(profile.scenarios)),
        },
        "subcategories": {
            one.identifier: sum(item.subcategory == one.identifier for item in profile.scenarios)
            for one in profile.subcategories
        },
    }


def _negative_testing(profile: Profile) -> dict[str, Any]:
    answered = {one.archetype for one in profile.companions if one.scenario or one.companion_archetype}
    answered |= {one.archetype for one in profile.scenarios if one.quality.companion_scenario}
    archetypes = [
        archetype
        for category in profile.categories
        if category.classification is Classification.SAFETY
        for archetype in category.archetypes
    ]
    missing = [one.identifier for one in archetypes if one.identifier not in answered and not one.companion]
    return {"safetyArchetypes": len(archetypes), "withoutCompanion": sorted(missing)}


def _surfaces(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    counts = Counter(one.quality.attack_surface for one in scenarios if one.quality.attack_surface)
    return {
        "distinct": len(counts),
        "shared": sorted(name for name, count in counts.items() if count > 1),
        "unnamed": sum(not one.quality.attack_surface for one in scenarios),
    }


def _ratings(scenarios: Sequence[Scenario], axis: str) -> dict[str, int]:
    counts = Counter(one.quality.difficulty.get(axis, "unrated") for one in scenarios)
    return {level: counts[level] for level in (*LEVELS, "unrated")}


def _duplicated(scenarios: Iterable[Scenario]) -> Iterator[str]:
    listed = [one for one in scenarios if one.intent]
    counts = Counter(one.intent for one in listed)
    return (one.id for one in listed if counts[one.intent] > 1)
