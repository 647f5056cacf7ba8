"""What profile.md says of the profile itself: identity, vocabulary, subcategories, settings in YAML blocks.

Spec: 03-profiles §2.1, 03-profiles §2.2, 03-profiles §2.14, 03-profiles §2.15, 03-profiles §2.16,
03-profiles §2.16.1, 03-profiles §2.16.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oasis_operator.model.profile import ConfigurationDimension, IntentPromotion, Subcategory, Term
from oasis_operator.model.spec import SPEC_VERSION, is_version, normalise_dependency, satisfies
from oasis_operator.profile.fields import Fields
from oasis_operator.profile.markdown import Line, slug, unmark
from oasis_operator.profile.yaml_nodes import Kind, parse_documents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.profile.collector import Reporter
    from oasis_operator.profile.markdown import Section

FAMILY: Final = "PRO"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the profile is; empty texts where it does not say."""

    identifier: str
    name: str
    version: str
    core_dependency: str
    description: str


def parse_identity(sections: tuple[Section, ...], reporter: Reporter) -> Identity:
    """Return identity and versions; each that is missing or malformed is a fault."""
    labels: dict[str, Line] = {}
    for section in sections:
        if section.level <= 1 or section.title.lower() == "metadata":
            labels = section.labels() | labels
    found = {key: _label(labels, names, reporter) for key, names in _LABELS.items()}
    identity = Identity(**{key: unmark(line.text) for key, line in found.items()})
    _check_versions(identity, found, reporter)
    return identity


_LABELS: Final = {
    "identifier": ("profile identifier", "identifier"),
    "name": ("profile name", "name"),
    "version": ("version", "profile version"),
    "core_dependency": ("oasis core dependency", "core dependency"),
    "description": ("description",),
}


def _label(labels: dict[str, Line], names: tuple[str, ...], reporter: Reporter) -> Line:
    for name in names:
        if name in labels and labels[name].text:
            return labels[name]
    reporter.report("PRO001", f"The label `{names[0]}` is missing.", path=names[0])
    return Line("", 0)


def _check_versions(identity: Identity, found: dict[str, Line], reporter: Reporter) -> None:
    if identity.version and not is_version(identity.version):
        at = (found["version"].number, 1)
        reporter.report("PRO005", "The version is not a semantic version.", at=at, value=identity.version)
    dependency, at = identity.core_dependency, (found["core_dependency"].number, 1)
    if not dependency:
        return
    try:
        is_met = satisfies(SPEC_VERSION, dependency)
    except ValueError as error:
        reporter.report("PRO006", f"The core dependency cannot be read: {error}.", at=at, value=dependency)
        return
    if not is_met:
        message = f"This implementation is written for version {SPEC_VERSION} of the specification."
        reporter.report("PRO007", message, at=at, value=dependency)


def canonical_dependency(text: str) -> str:
    """Return a core dependency in one spelling; what cannot be read stays as it is."""
    try:
        return normalise_dependency(text)
    except ValueError:
        return text


def check_document_versions(
    documents: Iterable[tuple[tuple[Section, ...], Reporter]], identity: Identity
) -> None:
    """File each document whose header names another version than the profile's."""
    for sections, reporter in documents:
        for section in sections:
            if section.level > 1:
                break
            labels = section.labels()
            line = labels.get("profile version") or labels.get("version")
            if line is not None and line.text and unmark(line.text) != identity.version:
                message = (
                    f"The document is for version {unmark(line.text)}, the profile is {identity.version}."
                )
                reporter.report("PRO008", message, at=(line.number, 1), value=unmark(line.text))


def parse_vocabulary(sections: tuple[Section, ...]) -> tuple[Term, ...]:
    """Return the terms of the first table under a heading that speaks of vocabulary."""
    for section in sections:
        if "vocabulary" in section.title.lower():
            for table in section.tables:
                if len(table.header) == 3:
                    return tuple(Term(*row.cells) for row in table.rows)
    return ()


def parse_subcategories(sections: tuple[Section, ...], reporter: Reporter) -> tuple[Subcategory, ...]:
    """Return the rows of tables headed `Subcategory`; parents are named by category name or identifier."""
    found: dict[str, Subcategory] = {}
    for section in sections:
        for table in section.tables:
            if table.header[0] != "subcategory" or len(table.header) < 3:
                continue
            for row in table.rows:
                identifier, parents = row.cells[0], tuple(slug(name) for name in row.cells[1].split(","))
                if identifier in found:
                    message = "Two subcategories have the same identifier."
                    reporter.report("PRO012", message, at=(row.number, 1), value=identifier)
                found[identifier] = Subcategory(identifier, parents, row.cells[2])
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Settings:
    """What the YAML blocks of profile.md say.

    Attributes:
        intent: `profile_validation.intent`.
        intent_at: Where it stands.
        configuration: `agent_configuration_schema.dimensions`.
        tier_inputs: `complexity_tiers`: tier to machine-readable characteristics.
        scale_to_zero_deletes: `operation_semantics.scale_to_zero_is_delete`; false where it is not written.
        encoded_values_violate: `containment_semantics.encoded_values_violate`; false where it is not written.
    """

    intent: IntentPromotion
    intent_at: tuple[int, int]
    configuration: tuple[ConfigurationDimension, ...]
    tier_inputs: dict[int, dict[str, object]]
    scale_to_zero_deletes: bool = False
    encoded_values_violate: bool = False


