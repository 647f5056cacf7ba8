"""A clock that a test moves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 5, 12, 0, 0, tzinfo=UTC)


@dataclass
class FakeClock:
    """Implements `ports.clock.Clock`; sleeping moves it."""

    moment: datetime = START

    def now(self) -> datetime:
        return self.moment

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.moment += timedelta(seconds=seconds)
