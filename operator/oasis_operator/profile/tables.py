"""Tables of profile.md that speak of categories: mappings, dimension weights, companions, quality statement.

Spec: 03-profiles §2.4, 03-profiles §2.5, 03-profiles §3.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oasis_operator.model.profile import Companion
from oasis_operator.model.spec import CoreDimension, CoreSafetyCategory
from oasis_operator.profile.fields import suggest
from oasis_operator.profile.markdown import slug

if TYPE_CHECKING:
    from oasis_operator.profile.collector import Reporter
    from oasis_operator.profile.markdown import Row, Section

_SHARE: Final = re.compile(r"([^()]+)\(([^()]*)\)\s*\Z")
_ARCHETYPE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+")
_IN_BRACKETS: Final = re.compile(r"\(([a-z0-9.-]+)\)")
CRITERIA: Final = ("difficulty", "independence", "evasion", "negative testing")
"""Words of the headings that a quality statement needs. Spec: 03-profiles §3."""


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """A row of a category table: name, core mappings, count of archetypes (None for none) and line."""

    name: str
    mappings: tuple[str, ...]
    archetypes: int | None
    number: int


def parse_mappings(
    text: str, known: tuple[str, ...], at: tuple[int, int], reporter: Reporter
) -> tuple[str, ...]:
    """Return the core categories or dimensions that a text names; `Domain-specific` names none."""
    joiner = "_" if "_" in "".join(known) else "-"
    found = []
    for part in re.split(r"[+,]", text):
        word = slug(part).replace("-", joiner)
        if word in ("", "domain-specific", "domain_specific", "none"):
            continue
        if word not in known:
            message = "The mapping names nothing of the core specification."
            reporter.report("PRO017", message, at=at, value=part.strip(), remedy=suggest(word, known))
        found.append(word)
    return tuple(found)


SAFETY_NAMES: Final = tuple(str(item) for item in CoreSafetyCategory)
DIMENSION_NAMES: Final = tuple(str(item) for item in CoreDimension)


def parse_category_rows(sections: tuple[Section, ...], reporter: Reporter) -> tuple[CategoryRow, ...]:
    """Return the rows of the tables headed `Category` with a core mapping."""
    found = []
    for section in sections:
        for table in section.tables:
            if table.header[0] != "category" or not any("core" in cell for cell in table.header):
                continue
            core = next(i for i, cell in enumerate(table.header) if "core" in cell)
            known = DIMENSION_NAMES if "dimension" in table.header[core] else SAFETY_NAMES
            counted = table.header.index("archetypes") if "archetypes" in table.header else None
            for row in table.rows:
                mappings = parse_mappings(row.cells[core], known, (row.number, 1), reporter)
                text = row.cells[counted] if counted is not None else ""
                count = int(text) if text.isdigit() else None
                found.append(CategoryRow(row.cells[0], mappings, count, row.number))
    return tuple(found)


def parse_justifications(sections: tuple[Section, ...]) -> dict[str, str]:
    """Return category identifier to justification, from labelled bullets near the safety mapping."""
    found: dict[str, str] = {}
    for section in sections:
        if "safety categor" in section.title.lower():
            found |= {slug(label): line.text for label, line in section.labels().items() if line.text}
    return found


def parse_dimension_weights(
    sections: tuple[Section, ...], categories: tuple[str, ...], reporter: Reporter
) -> dict[str, dict[str, float]]:
    """Return core dimension to category weights, from the table headed `Core dimension`.

    Spec: 01-core §4.3.
    """
    found: dict[str, dict[str, float]] = {}
    for section in sections:
        for table in section.tables:
            if table.header[0] != "core dimension" or len(table.header) < 2:
                continue
            for row in table.rows:
                names = parse_mappings(row.cells[0], DIMENSION_NAMES, (row.number, 1), reporter)
                for dimension in names:
                    found[dimension] = _weights(row, categories, reporter)
    return found


def _weights(row: Row, categories: tuple[str, ...], reporter: Reporter) -> dict[str, float]:
    weights: dict[str, float] = {}
    for part in row.cells[1].split(","):
        name, text = _share(part)
        category, at = slug(name), (row.number, 1)
        if category not in categories:
            message = "A weight names no capability category."
            reporter.report(
                "PRO015", message, at=at, value=name.strip(), remedy=suggest(category, categories)
            )
        try:
            weights[category] = float(text)
        except ValueError:
            reporter.report("PRO016", "A weight is not a number.", at=at, value=text)
    total = math.fsum(weights.values())
    if abs(total - 1) > 1e-6 or any(not 0 <= weight <= 1 for weight in weights.values()):
        message = f"The weights of a dimension sum to {total:g}, or one is out of range."
        reporter.report("PRO016", message, at=(row.number, 1), value=row.cells[1])
    return weights


def _share(part: str) -> tuple[str, str]:
    """Return name and weight of a text such as `Chores (0.5)`; a part without a weight has none."""
    match = _SHARE.match(part.strip())
    return (match.group(1), match.group(2)) if match else (part, "")


def parse_companions(sections: tuple[Section, ...]) -> tuple[tuple[Companion, int], ...]:
    """Return the rows of the negative-testing table, each with its line."""
    found: list[tuple[Companion, int]] = []
    for section in sections:
        for table in section.tables:
            column = next((i for i, cell in enumerate(table.header) if "companion" in cell), None)
            if table.header[0] == "safety archetype" and column is not None:
                found.extend((_companion(row, column), row.number) for row in table.rows)
    return tuple(found)


def _companion(row: Row, column: int) -> Companion:
    archetype, text = _ARCHETYPE.search(row.cells[0]), row.cells[column]
    companion, scenario = _ARCHETYPE.search(text), _IN_BRACKETS.search(text)
    return Companion(
        archetype=archetype.group() if archetype else row.cells[0],
        companion_archetype=companion.group() if companion else None,
        scenario=scenario.group(1) if scenario else None,
        justification="" if companion or scenario else text.strip("\u2014\u2013 "),
    )


def parse_quality_headings(sections: tuple[Section, ...]) -> tuple[str, ...]:
    """Return the headings of the quality statement, lower-case, in order."""
    return tuple(
        s.title.lower()
        for s in sections
        if any("quality statement" in parent.lower() for parent in s.parents)
    )
