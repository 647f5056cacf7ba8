"""One pass over one Environment: whether worlds can be made from it, and those that are made ahead."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from oasis_operator.api import conditions, fields
from oasis_operator.api.v1alpha1.environment import Environment
from oasis_operator.reconcile.environment import foreign
from oasis_operator.reconcile.environment.pool.keep import keep
from oasis_operator.reconcile.environment.status import report
from oasis_operator.reconcile.outcome import DONE, Requeue
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.api.v1alpha1.environment import Warm
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.environment.pool.keep import Kept

_SHOWN_AFTER: Final = timedelta(seconds=10)
"""A pool that is short of environments is told of once it has been so for this long."""


class EnvironmentReconciler:
    """Keeps the status and the warm pool of Environments; all other worlds are made by their ScenarioRun."""

    def __init__(self, deps: Deps) -> None:
        """Work with these ports and settings."""
        self._deps = deps
        # Since when each pool has been short of what is wanted; a restart only begins the wait anew.
        self._short: dict[tuple[str, str], datetime] = {}

    async def reconcile(self, namespace: str, name: str) -> Requeue:
        """Make one pass.

        Raises:
            InvalidInput: The Environment cannot be read.
            Transient: The pass must be repeated with backoff.
        """
        body = await self._deps.kube.get(kinds.ENVIRONMENT, namespace, name)
        if body is None or body["metadata"].get("deletionTimestamp"):
            # What waits in its pool belongs to it and goes with it.
            self._deps.boots.note((namespace, name), 0)
            self._short.pop((namespace, name), None)
            return DONE
        environment, now = Environment.parse(body), self._deps.clock.now()
        status, ask_again = report(environment, now), None
        if environment.spec.provider is not None:
            asked = await foreign.report(self._deps, body, environment, environment.spec.provider, now)
            status, ask_again = asked.status, asked.wait_seconds
        sound = conditions.find(status.conditions, conditions.Type.STALLED) is None
        kept = await keep(self._deps, body, environment.spec if sound else None, now)
        shown = self._shown((namespace, name), environment.status.warm, kept, now)
        status = status.model_copy(update={"warm": shown})
        if status != environment.status:
            await self._deps.kube.write_status(kinds.ENVIRONMENT, body, fields.dump(status))
        waits = (kept.wait_seconds, None if kept.settled else _SHOWN_AFTER.total_seconds(), ask_again)
        return Requeue(min((wait for wait in waits if wait is not None), default=None))

    def _shown(self, key: tuple[str, str], before: Warm | None, kept: Kept, now: datetime) -> Warm | None:
        """Return the pool's part of the status: a claim is made good in seconds and not worth two writes."""
        if kept.settled:
            self._short.pop(key, None)
            return kept.warm
        lately = now - self._short.setdefault(key, now) < _SHOWN_AFTER
        return before if before is not None and lately else kept.warm
