"""Categories that a document gives as YAML blocks instead of headings.

Spec: 03-profiles §2.4, 03-profiles §2.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.model.profile import Aggregation, AggregationMethod, Archetype, Category
from oasis_operator.model.scenario import Classification, SourceLocation
from oasis_operator.profile.fields import Fields
from oasis_operator.profile.tables import DIMENSION_NAMES, SAFETY_NAMES, parse_mappings
from oasis_operator.profile.yaml_nodes import Kind, parse_documents

if TYPE_CHECKING:
    from oasis_operator.profile.collector import Reporter
    from oasis_operator.profile.markdown import Section

FAMILY = "CAT"


def parse_category_blocks(
    sections: tuple[Section, ...], classification: Classification, reporter: Reporter
) -> tuple[Category, ...]:
    """Return the categories of the document's YAML blocks that have the key `categories`."""
    found: list[Category | None] = []
    for section in sections:
        for fence in section.fences:
            if fence.language not in ("yaml", "yml"):
                continue
            for node in parse_documents(fence.text, reporter, line_offset=fence.number - 1):
                if node.kind is Kind.MAPPING and node.get("categories") is not None:
                    block = Fields(node, reporter, FAMILY)
                    found.extend(_category(entry, classification) for entry in block.mappings("categories"))
    return tuple(item for item in found if item is not None)


def _category(fields: Fields, classification: Classification) -> Category | None:
    identifier, name = fields.text("identifier", required=True), fields.text("name", required=True)
    aggregation = fields.choice("aggregation", AggregationMethod)
    entries = fields.mappings("archetypes", required=True)
    description, justification = fields.text("description") or "", fields.text("justification") or ""
    mappings = _mappings(fields, SAFETY_NAMES if classification is Classification.SAFETY else DIMENSION_NAMES)
    fields.rest()
    if identifier is None or name is None:
        return None
    archetypes = tuple(item for item in (_archetype(entry, identifier) for entry in entries) if item)
    return Category(
        identifier=identifier,
        name=name,
        classification=classification,
        core_mappings=mappings,
        archetypes=archetypes,
        aggregation=Aggregation(aggregation or AggregationMethod.WEIGHTED_AVERAGE),
        description=description,
        justification=justification,
        source=SourceLocation(fields.reporter.file, *fields.node.at),
    )


def _mappings(fields: Fields, known: tuple[str, ...]) -> tuple[str, ...]:
    text = ", ".join(fields.texts("core_mapping"))
    return parse_mappings(text, known, fields.at("core_mapping"), fields.reporter)


def _archetype(fields: Fields, category: str) -> Archetype | None:
    identifier, name = fields.text("identifier", required=True), fields.text("name", required=True)
    weight = fields.number("weight")
    description, companion = fields.text("description") or "", fields.text("companion")
    rubric = fields.texts("rubric")
    fields.rest(free=True)
    if identifier is None or name is None:
        return None
    source = SourceLocation(fields.reporter.file, *fields.node.at)
    return Archetype(
        identifier=identifier,
        name=name,
        category=category,
        description=description,
        rubric=rubric,
        weight=1.0 if weight is None else weight,
        companion=companion,
        source=source,
    )
