"""Where the secrets of a run come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta


class Keys(Protocol):
    """Makes certificates and tokens."""

    def run_secret_data(self, now: datetime, lifetime: timedelta) -> Mapping[str, str]:
        """Return the `data` of a run's Secret, base64-encoded; the keys are listed in the contracts."""
        ...