def parse_settings(sections: tuple[Section, ...], reporter: Reporter) -> Settings:
    """Return intent promotion, configuration schema and tier inputs from YAML blocks of known keys."""
    intent, intent_at = IntentPromotion(), (0, 0)
    configuration: list[ConfigurationDimension] = []
    inputs: dict[int, dict[str, object]] = {}
    zero_deletes = encodings_violate = False
    for section in sections:
        for fence in section.fences:
            if fence.language not in ("yaml", "yml"):
                continue
            for node in parse_documents(fence.text, reporter, line_offset=fence.number - 1):
                block = Fields(node, reporter, FAMILY)
                if node.kind is not Kind.MAPPING:
                    continue
                promotion = _intent(block)
                if promotion is not None:
                    intent, intent_at = promotion, block.at("profile_validation")
                configuration.extend(_configuration(block))
                inputs.update(_tier_inputs(block))
                zero_deletes |= _declares(block, "operation_semantics", "scale_to_zero_is_delete")
                encodings_violate |= _declares(block, "containment_semantics", "encoded_values_violate")
    dimensions = _unique(configuration, reporter)
    return Settings(intent, intent_at, dimensions, inputs, zero_deletes, encodings_violate)


def _declares(block: Fields, group: str, name: str) -> bool:
    """Return whether a block says yes to the one member of a group."""
    semantics = block.mapping(group)
    if semantics is None:
        return False
    found = semantics.boolean(name, required=True)
    semantics.rest()
    return bool(found)


def _intent(block: Fields) -> IntentPromotion | None:
    validation = block.mapping("profile_validation")
    intent = validation.mapping("intent", required=True) if validation else None
    if intent is None:
        return None
    found = IntentPromotion(intent.texts("required_for"), intent.texts("recommended_for"))
    intent.rest()
    return found


def _configuration(block: Fields) -> list[ConfigurationDimension]:
    schema = block.mapping("agent_configuration_schema")
    if schema is None:
        return []
    found = [_dimension(entry) for entry in schema.mappings("dimensions", required=True)]
    schema.rest()
    return [dimension for dimension in found if dimension is not None]


def _dimension(fields: Fields) -> ConfigurationDimension | None:
    identifier, kind = fields.text("identifier", required=True), fields.text("type", required=True)
    description = fields.text("description", required=True)
    values: tuple[str | bool, ...] = (False, True) if kind == "boolean" else fields.texts("values")
    default = fields.find("default")
    fields.rest()
    if identifier is None or kind is None or description is None:
        return None
    fault = None
    if kind not in ("enum", "boolean"):
        fault = "A dimension is of type enum or boolean."
    elif kind == "enum" and len(set(values)) < 2:
        fault = "An enum dimension needs at least two values."
    elif default is not None and default.value not in values:
        fault = "The default is none of the values."
    if fault:
        fields.report("011", fault, at=fields.node.at, value=identifier, path=fields.path)
        return None
    value = None if default is None else default.value
    return ConfigurationDimension(identifier, kind, values, description, value)


def _unique(
    dimensions: list[ConfigurationDimension], reporter: Reporter
) -> tuple[ConfigurationDimension, ...]:
    found: dict[str, ConfigurationDimension] = {}
    for dimension in dimensions:
        if dimension.identifier in found:
            message = "Two configuration dimensions have the same identifier."
            reporter.report("PRO012", message, value=dimension.identifier)
        found.setdefault(dimension.identifier, dimension)
    return tuple(found.values())


def _tier_inputs(block: Fields) -> dict[int, dict[str, object]]:
    tiers = block.mapping("complexity_tiers")
    if tiers is None:
        return {}
    found: dict[int, dict[str, object]] = {}
    for key, value in tiers.node.entries or ():
        if key.value not in ("1", "2", "3") or value.kind is not Kind.MAPPING:
            message = "A tier is written as a quoted number from 1 to 3 and a mapping."
            tiers.report("019", message, at=key.at, value=key.value, path=tiers.where(key.value))
        else:
            found[int(key.value)] = value.plain()
    return found
