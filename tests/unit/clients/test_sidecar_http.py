from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from oasis_operator import errors
from oasis_operator.clients import sidecar_http
from oasis_operator.clients.adapter_http import HttpAdapter
from oasis_operator.clients.pki import run_secret_data
from oasis_operator.clients.probe_http import HttpProbe
from oasis_operator.ports.sidecars import Access

if TYPE_CHECKING:
    from collections.abc import Callable

CA = base64.b64decode(run_secret_data(datetime(2026, 1, 5, tzinfo=UTC), timedelta(hours=1))["ca.crt"])
ACCESS = Access("10.1.0.9", CA, "secret-token")


def channel(handler: Callable[[httpx.Request], httpx.Response]) -> sidecar_http.Channel:
    return sidecar_http.Channel(httpx.MockTransport(handler))


def answers(status: int, body: Any) -> sidecar_http.Channel:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return channel(lambda _: httpx.Response(status, content=content))


async def test_requests_carry_the_runs_token_and_address() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"status": "none"})

    await HttpProbe(channel(handler)).stopping(ACCESS)
    assert str(seen[0].url) == "https://10.1.0.9:8443/v1/stop"
    assert seen[0].headers["Authorization"] == "Bearer secret-token"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (500, {"reason": "InternalError"}, errors.Transient),
        (503, b"busy", errors.Transient),
        (409, {"reason": "AnotherRun", "message": "taken"}, errors.ProviderFault),
        (401, b"", errors.ProviderFault),
        (200, b"<html>", errors.ProviderFault),
        (200, [1], errors.ProviderFault),
        (200, {"status": "sleeping"}, errors.ProviderFault),
    ],
)
async def test_answers_outside_the_contract_are_faults_of_ours(
    status: int, body: Any, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        await HttpProbe(answers(status, body)).preparation(ACCESS)


async def test_no_answer_is_worth_a_retry() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(errors.Transient):
        await HttpProbe(channel(refuse)).health(ACCESS)


async def test_an_environment_that_is_not_up_says_why() -> None:
    assert await HttpProbe(answers(200, {"status": "ok"})).health(ACCESS) is None
    assert (
        await HttpProbe(answers(503, {"message": "nodes are not Ready"})).health(ACCESS)
        == "nodes are not Ready"
    )


async def test_an_answer_without_end_is_cut_off() -> None:
    with pytest.raises(errors.ProviderFault, match="exceeds"):
        await HttpProbe(answers(200, b"x" * (sidecar_http.JSON_LIMIT + 1))).preparation(ACCESS)


def pieces_of(content: bytes, digest: str | None = None) -> sidecar_http.Channel:
    def handler(request: httpx.Request) -> httpx.Response:
        offset, limit = int(request.url.params["offset"]), int(request.url.params["limit"])
        shown = digest or f"sha256:{hashlib.sha256(content).hexdigest()}"
        headers = {"X-Total-Size": str(len(content)), "X-Digest": shown}
        return httpx.Response(200, content=content[offset : offset + limit], headers=headers)

    return channel(handler)


async def test_evidence_is_fetched_in_pieces_and_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidecar_http, "PIECE_BYTES", 4)
    content = b"0123456789"
    digest = hashlib.sha256(content).hexdigest()
    assert await HttpProbe(pieces_of(content)).evidence(ACCESS, 10, digest) == content
    with pytest.raises(errors.ProviderFault, match="digest"):
        await HttpProbe(pieces_of(content)).evidence(ACCESS, 10, "0" * 64)
    with pytest.raises(errors.ProviderFault, match="ends after"):
        await HttpProbe(pieces_of(content)).evidence(ACCESS, 11, digest)


async def test_evidence_larger_than_allowed_is_not_fetched() -> None:
    with pytest.raises(errors.ProviderFault, match="limit"):
        await HttpProbe(pieces_of(b"")).evidence(ACCESS, sidecar_http.EVIDENCE_LIMIT + 1, "")


async def test_a_transcript_is_verified_against_what_was_announced() -> None:
    assert await HttpAdapter(pieces_of(b'{"a": 1}')).transcript(ACCESS) == b'{"a": 1}'
    with pytest.raises(errors.ProviderFault, match="digest"):
        await HttpAdapter(pieces_of(b'{"a": 1}', "sha256:" + "0" * 64)).transcript(ACCESS)


async def test_an_agent_that_does_not_say_who_it_is_is_the_agents_fault() -> None:
    with pytest.raises(errors.AgentFault, match="AgentTimeout"):
        await HttpAdapter(answers(502, {"reason": "AgentTimeout", "message": "slow"})).identity(
            ACCESS, {"kind": "http", "url": "http://a"}
        )


@pytest.mark.parametrize("values", [None, [], {"ref": 1}])
async def test_containment_values_must_be_texts(values: Any) -> None:
    with pytest.raises(errors.ProviderFault):
        await HttpProbe(answers(200, {"values": values})).containment(ACCESS)


def test_a_token_never_shows() -> None:
    assert "secret-token" not in repr(ACCESS)
