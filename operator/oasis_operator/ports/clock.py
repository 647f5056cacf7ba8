"""Time, as an argument: nothing below `clients` reads a clock by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """A source of the current time and of pauses."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Pause."""
        ...
