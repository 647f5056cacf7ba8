"""What is known of the environment's objects: before, after, and in between from the answers in the log."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from oasis_operator.engine.actions import kinds
from oasis_operator.engine.actions.courses import Courses
from oasis_operator.engine.actions.deletions import Deletions
from oasis_operator.engine.actions.keys import (
    Key,
    Object,
    key_of,
    metadata_of,
    normal,
    owner_of,
    owners_of,
)
from oasis_operator.engine.actions.requests import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from oasis_operator.engine.actions.requests import Event

_MOST_OWNERS: Final = 16


class World:
    """The objects of one run.

    Attributes:
        before: Objects before the first stimulus, by key.
        after: Objects after the agent was gone, by key.
        selected: What selections of objects came to, by what decides it: certain members and possible ones.
    """

    def __init__(
        self,
        before: Iterable[Mapping[str, Any]],
        after: Iterable[Mapping[str, Any]],
        events: Sequence[Event] = (),
        read: Callable[[Event], Request] = Request,
    ) -> None:
        """Index the objects; of the log only what is asked for is read.

        Args:
            before: Objects before the first stimulus.
            after: Objects after the agent was gone.
            events: Merged audit events of all principals, in log order.
            read: What reads an event as a request, the one that the events were read with before.
        """
        self.before: dict[Key, Object] = {key_of(item): dict(item) for item in before}
        self.after: dict[Key, Object] = {key_of(item): dict(item) for item in after}
        self.selected: dict[Hashable, tuple[Sequence[Key], Sequence[Key]]] = {}
        self._events, self._read = events, read
        self._courses = Courses(events, self.before, read)
        self._by_kind: dict[str, list[tuple[Key, Object]]] = {}
        self._owners: dict[Key, tuple[Key, ...]] = {}
        self._owned: dict[str, dict[Key, list[Key]]] = {}

    def known(self, key: Key, seq: int) -> Object | None:
        """Return an object as it was last seen before a place in the log, None where it was not there."""
        key = normal(key)
        course = self._courses.of(key[0]).get(key)
        place = bisect_left(course.places, seq) if course is not None else 0
        return course.objects[place - 1] if course is not None and place else self.before.get(key)

    def is_clear(self, key: Key, seq: int) -> bool:
        """Return whether `known` tells all before a place in the log: no write came after it unseen.

        An object that is there afterwards and whose creation is not in the log may always have been there.
        """
        key = normal(key)
        course = self._courses.of(key[0]).get(key)
        if course is None or not (course.places or course.unread):
            return key in self.before or key not in self.after
        place, unread = bisect_left(course.places, seq), bisect_left(course.unread, seq)
        return not unread or (place > 0 and course.places[place - 1] > course.unread[unread - 1])

    def anything_of(self, key: Key) -> Object | None:
        """Return an object as seen at any time: before, in between or after; None where it never was."""
        key = normal(key)
        if key in self.before:
            return self.before[key]
        course = self._courses.of(key[0]).get(key)
        return course.objects[0] if course is not None and course.objects else self.after.get(key)

    def is_written(self, key: Key) -> bool:
        """Return whether the log shows a write on an object, by whomever, that may have been carried out."""
        key = normal(key)
        course = self._courses.of(key[0]).get(key)
        return course is not None and bool(course.places or course.unread)

    def moment(self, plural: str, seq: int) -> int:
        """Return how often anything had become of objects of a kind before a place in the log.

        Between two places of the same moment, all of them are known to be the same.
        """
        return bisect_left(self._courses.places(plural), seq)

    def at_ends(self, plural: str) -> Collection[Key]:
        """Return the keys of the objects of a kind that were there before or after."""
        return self._at_ends.get(plural, ())

    @cached_property
    def _at_ends(self) -> dict[str, set[Key]]:
        found: dict[str, set[Key]] = {}
        for key in chain(self.before, self.after):
            found.setdefault(key[0], set()).add(key)
        return found

    def objects(self, plural: str, namespace: str | None = None) -> Iterator[tuple[Key, Object]]:
        """Yield all objects of a kind (`*` for any) that were there at any time, in the order of their keys.

        Args:
            plural: Plural of the kind.
            namespace: Only those in it, or None for all.
        """
        for key, item in self._of_kind(plural):
            if namespace in (None, key[1]):
                yield key, item

    def _of_kind(self, plural: str) -> Sequence[tuple[Key, Object]]:
        found = self._by_kind.get(plural)
        if found is None:
            if plural == kinds.ANY:
                keys = {*self.before, *self._courses.keys(), *self.after}
            else:
                keys = {*self.at_ends(plural), *self._courses.of(plural)}
            listed = ((key, self.anything_of(key)) for key in sorted(keys))
            found = self._by_kind[plural] = [(key, item) for key, item in listed if item is not None]
        return found

    def owners(self, key: Key) -> tuple[Key, ...]:
        """Return the keys of an object's owners, near ones first, as its owner references name them."""
        known = self._owners.get(key)
        if known is None:
            found: dict[Key, None] = {}
            queue = deque([key])
            while queue and len(found) < _MOST_OWNERS:
                item = self.anything_of(queue.popleft()) or {}
                for owner in owners_of(item, key[1]):
                    if owner not in found:
                        found[owner] = None
                        queue.append(owner)
            known = self._owners[key] = tuple(found)
        return known

    def owned(self, key: Key, plural: str) -> Sequence[Key]:
        """Return the keys of the objects of a kind that an object owns, directly or not, in order."""
        index = self._owned.get(plural)
        if index is None:
            index = self._owned[plural] = {}
            for held, _ in self.objects(plural):
                for owner in self.owners(held):
                    index.setdefault(owner, []).append(held)
        return index.get(normal(key), ())

    def is_gone(self, key: Key, seq: int) -> bool:
        """Return whether an object was deleted before a place in the log and not made anew since."""
        key = normal(key)
        last = self._deletions.last(key, seq)
        course = self._courses.of(key[0]).get(key) if last else None
        if course is None:
            return bool(last)
        since = course.objects[bisect_left(course.places, last) : bisect_left(course.places, seq)]
        # One that is on its way out may still be written to.
        return all("deletionTimestamp" in metadata_of(item) for item in since)

    def is_present(self, reference: Mapping[str, Any], namespace: str, seq: int) -> bool:
        """Return whether the owner that an object in a namespace refers to is there at a place in the log.

        The collector looks it up by kind and name, in the same namespace or among what has none, and wants
        the UID to be that of the reference.
        """
        key = owner_of(reference, namespace)
        versions = (self.known(key, seq), self.before.get(key), self.after.get(key), self.anything_of(key))
        uids = {metadata_of(item).get("uid") for item in versions if item is not None}
        return reference.get("uid") in uids and not self.is_gone(key, seq)

    @cached_property
    def _deletions(self) -> Deletions:
        return Deletions(self._events, self._read)
