"""How far the watches are behind: the age of the oldest change that a list showed and no event told of.

A quiet cluster has no events, so that the time since the last one says nothing. What a periodic list finds
and a watch has not delivered long afterwards does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from oasis_operator.resources.kinds import Kind

_Name = tuple[str, str, str]


class WatchAge:
    """Versions that events told of, held against versions that lists showed."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Read the time, in seconds, from `clock`."""
        self._clock = clock
        self._told: dict[_Name, str] = {}
        # When a missing change was first shown: of an object that keeps changing the oldest counts.
        self._missing: dict[_Name, float] = {}

    def told(self, kind: Kind, body: Mapping[str, Any], *, is_gone: bool = False) -> None:
        """Take note of an event."""
        name, version = _named(kind, body)
        if is_gone:
            self._told.pop(name, None)
            self._missing.pop(name, None)
            return
        self._told[name] = version
        # Whatever was missed before is made up for by a later event: a pass reads the object anew.
        self._missing.pop(name, None)

    def listed(self, kind: Kind, bodies: Iterable[Mapping[str, Any]]) -> None:
        """Take note of all objects of one kind, as they were just read wherever the operator looks."""
        present = dict(_named(kind, body) for body in bodies)
        for name in [name for name in self._missing if name[0] == kind.plural and name not in present]:
            del self._missing[name]
        now = self._clock()
        for name, version in present.items():
            if _is_behind(self._told.get(name, ""), version):
                self._missing.setdefault(name, now)
            else:
                self._missing.pop(name, None)

    @property
    def seconds(self) -> float:
        """Age of the oldest change that no event told of; 0.0 for none."""
        now = self._clock()
        return max((now - since for since in self._missing.values()), default=0.0)


def _named(kind: Kind, body: Mapping[str, Any]) -> tuple[_Name, str]:
    meta = body["metadata"]
    return (kind.plural, meta.get("namespace") or "", meta["name"]), str(meta.get("resourceVersion") or "")


def _is_behind(told: str, listed: str) -> bool:
    """Tell whether an event is still to come; versions are numbers that grow, as far as anybody counts."""
    if told.isdigit() and listed.isdigit():
        return int(told) < int(listed)
    return told != listed
