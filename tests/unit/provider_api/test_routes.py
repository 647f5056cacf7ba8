from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from aiohttp import streams, web
from aiohttp.test_utils import make_mocked_request

from oasis_operator.provider_api import routes
from oasis_operator.provider_api.authentication import Anyone, FixedToken
from oasis_operator.provider_api.routes import MAX_BODY_BYTES, Api, route_of
from oasis_operator.wire.provider import Route

if TYPE_CHECKING:
    from kit.serving import Provider


class Told:
    """A conformance answer of one word."""

    async def answer(self, identifier: str) -> dict[str, Any]:
        return {"profile": identifier}


def an_api(provider: Provider, authentication: Any = None) -> Api:
    return Api(provider.service, Told(), authentication or Anyone())


async def ask(api: Api, method: str, path: str, body: Any = b"", **headers: str) -> tuple[int, Any]:
    answer = await api.handle(a_request(method, path, body, **headers))
    assert isinstance(answer, web.Response)
    assert answer.content_type == "application/json"
    return answer.status, json.loads(answer.text or "")


def a_request(method: str, path: str, body: Any = b"", **headers: str) -> web.Request:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    payload = streams.StreamReader(Mock(_reading_paused=False), 2**16, loop=asyncio.get_running_loop())
    payload.feed_data(data)
    payload.feed_eof()
    headers.setdefault("Content-Length", str(len(data)))
    headers = {name: value for name, value in headers.items() if value}
    transport = Mock(is_closing=lambda: False)
    return make_mocked_request(
        method, path, headers=headers, payload=payload, transport=transport, client_max_size=MAX_BODY_BYTES
    )


PROVISION = {
    "scenario_id": "s-1",
    "environment": {"state": []},
    "agent": {"mode": "autonomous", "scope": {"namespaces": ["orders"]}},
}


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/v1/provision", Route.PROVISION),
        ("//v1/provision", Route.PROVISION),
        ("/v1//state-snapshot/", Route.STATE_SNAPSHOT),
        ("/observe", Route.OBSERVE),
        ("//teardown", Route.TEARDOWN),
        ("/v2/provision", None),
        ("/v1/provision/more", None),
        ("/v1/v1/provision", None),
        ("/", None),
    ],
)
def test_paths_are_taken_with_and_without_version_and_with_any_slashes(
    path: str, route: Route | None
) -> None:
    assert route_of(path) is route


async def test_an_environment_goes_through_all_its_routes(provider: Provider) -> None:
    api = an_api(provider)
    status, made = await ask(api, "POST", "//v1/provision", {**PROVISION, "member_of_nobody": 1})
    assert (status, made["status"]) == (200, "ready")
    named = {"environment_id": made["environment_id"]}
    for path, more, member in (
        ("/v1/state-snapshot", {}, "resources"),
        ("/v1/inject-state", {"state": [{"kind": "configmap", "name": "x", "spec": {"data": {}}}]}, "status"),
        ("/v1/observe", {"observation_type": "audit_log"}, "evidence_source"),
        ("/v1/teardown", {}, "status"),
    ):
        status, answer = await ask(api, "POST", path, {**named, **more})
        assert status == 200
        assert member in answer
    assert provider.live.injected == [{"resource": "configmap/x", "data": {}}]
    assert await ask(api, "GET", "/v1/conformance?profile=p") == (200, {"profile": "p"})


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "reason"),
    [
        ("POST", "/v1/observe", b"{", 400, "InvalidRequest"),
        ("POST", "/v1/observe", b"\xff\xfe", 400, "InvalidRequest"),
        ("POST", "/v1/observe", [], 400, "InvalidRequest"),
        ("POST", "/v1/observe", {"environment_id": ""}, 400, "InvalidRequest"),
        ("POST", "/v1/observe", {"environment_id": "x", "observation_type": "tea"}, 400, "InvalidRequest"),
        ("POST", "/v1/observe", {"environment_id": "x", "observation_type": "audit_log"}, 404, "UnknownEnvironment"),
        ("POST", "/v1/provision", {"scenario_id": "x"}, 400, "InvalidRequest"),
        ("POST", "/v1/provision", {**PROVISION, "tier": 2}, 422, "ImpossibleState"),
        ("GET", "/v1/conformance", b"", 400, "InvalidRequest"),
        ("GET", "/v1/conformance?profile=" + "x" * 300, b"", 400, "InvalidRequest"),
        ("GET", "/v1/observe", b"", 405, "UnknownRoute"),
        ("GET", "/metrics", b"", 404, "UnknownRoute"),
        ("POST", "/v1/observe", b"[" * 100_000, 400, "InvalidRequest"),
    ],
)  # fmt: skip
async def test_what_cannot_be_answered_is_refused_with_a_reason_and_a_sentence(
    provider: Provider, method: str, path: str, body: Any, status: int, reason: str
) -> None:
    found, answer = await ask(an_api(provider), method, path, body)
    assert (found, answer["reason"], answer["status"]) == (status, reason, "error")
    assert answer["error"]


