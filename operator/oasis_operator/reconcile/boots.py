"""Who boots environments ahead, and whether they must give way to runs.

Kept in memory alone. After a restart it is filled by the first pass over each Environment; until then at most
as many boots go on as each of them may have by itself.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

Key = tuple[str, str]

PRESSED_FOR: Final = timedelta(seconds=15)
"""For so long after a run was seen waiting for a node or for quota its need is taken to last."""


class Boots:
    """Boots that go on for warm pools, by namespace and name of the Environment."""

    def __init__(self) -> None:
        """Begin empty."""
        self._booting: dict[Key, int] = {}
        self._pressed_until: datetime | None = None

    def room(self, key: Key, limit: int) -> int:
        """Return how many boots the pool may have going on, given those of all others; at least 0."""
        others = sum(count for other, count in self._booting.items() if other != key)
        return max(0, limit - others)

    def note(self, key: Key, booting: int) -> None:
        """Take note of the boots that go on for a pool."""
        if booting:
            self._booting[key] = booting
        else:
            self._booting.pop(key, None)

    def press(self, now: datetime) -> None:
        """Take note that a run waits for room in the cluster."""
        self._pressed_until = now + PRESSED_FOR

    def is_pressed(self, now: datetime) -> bool:
        """Tell whether runs wait for room, so that idle environments must be given back."""
        return self._pressed_until is not None and now < self._pressed_until
