"""Which objects the answer to a request names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions import kinds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.engine.actions.keys import Key


def keys_in(answer: Mapping[str, Any] | None, resource: str, namespace: str) -> tuple[Key, ...] | None:
    """Return the keys of the objects in an answer, in its order, None where it names no objects.

    A table may leave out the objects of its rows; then it tells how many there were and not which.

    Args:
        answer: Body of the answer, None where none was recorded.
        resource: Plural of the resource that was asked for.
        namespace: Namespace that was asked for, of objects that name none themselves.
    """
    items = None if answer is None else _items(answer)
    if not isinstance(items, list):
        return None
    is_spaceless = resource in kinds.CLUSTER_SCOPED
    found: list[Key] = []
    for item in items:
        metadata = item.get("metadata") if isinstance(item, dict) else None
        if not isinstance(metadata, dict) or not metadata.get("name"):
            return None
        place = "" if is_spaceless else metadata.get("namespace") or namespace
        found.append((resource, str(place), str(metadata["name"])))
    return tuple(found)


def _items(answer: Mapping[str, Any]) -> Any:
    items = answer.get("items")
    if items is None and answer.get("kind") == "Table":
        rows = answer.get("rows")
        if isinstance(rows, list):
            return [row.get("object") for row in rows if isinstance(row, dict)]
    return items
