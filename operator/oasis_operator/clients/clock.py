"""The one place that reads the clock."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the one place

    async def sleep(self, seconds: float) -> None:
        """Pause without blocking the event loop."""
        await asyncio.sleep(seconds)
