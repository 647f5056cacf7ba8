"""Every way in which a provider can fail, by its reason; and what a good one is asked."""

from __future__ import annotations

import json
import ssl
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from kit.provider import PROFILE, TOKEN, SmallProvider
from oasis_operator import errors
from oasis_operator.clients import provider_http
from oasis_operator.clients.provider_http import HttpProvider
from oasis_operator.ports.provider import Fault
from oasis_operator.resources.provider_access import ProviderReach
from oasis_operator.wire.observation import ObserveRequest, SourceStatus
from oasis_operator.wire.probe_request import AgentPart
from oasis_operator.wire.provider import InjectRequest, ProvisionRequest, ResourceRef, SnapshotRequest

if TYPE_CHECKING:
    from collections.abc import Callable

REACH = ProviderReach(
    "https://provider.example/base/", token=TOKEN, provision_seconds=5.0, request_seconds=5.0
)
REQUEST = ProvisionRequest(
    "s-1",
    ({"resource": "namespace/shop"}, {"resource": "configmap/c", "namespace": "shop", "data": {"a": "b"}}),
    AgentPart("autonomous", ("kubectl",), {"namespaces": ["shop"]}),
    environment_id="w-1",
)
OBSERVE = ObserveRequest("e-1", "audit_log", {})


def speaks(handler: Callable[[httpx.Request], httpx.Response]) -> HttpProvider:
    return HttpProvider(httpx.MockTransport(handler))


def answers(status: int, body: Any, **headers: str) -> HttpProvider:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return speaks(lambda _: httpx.Response(status, content=content, headers=headers))


def raises(error: Exception) -> HttpProvider:
    def handler(_request: httpx.Request) -> httpx.Response:
        raise error

    return speaks(handler)


async def reason_of(call: Any) -> str:
    with pytest.raises(errors.ProviderFault) as caught:
        await call
    assert caught.value.message
    return caught.value.reason


async def test_a_whole_life_of_an_environment() -> None:
    provider = SmallProvider(token=TOKEN)
    http = HttpProvider(provider.transport())
    reach = ProviderReach("http://provider.example", token=TOKEN)
    assert (await http.conformance(reach, PROFILE))["supported"] is True
    made = await http.provision(reach, REQUEST)
    assert made.environment_id == "w-1"
    again = await http.provision(reach, REQUEST)
    assert again == made
    state = await http.snapshot(reach, SnapshotRequest("w-1", (ResourceRef("ConfigMap", "c", "shop"),)))
    assert [one["name"] for one in state.resources] == ["c"]
    await http.inject(reach, InjectRequest("w-1", ({"resource": "namespace/late"},)))
    provider.acts("w-1", "delete", "pods", "x", "shop")
    seen = await http.observe(reach, ObserveRequest("w-1", "audit_log", {}))
    assert seen.evidence_source.status is SourceStatus.AVAILABLE
    assert [one["verb"] for one in seen.data["entries"]] == ["delete"]
    await http.teardown(reach, "w-1")
    await http.teardown(reach, "w-1")
    assert await reason_of(http.observe(reach, ObserveRequest("w-1", "audit_log", {}))) == Fault.REFUSED


async def test_requests_carry_token_and_type_and_go_below_the_base_url() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"status": "destroyed"})

    await speaks(handler).teardown(REACH, "e-1")
    assert str(seen[0].url) == "https://provider.example/base/v1/teardown"
    assert seen[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert seen[0].headers["content-type"] == "application/json"
    assert json.loads(seen[0].content) == {"environment_id": "e-1"}


@pytest.mark.parametrize(
    ("provider", "reason"),
    [
        (raises(httpx.ConnectError("refused")), Fault.UNREACHABLE),
        (raises(httpx.ConnectTimeout("slow")), Fault.UNREACHABLE),
        (raises(ssl.SSLError("bad certificate")), Fault.UNREACHABLE),
        (raises(httpx.ReadTimeout("slow")), Fault.TIMEOUT),
        (raises(httpx.RemoteProtocolError("hung up")), Fault.BROKEN),
        (raises(httpx.ReadError("reset")), Fault.BROKEN),
        (answers(302, b"", location="https://elsewhere.example/"), Fault.REDIRECTED),
        (answers(307, b"", location="https://elsewhere.example/"), Fault.REDIRECTED),
        (answers(202, {"environment_id": "e-1"}), Fault.UNFINISHED),
        (answers(204, b""), Fault.FAILED),
        (answers(400, {"error": "no"}), Fault.REFUSED),
        (answers(401, b""), Fault.REFUSED),
        (answers(404, b"<html>"), Fault.REFUSED),
        (answers(500, {"error": {"message": "broke", "code": "X"}}), Fault.FAILED),
        (answers(503, b""), Fault.FAILED),
        (answers(200, b"<html>"), Fault.MALFORMED),
        (answers(200, b"[1]"), Fault.MALFORMED),
        (answers(200, b"[" * 100_000), Fault.MALFORMED),
        (answers(200, {}), Fault.MALFORMED),
    ],
)
async def test_every_fault_of_an_observation_has_its_reason(provider: HttpProvider, reason: Fault) -> None:
    assert await reason_of(provider.observe(REACH, OBSERVE)) == reason


OBSERVATION = {
    "environment_id": "e-1",
    "timestamp": "2026-01-05T12:00:00Z",
    "observation_type": "audit_log",
    "data": {"entries": []},
    "evidence_source": {"type": "audit_log_file", "status": "available"},
}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"environment_id": "e-2"}, Fault.WRONG_ENVIRONMENT),
        ({"environment_id": ""}, Fault.WRONG_ENVIRONMENT),
        ({"observation_type": "resource_state"}, Fault.MALFORMED),
        ({"evidence_source": None}, Fault.MALFORMED),
        ({"evidence_source": {"type": "", "status": "available"}}, Fault.MALFORMED),
        ({"data": None}, Fault.MALFORMED),
        ({"data": []}, Fault.MALFORMED),
    ],
)
async def test_an_observation_of_something_else_is_none(changes: dict[str, Any], reason: Fault) -> None:
    provider = answers(200, {**OBSERVATION, **changes})
    assert await reason_of(provider.observe(REACH, OBSERVE)) == reason


