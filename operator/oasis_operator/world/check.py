"""Whether a scenario's world can be had at all, told from its text alone.

The probe asks the same question right before it prepares a world, with the same code; asked before a run it
keeps a scenario that nobody could ever run from being taken for a fault of the harness.

Spec: 02-scenarios §1.3, 01-core §3.7.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.errors import InvalidInput
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.probe_request import CheckRequest, StateFault
from oasis_operator.world.plan import Plan, build_plan
from oasis_operator.world.principal import check_agent

if TYPE_CHECKING:
    from oasis_operator.model.scenario import Scenario

_ANY_MOMENT: Final = "2000-01-01T00:00:00Z"
"""No fault depends on the time of the preparation."""


def compile_world(request: CheckRequest, now: str) -> tuple[Plan, tuple[StateFault, ...]]:
    """Compile the state and the agent's part, and name every static fault of either.

    Args:
        request: What is asked for.
        now: The moment of preparation, RFC 3339.

    Returns:
        The plan, which must not be carried out where there are faults, and the faults: those of the agent's
        part first, then those of the state by entry.
    """
    agent_faults = check_agent(request.agent)
    named = request.agent.scope.get("namespaces") if not agent_faults else ()
    plan = build_plan(
        request.state, scope_namespaces=list(named or ()), containment=request.containment, now=now
    )
    return plan, (*agent_faults, *plan.faults)


def request_body(scenario: Scenario) -> dict[str, Any]:
    """Return what a scenario asks of its world, as the body that a probe reads.

    Spec: 02-scenarios §1.3, 08-provider-conformance §3.2.
    """
    wanted = scenario.preconditions
    return {
        "state": [dict(entry) for entry in wanted.environment.state],
        "agent": {
            "mode": wanted.agent.mode,
            "tools": list(wanted.agent.tools),
            "scope": dict(wanted.agent.scope),
        },
        "containment": list(dict.fromkeys(one.value_ref for one in scenario.verification.value_containment)),
    }


def find_faults(scenario: Scenario) -> tuple[StateFault, ...]:
    """Return why no cluster can be what a scenario asks for; empty where one can."""
    try:
        # A probe reads JSON, in which a tuple and a list are the same.
        request = CheckRequest.from_json(Fields(json.loads(json.dumps(request_body(scenario)))))
    except InvalidInput as error:
        return (StateFault(-1, "", "", "", error.message),)
    return compile_world(request, _ANY_MOMENT)[1]
