"""One pass over one Environment: whether worlds can be made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.environment import Environment
from oasis_operator.reconcile.environment.status import report
from oasis_operator.reconcile.outcome import DONE, Requeue
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from oasis_operator.reconcile.deps import Deps


class EnvironmentReconciler:
    """Keeps the status of Environments; worlds are made per ScenarioRun, so there is nothing to act on."""

    def __init__(self, deps: Deps) -> None:
        """Work with these ports and settings."""
        self._deps = deps

    async def reconcile(self, namespace: str, name: str) -> Requeue:
        """Make one pass.

        Raises:
            InvalidInput: The Environment cannot be read.
        """
        body = await self._deps.kube.get(kinds.ENVIRONMENT, namespace, name)
        if body is None or body["metadata"].get("deletionTimestamp"):
            return DONE
        environment = Environment.parse(body)
        status = report(environment, self._deps.clock.now())
        if status != environment.status:
            await self._deps.kube.write_status(kinds.ENVIRONMENT, body, fields.dump(status))
        return DONE
