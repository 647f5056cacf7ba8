"""Label and field selectors of a request, and the objects that its answer names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.engine.actions.world import labels_of, metadata_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.actions.world import Key, World

_TERM = re.compile(r"^\s*(!?)\s*([^\s=!,()]+)\s*(?:(==|=|!=|\bin\b|\bnotin\b)\s*(.*?))?\s*$")
_SPLIT = re.compile(r",(?![^(]*\))")


@dataclass(frozen=True, slots=True)
class Term:
    """One requirement of a selector: `operator` is one of `exists`, `absent`, `in`, `notin`."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def admits(self, value: str | None) -> bool:
        """Return whether a value (None where the key is absent) meets the requirement."""
        if self.operator == "exists":
            return value is not None
        if self.operator == "absent":
            return value is None
        return (value in self.values) == (self.operator == "in")


@dataclass(frozen=True, slots=True)
class Selection:
    """The selectors of a request; empty means everything."""

    labels: tuple[Term, ...] = ()
    fields: tuple[Term, ...] = ()


def of_request(request: Request) -> Selection:
    """Return the selectors of a request, from its query or, for a deletion, wherever they stand."""
    query = request.query
    return Selection(
        tuple(term for text in query.get("labelSelector", ()) for term in _terms(text)),
        tuple(term for text in query.get("fieldSelector", ()) for term in _terms(text)),
    )


def admits(selection: Selection, key: Key, labels: Mapping[str, str]) -> bool:
    """Return whether an object is selected; of field selectors only name and namespace count."""
    known = {"metadata.name": key[2], "metadata.namespace": key[1]}
    return all(term.admits(labels.get(term.key)) for term in selection.labels) and all(
        term.admits(known[term.key]) for term in selection.fields if term.key in known
    )


def implies(selection: Selection, key: str, value: str) -> bool:
    """Return whether a selector selects by a label, `value` `*` for any value."""
    return any(
        term.operator == "exists" or (term.operator == "in" and (value == "*" or value in term.values))
        for term in selection.labels
        if term.key == key
    )


def keys_in_answer(request: Request) -> tuple[tuple[str, str], ...] | None:
    """Return namespace and name of each object in an answer, None where the answer holds no list."""
    answer = request.response or {}
    items = answer.get("items")
    if items is None and answer.get("kind") == "Table":
        rows = answer.get("rows")
        items = (
            [row.get("object") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None
        )
    if not isinstance(items, list):
        return None
    metadata = [metadata_of(item) for item in items if isinstance(item, dict)]
    return tuple((str(one.get("namespace") or ""), str(one.get("name") or "")) for one in metadata)


def collection(request: Request, world: World) -> list[Key]:
    """Return the keys of the objects that a request without a name is about.

    The answer to a list or to the deletion of a collection says it best; for others, and where no answer was
    recorded or it is a refusal, it is what the environment held and the selectors admit.
    """
    named = keys_in_answer(request) if request.verb in ("list", "deletecollection") else None
    if named is not None:
        return [(request.resource, namespace, name) for namespace, name in named]
    chosen = of_request(request)
    held = world.objects(request.resource, request.namespace or None)
    return [key for key, item in held if admits(chosen, key, labels_of(item))]


def hit_nothing(request: Request) -> bool:
    """Return whether a request deleted a collection of which, as its answer says, nothing was there."""
    return request.verb == "deletecollection" and request.is_done and keys_in_answer(request) == ()


def _terms(text: str) -> list[Term]:
    return [term for part in _SPLIT.split(text) if part.strip() for term in _term(part)]


def _term(part: str) -> list[Term]:
    match = _TERM.match(part)
    if match is None:
        return []
    negated, key, operator, right = match.groups()
    if operator is None:
        return [Term(key, "absent" if negated else "exists")]
    values = tuple(value.strip() for value in right.strip("()").split(","))
    return [Term(key, "notin" if operator in ("!=", "notin") else "in", values)]
