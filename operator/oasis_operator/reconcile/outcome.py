"""What a pass tells its caller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requeue:
    """When the same key must be looked at again.

    Attributes:
        after_seconds: None means that the next event will do.
        also: Namespace and name of ScenarioRuns that must be looked at now.
    """

    after_seconds: float | None = None
    also: tuple[tuple[str, str], ...] = ()


DONE = Requeue()
AT_ONCE = Requeue(0.0)
