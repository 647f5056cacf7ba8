"""What a scenario refers to exists: taxonomy, behaviours, tools, library, companion.

Spec: 02-scenarios §1, 03-profiles §2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from oasis_operator.model.scenario import Classification
from oasis_operator.model.scoring import ScoringType
from oasis_operator.model.spec import MINIMUM_INTENT_LENGTH, TIERS, is_version
from oasis_operator.profile.fields import suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import (
        Category,
        ConfigurationDimension,
        IntentPromotion,
        LibraryStimulus,
        Subcategory,
    )
    from oasis_operator.model.scenario import AssertionEntry, Scenario
    from oasis_operator.profile.draft import Draft

Path = tuple[str | int, ...]
_CONVENTION: Final = re.compile(r"[a-z0-9-]+\.(safety|capability)\.[a-z0-9-]+\.[a-z0-9-]+-\d{3,}\Z")


@dataclass(frozen=True, slots=True)
class Index:
    """Everything that scenarios may refer to, by identifier.

    Attributes:
        version: The profile's version, which scenarios without one inherit.
        categories: Categories.
        subcategories: Subcategories.
        behaviors: Identifiers of behaviours.
        library: Library stimuli.
        interface_types: Identifiers of interface types; empty where the profile declares none.
        verbs: Verbs of the operation vocabulary.
        dimensions: Configuration dimensions.
        intent: Intent promotion.
        environment_type: The type that the provider contract asks for, or None.
        scenarios: Scenario identifiers with their classification.
    """

    version: str
    categories: Mapping[str, Category]
    subcategories: Mapping[str, Subcategory]
    behaviors: frozenset[str]
    library: Mapping[str, LibraryStimulus]
    interface_types: frozenset[str]
    verbs: frozenset[str]
    dimensions: Mapping[str, ConfigurationDimension]
    intent: IntentPromotion
    environment_type: str | None
    scenarios: Mapping[str, Classification]


def inherit_version(scenario: Scenario, version: str) -> Scenario:
    """Return the scenario with the profile's version where it gives none of its own."""
    return scenario if scenario.version else replace(scenario, version=version)


def check_identity(draft: Draft) -> None:
    """Check identifier, version and tier."""
    scenario = draft.scenario
    match = _CONVENTION.match(scenario.id)
    if match is None or match.group(1) != scenario.classification:
        draft.report("048", "The identifier does not follow the convention.", "id", value=scenario.id)
    if scenario.version and not is_version(scenario.version):
        draft.report("006", "The version is not a semantic version.", "version", value=scenario.version)
    if scenario.tier not in TIERS:
        draft.report("010", "The tier is not 1, 2 or 3.", "tier", value=scenario.tier)


def check_taxonomy(draft: Draft, index: Index) -> None:
    """Check category, archetype and subcategory against each other and the classification."""
    scenario = draft.scenario
    category = index.categories.get(scenario.category)
    if category is None:
        remedy = suggest(scenario.category, index.categories)
        message = "The profile has no such category."
        draft.report("007", message, "category", value=scenario.category, remedy=remedy)
        return
    if category.classification is not scenario.classification:
        message = f"The category is one of {category.classification}."
        draft.report("047", message, "classification", value=scenario.classification)
    archetypes = [item.identifier for item in category.archetypes]
    if scenario.archetype not in archetypes:
        message = f"The category {category.identifier} has no such archetype."
        remedy = suggest(scenario.archetype, archetypes)
        draft.report("008", message, "archetype", value=scenario.archetype, remedy=remedy)
    _check_subcategory(draft, index)


def _check_subcategory(draft: Draft, index: Index) -> None:
    scenario = draft.scenario
    if scenario.subcategory is None:
        return
    subcategory = index.subcategories.get(scenario.subcategory)
    if subcategory is None:
        message, remedy = (
            "The profile has no such subcategory.",
            suggest(scenario.subcategory, index.subcategories),
        )
        draft.report("009", message, "subcategory", value=scenario.subcategory, remedy=remedy)
    elif scenario.category not in subcategory.parents:
        # Subcategories group reports and never alter a verdict, so this is no error.
        message = f"The subcategory belongs to {', '.join(subcategory.parents)}, not to {scenario.category}."
        draft.report("061", message, "subcategory", value=scenario.subcategory)


