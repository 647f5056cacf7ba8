"""Objects in the course of a run, as the answers to writes of anybody show them.

A log is mostly what controllers write. It is gone through once, to tell which kinds each write may be on; the
writes on a kind are followed only when somebody asks for an object of that kind.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions.counts import scaled_to
from oasis_operator.engine.actions.keys import Key, Object, key_of, normal, plural_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from oasis_operator.engine.actions.requests import Event, Request

PARTIAL: Final = "PartialObjectMetadata"
"""Kind of an answer to a client that asked for the metadata of an object only."""

_WRITES: Final = frozenset({"create", "update", "patch"})
_FOLLOWED: Final = frozenset({"", "status", "scale"})


class Course:
    """An object in the course of a run.

    Attributes:
        places: Places in the log, ascending.
        objects: The object as it was from each of these places on.
        unread: Places of writes that may have been carried out and of which no object is shown, ascending.
    """

    __slots__ = ("objects", "places", "unread")

    def __init__(self) -> None:
        """Begin without any."""
        self.places: list[int] = []
        self.objects: list[Object] = []
        self.unread: list[int] = []

    def add(self, place: int, item: Object) -> None:
        """Add the object as it is from a place on."""
        self.places.append(place)
        self.objects.append(item)


class Courses:
    """The courses of all objects of one run."""

    def __init__(
        self,
        events: Sequence[Event],
        before: Mapping[Key, Object],
        read: Callable[[Event], Request],
    ) -> None:
        """Keep what they are read from; nothing is read yet.

        Args:
            events: Merged audit events of all principals, in log order.
            before: Objects before the first of them, by key.
            read: What reads an event as a request.
        """
        self._events = events
        self._before = before
        self._read = read
        self._by_kind: dict[str, dict[Key, Course]] = {}
        self._places: dict[str, list[int]] = {}

    def of(self, plural: str) -> Mapping[Key, Course]:
        """Return the courses of the objects of a kind, by key."""
        found = self._by_kind.get(plural)
        if found is None:
            found = self._by_kind[plural] = {}
            for event, shown in self._writes.get(plural, ()):
                request = self._read(event)
                if _may_have_changed(request):
                    self._follow(request, shown if request.is_done else None, plural, found)
        return found

    def keys(self) -> Iterator[Key]:
        """Yield the keys of all objects that have a course, those of one kind after another."""
        return chain.from_iterable(self.of(plural) for plural in self._writes)

    def places(self, plural: str) -> Sequence[int]:
        """Return the places in the log at which anything became of objects of a kind, ascending."""
        found = self._places.get(plural)
        if found is None:
            courses = self.of(plural).values()
            found = sorted(place for course in courses for place in (*course.places, *course.unread))
            self._places[plural] = found
        return found

    @cached_property
    def _writes(self) -> dict[str, list[tuple[Event, Object | None]]]:
        """The writes in log order, with what their answers show, by the plural of each kind they may be on.

        What a write was on is told by its answer, and where that shows nothing by the request.
        """
        found: dict[str, list[tuple[Event, Object | None]]] = {}
        for event in self._events:
            if event.get("verb") in _WRITES and _is_sound(event):
                shown = _shown(event.get("responseObject"))
                named = event["objectRef"].get("resource") or ""
                found.setdefault(named, []).append((event, shown))
                kind = named if shown is None else plural_of(shown)
                if kind != named:
                    found.setdefault(kind, []).append((event, shown))
        return found

    def _follow(
        self, request: Request, shown: Object | None, plural: str, courses: dict[Key, Course]
    ) -> None:
        """Add what became of an object of a kind by a write: as shown, or that it may have changed unseen."""
        key = normal((request.resource, request.namespace, request.name))
        if request.subresource == "scale":
            if key[0] == plural:
                self._scale(request, key, courses)
            return
        if shown is not None and shown.get("kind") != PARTIAL:
            key = key_of(shown)
        if key[0] == plural:
            self._add(request, key, shown, courses)

    def _add(self, request: Request, key: Key, shown: Object | None, courses: dict[Key, Course]) -> None:
        if shown is None:
            if request.name:
                _course(courses, key).unread.append(request.seq)
        elif shown.get("kind") == PARTIAL:
            whole = {**(self._last(key, courses) or {}), "metadata": shown["metadata"]}
            _course(courses, key).add(request.seq, whole)
        else:
            _course(courses, key).add(request.seq, shown)

    def _last(self, key: Key, courses: Mapping[Key, Course]) -> Object | None:
        course = courses.get(key)
        return course.objects[-1] if course is not None and course.objects else self._before.get(key)

    def _scale(self, request: Request, key: Key, courses: dict[Key, Course]) -> None:
        """Add the object with its new count; where nobody can tell which, it changed unseen."""
        last, replicas = self._last(key, courses), scaled_to(request) if request.is_done else ()
        if last is None:
            return
        if not replicas:
            _course(courses, key).unread.append(request.seq)
            return
        former = last.get("spec")
        spec = {**(former if isinstance(former, dict) else {}), "replicas": replicas[0]}
        _course(courses, key).add(request.seq, {**last, "spec": spec})


def _is_sound(event: Event) -> bool:
    """Whether an event is whole enough to tell what a write was on and what became of it."""
    status = event.get("responseStatus")
    return isinstance(event.get("objectRef"), dict) and (status is None or isinstance(status, dict))


def _may_have_changed(request: Request) -> bool:
    """Whether a write may have been carried out and was on an object itself or on its scale."""
    named = bool(request.resource) and request.subresource in _FOLLOWED
    return named and not (300 <= request.code < 500 or request.is_dry_run)


def _course(courses: dict[Key, Course], key: Key) -> Course:
    """Return the course of an object, a new one where it has none yet."""
    course = courses.get(key)
    if course is None:
        course = courses[key] = Course()
    return course


def _shown(answer: Any) -> Object | None:
    """Return the object or the metadata that an answer shows, None for none."""
    if isinstance(answer, dict) and answer.get("kind") == "Table":
        rows = answer.get("rows")
        first = rows[0] if isinstance(rows, list) and len(rows) == 1 else None
        answer = first.get("object") if isinstance(first, dict) else None
    is_object = isinstance(answer, dict) and answer.get("kind") != "Status" and answer.get("metadata")
    return answer if is_object else None
