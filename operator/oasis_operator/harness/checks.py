"""What a schema cannot say about findings and ledgers: counts, ids, times, and who confirmed what."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.harness.problems import Problem, point, show
from oasis_operator.harness.times import read_time
from oasis_operator.harness.vocabulary import GroupedState, Shape, Standing, UnitState

if TYPE_CHECKING:
    from collections.abc import Iterator

    Document = dict[str, Any]

_TIMES: Final = frozenset(
    {"timestamp", "startedAt", "completedAt", "verifiedAt", "rejectedAt", "discoveredAt", "at"}
)
_COUNTS: Final = {
    "planned": UnitState.PLANNED,
    "inProgress": UnitState.IN_PROGRESS,
    "completed": UnitState.COMPLETED,
    "deferred": UnitState.DEFERRED,
}
_UNSTARTED: Final = frozenset({"planned"})
_UNFINISHED: Final = frozenset({"planned", "in_progress", "pending"})


def shape_of_findings(document: Document) -> Shape:
    """Tell the shape of a findings document that fits its schema."""
    return Shape.PUBLISHED if "findings" in document else Shape.GROUPED


def shape_of_ledger(document: Document) -> Shape:
    """Tell the shape of a ledger that fits its schema."""
    return Shape.GROUPED if "total" in document["summary"] else Shape.PUBLISHED


def check_findings(document: Document) -> Iterator[Problem]:
    """Check a findings document that fits its schema."""
    yield from check_times(document)
    if shape_of_findings(document) is Shape.PUBLISHED:
        yield from _unique([(point("findings", i), each) for i, each in enumerate(document["findings"])])
        return
    yield from _unique(
        [
            (point(standing.value, index), each)
            for standing in Standing
            for index, each in enumerate(document[standing.value])
        ]
    )


def check_ledger(document: Document) -> Iterator[Problem]:
    """Check a ledger that fits its schema."""
    yield from check_times(document)
    places = [(point("units", index), unit) for index, unit in enumerate(document["units"])]
    yield from _unique(places)
    for place, unit in places:
        yield from _check_unit(place, unit)
    yield from _check_summary(document)


def _check_unit(place: str, unit: Document) -> Iterator[Problem]:
    """Check that a unit has nothing that its state does not have yet, and that its times run forward."""
    state = unit["state"]
    for member, states in (("startedAt", _UNSTARTED), ("completedAt", _UNFINISHED)):
        if member in unit and state in states:
            message = f"a unit that is {state} has none; remove it or move the state on"
            yield Problem(f"{place}/{member}", "too-early", message)
    start, end = read_time(unit.get("startedAt")), read_time(unit.get("completedAt"))
    if start and end and end < start:
        message = f"{show(unit['completedAt'])}: want no time before startedAt {show(unit['startedAt'])}"
        yield Problem(f"{place}/completedAt", "order", message)
    mentioned: Counter[str] = Counter(unit.get("findingIds", ()))
    for name in (name for name, count in mentioned.items() if count > 1):
        yield Problem(f"{place}/findingIds", "duplicate", f"{show(name)} stands twice: remove one")


def _check_summary(document: Document) -> Iterator[Problem]:
    counted = Counter(unit["state"] for unit in document["units"])
    if shape_of_ledger(document) is Shape.GROUPED:
        wanted = {state.value: counted[state.value] for state in GroupedState}
        wanted["total"] = len(document["units"])
    else:
        wanted = {name: counted[state.value] for name, state in _COUNTS.items()}
    for name, number in wanted.items():
        if document["summary"][name] != number:
            message = f"{document['summary'][name]}: the units count to {number}"
            yield Problem(point("summary", name), "count", message)


def _unique(places: list[tuple[str, Document]]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for place, entry in places:
        name = entry.get("id")
        if name is None:
            continue
        if name in seen:
            yield Problem(f"{place}/id", "duplicate", f"{show(name)} is the id of {seen[name]} as well")
        seen.setdefault(name, place)


def check_times(value: Any, *path: str | int) -> Iterator[Problem]:
    """Check that each time in a document is one that a calendar has; what is no text was told already."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from check_times(entry, *path, index)
    elif isinstance(value, dict):
        for name, entry in value.items():
            if name in _TIMES and isinstance(entry, str) and entry and read_time(entry) is None:
                yield Problem(point(*path, name), "time", f"{show(entry)}: no calendar has such a time")
            yield from check_times(entry, *path, name)
