"""What is known of the environment's objects: before, after, and in between from the answers in the log."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Key = tuple[str, str, str]
"""Plural, namespace (empty for none) and name of an object."""

Object = dict[str, Any]

_WRITES: Final = frozenset({"create", "update", "patch"})


def key_of(item: Mapping[str, Any]) -> Key:
    """Return the key of an API object."""
    metadata = metadata_of(item)
    plural = kinds.plural_of_object(str(item.get("kind") or ""))
    namespace = "" if plural in kinds.CLUSTER_SCOPED else str(metadata.get("namespace") or "")
    return plural, namespace, str(metadata.get("name") or "")


def normal(key: Key) -> Key:
    """Return the key without the namespace that audit entries give a namespace object and its like."""
    return (key[0], "", key[2]) if key[0] in kinds.CLUSTER_SCOPED and key[1] else key


def metadata_of(item: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the metadata of an API object, empty where it has none or what stands there is none."""
    metadata = item.get("metadata") if item is not None else None
    return metadata if isinstance(metadata, dict) else {}


def labels_of(item: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return the labels of an API object, empty for none."""
    labels = metadata_of(item).get("labels")
    return labels if isinstance(labels, dict) else {}


def _owners_of(item: Mapping[str, Any], namespace: str) -> Iterator[Key]:
    references = metadata_of(item).get("ownerReferences")
    for one in references if isinstance(references, list) else ():
        if isinstance(one, dict):
            yield normal((kinds.plural_of_object(str(one.get("kind"))), namespace, str(one.get("name"))))


class Course:
    """An object in the course of a run.

    Attributes:
        places: Places in the log, ascending.
        objects: The object as it was from each of these places on.
    """

    __slots__ = ("objects", "places")

    def __init__(self) -> None:
        """Begin without any."""
        self.places: list[int] = []
        self.objects: list[Object] = []

    def add(self, place: int, item: Object) -> None:
        """Add the object as it is from a place on."""
        self.places.append(place)
        self.objects.append(item)


class World:
    """The objects of one run.

    Attributes:
        before: Objects before the first stimulus, by key.
        after: Objects after the agent was gone, by key.
    """

    def __init__(
        self,
        before: Iterable[Mapping[str, Any]],
        after: Iterable[Mapping[str, Any]],
        events: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Index the objects; the log is read only when something between before and after is asked for.

        Args:
            before: Objects before the first stimulus.
            after: Objects after the agent was gone.
            events: Merged audit events of all principals, in log order.
        """
        self.before: dict[Key, Object] = {key_of(item): dict(item) for item in before}
        self.after: dict[Key, Object] = {key_of(item): dict(item) for item in after}
        self._events = events
        self._history: dict[Key, Course] | None = None
        self._owned: dict[Key, list[Key]] | None = None
        self._uids: frozenset[str] | None = None
        self._by_kind: dict[str, list[tuple[Key, Object]]] | None = None

    def known(self, key: Key, seq: int) -> Object | None:
        """Return an object as it was last seen before a place in the log, None where it was not there."""
        key = normal(key)
        course = self.history.get(key)
        place = bisect_left(course.places, seq) if course is not None else 0
        return course.objects[place - 1] if course is not None and place else self.before.get(key)

    def anything_of(self, key: Key) -> Object | None:
        """Return an object as seen at any time: before, in between or after; None where it never was."""
        key = normal(key)
        if key in self.before:
            return self.before[key]
        course = self.history.get(key)
        return course.objects[0] if course is not None else self.after.get(key)

    def objects(self, plural: str, namespace: str | None = None) -> Iterator[tuple[Key, Object]]:
        """Yield all objects of a kind (`*` for any) that were there at any time, in the order of their keys.

        Args:
            plural: Plural of the kind.
            namespace: Only those in it, or None for all.
        """
        for key, item in self._kinds.get(plural, ()):
            if namespace in (None, key[1]):
                yield key, item

    @property
    def _kinds(self) -> dict[str, list[tuple[Key, Object]]]:
        """All objects by plural, and all of them under `*`."""
        if self._by_kind is None:
            self._by_kind = {}
            for key in sorted({*self.before, *self.history, *self.after}):
                item = self.anything_of(key)
                if item is not None:
                    self._by_kind.setdefault(key[0], []).append((key, item))
                    self._by_kind.setdefault(kinds.ANY, []).append((key, item))
        return self._by_kind

    def owners(self, key: Key) -> tuple[Key, ...]:
        """Return the keys of an object's owners, near ones first, as its owner references name them."""
        found: list[Key] = []
        queue = [key]
        while queue and len(found) < 16:
            item = self.anything_of(queue.pop(0)) or {}
            for owner in _owners_of(item, key[1]):
                if owner not in found:
                    found.append(owner)
                    queue.append(owner)
        return tuple(found)

    def owned(self, key: Key) -> tuple[Key, ...]:
        """Return the keys of the objects that an object owns, itself or through others, in order."""
        if self._owned is None:
            self._owned = {}
            for held, _ in self.objects(kinds.ANY):
                for owner in self.owners(held):
                    self._owned.setdefault(owner, []).append(held)
        return tuple(self._owned.get(normal(key), ()))

    @property
    def uids(self) -> frozenset[str]:
        """UIDs of all objects that were there at any time."""
        if self._uids is None:
            found = (metadata_of(item).get("uid") for _, item in self.objects(kinds.ANY))
            self._uids = frozenset(uid for uid in found if isinstance(uid, str))
        return self._uids

    @property
    def history(self) -> dict[Key, Course]:
        """Objects as the answers to successful writes of anybody show them, by key."""
        if self._history is None:
            self._history = {}
            for event in self._events:
                if event.get("verb") in _WRITES:
                    self._remember(event, self._history)
        return self._history

    def _remember(self, event: Mapping[str, Any], history: dict[Key, Course]) -> None:
        """Add what the answer to a write shows of its object."""
        target, code = event.get("objectRef"), (event.get("responseStatus") or {}).get("code")
        answer = event.get("responseObject")
        if not isinstance(target, dict) or not isinstance(code, int) or not 200 <= code < 300:
            return
        if not isinstance(answer, dict) or "dryRun" in str(event.get("requestURI")):
            return
        part, seq = target.get("subresource"), int(event["seq"])
        if part == "scale":
            self._remember_scale(seq, target, answer, history)
        elif part in (None, "", "status") and answer.get("metadata"):
            history.setdefault(key_of(answer), Course()).add(seq, answer)

    def _remember_scale(
        self, seq: int, target: Mapping[str, Any], answer: Object, history: dict[Key, Course]
    ) -> None:
        key = (str(target.get("resource")), str(target.get("namespace") or ""), str(target.get("name")))
        course = history.get(key)
        last = course.objects[-1] if course is not None else self.before.get(key)
        if last is not None:
            spec, former = answer.get("spec"), last.get("spec")
            replicas = spec.get("replicas", 0) if isinstance(spec, dict) else 0
            scaled = {**last, "spec": {**(former if isinstance(former, dict) else {}), "replicas": replicas}}
            history.setdefault(key, Course()).add(seq, scaled)