@pytest.mark.parametrize("status", ["unreachable", "partial", "empty_window", "AVAILABLE"])
async def test_a_source_is_available_by_that_word_alone(status: str) -> None:
    provider = answers(200, {**OBSERVATION, "evidence_source": {"type": "audit_log_file", "status": status}})
    seen = await provider.observe(REACH, OBSERVE)
    assert seen.evidence_source.status is SourceStatus.UNREACHABLE


@pytest.mark.parametrize(
    ("status", "body", "reason", "torn"),
    [
        (200, {"environment_id": "e-9", "status": "failed", "error": "no room"}, Fault.NOT_DONE, ["e-9"]),
        (200, {"environment_id": "e-9", "status": "error"}, Fault.NOT_DONE, ["e-9"]),
        (200, {"environment_id": "e-9", "status": "pending"}, Fault.NOT_DONE, ["e-9"]),
        (200, {"environment_id": "e-9"}, Fault.NOT_DONE, ["e-9"]),
        (200, {"environment_id": "e-9", "status": "ready", "error": "half"}, Fault.NOT_DONE, ["e-9"]),
        (200, {"environment_id": "", "status": "ready"}, Fault.WRONG_ENVIRONMENT, []),
        (200, {"status": "ready"}, Fault.WRONG_ENVIRONMENT, []),
        (
            200,
            {"environment_id": "e-9", "status": "ready", "agent_credentials": "x"},
            Fault.MALFORMED,
            ["e-9"],
        ),
        (202, {"environment_id": "e-9", "status": "pending"}, Fault.UNFINISHED, ["e-9"]),
        (500, {"environment_id": "e-9", "error": "broke on the way"}, Fault.FAILED, ["e-9"]),
        (409, {"environment_id": "e-9", "error": "somebody else's"}, Fault.REFUSED, []),
    ],
)
async def test_a_provision_that_is_not_ready_is_a_fault_and_what_it_left_is_torn_down(
    status: int, body: dict[str, Any], reason: Fault, torn: list[str]
) -> None:
    calls: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/teardown"):
            calls.append(json.loads(request.content)["environment_id"])
            return httpx.Response(200, json={"status": "destroyed"})
        return httpx.Response(status, json=body)

    assert await reason_of(speaks(handler).provision(REACH, REQUEST)) == reason
    assert calls == torn


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (200, {"status": "error", "error": "busy"}, Fault.NOT_DONE),
        (200, {"status": "ok"}, Fault.NOT_DONE),
        (200, {}, Fault.NOT_DONE),
        (500, {}, Fault.FAILED),
        (403, {}, Fault.REFUSED),
    ],
)
async def test_a_teardown_that_was_not_made_is_a_fault(status: int, body: Any, reason: Fault) -> None:
    assert await reason_of(answers(status, body).teardown(REACH, "e-1")) == reason


@pytest.mark.parametrize("status", [404, 410, 204])
async def test_what_is_gone_already_is_torn_down(status: int) -> None:
    await answers(status, b"").teardown(REACH, "e-1")


async def test_an_injection_that_was_not_applied_is_a_fault() -> None:
    provider = answers(200, {"status": "ready"})
    assert await reason_of(provider.inject(REACH, InjectRequest("e-1", ()))) == Fault.NOT_DONE


async def test_an_answer_beyond_the_limit_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_http, "_SMALL", 1000)
    provider = answers(200, b'"' + b"x" * 2000 + b'"')
    assert await reason_of(provider.conformance(REACH, PROFILE)) == Fault.TOO_LARGE


async def test_a_conformance_answer_other_than_200_is_none() -> None:
    assert await reason_of(answers(201, {}).conformance(REACH, PROFILE)) == Fault.FAILED


async def test_a_refused_token_names_its_remedy_and_is_never_shown() -> None:
    with pytest.raises(errors.ProviderFault, match=r"tokenRef") as caught:
        await answers(401, {"error": "who are you"}).observe(REACH, OBSERVE)
    assert TOKEN not in caught.value.message
    assert TOKEN not in repr(REACH)


async def test_a_ca_that_is_no_pem_is_named() -> None:
    reach = ProviderReach("https://provider.example", b"not a certificate")
    with pytest.raises(errors.ProviderFault, match="PEM"):
        await HttpProvider().conformance(reach, PROFILE)


async def test_a_provision_has_longer_than_other_requests() -> None:
    seen: list[float] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.extensions["timeout"]["read"])
        return httpx.Response(500)

    reach = ProviderReach("http://p", provision_seconds=300.0, request_seconds=7.0)
    await reason_of(speaks(handler).provision(reach, REQUEST))
    await reason_of(speaks(handler).observe(reach, OBSERVE))
    assert seen == [300.0, 7.0]
