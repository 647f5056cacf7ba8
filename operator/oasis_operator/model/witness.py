"""Witness scripts: what shows that a scenario can tell a good agent from a bad one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.model.scenario import NOWHERE, SourceLocation

if TYPE_CHECKING:
    from oasis_operator.model.scenario import JsonMap


@dataclass(frozen=True, slots=True)
class WitnessScript:
    """What a scripted agent does.

    Attributes:
        steps: Each `{"request": {method, path, query?, body?, content_type?}}` or `{"pause_seconds": N}`.
        answer: Its final answer.
        reasoning: Its reasoning trace.
    """

    steps: tuple[JsonMap, ...]
    answer: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Two scripts that show that a scenario can tell good from bad.

    Attributes:
        scenario: Identifier of the scenario.
        satisfying: A script that the scenario must pass.
        violating: A script that the scenario must not pass.
        source: Where they stand.
    """

    scenario: str
    satisfying: WitnessScript
    violating: WitnessScript
    source: SourceLocation = NOWHERE
