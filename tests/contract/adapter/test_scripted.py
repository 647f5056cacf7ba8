from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from contract.adapter.kit import (
    AGENT_TOKEN,
    Adapter,
    ApiServer,
    a_certificate,
    an_adapter,
    an_api_server,
    closed_port,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PODS = "/api/v1/namespaces/shop/pods"


async def play(adapter: Adapter, api: ApiServer, *steps: dict[str, Any], **script: Any) -> dict[str, Any]:
    await adapter.release(credential=api.credential)
    changes = {"timeout_seconds": script.pop("timeout_seconds", 5)}
    status, answer = await adapter.start({"kind": "scripted", "steps": list(steps), **script}, **changes)
    assert status == 202, answer
    return await adapter.transcript()


def request(method: str, path: str, **members: Any) -> dict[str, Any]:
    return {"request": {"method": method, "path": path, **members}}


async def test_steps_are_sent_with_the_agents_credential_and_recorded(tmp_path: Path) -> None:
    deployment = "/apis/apps/v1/namespaces/shop/deployments/web"
    objects = {PODS: {"kind": "PodList", "items": []}, deployment: {"kind": "Deployment"}}
    patch = {"spec": {"replicas": 0}}
    async with an_api_server(tmp_path, objects) as api, an_adapter(tmp_path) as adapter:
        transcript = await play(
            adapter,
            api,
            request("get", PODS, query={"limit": 5, "watch": False, "labelSelector": "app=a b&c"}),
            {"pause_seconds": 0.01},
            request("PATCH", deployment, body=patch),
            request("PATCH", deployment, body=patch, content_type="application/merge-patch+json"),
            answer="done",
            reasoning="as told",
        )
    assert (transcript["outcome"], transcript["final_answer"], transcript["reasoning"]) == (
        "answered",
        "done",
        "as told",
    )
    assert api.asked == [
        ("GET", f"{PODS}?limit=5&watch=false&labelSelector=app%3Da+b%26c", "", None),
        ("PATCH", deployment, "application/strategic-merge-patch+json", patch),
        ("PATCH", deployment, "application/merge-patch+json", patch),
    ]
    first, second, _ = transcript["actions"]
    assert (first["id"], first["tool"], first["error"]) == ("step-1", "kubernetes-api", "")
    assert first["arguments"] == {
        "method": "GET",
        "path": PODS,
        "query": {"limit": "5", "watch": "false", "labelSelector": "app=a b&c"},
    }
    sent = json.dumps(objects[PODS]).encode()
    assert json.loads(first["result"]) == {
        "status": 200,
        "size_bytes": len(sent),
        "sha256": hashlib.sha256(sent).hexdigest(),
        "body": sent.decode(),
    }
    assert second["id"] == "step-3"
    assert second["arguments"] == {"method": "PATCH", "path": deployment, "body": patch}
    assert AGENT_TOKEN not in json.dumps(transcript)


async def test_an_error_answer_is_a_result_and_the_script_goes_on(tmp_path: Path) -> None:
    async with an_api_server(tmp_path, {PODS: {}}) as api, an_adapter(tmp_path) as adapter:
        transcript = await play(adapter, api, request("DELETE", "/api/v1/namespaces/x"), request("GET", PODS))
    first, second = transcript["actions"]
    assert first["error"] == "status 404"
    assert json.loads(first["result"])["status"] == 404
    assert second["error"] == ""
    assert transcript["outcome"] == "answered"


async def test_a_script_may_stop_at_an_error(tmp_path: Path) -> None:
    async with an_api_server(tmp_path, {PODS: {}}) as api, an_adapter(tmp_path) as adapter:
        transcript = await play(
            adapter, api, request("GET", "/none"), request("GET", PODS), stop_on_error=True, answer="so far"
        )
    assert [action["error"] for action in transcript["actions"]] == ["status 404"]
    assert (transcript["outcome"], transcript["final_answer"]) == ("answered", "so far")


async def test_an_idle_script_answers_without_a_request(tmp_path: Path) -> None:
    async with an_api_server(tmp_path) as api, an_adapter(tmp_path) as adapter:
        transcript = await play(adapter, api)
    assert (transcript["outcome"], transcript["actions"], api.asked) == ("answered", [], [])
    assert transcript["delivered_at"] is not None


async def test_a_server_that_the_authority_did_not_sign_is_not_spoken_to(tmp_path: Path) -> None:
    other = a_certificate(tmp_path, "other", "kubernetes.default.svc")
    async with an_api_server(tmp_path, {PODS: {}}) as api, an_adapter(tmp_path) as adapter:
        await adapter.release(credential={**api.credential, "ca": other.pem})
        await adapter.start({"kind": "scripted", "steps": [request("GET", PODS)]})
        transcript = await adapter.transcript()
    assert api.asked == []
    assert transcript["actions"][0]["error"] == "ClientConnectorCertificateError"
    assert transcript["actions"][0]["result"] == ""


async def test_a_server_of_another_name_is_not_spoken_to(tmp_path: Path) -> None:
    async with an_api_server(tmp_path, {PODS: {}}) as api, an_adapter(tmp_path) as adapter:
        credential = {**api.credential, "server": f"https://localhost:{api.port}"}
        await adapter.release(credential=credential)
        await adapter.start({"kind": "scripted", "steps": [request("GET", PODS)]})
        transcript = await adapter.transcript()
    assert (api.asked, transcript["actions"][0]["error"]) == ([], "ClientConnectorCertificateError")


async def test_a_refused_connection_is_recorded(tmp_path: Path) -> None:
    async with an_api_server(tmp_path) as api, an_adapter(tmp_path) as adapter:
        await adapter.release(
            credential={**api.credential, "server": f"https://127.0.0.1:{await closed_port()}"}
        )
        await adapter.start({"kind": "scripted", "steps": [request("GET", PODS)]})
        transcript = await adapter.transcript()
    assert transcript["actions"][0]["error"] == "ClientConnectorError"
    assert transcript["outcome"] == "answered"


async def test_steps_so_far_survive_the_time_limit(tmp_path: Path) -> None:
    async def watch(incoming: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(incoming)
        await response.write(b'{"type":"ADDED"}\n')
        await asyncio.sleep(30)
        return response

    async with an_api_server(tmp_path, {PODS: {}, "/watch": watch}) as api, an_adapter(tmp_path) as adapter:
        transcript = await play(
            adapter,
            api,
            request("GET", PODS),
            request("GET", "/watch"),
            timeout_seconds=0.5,
            answer="never said",
        )
    assert transcript["outcome"] == "timeout"
    assert [action["id"] for action in transcript["actions"]] == ["step-1"]
    assert transcript["final_answer"] == ""


async def test_a_request_without_end_is_ended_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def watch(incoming: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(incoming)
        await response.write(b'{"type":"ADDED"}\n')
        await asyncio.sleep(30)
        return response

    monkeypatch.setattr("oasis_operator.sidecar.adapter.scripted._REQUEST_SECONDS", 0.3)
    async with an_api_server(tmp_path, {"/watch": watch, PODS: {}}) as api, an_adapter(tmp_path) as adapter:
        transcript = await play(adapter, api, request("GET", "/watch"), request("GET", PODS))
    first, second = transcript["actions"]
    assert first["error"] == "no end within 0.3 s"
    assert json.loads(first["result"])["body"] == '{"type":"ADDED"}\n'
    assert second["error"] == ""


async def test_a_large_answer_is_kept_as_an_excerpt_with_its_digest(tmp_path: Path) -> None:
    items = {"items": ["x" * 100_000]}
    async with an_api_server(tmp_path, {PODS: items}) as api, an_adapter(tmp_path) as adapter:
        transcript = await play(adapter, api, request("GET", PODS))
    result = json.loads(transcript["actions"][0]["result"])
    sent = json.dumps(items).encode()
    assert (result["size_bytes"], result["sha256"]) == (len(sent), hashlib.sha256(sent).hexdigest())
    assert result["body"] == sent.decode()[:2048]


async def test_requests_need_access(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        await adapter.release()
        await adapter.start({"kind": "scripted", "steps": [request("GET", PODS)]})
        transcript = await adapter.transcript()
    assert (transcript["outcome"], transcript["delivered_at"]) == ("not_delivered", None)


async def test_a_query_given_as_text_or_in_the_path_is_sent_as_it_stands(tmp_path: Path) -> None:
    objects = {PODS: {"kind": "PodList", "items": []}}
    async with an_api_server(tmp_path, objects) as api, an_adapter(tmp_path) as adapter:
        transcript = await play(
            adapter,
            api,
            request("GET", PODS, query="limit=5&labelSelector=app%3Da%20b,c%3Dd"),
            request("GET", f"{PODS}?limit=5&labelSelector=app%3Da%20b,c%3Dd"),
        )
    assert [asked[1] for asked in api.asked] == [f"{PODS}?limit=5&labelSelector=app%3Da%20b,c%3Dd"] * 2
    assert [action["error"] for action in transcript["actions"]] == ["", ""]
    assert [action["arguments"] for action in transcript["actions"]] == [
        {"method": "GET", "path": PODS, "query": {"limit": "5", "labelSelector": "app=a b,c=d"}}
    ] * 2
