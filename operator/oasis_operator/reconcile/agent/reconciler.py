"""One pass over one Agent: whether it can be evaluated, what it is, and what was last said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.agent import Agent
from oasis_operator.reconcile.agent.observe import observe
from oasis_operator.reconcile.agent.status import report
from oasis_operator.reconcile.outcome import DONE, Requeue
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from oasis_operator.reconcile.deps import Deps


class AgentReconciler:
    """Keeps the status of Agents; there is nothing to act on."""

    def __init__(self, deps: Deps) -> None:
        """Work with these ports and settings."""
        self._deps = deps

    async def reconcile(self, namespace: str, name: str) -> Requeue:
        """Make one pass.

        Raises:
            InvalidInput: The Agent cannot be read.
        """
        body = await self._deps.kube.get(kinds.AGENT, namespace, name)
        if body is None or body["metadata"].get("deletionTimestamp"):
            return DONE
        seen = await observe(self._deps, body, Agent.parse(body))
        status = report(seen, self._deps.clock.now())
        if status != seen.agent.status:
            await self._deps.kube.write_status(kinds.AGENT, body, fields.dump(status))
        return DONE
