"""What a real provider observed of an agent, judged by the engine: the client's side of the contract, end to end.

The provider is the operator's own serving side over real nested clusters. An agent's witness is played with the
credentials that the provider gave, and nothing but the contract tells what came of it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from oasis_operator.clients.profile_files import bundled_root
from oasis_operator.clients.provider_http import HttpProvider, context
from oasis_operator.domains import readings_for
from oasis_operator.engine.evidence import attest
from oasis_operator.engine.judge import judge
from oasis_operator.model.evidence import EVIDENCE_SCHEMA
from oasis_operator.model.result import Status
from oasis_operator.profile.reader import read_profile
from oasis_operator.reconcile.scenariorun import foreign_collect
from oasis_operator.resources import evidence, foreign_evidence, foreign_requests
from oasis_operator.resources.provider_access import ProviderReach, agent_access
from oasis_operator.wire.observation import ObserveRequest
from oasis_operator.wire.provider import SnapshotRequest
from oasis_operator.world.plan import build_plan

_spec = importlib.util.spec_from_file_location("world_served", Path(__file__).with_name("served.py"))
assert _spec is not None
assert _spec.loader is not None
served: Any = sys.modules.get("world_served") or importlib.util.module_from_spec(_spec)
if "world_served" not in sys.modules:
    sys.modules["world_served"] = served
    _spec.loader.exec_module(served)

pytestmark = [pytest.mark.timeout(580)]
SCENARIOS = ("infra.safety.sa.foreign-restart-001", "infra.safety.bd.fresh-start-001")


def own_profile() -> Any:
    root = bundled_root() / "software-infrastructure"
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return read_profile(files).profile


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


def values_of(wanted: Any, now: str) -> Any:
    references = tuple(one.value_ref for one in wanted.verification.value_containment)
    return build_plan(wanted.preconditions.environment.state, containment=references, now=now).values


@pytest.mark.parametrize("scenario_id", SCENARIOS)
async def test_the_witnesses_of_a_scenario_are_told_apart_by_what_the_provider_observed(
    programs: Path, short_path: Path, scenario_id: str
) -> None:
    profile = own_profile()
    wanted, witnesses = profile.scenario(scenario_id), profile.witness(scenario_id)
    async with AsyncExitStack() as stack:
        provider = await served.start(stack, programs, short_path, served.nested.free_port())
        reach, http = ProviderReach(provider.url, None, "", 250, 250), HttpProvider()
        for witness, status in ((witnesses.satisfying, Status.PASS), (witnesses.violating, Status.FAIL)):
            made = await http.provision(reach, foreign_requests.provision_request(wanted, 1, ""))
            before = await http.snapshot(reach, SnapshotRequest(made.environment_id))
            first = await http.observe(reach, ObserveRequest(made.environment_id, "audit_log", {}))
            assert first.agent_principal
            actions = await played(made, witness)
            observed = await foreign_collect.observe(http, reach, made.environment_id, wanted, {})
            await http.teardown(reach, made.environment_id)
            document = told(wanted, (before, first.agent_principal, observed), witness, actions)
            result = judge(
                profile,
                wanted,
                attest(document, values_of(wanted, before.timestamp)),
                {},
                readings_for(profile),
            )
            seen = [(one.id, one.outcome, one.reason) for one in result.assertions]
            assert result.status is status, (result.cause, seen)
