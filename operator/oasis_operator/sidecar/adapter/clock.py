"""The adapter's one reading of the wall clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def timestamp() -> str:
    """Give the time now as RFC 3339 with microseconds, in UTC."""
    now = datetime.fromtimestamp(time.time(), tz=UTC)
    return now.isoformat(timespec="microseconds").replace("+00:00", "Z")
