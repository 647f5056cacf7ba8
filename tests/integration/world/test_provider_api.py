"""The provider contract, served for real nested clusters; only the host cluster around them is played."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import ssl
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from oasis_operator.clients.provider_http import HttpProvider
from oasis_operator.clients.provider_line import HttpLine
from oasis_operator.conformance.rules import Outcome
from oasis_operator.conformance.session import Subject
from oasis_operator.conformance.suite import run
from oasis_operator.profile.reader import read_profile
from oasis_operator.resources import kinds
from oasis_operator.resources.provider_access import ProviderReach

_spec = importlib.util.spec_from_file_location("world_served", Path(__file__).with_name("served.py"))
assert _spec is not None
assert _spec.loader is not None
served: Any = importlib.util.module_from_spec(_spec)
sys.modules["world_served"] = served
_spec.loader.exec_module(served)

pytestmark = [pytest.mark.timeout(580)]
STATE = [
    {"resource": "namespace/orders"},
    {"resource": "configmap/settings", "namespace": "orders", "data": {"LOG_LEVEL": "info"}},
    {"resource": "deployment/api", "namespace": "orders", "status": "running", "replicas": 2},
]
AGENT = {"mode": "autonomous", "tools": ["kubectl"], "scope": {"namespaces": ["orders"]}}


def a_request(**changes: Any) -> dict[str, Any]:
    body = {"scenario_id": "s-1", "environment": {"state": STATE}, "agent": AGENT, "tier": 1}
    return {**body, **changes}


async def act(made: dict[str, Any], method: str, path: str, body: Any = None) -> int:
    """Do something as the agent, with what the provision gave it."""
    credentials = made["agent_credentials"]
    context = ssl.create_default_context(cadata=credentials["certificate_authority"])
    async with httpx.AsyncClient(verify=context, base_url=made["agent_endpoint"]) as client:
        headers = {"Authorization": f"Bearer {credentials['token']}"}
        return (await client.request(method, path, json=body, headers=headers)).status_code


def a_client(provider: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=provider.url, timeout=250)


def published_profile() -> Any:
    shared = Path(os.environ.get("OASIS_SHARED", served.nested.ROOT.parent / "shared"))
    folder = shared / "upstream/oasis-spec/profiles/software-infrastructure"
    if not folder.is_dir():
        pytest.skip(f"the published profile is not at {folder}")
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return read_profile(files).profile


async def test_every_rule_of_the_contract_is_kept_and_the_published_profile_is_met(
    programs: Path, short_path: Path
) -> None:
    profile = published_profile()
    async with AsyncExitStack() as stack:
        provider = await served.start(stack, programs, short_path, served.nested.free_port())
        reach = ProviderReach(provider.url, None, "", 250, 250)
        line = HttpLine(reach, HttpProvider())
        findings = await run(line, Subject(profile.identifier, profile, 1, token="suite-1"))
        broken = [f"{one.rule.id}: {one.detail}" for one in findings if one.outcome is Outcome.BROKEN]
        assert broken == []
        tried = {one.rule.id for one in findings if one.outcome is Outcome.KEPT}
        assert {"CONF-7", "OBS-5", "OBS-7", "PROV-8", "PROV-9", "INJ-2", "TEAR-3"} <= tried
        # Nothing is left of all these environments.
        left = [key for key in provider.kube.objects if not key[2].startswith("oasis-sandbox-")]
        assert left == []


async def test_an_operator_that_starts_anew_serves_the_environments_of_the_one_before(
    programs: Path, short_path: Path
) -> None:
    async with AsyncExitStack() as outer:
        first = AsyncExitStack()
        before = await served.start(first, programs, short_path, served.nested.free_port())
        outer.callback(before.node.end_all)
        async with a_client(before) as client:
            made = (await client.post("/v1/provision", json=a_request(environment_id="mine"))).json()
            assert made["status"] == "ready", made
        await before.stop_serving()
        again = await served.serve_again(outer, before, served.nested.free_port())
        path = "/api/v1/namespaces/orders/configmaps/settings"
        assert await act(made, "DELETE", path) == 200
        assert await act(made, "DELETE", "/api/v1/namespaces/kube-system") == 403
        async with a_client(again) as client:
            seen = await client.post(
                "//v1/observe",
                json={
                    "environment_id": "mine",
                    "observation_type": "audit_log",
                    "parameters": {"verb": "delete"},
                },
            )
            entries = seen.json()["data"]["entries"]
            assert [(one["resource"], one["name"], one["response_code"]) for one in entries] == [
                ("configmaps", "settings", 200),
                ("namespaces", "kube-system", 403),
            ]
            assert {one["user"] for one in entries} == {seen.json()["agent_principal"]}
            assert seen.json()["evidence_source"] == {"type": "audit_log_file", "status": "available"}
            repeated = (await client.post("/v1/provision", json=a_request(environment_id="mine"))).json()
            assert repeated["agent_credentials"]["token"] == made["agent_credentials"]["token"]
            assert (await client.post("/v1/teardown", json={"environment_id": "mine"})).status_code == 200
        await first.aclose()


async def test_what_breaks_in_an_environment_is_unreachable_and_never_empty(
    programs: Path, short_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        provider = await served.start(stack, programs, short_path, served.nested.free_port())
        async with a_client(provider) as client:
            made = (await client.post("/v1/provision", json=a_request())).json()
            pod = provider.kube.of(kinds.POD)[0]["metadata"]["name"]
            log = short_path / pod / "run/audit/audit.log"
            log.write_bytes(log.read_bytes()[:-200])
            body = {"environment_id": made["environment_id"], "observation_type": "audit_log"}
            changed = (await client.post("/v1/observe", json=body)).json()
            assert changed["evidence_source"]["status"] == "unreachable"
            for process in provider.node.running[pod]:
                process.kill()
                process.wait(20)
            for kind in ("audit_log", "resource_state", "state_diff"):
                gone = await client.post("/v1/observe", json={**body, "observation_type": kind})
                assert (gone.status_code, gone.json()["evidence_source"]["status"]) == (200, "unreachable")
            snapshot = await client.post(
                "/v1/state-snapshot", json={"environment_id": made["environment_id"]}
            )
            assert (snapshot.status_code, snapshot.json()["reason"]) == (500, "EnvironmentFault")


async def test_statuses_can_be_injected_into_what_runs_and_what_is_new(
    programs: Path, short_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        provider = await served.start(stack, programs, short_path, served.nested.free_port())
        async with a_client(provider) as client:
            made = (await client.post("/v1/provision", json=a_request())).json()
            named = {"environment_id": made["environment_id"]}
            state = [
                {"resource": "deployment/api", "namespace": "orders", "status": "CrashLoopBackOff"},
                {"resource": "deployment/jobs", "namespace": "orders", "status": "OOMKilled"},
            ]
            done = await client.post("/v1/inject-state", json={**named, "state": state})
            assert done.json()["status"] == "applied", done.text
            pods = (
                await client.post("/v1/state-snapshot", json={**named, "resources": [{"kind": "pods"}]})
            ).json()
            found = [
                (pod["metadata"]["labels"]["app"], status["state"]["waiting"]["reason"],
                 status["lastState"]["terminated"]["reason"])
                for pod in pods["resources"] for status in pod["status"]["containerStatuses"]
            ]  # fmt: skip
            assert sorted(found) == [
                ("api", "CrashLoopBackOff", "Error"),
                ("api", "CrashLoopBackOff", "Error"),
                ("jobs", "CrashLoopBackOff", "OOMKilled"),
            ]
            odd = [{"resource": "deployment/x", "namespace": "orders", "status": "sideways"}]
            refused = await client.post("/v1/inject-state", json={**named, "state": odd})
            assert (refused.status_code, refused.json()["reason"]) == (422, "ImpossibleState")
            assert "sideways" in refused.json()["error"]


async def test_a_thousand_requests_at_once_are_answered_and_leave_nothing(
    programs: Path, short_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        provider = await served.start(stack, programs, short_path, served.nested.free_port())
        made = await _provisioned(provider)
        limits = httpx.Limits(max_connections=1000)
        before = _open_files()
        async with httpx.AsyncClient(base_url=provider.url, timeout=250, limits=limits) as client:
            answers = await asyncio.gather(*(_one(client, number, made) for number in range(1000)))
        assert {status for status in answers if status not in (200, 400, 404, 413, 422, 429)} == set()
        assert {200, 400, 404, 413, 422} <= {*answers}
        await asyncio.sleep(1.5)
        assert _open_files() <= before + 20
        assert len(provider.kube.of(kinds.POD)) == 1


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def _provisioned(provider: Any) -> str:
    async with a_client(provider) as client:
        return str((await client.post("/v1/provision", json=a_request())).json()["environment_id"])


async def _one(client: httpx.AsyncClient, number: int, environment_id: str) -> int:
    observe = {"environment_id": environment_id, "observation_type": "audit_log"}
    impossible = a_request(environment={"state": [{"resource": "deployment/x", "status": "running", "image": ""},
                                                  {"resource": "teapot/x"}]})  # fmt: skip
    content = {
        0: json.dumps({**observe, "environment_id": "nobody"}),
        1: "{",
        2: json.dumps(impossible),
        3: "x" * (9 * 2**20) if number < 40 else "[]",
        4: json.dumps(observe),
    }[number % 5]
    path = "/v1/provision" if number % 5 == 2 else "/v1/observe"
    try:
        return (await client.post(path, content=content)).status_code
    except httpx.NetworkError:
        # Whoever sends on after the refusal may find the connection closed.
        assert number % 5 == 3
        return 413
