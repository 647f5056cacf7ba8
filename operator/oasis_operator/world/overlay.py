"""Entries laid over a declared state: what holds in the world once something has changed in it.

An entry of the same kind, name and namespace is changed by them and any other is added. Fields replace those
declared, members of mappings one by one, and null takes away. Events and log lines are added to what there
is: they tell of the past. `absent: true` takes the whole entry away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oasis_operator.wire.probe_request import StateFault
from oasis_operator.world.entries import Entry, parse_entry
from oasis_operator.world.merging import apply_merge_patch
from oasis_operator.world.registry import BUILDERS

Raw = Mapping[str, Any]
#: Fields whose items are added to those declared, by kind.
_ADDED: Final = {"events": "recent", "logs": "entries"}
ABSENT: Final = "absent"


def overlay(state: Sequence[Raw], entries: Sequence[Raw]) -> tuple[Raw, ...]:
    """Lay entries over a state.

    Args:
        state: Entries as a scenario has them; those that are changed keep their position.
        entries: What is laid over them, in order.

    Returns:
        The state from then on. What cannot be read stays as it is, for the compiler to refuse.
    """
    result: list[Raw] = list(state)
    for raw in entries:
        change = parse_entry(-1, raw, BUILDERS)
        place = None if isinstance(change, StateFault) else find(result, change)
        if isinstance(change, StateFault) or place is None:
            result.append({key: value for key, value in raw.items() if key != ABSENT or value is not True})
        elif change.fields.get(ABSENT) is True:
            del result[place]
        else:
            result[place] = _changed(result[place], change)
    return tuple(result)


def find(state: Sequence[Raw], wanted: Entry) -> int | None:
    """Find the position of an entry by kind, name and namespace; one that names no namespace is anywhere."""
    found = []
    for place, raw in enumerate(state):
        entry = parse_entry(place, raw, BUILDERS)
        if isinstance(entry, StateFault) or (entry.kind, entry.name) != (wanted.kind, wanted.name):
            continue
        if wanted.namespace in (None, entry.namespace or "default"):
            found.append(place)
    return found[0] if len(found) == 1 else None


def _changed(raw: Raw, change: Entry) -> Raw:
    entry = parse_entry(0, raw, BUILDERS)
    assert isinstance(entry, Entry)  # noqa: S101  # it was found by its parts
    added = _ADDED.get(change.kind)
    fields = dict(entry.fields)
    for name, value in change.fields.items():
        old = fields.get(name)
        if name == added and isinstance(old, list | tuple) and isinstance(value, list | tuple):
            fields[name] = [*old, *value]
        elif value is None:
            fields.pop(name, None)
        else:
            fields[name] = apply_merge_patch(old, value)
    namespace = {} if entry.namespace is None else {"namespace": entry.namespace}
    return {"resource": entry.resource, **namespace, **fields}
