"""A deduplicating queue of keys with delays and per-key backoff.

A key is looked at by one worker at a time. A key that is added while it is being looked at is looked at once
more afterwards; a key that waits is moved forward, never back, by a later addition. Nothing here survives a
restart, and nothing needs to: the objects themselves say what is left to do.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Key(NamedTuple):
    """One object to look at."""

    plural: str
    namespace: str
    name: str


@dataclass(order=True, slots=True)
class _Entry:
    """A place in the heap; one that was superseded stays there until it comes up."""

    due: float
    order: int
    key: Key = field(compare=False)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a failing key waits: `first * 2**n` seconds, at most `longest`, up to a quarter less."""

    first: float = 0.25
    longest: float = 60.0

    def seconds(self, failures: int, jitter: float) -> float:
        """Return the wait after this many failures in a row; `jitter` is 0.0-1.0."""
        whole = min(self.first * 2.0 ** min(failures - 1, 30), self.longest)
        return whole * (1.0 - 0.25 * jitter)


class KeyQueue:
    """Hands out keys when they are due."""

    def __init__(
        self,
        clock: Callable[[], float],
        backoff: Backoff | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Read the time, in seconds, from `clock`: the event loop's, for `get` to wake in time."""
        self._clock = clock
        self._backoff = backoff or Backoff()
        self._jitter = jitter
        self._heap: list[_Entry] = []
        self._due: dict[Key, float] = {}
        self._running: dict[Key, float] = {}
        self._again: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._order = itertools.count()
        self._changed = asyncio.Event()

    @property
    def depth(self) -> int:
        """Keys that are due and not being looked at."""
        now = self._clock()
        return sum(due <= now for due in self._due.values())

    @property
    def failing(self) -> int:
        """Keys whose last pass failed."""
        return len(self._failures)

    @property
    def longest_running_seconds(self) -> float:
        """Age of the oldest pass that is still going on; 0.0 for none."""
        now = self._clock()
        return max((now - since for since in self._running.values()), default=0.0)

    def add(self, key: Key, after_seconds: float = 0.0) -> None:
        """Have the key looked at, at the latest after this time."""
        due = self._clock() + max(0.0, after_seconds)
        if key in self._running:
            self._again[key] = min(due, self._again.get(key, due))
        elif due < self._due.get(key, float("inf")):
            self._due[key] = due
            heapq.heappush(self._heap, _Entry(due, next(self._order), key))
            self._changed.set()

    async def get(self) -> Key:
        """Return the next key that is due, and take it as being looked at until `done` or `failed`."""
        while True:
            self._drop_superseded()
            wait = self._heap[0].due - self._clock() if self._heap else None
            if wait is not None and wait <= 0:
                entry = heapq.heappop(self._heap)
                del self._due[entry.key]
                self._running[entry.key] = self._clock()
                return entry.key
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), wait)
            except TimeoutError:
                continue

    def done(self, key: Key, after_seconds: float | None = None) -> None:
        """End a pass that succeeded; it is repeated after `after_seconds`, or at the next addition."""
        self._failures.pop(key, None)
        self._finish(key, after_seconds)

    def failed(self, key: Key) -> float:
        """End a pass that failed, and return the seconds until it is repeated."""
        self._failures[key] = self._failures.get(key, 0) + 1
        wait = self._backoff.seconds(self._failures[key], self._jitter())
        # An event that came meanwhile must not defeat the backoff.
        self._again.pop(key, None)
        self._finish(key, wait)
        return wait

    def failures(self, key: Key) -> int:
        """Return how often in a row the key's pass has failed."""
        return self._failures.get(key, 0)

    def _finish(self, key: Key, after_seconds: float | None) -> None:
        self._running.pop(key, None)
        again = self._again.pop(key, None)
        if after_seconds is not None:
            self.add(key, after_seconds)
        if again is not None:
            self.add(key, again - self._clock())

    def _drop_superseded(self) -> None:
        while self._heap and self._due.get(self._heap[0].key) != self._heap[0].due:
            heapq.heappop(self._heap)
