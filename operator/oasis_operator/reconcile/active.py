"""Which ScenarioRuns are under way, so that all Evaluations together keep to the operator's limit.

It is a projection of what watches and passes have seen. Being behind by a moment lets one run too many start;
losing it costs nothing, since it is filled anew before the first pass after a restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_FREE = frozenset({"Judging", "Completed"})
"""Stages in which a run holds no world any more, or is about to give it back."""


class ActiveRuns:
    """Namespaced names of the runs that hold a slot, with the UID of their Evaluation."""

    def __init__(self) -> None:
        """Begin empty."""
        self._owners: dict[tuple[str, str], str] = {}

    def see(self, body: Mapping[str, Any]) -> None:
        """Take note of a ScenarioRun as it is now."""
        meta = body["metadata"]
        key = (meta["namespace"], meta["name"])
        stage = (body.get("status") or {}).get("stage")
        if stage in _FREE or meta.get("deletionTimestamp"):
            self._owners.pop(key, None)
        else:
            self._owners[key] = ((body.get("spec") or {}).get("evaluation") or {}).get("uid", "")

    def forget(self, namespace: str, name: str) -> None:
        """Take note that a ScenarioRun is gone."""
        self._owners.pop((namespace, name), None)

    def of_others(self, evaluation_uid: str) -> int:
        """Return how many slots are held for other Evaluations."""
        return sum(owner != evaluation_uid for owner in self._owners.values())

    @property
    def total(self) -> int:
        """Slots that are held."""
        return len(self._owners)
