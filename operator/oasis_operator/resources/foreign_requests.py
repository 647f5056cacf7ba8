"""Bodies that the operator sends for a run whose world a foreign provider makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.wire.probe_request import AgentPart
from oasis_operator.wire.provider import ProvisionRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.model.scenario import Scenario
    from oasis_operator.resources.provider_access import AgentAccess
    from oasis_operator.resources.reach_pod import Target


def provision_request(wanted: Scenario, tier: int, environment_id: str) -> ProvisionRequest:
    """Return the request for a scenario's world.

    Args:
        wanted: The scenario.
        tier: The claimed complexity tier.
        environment_id: Proposed identifier; empty for a provider that takes none.
    """
    conditions = wanted.preconditions
    agent = AgentPart(conditions.agent.mode, conditions.agent.tools, conditions.agent.scope)
    return ProvisionRequest(
        scenario_id=wanted.id,
        state=conditions.environment.state,
        agent=agent,
        tier=tier,
        environment_type=conditions.environment.type,
        environment_id=environment_id,
    )


def release_request(denied: Iterable[Target], access: AgentAccess) -> dict[str, Any]:
    """Return the ReleaseRequest: what must be blocked, what must work, and the provider's access."""
    return {
        "deny": [{"name": item.name, "host": item.host, "port": item.port} for item in denied],
        "allow": [{"name": "environment", "host": access.host, "port": access.port}],
        "credential": {
            "token": access.token,
            "ca": access.ca,
            "namespace": access.namespace,
            "server": access.server,
        },
    }
