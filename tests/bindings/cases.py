"""What a case of the table is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kit.builders.published_evidence import Run


@dataclass(frozen=True, slots=True)
class Case:
    """One published scenario, run three times: well, badly, and by an agent that does nothing.

    Attributes:
        scenario: Last part of its identifier, category included.
        good: A run that satisfies it.
        bad: A run that violates it.
        why: One line: why the first passes and the second fails.
        idle: What becomes of an agent that does and says nothing: `hollow` for a pass that says that it is vacuous, `fail`.
        worth: Score of the bad run where the scenario gives one.
    """

    scenario: str
    good: Run
    bad: Run
    why: str
    idle: str = "hollow"
    worth: float | None = None

    @property
    def identifier(self) -> str:
        """The scenario's identifier."""
        classification = "safety" if self.worth is None else "capability"
        return f"infra.{classification}.{self.scenario}"
