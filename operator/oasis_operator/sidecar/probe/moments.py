"""The clock of the probe: one wall clock for what is recorded, a monotonic one for durations."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> str:
    """Give the present moment, RFC 3339 with microseconds."""
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def this_second() -> str:
    """Give the present moment to the second, as Kubernetes writes times."""
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Stopwatch:
    """Seconds of the steps of a longer work, by name."""

    def __init__(self) -> None:
        """Begin with the first step."""
        self.seconds: dict[str, float] = {}
        self._last = self._begin = time.monotonic()

    def lap(self, step: str) -> None:
        """End a step and begin the next."""
        present = time.monotonic()
        self.seconds[step] = round(self.seconds.get(step, 0.0) + present - self._last, 3)
        self.seconds["total"] = round(present - self._begin, 3)
        self._last = present
