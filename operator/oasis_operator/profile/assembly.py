"""Parses the documents of a package into the parts of a profile, and puts the parts together.

Spec: 03-profiles §2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.model.profile import Profile
from oasis_operator.model.scenario import Classification
from oasis_operator.profile import layout, library, metadata, provider, quality, tables, tiers
from oasis_operator.profile.behaviors import parse_behaviors
from oasis_operator.profile.categories import parse_categories
from oasis_operator.profile.digests import digest_files, digest_package
from oasis_operator.profile.fields import suggest
from oasis_operator.profile.markdown import Section, parse_sections, slug
from oasis_operator.profile.operations import VERBS

if TYPE_CHECKING:
    from oasis_operator.model.profile import (
        Behavior,
        Category,
        Companion,
        InterfaceType,
        LibraryStimulus,
        ProviderRequirement,
        Subcategory,
        Suite,
        Term,
        TierRequirement,
    )
    from oasis_operator.model.scenario import JsonMap, Scenario
    from oasis_operator.model.witness import Witnesses
    from oasis_operator.profile.collector import Collector, Reporter


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything but scenarios, suites and witnesses; members as in `model.profile.Profile`."""

    identity: metadata.Identity
    settings: metadata.Settings
    vocabulary: tuple[Term, ...]
    categories: tuple[Category, ...]
    subcategories: tuple[Subcategory, ...]
    behaviors: tuple[Behavior, ...]
    stimuli: tuple[LibraryStimulus, ...]
    interface_types: tuple[InterfaceType, ...]
    verbs: tuple[str, ...]
    resource_types: tuple[str, ...]
    tiers: tuple[TierRequirement, ...]
    operations: dict[int, tuple[str, ...]]
    dimension_weights: dict[str, dict[str, float]]
    requirements: tuple[ProviderRequirement, ...]
    conformance_schema: JsonMap | None
    companions: tuple[tuple[Companion, int], ...]
    quality_statement: tuple[str, ...]
    main: tuple[Section, ...] = ()
    gaps: tuple[str, ...] = ()


def parse_parts(package: layout.Package, collector: Collector) -> Parts:
    """Return the parts that the documents of a package give; missing documents are faults."""
    reporters = {path: collector.in_file(path) for path in layout.DOCUMENTS}
    documents = {
        path: parse_sections(package.texts[path], reporters[path]) if path in package.texts else ()
        for path in layout.DOCUMENTS
    }
    _require(package, collector)
    main, reporter = documents[layout.PROFILE], reporters[layout.PROFILE]
    identity = metadata.parse_identity(main, reporter)
    others = [(documents[path], reporters[path]) for path in layout.DOCUMENTS if path != layout.PROFILE]
    metadata.check_document_versions(others, identity)
    settings = metadata.parse_settings(main, reporter)
    categories = _categories(documents, reporters)
    _check_intent(settings, categories, reporter)
    requirements = _requirements(package, identity, collector)
    contract = (documents[layout.CONTRACT], requirements, reporters[layout.CONTRACT])
    return Parts(
        identity=identity,
        settings=settings,
        vocabulary=metadata.parse_vocabulary(main),
        categories=categories,
        subcategories=_subcategories(documents, reporters, categories),
        behaviors=parse_behaviors(documents[layout.BEHAVIORS], reporters[layout.BEHAVIORS]),
        stimuli=library.parse_library(documents[layout.LIBRARY], reporters[layout.LIBRARY]),
        interface_types=library.parse_interface_types(documents[layout.INTERFACES]),
        verbs=library.parse_words(documents[layout.INTERFACES], "verb") or tuple(sorted(VERBS)),
        resource_types=library.parse_words(documents[layout.INTERFACES], "resource type"),
        tiers=tiers.parse_tiers(main, settings.tier_inputs, reporter),
        operations=tiers.parse_operations(main),
        dimension_weights=_weights(main, categories, reporter),
        requirements=requirements,
        conformance_schema=provider.parse_conformance_schema(*contract),
        companions=tables.parse_companions(main),
        quality_statement=tables.parse_quality_headings(main),
        main=main,
        gaps=_gaps(documents, requirements, reporters),
    )


def _gaps(
    documents: dict[str, tuple[Section, ...]],
    requirements: tuple[ProviderRequirement, ...],
    reporters: dict[str, Reporter],
) -> tuple[str, ...]:
    """Return what guide and contract leave out."""
    contract = documents[layout.CONTRACT]
    examples = provider.json_values(contract)
    return (
        *quality.check_guide(documents[layout.GUIDE], reporters[layout.GUIDE]),
        *quality.check_contract(
            contract, documents[layout.PROFILE], requirements, examples, reporters[layout.CONTRACT]
        ),
    )


def _require(package: layout.Package, collector: Collector) -> None:
    for path in (layout.SAFETY, layout.CAPABILITY, layout.BEHAVIORS, layout.REQUIREMENTS):
        if path not in package.texts:
            collector.in_file(path).report("PRO009", f"The package has no {path}.", value=path)


def _requirements(
    package: layout.Package, identity: metadata.Identity, collector: Collector
) -> tuple[ProviderRequirement, ...]:
    if layout.REQUIREMENTS not in package.texts:
        return ()
    text, reporter = package.texts[layout.REQUIREMENTS], collector.in_file(layout.REQUIREMENTS)
    return provider.parse_requirements(text, identity, reporter)


