from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from oasis_operator import errors
from oasis_operator.clients import sidecar_http
from oasis_operator.clients.live_http import HttpLiveEnvironment
from oasis_operator.clients.pki import run_secret_data
from oasis_operator.ports.sidecars import Access
from oasis_operator.wire.live import LiveLog, LiveState, SelfTest, SelfTestRequest
from oasis_operator.wire.probe import PrepareState, PrepareStatus

CA = base64.b64decode(run_secret_data(datetime(2026, 1, 5, tzinfo=UTC), timedelta(hours=1))["ca.crt"])
ACCESS = Access("10.1.0.9", CA, "secret-token")
EVENT = {"auditID": "a", "verb": "list"}


def answering(status: int, body: Any, seen: list[httpx.Request] | None = None) -> HttpLiveEnvironment:
    def handler(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        return httpx.Response(status, json=body)

    return HttpLiveEnvironment(sidecar_http.Channel(httpx.MockTransport(handler)))


async def test_what_the_probe_tells_arrives_whole() -> None:
    seen: list[httpx.Request] = []
    log = LiveLog("then", "now", complete=True, fault="", entries=(EVENT,))
    assert await answering(200, log.to_json(), seen).log(ACCESS) == log
    state = LiveState("now", "then", ({"kind": "A"},), ({"kind": "B"},))
    assert await answering(200, state.to_json(), seen).state(ACCESS) == state
    ready = PrepareStatus(PrepareState.READY)
    assert (await answering(200, ready.to_json(), seen).inject(ACCESS, [{"resource": "x/y"}])) == ready
    request = SelfTestRequest("n", "a", "b", "c", "http://d")
    assert await answering(200, SelfTest(201, 0, 28).to_json(), seen).self_test(ACCESS, request) == SelfTest(
        201, 0, 28
    )
    assert [(one.method, one.url.path) for one in seen] == [
        ("GET", "/v1/live/log"),
        ("GET", "/v1/live/state"),
        ("POST", "/v1/live/inject"),
        ("POST", "/v1/live/self-test"),
    ]
    assert json.loads(seen[2].content) == {"state": [{"resource": "x/y"}]}


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (409, {"reason": "NotReady", "message": "the run has not begun"}, errors.ProviderFault),
        (500, {"reason": "InternalError", "message": "broken"}, errors.Transient),
        (200, {"start": "then"}, errors.ProviderFault),
        (200, {"start": "then", "complete": True, "entries": [1]}, errors.ProviderFault),
    ],
)
async def test_an_answer_outside_the_contract_is_a_fault_and_never_an_empty_log(
    status: int, body: Any, fault: type[errors.OasisError]
) -> None:
    with pytest.raises(fault):
        await answering(status, body).log(ACCESS)
