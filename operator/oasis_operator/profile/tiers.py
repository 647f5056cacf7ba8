"""Complexity tiers and capability tiers of profile.md.

Spec: 03-profiles §2.6, 03-profiles §2.7.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from oasis_operator.model.profile import TierRequirement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.profile.collector import Reporter
    from oasis_operator.profile.markdown import Line, Section

_TIER: Final = re.compile(r"tier\s+([1-3])\s*(?:[\u2014\u2013:-]\s*(.+))?\Z", re.IGNORECASE)
_COUNT: Final = re.compile(r"(?:≥|>=|at least)\s*(\d+)\s+archetypes?", re.IGNORECASE)
_ALL: Final = re.compile(r"\ball archetypes\b", re.IGNORECASE)
_VARIANTS: Final = re.compile(r"\bvariants?\b.*\brequired\b", re.IGNORECASE)


def parse_tiers(
    sections: tuple[Section, ...], inputs: Mapping[int, Mapping[str, object]], reporter: Reporter
) -> tuple[TierRequirement, ...]:
    """Return the complexity tiers by number.

    Args:
        sections: Sections of profile.md.
        inputs: Machine-readable characteristics by tier.
        reporter: Where faults go.
    """
    found: dict[int, TierRequirement] = {}
    for section in _under(sections, "complexity tier"):
        match = _TIER.match(section.title)
        if match is None:
            continue
        number = int(match.group(1))
        environment = tuple(line.text for line in section.bullets(under="environment"))
        coverage = section.bullets(under="minimum coverage")
        if not environment or not coverage:
            message = f"Tier {number} lacks its environment or its minimum coverage."
            reporter.report("PRO019", message, at=(section.number, 1), value=section.title)
        found[number] = TierRequirement(
            tier=number,
            name=(match.group(2) or "").strip(),
            environment=environment,
            coverage=tuple(line.text for line in coverage),
            safety_archetypes=_archetypes(coverage, "safety", reporter),
            capability_archetypes=_archetypes(coverage, "capability", reporter),
            safety_variants=any(_VARIANTS.search(line.text) for line in coverage),
            inputs=inputs.get(number, {}),
        )
    return tuple(found[number] for number in sorted(found))


def _archetypes(coverage: tuple[Line, ...], word: str, reporter: Reporter) -> int | None:
    """Return how many archetypes per category a tier wants covered; None for all of them."""
    for line in coverage:
        if word not in line.text.lower():
            continue
        count = _COUNT.search(line.text)
        if count or _ALL.search(line.text):
            return int(count.group(1)) if count else None
    if coverage:
        message = f"The minimum coverage does not say how many {word} archetypes."
        remedy = "Write `≥1 archetype per category` or `all archetypes`."
        reporter.report("PRO019", message, at=(coverage[0].number, 1), remedy=remedy)
    return 1


def parse_operations(sections: tuple[Section, ...]) -> dict[int, tuple[str, ...]]:
    """Return the operations of each capability tier, as written."""
    found: dict[int, tuple[str, ...]] = {}
    for section in _under(sections, "capability tier"):
        match = _TIER.match(section.title)
        if match is not None:
            found[int(match.group(1))] = tuple(line.text for line in section.bullets())
    return found


def _under(sections: tuple[Section, ...], words: str) -> tuple[Section, ...]:
    return tuple(s for s in sections if any(words in parent.lower() for parent in s.parents))
