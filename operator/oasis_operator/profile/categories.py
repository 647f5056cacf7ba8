"""Safety and capability categories with their archetypes, from the two category documents.

A category is a second-level heading with a core mapping, an archetype a third-level heading `ID: name` below
it; or both come from a YAML block with the key `categories`.

Spec: 03-profiles §2.4, 03-profiles §2.5.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oasis_operator.model.profile import Aggregation, AggregationMethod, Archetype, Category
from oasis_operator.model.scenario import Classification, SourceLocation
from oasis_operator.profile.category_blocks import parse_category_blocks
from oasis_operator.profile.markdown import Line, slug, unmark
from oasis_operator.profile.tables import DIMENSION_NAMES, SAFETY_NAMES, parse_mappings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.profile.collector import Reporter
    from oasis_operator.profile.markdown import Section

_ARCHETYPE: Final = re.compile(r"`?([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+)`?\s*[:\u2014\u2013-]\s*(.+)\Z")
_WEIGHT: Final = re.compile(r"\s+weighted\s+([0-9]+(?:\.[0-9]+)?)\s*[x\u00d7]?")


def parse_categories(
    sections: tuple[Section, ...],
    classification: Classification,
    justifications: Mapping[str, str],
    reporter: Reporter,
) -> tuple[Category, ...]:
    """Return the categories of one document.

    Args:
        sections: Sections of the document.
        classification: What its categories are.
        justifications: Category identifier to justification, as profile.md gives them.
        reporter: Where faults go.
    """
    found: list[Category] = []
    for section, children in _groups(sections):
        category = _category(section, children, classification, reporter)
        found.extend([category] if category else [])
    found.extend(parse_category_blocks(sections, classification, reporter))
    found = [
        item if item.justification else replace(item, justification=justifications.get(item.identifier, ""))
        for item in found
    ]
    _check_unique(found, reporter)
    return tuple(found)


def _groups(sections: tuple[Section, ...]) -> list[tuple[Section, list[Section]]]:
    """Return each second-level section with the third-level sections below it."""
    found: list[tuple[Section, list[Section]]] = []
    for section in sections:
        if section.level <= 2:
            found.append((section, []))
        elif section.level == 3 and found:
            found[-1][1].append(section)
    return [(section, children) for section, children in found if section.level == 2]


def _category(
    section: Section, children: list[Section], classification: Classification, reporter: Reporter
) -> Category | None:
    labels = section.labels()
    is_safety = classification is Classification.SAFETY
    core = labels.get("core mapping") or labels.get("core dimension mapping")
    archetypes = [child for child in children if _ARCHETYPE.match(child.title)]
    if core is None:
        if archetypes:
            message = "The category has archetypes and no core mapping."
            reporter.report("CAT001", message, at=(section.number, 1), value=section.title)
        return None
    for child in children:
        if not _ARCHETYPE.match(child.title):
            message = "The heading names no archetype identifier."
            remedy = "Write it as `S-XX-001: Name`."
            reporter.report(
                "CAT004", message, at=(child.number, 1), value=child.title, remedy=remedy, path=section.title
            )
    identifier = unmark(labels["identifier"].text) if "identifier" in labels else slug(section.title)
    aggregation = labels.get("aggregation", Line("", 0))
    known = SAFETY_NAMES if is_safety else DIMENSION_NAMES
    built = tuple(_archetype(child, identifier, reporter) for child in archetypes)
    return Category(
        identifier=identifier,
        name=section.title,
        classification=classification,
        core_mappings=parse_mappings(core.text, known, (core.number, 1), reporter),
        archetypes=built if is_safety else _weigh(built, aggregation, reporter),
        aggregation=Aggregation() if is_safety else _aggregation(aggregation, section, reporter),
        description=labels["core question"].text
        if "core question" in labels
        else " ".join(section.paragraphs()),
        justification=labels["justification"].text if "justification" in labels else "",
        source=SourceLocation(reporter.file, section.number, 1),
    )


def _archetype(section: Section, category: str, reporter: Reporter) -> Archetype:
    match = _ARCHETYPE.match(section.title)
    identifier, name = match.groups() if match else (section.title, "")
    labels = section.labels()
    companion = labels.pop("companion", None)
    levels = [line.text for line in section.bullets() if not line.text.startswith("**")]
    return Archetype(
        identifier=identifier,
        name=name.strip(),
        category=category,
        description=" ".join(section.paragraphs()),
        fields={label: line.text for label, line in labels.items()},
        rubric=tuple(levels),
        companion=unmark(companion.text) if companion else None,
        source=SourceLocation(reporter.file, section.number, 1),
    )


def _aggregation(line: Line, section: Section, reporter: Reporter) -> Aggregation:
    text = line.text.lower()
    if "minimum" in text and "average" not in text:
        return Aggregation(AggregationMethod.MINIMUM, line.text)
    if "average" not in text:
        message = "The aggregation is neither weighted average nor minimum."
        reporter.report("CAT008", message, at=(line.number or section.number, 1), value=line.text)
    return Aggregation(AggregationMethod.WEIGHTED_AVERAGE, line.text)


def _weigh(archetypes: tuple[Archetype, ...], line: Line, reporter: Reporter) -> tuple[Archetype, ...]:
    """Return the archetypes with the weights that a text such as `Plan generation weighted 2x` gives them."""
    weights: dict[str, float] = {}
    start = 0
    for match in _WEIGHT.finditer(line.text):
        # The names stand between the end of the sentence before and the word `weighted`.
        sentence = re.split(r"[.;]", line.text[start : match.start()])[-1].strip()
        start = match.end()
        for name in re.split(r",|\band\b", sentence.removesuffix("archetypes").removesuffix("archetype")):
            matching = [item for item in archetypes if _matches(item, name)]
            if not matching:
                message = "A weight names no archetype of the category."
                reporter.report("CAT009", message, at=(line.number, 1), value=name.strip())
            weights |= {item.identifier: float(match.group(1)) for item in matching}
    return tuple(replace(item, weight=weights.get(item.identifier, 1.0)) for item in archetypes)


def _matches(archetype: Archetype, name: str) -> bool:
    words = name.strip().lower()
    return bool(words) and (archetype.name.lower().startswith(words) or archetype.identifier.lower() == words)


def _check_unique(categories: list[Category], reporter: Reporter) -> None:
    seen: set[str] = set()
    for category in categories:
        at = (category.source.line, 1)
        if category.identifier in seen:
            message = "Two categories have the same identifier."
            reporter.report("CAT005", message, at=at, value=category.identifier)
        seen.add(category.identifier)
        if not category.archetypes:
            reporter.report("CAT007", "The category has no archetype.", at=at, value=category.name)
        if not category.core_mappings and not category.justification:
            message = "The category maps to nothing of the core and has no justification."
            reporter.report("CAT010", message, at=at, value=category.name)
