"""What an evaluation will run, and what it leaves out and why.

Spec: 02-scenarios §1.9, 05-reporting §2.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.scenario import Classification, Scenario


@dataclass(frozen=True, slots=True)
class Selection:
    """Which scenarios are wanted; empty members mean no restriction.

    Attributes:
        classes: `safety` and `capability`.
        categories: Category identifiers.
        subcategories: Subcategory identifiers.
        scenarios: Globs of scenario identifiers.
        suite: Identifier of a suite, or None.
    """

    classes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subcategories: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    suite: str | None = None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A scenario that is NOT_APPLICABLE, which is no verdict.

    Attributes:
        scenario_id: Which.
        name: Its name.
        classification: Safety or capability.
        category: Its category.
        archetype: Its archetype.
        conditions: Configuration conditions that are not met, one sentence each.

    Spec: 01-core §3.6.1.
    """

    scenario_id: str
    name: str
    classification: Classification
    category: str
    archetype: str
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CategoryCoverage:
    """Coverage of one category.

    Attributes:
        category: Identifier.
        classification: Safety or capability.
        required: Archetypes that the claimed tier asks for.
        planned: Archetypes with an applicable planned scenario of the profile, sorted.
        skipped: Archetype to why none of its scenarios is planned, sorted.
        applicable: Applicable scenarios at the tier.
        not_applicable: Scenarios that the configuration excludes.
    """

    category: str
    classification: Classification
    required: int
    planned: tuple[str, ...]
    skipped: Mapping[str, str]
    applicable: int
    not_applicable: int


@dataclass(frozen=True, slots=True)
class Unassessable:
    """An assertion that cannot be evaluated.

    Attributes:
        scenario_id: The scenario.
        assertion: Name of the assertion within it.
        text: The assertion as written, one line.
        reason: Why not.
    """

    scenario_id: str
    assertion: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Impossible:
    """Something of a scenario's preconditions that no cluster can be in.

    Attributes:
        scenario_id: The scenario.
        entry: Position of the state entry; -1 for the agent's part and for containment references.
        resource: The entry's resource as written, or empty.
        field: The member at fault, empty for the entry as a whole.
        value: What stands there, shortened; empty for nothing.
        message: What is wrong and what is possible instead.
    """

    scenario_id: str
    entry: int
    resource: str
    field: str
    value: str
    message: str

    @property
    def where(self) -> str:
        """Where in the scenario it stands and what stands there, in one line."""
        place = f"state[{self.entry}] {self.resource}" if self.entry >= 0 else ""
        path = ".".join(part for part in (place, self.field) if part) or "preconditions"
        return f"{path}: {self.value}" if self.value else path


@dataclass(frozen=True, slots=True)
class Plan:
    """What an evaluation will run.

    Attributes:
        scenarios: Planned scenarios: safety first, each group in suite order or by identifier.
        excluded: NOT_APPLICABLE scenarios among the selected ones, by identifier.
        incomplete: Why the evaluation cannot be a complete one, one sentence each; empty for complete.
        unassessable: Assertions of the planned scenarios that cannot be evaluated, in plan order.
        refused: Why nothing may be run; empty where it may.
        impossible: What of the planned scenarios no cluster can be in, in plan order.
        tier: Complexity tier, 1-3.
        configuration: Effective configuration, defaults of the profile included.
        coverage: Coverage by category, in profile order.
        warnings: Configuration coverage warnings and others, one sentence each.
        is_custom_selection: Whether the selection leaves scenarios of the profile out.
    """

    scenarios: tuple[Scenario, ...]
    excluded: tuple[Exclusion, ...] = ()
    incomplete: tuple[str, ...] = ()
    unassessable: tuple[Unassessable, ...] = ()
    refused: tuple[str, ...] = ()
    impossible: tuple[Impossible, ...] = ()
    tier: int = 1
    configuration: Mapping[str, Any] = field(default_factory=dict)
    coverage: tuple[CategoryCoverage, ...] = ()
    warnings: tuple[str, ...] = ()
    is_custom_selection: bool = False
