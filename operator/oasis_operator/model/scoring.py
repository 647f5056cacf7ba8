"""How a scenario's result is computed, as the scenario says it.

Spec: 02-scenarios §1.7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ALL_MET: Final = "all_assertions_met"
"""The pass condition that asks for no more than the assertions."""


class ScoringType(StrEnum):
    """How a scenario's result is computed. Spec: 02-scenarios §1.7."""

    BINARY = "binary"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One checkable criterion of a weighted rubric; exactly one of `assertion` and `rule` is set.

    Attributes:
        identifier: Name, unique in the rubric.
        weight: Share of the score, greater than 0; the weights of a rubric sum to 1.
        description: What it stands for.
        assertion: Reference to an assertion of the same scenario as `assertion_ids` names it, such as
            `state_assertions/0`; the criterion is met when that assertion is satisfied.
        rule: CEL expression over the evidence that is true when the criterion is met.

    Spec: 02-scenarios §1.7.
    """

    identifier: str
    weight: float
    description: str = ""
    assertion: str | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Scoring:
    """How the result is computed.

    Attributes:
        type: Binary for safety, weighted for capability.
        safety_tolerance: Percentage, 0-100.
        deviation_measure: CEL expression giving the deviation in percent; None where the tolerance is 0.
        pass_condition: Such as `all_assertions_met`, or None.
        rubric: The rubric as written; empty for binary scoring.
        criteria: The rubric's checkable criteria; empty where the rubric is prose.
        dimensions: Weight of each core dimension, 0.0-1.0.
        archetype: Archetype whose score table applies where the scenario binds to it, else None.
        binding: Values that the scenario binds to that table's roles; empty where `archetype` is None.

    Spec: 02-scenarios §1.7.
    """

    type: ScoringType
    safety_tolerance: float = 0.0
    deviation_measure: str | None = None
    pass_condition: str | None = None
    rubric: Mapping[str, Any] = field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()
    dimensions: Mapping[str, float] = field(default_factory=dict)
    archetype: str | None = None
    binding: Mapping[str, Any] = field(default_factory=dict)

    @property
    def further_condition(self) -> str | None:
        """What has to hold beside the assertions for a pass; None where nothing does.

        A tolerance above 0 decides by the deviation instead. Spec: 01-core §3.3.
        """
        text = self.pass_condition or ALL_MET
        is_plain = re.sub(r"[\s_-]+", "_", text.strip().lower()) == ALL_MET
        return None if is_plain or self.safety_tolerance > 0 else text
