"""Events and metrics: what people and alerts see of a pass. Neither may stop or fail a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Recorder(Protocol):
    """Writes Kubernetes Events about an object."""

    async def event(self, about: Mapping[str, Any], kind: str, reason: str, note: str) -> None:
        """Record one Event; the same event about the same object is written once.

        Args:
            about: The object it regards.
            kind: `Normal` or `Warning`.
            reason: CamelCase reason.
            note: One sentence, cut at 1024 characters.
        """
        ...


class Meter(Protocol):
    """Counts what the alerts and the dashboard are made from; labels come from small fixed sets."""

    def verdict(self, namespace: str, verdict: str) -> None:
        """Count one Evaluation that ended; `verdict` is `none` where there is none."""
        ...

    def scenario(self, outcome: str) -> None:
        """Count one scenario that ended."""
        ...

    def stage(self, stage: str, seconds: float) -> None:
        """Observe how long one stage of a ScenarioRun took."""
        ...

    def fault(self, cause: str) -> None:
        """Count one fault of the harness by its reason."""
        ...
