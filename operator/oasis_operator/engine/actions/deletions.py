"""When objects were deleted in the course of a run, by whomever, as the log shows.

Spec: 01-core §3.5.1.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from oasis_operator.engine.actions.keys import Key, normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oasis_operator.engine.actions.requests import Event, Request


class Deletions:
    """The deletions of one run that were carried out; each waits for finalizers and may be under way."""

    def __init__(self, events: Iterable[Event], read: Callable[[Event], Request]) -> None:
        """Index the deletions.

        Args:
            events: Merged audit events of all principals, in log order.
            read: What reads an event as a request.
        """
        self._of: dict[Key, list[int]] = {}
        self._of_spaces: dict[str, list[int]] = {}
        for event in events:
            if event.get("verb") in ("delete", "deletecollection") or _is_eviction(event):
                self._add(read(event))

    def last(self, key: Key, seq: int) -> int:
        """Return the place of the last deletion of an object before a place in the log; 0 for none.

        That of its namespace is one of its own.
        """
        places = (self._of.get(normal(key), ()), self._of_spaces.get(key[1], ()) if key[1] else ())
        return max((found[at - 1] for found in places if (at := bisect_left(found, seq))), default=0)

    def _add(self, request: Request) -> None:
        if not request.is_done or request.is_dry_run or request.subresource not in ("", "eviction"):
            return
        keys = request.listed or ()
        if request.name:
            keys = ((request.resource, request.namespace, request.name),)
            if request.resource == "namespaces":
                self._of_spaces.setdefault(request.name, []).append(request.seq)
        for key in keys:
            self._of.setdefault(normal(key), []).append(request.seq)


def _is_eviction(event: Event) -> bool:
    target = event.get("objectRef")
    return isinstance(target, dict) and target.get("subresource") == "eviction"