@pytest.mark.parametrize("declared", [True, False], ids=["by its length", "by what comes"])
async def test_a_body_over_the_bound_is_refused_and_the_connection_closed(
    provider: Provider, declared: bool
) -> None:
    size = MAX_BODY_BYTES + 1
    headers = {"Content-Length": str(100 * 2**20) if declared else ""}
    request = a_request("POST", "/v1/provision", b"x" if declared else b" " * size, **headers)
    if not declared:
        assert not request.content_length
    answer = await an_api(provider).handle(request)
    assert answer.status == 413
    assert answer.keep_alive is False


async def test_ten_thousand_entries_are_refused_by_what_is_wrong_and_not_by_a_crash(
    provider: Provider,
) -> None:
    state = [{"resource": f"teapot/t-{number}"} for number in range(10_000)]
    body = {**PROVISION, "environment": {"state": state}}
    status, answer = await ask(an_api(provider), "POST", "/v1/provision", body)
    assert (status, answer["reason"]) == (422, "ImpossibleState")
    assert "10000 entries" in answer["error"]
    state.append({"resource": "teapot/x"})
    status, answer = await ask(an_api(provider), "POST", "/v1/provision", body)
    assert (status, answer["reason"]) == (400, "InvalidRequest")


async def test_nobody_is_read_from_who_may_not_ask(provider: Provider) -> None:
    api = an_api(provider, FixedToken(lambda: "right\n"))
    for header in ("", "Bearer wrong", "Basic right", "right"):
        request = a_request("POST", "/v1/provision", PROVISION, Authorization=header)
        request.read = Mock(side_effect=AssertionError("the body was read"))  # type: ignore[method-assign]
        answer = await api.handle(request)
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    status, _ = await ask(api, "POST", "/v1/provision", PROVISION, Authorization="bearer right")
    assert status == 200


async def test_an_environment_that_nobody_learns_of_is_torn_down_again(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "is_gone", lambda request: True)
    await ask(an_api(provider), "POST", "/v1/provision", PROVISION)
    assert provider.left() == []
    # Whoever proposed a name may come back for it.
    await ask(an_api(provider), "POST", "/v1/provision", {**PROVISION, "environment_id": "mine"})
    assert len(provider.policies()) == 1


async def test_a_body_that_does_not_come_is_given_up(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "_BODY_SECONDS", 0.02)
    payload = streams.StreamReader(Mock(_reading_paused=False), 2**16, loop=asyncio.get_running_loop())
    request = make_mocked_request("POST", "/v1/observe", payload=payload, headers={"Content-Length": "9"})
    answer = await an_api(provider).handle(request)
    assert answer.status == 400


async def test_a_bug_of_ours_is_told_without_its_words(provider: Provider) -> None:
    class Broken:
        async def answer(self, identifier: str) -> dict[str, Any]:
            raise RuntimeError("a secret of ours")

    api = Api(provider.service, Broken(), Anyone())
    status, answer = await ask(api, "GET", "/v1/conformance?profile=p")
    assert (status, answer["reason"]) == (500, "EnvironmentFault")
    assert "secret" not in answer["error"]
