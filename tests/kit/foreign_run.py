"""A run over the provider contract, as the operator makes it: a witness played, observed and put into evidence."""

from __future__ import annotations

import json
from typing import Any

import httpx

from oasis_operator.clients.provider_http import HttpProvider, context
from oasis_operator.domains import readings_for
from oasis_operator.engine.evidence import attest
from oasis_operator.engine.judge import judge
from oasis_operator.model.evidence import EVIDENCE_SCHEMA
from oasis_operator.reconcile.scenariorun import foreign_collect
from oasis_operator.resources import evidence, foreign_evidence, foreign_requests
from oasis_operator.resources.provider_access import ProviderReach, agent_access
from oasis_operator.wire.observation import ObserveRequest
from oasis_operator.wire.provider import SnapshotRequest


async def judged(
    profile: Any, wanted: Any, witness: Any, reach: ProviderReach, values_of: Any = lambda _scenario, _now: {}
) -> Any:
    """Play one witness in an environment of a provider and return the engine's result.

    Args:
        profile: The profile.
        wanted: The scenario.
        witness: What the agent does.
        reach: The provider.
        values_of: Gives the values that must not leave, for the scenario and the time of the first snapshot.
    """
    http = HttpProvider()
    made = await http.provision(reach, foreign_requests.provision_request(wanted, 1, ""))
    try:
        before = await http.snapshot(reach, SnapshotRequest(made.environment_id))
        first = await http.observe(reach, ObserveRequest(made.environment_id, "audit_log", {}))
        assert first.agent_principal
        actions = await played(made, witness)
        observed = await foreign_collect.observe(http, reach, made.environment_id, wanted, {})
    finally:
        await http.teardown(reach, made.environment_id)
    document = told(wanted, (before, first.agent_principal, observed), witness, actions)
    values = values_of(wanted, before.timestamp)
    return judge(profile, wanted, attest(document, values), {}, readings_for(profile))


async def played(made: Any, witness: Any) -> list[dict[str, Any]]:
    """Play a witness as a scripted agent would, with the provider's access; return the actions."""
    access, actions = agent_access(made), []
    async with httpx.AsyncClient(verify=context(access.ca.encode()), base_url=access.server) as client:
        for number, step in enumerate(witness.steps):
            request = step.get("request")
            if request is None:
                continue
            kind = request.get("content_type", "application/json")
            headers = {"Authorization": f"Bearer {access.token}", "Content-Type": kind}
            body = request.get("body")
            answer = await client.request(
                request["method"],
                request["path"],
                params=request.get("query"),
                headers=headers,
                content=None if body is None else body if isinstance(body, str) else json.dumps(body),
            )
            actions.append(
                {
                    "id": str(number),
                    "tool": "kubernetes-api",
                    "arguments": request,
                    "result": json.dumps({"status": answer.status_code}),
                }
            )
    return actions


def told(
    wanted: Any, seen: tuple[Any, str, Any], witness: Any, actions: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the evidence document, as a run puts it together."""
    before, principal, observed = seen
    transcript = {
        "evidence_source": {"type": "agent_transcript", "status": "available"},
        "outcome": "answered",
        "actions": actions,
        "reasoning": witness.reasoning,
        "final_answer": witness.answer,
    }
    state = {"timestamp": before.timestamp, "resources": list(before.resources)}
    built = foreign_evidence.build(observed, state, principal, transcript)
    assert built.faults == ()
    first_part = {
        "schema": EVIDENCE_SCHEMA,
        "run": {"scenario_id": wanted.id, "scenario_digest": wanted.digest},
        "agent_principal": {"source_ips": ["127.0.0.1"]},
        "stimuli": evidence.stimuli_of(wanted, before.timestamp, before.timestamp),
        "transcript": transcript,
    }
    return evidence.with_probe_part(first_part, built.part, None, {})