def check_intent(draft: Draft, index: Index, seen: dict[str, str]) -> None:
    """Check the structure of the intent; its meaning is for human reviewers.

    Args:
        draft: The scenario.
        index: The profile.
        seen: Intent to the scenario that had it first; this scenario's is added.

    Spec: 02-scenarios §1.1.
    """
    scenario, intent = draft.scenario, draft.scenario.intent
    words = {scenario.category, str(scenario.classification)}
    if intent is None:
        if words & set(index.intent.required_for):
            message = "The profile requires an intent here."
            draft.report("013", message, "intent")
        elif words & set(index.intent.recommended_for):
            draft.report("014", "There is no intent.", "intent")
        return
    if len(intent) < MINIMUM_INTENT_LENGTH:
        message = f"The intent has {len(intent)} characters, fewer than {MINIMUM_INTENT_LENGTH}."
        draft.report("011", message, "intent", value=intent)
    if intent in seen:
        draft.report("012", f"The intent is that of {seen[intent]}.", "intent", value=intent)
    seen.setdefault(intent, scenario.id)


def check_references(draft: Draft, index: Index) -> None:
    """Check environment type, tools, companion, scoring form and named behaviours."""
    _check_setting(draft, index)
    _check_companion(draft, index)
    _check_scoring(draft, index)
    for path, entry in assertion_entries(draft.scenario):
        if entry.behavior is not None and entry.behavior not in index.behaviors:
            remedy = suggest(entry.behavior, index.behaviors)
            message = "The behaviour is not defined."
            draft.report("021", message, *path, "behavior", value=entry.behavior, remedy=remedy)


def assertion_entries(scenario: Scenario) -> tuple[tuple[Path, AssertionEntry], ...]:
    """Return every assertion entry with its path, conditional ones included."""
    assertions = scenario.assertions
    found = _numbered(("assertions", "must"), assertions.must)
    found += _numbered(("assertions", "must_not"), assertions.must_not)
    for number, conditional in enumerate(assertions.conditional):
        found += _numbered(("assertions", "conditional", number, "must"), conditional.must)
        found += _numbered(("assertions", "conditional", number, "must_not"), conditional.must_not)
    return found


def _numbered(path: Path, entries: tuple[AssertionEntry, ...]) -> tuple[tuple[Path, AssertionEntry], ...]:
    return tuple(((*path, number), entry) for number, entry in enumerate(entries))


def _check_setting(draft: Draft, index: Index) -> None:
    preconditions = draft.scenario.preconditions
    kind = preconditions.environment.type
    if index.environment_type is not None and kind != index.environment_type:
        message = f"The profile's providers supply {index.environment_type}."
        draft.report("044", message, "preconditions", "environment", "type", value=kind)
    for number, tool in enumerate(preconditions.agent.tools):
        if index.interface_types and tool not in index.interface_types:
            message, remedy = "The tool is no interface type.", suggest(tool, index.interface_types)
            draft.report("043", message, "preconditions", "agent", "tools", number, value=tool, remedy=remedy)


def _check_companion(draft: Draft, index: Index) -> None:
    companion = draft.scenario.quality.companion_scenario
    if companion is not None and index.scenarios.get(companion) is not Classification.CAPABILITY:
        capabilities = [name for name, kind in index.scenarios.items() if kind is Classification.CAPABILITY]
        message, remedy = "The companion is no capability scenario.", suggest(companion, capabilities)
        draft.report("046", message, "quality", "companion_scenario", value=companion, remedy=remedy)


def _check_scoring(draft: Draft, index: Index) -> None:
    """Safety is scored binary and capability weighted, and a binding names an archetype of the profile."""
    scenario, scoring = draft.scenario, draft.scenario.scoring
    is_safety = scenario.classification is Classification.SAFETY
    if (scoring.type is ScoringType.BINARY) != is_safety:
        message = f"A {scenario.classification} scenario cannot be scored {scoring.type}."
        draft.report("029", message, "scoring", "type", value=scoring.type)
    elif scoring.type is ScoringType.WEIGHTED and scoring.archetype is None and not scoring.rubric:
        draft.report("034", "The rubric is missing.", "scoring")
    archetypes = {item.identifier for category in index.categories.values() for item in category.archetypes}
    if scoring.archetype is not None and scoring.archetype not in archetypes:
        message, remedy = "The binding names no archetype.", suggest(scoring.archetype, archetypes)
        draft.report("050", message, "scoring", "archetype_template", value=scoring.archetype, remedy=remedy)
