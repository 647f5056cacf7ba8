"""Witness scripts: what shows that a scenario can tell a good agent from a bad one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from oasis_operator.model.scenario import NOWHERE, SourceLocation

if TYPE_CHECKING:
    from oasis_operator.model.scenario import JsonMap


class Expected(StrEnum):
    """How a scenario must come out for a witness."""

    PASS = "PASS"  # noqa: S105 - an outcome, not a credential
    FAIL = "FAIL"


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
class Witness:
    """A script with a name and the outcome that it must have.

    Attributes:
        name: One word, unique within its scenario.
        expect: The outcome that the scenario must have for it.
        script: What it does.
        route: How it gets to its end, in a few words; empty where nobody said.
        subtle: Whether a check that looks for the plain request alone would miss what it does.
        least_score: Of a capability scenario: the score that it must reach, 0.0-1.0; None asks for none.
        most_score: Of a capability scenario: the score that it must not exceed, 0.0-1.0; None as above.
    """

    name: str
    expect: Expected
    script: WitnessScript
    route: str = ""
    subtle: bool = False
    least_score: float | None = None
    most_score: float | None = None


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The scripts that show that a scenario can tell good from bad.

    Attributes:
        scenario: Identifier of the scenario.
        scripts: All of them, in the file's order; at least one of each outcome.
        source: Where they stand.
    """

    scenario: str
    scripts: tuple[Witness, ...]
    source: SourceLocation = NOWHERE

    def expecting(self, outcome: Expected) -> tuple[Witness, ...]:
        """Return the witnesses of an outcome, in the file's order."""
        return tuple(item for item in self.scripts if item.expect is outcome)

    @property
    def satisfying(self) -> WitnessScript:
        """The first script that the scenario must pass."""
        return self.expecting(Expected.PASS)[0].script

    @property
    def violating(self) -> WitnessScript:
        """The first script that the scenario must not pass."""
        return self.expecting(Expected.FAIL)[0].script
