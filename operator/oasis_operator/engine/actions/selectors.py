"""Label and field selectors of a request, and the objects that it is about.

What the answer names decides. Where it names none (it was refused, or nothing was recorded), the objects are
those that were there at that place in the log, with the labels and fields that they had then, whoever had
written them. What the log does not tell is neither a member nor none, see `doubtful`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions.changes import value_at
from oasis_operator.engine.actions.keys import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.actions.world import World

_TERM = re.compile(r"^\s*(!?)\s*([^\s=!,()<>]+)\s*(?:(==|=|!=|<|>|\bin\b|\bnotin\b)\s*(.*?))?\s*$")
_SPLIT = re.compile(r",(?![^(]*\))")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Term:
    """One requirement of a selector: `operator` is one of `exists`, `absent`, `in`, `notin`, `<`, `>`."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def admits(self, value: str | None) -> bool:
        """Return whether a value (None where the key is absent) meets the requirement."""
        if self.operator == "exists":
            return value is not None
        if self.operator == "absent":
            return value is None
        if self.operator in ("<", ">"):
            return self._compares(value)
        return (value in self.values) == (self.operator == "in")

    def _compares(self, value: str | None) -> bool:
        bound = self.values[0]
        if value is None or not (_NUMBER.fullmatch(value) and _NUMBER.fullmatch(bound)):
            return False
        return int(value) < int(bound) if self.operator == "<" else int(value) > int(bound)


@dataclass(frozen=True, slots=True)
class Selection:
    """The selectors of a request; empty means everything."""

    labels: tuple[Term, ...] = ()
    fields: tuple[Term, ...] = ()


def of_request(request: Request) -> Selection:
    """Return the selectors of a request; of one that is given twice the API server reads the first."""
    query = request.query
    return Selection(
        tuple(term for text in query.get("labelSelector", ())[:1] for term in _terms(text)),
        tuple(term for text in query.get("fieldSelector", ())[:1] for term in _terms(text)),
    )


def admits(selection: Selection, key: Key, item: Mapping[str, Any]) -> bool | None:
    """Return whether an object is selected, None where a field that it does not show decides."""
    labels = labels_of(item)
    if not all(term.admits(labels.get(term.key)) for term in selection.labels):
        return False
    known = {"metadata.name": key[2], "metadata.namespace": key[1]}
    found = [
        _admits_field(term, known.get(term.key, value_at(item, tuple(term.key.split(".")))))
        for term in selection.fields
    ]
    return False if False in found else None if None in found else True


def _admits_field(term: Term, value: Any) -> bool | None:
    if isinstance(value, bool):
        return term.admits(str(value).lower())
    return term.admits(str(value)) if isinstance(value, str | int) else None


def implies(selection: Selection, key: str, value: str) -> bool:
    """Return whether a selector selects by a label, `value` `*` for any value."""
    return any(
        term.operator == "exists" or (term.operator == "in" and (value == "*" or value in term.values))
        for term in selection.labels
        if term.key == key
    )


def is_answered(request: Request) -> bool:
    """Return whether the answer to a request names its objects: a list, or the deletion of a collection."""
    return request.listed is not None


def collection(request: Request, world: World) -> Sequence[Key]:
    """Return the keys of the objects that a request without a name is certainly about."""
    return _members(request, world)[0] if request.listed is None else request.listed


def doubtful(request: Request, world: World) -> Sequence[Key]:
    """Return the keys of the objects that a request without a name may be about, as far as the log tells.

    A selector may have met labels that a write of unknown content had set, or a field that nothing shows.
    """
    return _members(request, world)[1] if request.listed is None else ()


def _members(request: Request, world: World) -> tuple[Sequence[Key], Sequence[Key]]:
    """Return the objects in the scope of a request that it is about, and those of which nobody can tell.

    An agent may ask for the same thing a thousand times, so the same question has its answer kept.
    """
    texts = tuple(tuple(request.query.get(name, ())[:1]) for name in ("labelSelector", "fieldSelector"))
    moment = world.moment(request.resource, request.seq)
    question = (request.resource, request.namespace, texts, moment)
    found = world.selected.get(question)
    if found is None:
        judged = list(_judged(request, world))
        found = world.selected[question] = (
            [key for key, member in judged if member],
            [key for key, member in judged if member is None],
        )
    return found


def _judged(request: Request, world: World) -> Iterator[tuple[Key, bool | None]]:
    """Yield the objects in the scope of a request and whether it is about them, None where unknown."""
    chosen = of_request(request)
    for key, _ in world.objects(request.resource, request.namespace or None):
        item = world.known(key, request.seq)
        if not world.is_clear(key, request.seq):
            # Whatever it looked like, it may have been there and may have been given any labels.
            yield key, None if chosen.labels or chosen.fields or item is None else True
        elif item is not None:
            yield key, admits(chosen, key, item)


def hit_nothing(request: Request) -> bool:
    """Return whether a request deleted a collection of which, as its answer says, nothing was there."""
    return request.verb == "deletecollection" and request.is_done and request.listed == ()


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
    if operator in ("<", ">"):
        return [Term(key, operator, values)]
    return [Term(key, "notin" if operator in ("!=", "notin") else "in", values)]