def _categories(
    documents: dict[str, tuple[Section, ...]], reporters: dict[str, Reporter]
) -> tuple[Category, ...]:
    main = documents[layout.PROFILE]
    reasons = tables.parse_justifications(main)
    found: tuple[Category, ...] = ()
    for path, classification in (
        (layout.SAFETY, Classification.SAFETY),
        (layout.CAPABILITY, Classification.CAPABILITY),
    ):
        found += parse_categories(documents[path], classification, reasons, reporters[path])
    _check_unique_archetypes(found, reporters)
    _check_rows(main, found, reporters[layout.PROFILE])
    return found


def _check_unique_archetypes(categories: tuple[Category, ...], reporters: dict[str, Reporter]) -> None:
    seen: dict[str, int] = {}
    for archetype in (item for category in categories for item in category.archetypes):
        if archetype.identifier in seen:
            message = f"The archetype already stands in line {seen[archetype.identifier]}."
            reporter = reporters[archetype.source.file]
            reporter.report("CAT006", message, at=(archetype.source.line, 1), value=archetype.identifier)
        seen.setdefault(archetype.identifier, archetype.source.line)


def _check_rows(main: tuple[Section, ...], categories: tuple[Category, ...], reporter: Reporter) -> None:
    """Compare the category tables of profile.md with the category documents."""
    known = {category.name: category for category in categories} | {c.identifier: c for c in categories}
    for row in tables.parse_category_rows(main, reporter):
        category, at = known.get(row.name), (row.number, 1)
        if category is None:
            message = "The table names a category that no category document defines."
            reporter.report("PRO018", message, at=at, value=row.name)
        elif sorted(row.mappings) != sorted(category.core_mappings):
            message = f"The mapping differs from that of {category.source.file}."
            reporter.report("PRO018", message, at=at, value=row.name)
        elif row.archetypes is not None and row.archetypes != len(category.archetypes):
            message = f"The category has {len(category.archetypes)} archetypes, not {row.archetypes}."
            reporter.report("CAT011", message, at=at, value=row.name)


def _check_intent(settings: metadata.Settings, categories: tuple[Category, ...], reporter: Reporter) -> None:
    """Intent is promoted for classifications or for categories of the profile."""
    known = {str(item) for item in Classification} | {category.identifier for category in categories}
    for word in (*settings.intent.required_for, *settings.intent.recommended_for):
        if word not in known:
            message = "The promotion names neither a classification nor a category."
            remedy = suggest(word, known)
            reporter.report("PRO027", message, at=settings.intent_at, value=word, remedy=remedy)


def _subcategories(
    documents: dict[str, tuple[Section, ...]],
    reporters: dict[str, Reporter],
    categories: tuple[Category, ...],
) -> tuple[Subcategory, ...]:
    """Return the subcategories of profile.md, or of the safety document where profile.md has none."""
    path = layout.PROFILE
    found = metadata.parse_subcategories(documents[path], reporters[path])
    if not found:
        path = layout.SAFETY
        found = metadata.parse_subcategories(documents[path], reporters[path])
    known = {category.identifier for category in categories} | {slug(c.name) for c in categories}
    for subcategory in found:
        for parent in subcategory.parents:
            if parent not in known:
                message = f"The subcategory {subcategory.identifier} names a parent that does not exist."
                reporters[path].report("PRO013", message, value=parent)
    return found


def _weights(
    main: tuple[Section, ...], categories: tuple[Category, ...], reporter: Reporter
) -> dict[str, dict[str, float]]:
    """Return the dimension weights; a category that maps to a dimension should have a weight there."""
    capability = [c for c in categories if c.classification is Classification.CAPABILITY]
    weights = tables.parse_dimension_weights(main, tuple(c.identifier for c in capability), reporter)
    for category in capability if weights else ():
        for dimension in category.core_mappings:
            if category.identifier not in weights.get(dimension, {}):
                message = f"The category maps to {dimension}, and the table gives it no weight there."
                reporter.report("PRO018", message, value=category.name)
    return weights


def build_profile(
    package: layout.Package,
    parts: Parts,
    scenarios: tuple[Scenario, ...],
    suites: tuple[Suite, ...],
    witnesses: tuple[Witnesses, ...],
) -> Profile:
    """Return the profile; whether it is complete is for the caller to say."""
    digests = digest_files(package.files)
    return Profile(
        identifier=parts.identity.identifier,
        name=parts.identity.name,
        version=parts.identity.version,
        core_dependency=metadata.canonical_dependency(parts.identity.core_dependency),
        description=parts.identity.description,
        vocabulary=parts.vocabulary,
        interface_types=parts.interface_types,
        verbs=parts.verbs,
        resource_types=parts.resource_types,
        behaviors=parts.behaviors,
        categories=parts.categories,
        subcategories=parts.subcategories,
        stimuli=parts.stimuli,
        configuration=parts.settings.configuration,
        tiers=parts.tiers,
        operations=parts.operations,
        dimension_weights=parts.dimension_weights,
        requirements=parts.requirements,
        conformance_schema=parts.conformance_schema,
        intent=parts.settings.intent,
        scale_to_zero_deletes=parts.settings.scale_to_zero_deletes,
        encoded_values_violate=parts.settings.encoded_values_violate,
        companions=tuple(companion for companion, _ in parts.companions),
        quality_statement=parts.quality_statement,
        suites=suites,
        scenarios=scenarios,
        witnesses=witnesses,
        files=digests,
        digest=digest_package(digests),
    )
