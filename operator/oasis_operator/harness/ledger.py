"""The coverage ledger: units of attack surface whose state only moves forward, and a summary that adds up.

planned ──touched──▶ in_progress ──done──▶ completed
   │                      │
   └───────deferred───────┴──────────────▶ deferred
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.errors import InvalidInput
from oasis_operator.harness.times import read_time
from oasis_operator.harness.vocabulary import DOCUMENT_VERSION, GroupedState, Shape, UnitState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FORWARD: Final[Mapping[UnitState, frozenset[UnitState]]] = {
    UnitState.PLANNED: frozenset({UnitState.IN_PROGRESS, UnitState.DEFERRED}),
    UnitState.IN_PROGRESS: frozenset({UnitState.COMPLETED, UnitState.DEFERRED}),
    UnitState.COMPLETED: frozenset(),
    UnitState.DEFERRED: frozenset(),
}
"""All moves that there are; a state without any is final."""

_GROUPED: Final = {
    UnitState.PLANNED: GroupedState.PENDING,
    UnitState.IN_PROGRESS: GroupedState.PENDING,
    UnitState.COMPLETED: GroupedState.CHECKED,
    UnitState.DEFERRED: GroupedState.SKIPPED,
}
_COUNTED: Final = {
    UnitState.PLANNED: "planned",
    UnitState.IN_PROGRESS: "inProgress",
    UnitState.COMPLETED: "completed",
    UnitState.DEFERRED: "deferred",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """One surface of one target.

    Attributes:
        id: `COV-` and something that is unique in the ledger.
        name: One line.
        description: What is looked at.
        surface: A standard surface or an own one.
        state: How far it has come.
        assigned_to: Who works on it; empty while planned.
        started_at: RFC 3339 time of the first touch; empty while planned.
        completed_at: RFC 3339 time; empty until completed.
        deferred_reason: Why it was left; empty unless deferred.
        finding_ids: Findings that belong to it, sorted.
        techniques: ATT&CK techniques that were seen, sorted.
    """

    id: str
    name: str
    description: str
    surface: str
    state: UnitState = UnitState.PLANNED
    assigned_to: str = ""
    started_at: str = ""
    completed_at: str = ""
    deferred_reason: str = ""
    finding_ids: tuple[str, ...] = ()
    techniques: tuple[str, ...] = ()

    def start(self, who: str, at: str) -> Unit:
        """Return the unit under way; one that is under way or over stays as it is."""
        if self.state is not UnitState.PLANNED:
            return self
        return replace(self._move(UnitState.IN_PROGRESS), assigned_to=who, started_at=at)

    def complete(self, at: str) -> Unit:
        """Return the completed unit, never completed before it was started.

        Raises:
            InvalidInput: It was never started, or is over.
        """
        return replace(self._move(UnitState.COMPLETED), completed_at=_later(self.started_at, at))

    def defer(self, reason: str) -> Unit:
        """Return the deferred unit.

        Raises:
            InvalidInput: It is over, or there is no reason.
        """
        if not reason:
            raise InvalidInput(f"{self.id}: want a reason why it is deferred", reason="InvalidLedger")
        return replace(self._move(UnitState.DEFERRED), deferred_reason=reason)

    def credit(self, *, findings: Iterable[str] = (), techniques: Iterable[str] = ()) -> Unit:
        """Return the unit with findings and techniques added."""
        return replace(
            self,
            finding_ids=tuple(sorted({*self.finding_ids, *findings})),
            techniques=tuple(sorted({*self.techniques, *techniques})),
        )

    def _move(self, state: UnitState) -> Unit:
        if state not in FORWARD[self.state]:
            raise InvalidInput(
                f"{self.id}: {self.state} cannot become {state}; states move forward only",
                reason="InvalidLedger",
            )
        return replace(self, state=state)

    def to_json(self, shape: Shape = Shape.PUBLISHED) -> dict[str, Any]:
        """Give the unit in one of the two shapes; what is empty and optional is left out."""
        lists = {"findingIds": list(self.finding_ids), "techniques": list(self.techniques)}
        times = {
            "assignedTo": self.assigned_to,
            "startedAt": self.started_at,
            "completedAt": self.completed_at,
        }
        told = {name: value for name, value in times.items() if value}
        reason = self.deferred_reason
        if shape is Shape.GROUPED:
            head = {"id": self.id, "attackSurface": self.surface, "description": self.description}
            rest = {**lists, **told, **({"reason": reason} if reason else {})}
            return {**head, "state": _GROUPED[self.state].value, **rest}
        head = {"id": self.id, "name": self.name, "description": self.description}
        place = {"surface": self.surface, "state": self.state.value}
        return {**head, **place, **lists, **told, **({"deferredReason": reason} if reason else {})}


@dataclass(frozen=True, slots=True)
class Ledger:
    """All units of a run.

    Attributes:
        run_id: Names the run.
        challenge: Id of the challenge.
        timestamp: RFC 3339 time of the document.
        units: In planned order, ids unique.
    """

    run_id: str
    challenge: str
    timestamp: str
    units: tuple[Unit, ...] = ()

    def summary(self) -> dict[str, int]:
        """Count the units by state."""
        counted = Counter(unit.state for unit in self.units)
        return {name: counted[state] for state, name in _COUNTED.items()}

    def with_unit(self, unit: Unit) -> Ledger:
        """Return the ledger with one unit in the place of its namesake."""
        return replace(self, units=tuple(unit if each.id == unit.id else each for each in self.units))

    def to_json(self, shape: Shape = Shape.PUBLISHED) -> dict[str, Any]:
        """Give the document in one of the two shapes."""
        units = [unit.to_json(shape) for unit in self.units]
        if shape is Shape.GROUPED:
            head = {"runId": self.run_id, "challengeId": self.challenge}
            return {**head, "units": units, "summary": self._grouped_summary()}
        head = {"version": DOCUMENT_VERSION, "runId": self.run_id, "challenge": self.challenge}
        return {**head, "timestamp": self.timestamp, "units": units, "summary": self.summary()}

    def _grouped_summary(self) -> dict[str, int]:
        counted = Counter(_GROUPED[unit.state].value for unit in self.units)
        states = ("checked", "skipped", "pending")
        return {"total": len(self.units), **{state: counted[state] for state in states}}


def _later(first: str, second: str) -> str:
    """Return the later of two times; an unreadable one loses."""
    one, two = read_time(first), read_time(second)
    return first if two is None or (one is not None and one > two) else second
