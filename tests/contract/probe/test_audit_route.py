"""The probe's log as the operator fetches it: the probe's own routes behind the operator's own client."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from aiohttp.test_utils import TestServer

from kit.builders.evidence import deployment
from oasis_operator import errors
from oasis_operator.clients.pki import run_secret_data
from oasis_operator.clients.probe_http import HttpProbe
from oasis_operator.clients.sidecar_http import Channel
from oasis_operator.clients.stream_store import FileStreams
from oasis_operator.ports.sidecars import Access
from oasis_operator.sidecar.probe.credentials import Issued
from oasis_operator.sidecar.probe.follow import Follower
from oasis_operator.sidecar.probe.record import Boot, Record
from oasis_operator.sidecar.probe.server import build_app
from oasis_operator.sidecar.probe.service import Probe
from oasis_operator.sidecar.probe.settings import ProbeSettings
from oasis_operator.wire.audit_log import LineChain
from oasis_operator.wire.probe import MAX_PIECE_BYTES
from oasis_operator.world.principal import Principal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TOKEN = "token-of-the-probe"
CA = base64.b64decode(run_secret_data(datetime(2026, 1, 5, tzinfo=UTC), timedelta(hours=1))["ca.crt"])
ACCESS = Access("10.1.0.9", CA, TOKEN)
BEFORE, LINES = b"before the run\n", b"opening\nread\n"
NOON = "2026-11-30T08:00:00.000000Z"


class Around(httpx.AsyncBaseTransport):
    """Takes requests for a pod to a server of the test, without TLS."""

    def __init__(self, server: TestServer) -> None:
        self._server = server

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self._server.port)
        async with httpx.AsyncHTTPTransport() as inner:
            answer = await inner.handle_async_request(request)
            content = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)


class Environment:
    """A probe whose run has begun, or not yet, and its log."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "audit.log"
        self.log.write_bytes(BEFORE + LINES)
        self.probe = Probe(ProbeSettings(folder, folder, "https://127.0.0.1:1", "127.0.0.1", 0, 3))
        self.probe._boot = Boot("boot-1", "v1.34.4", 3, "", anonymous_auth=True)
        self.server = TestServer(build_app(self.probe, TOKEN))

    def begin(self) -> None:
        issued = Issued(Principal("kube-public", "caretaker", "shop", ()), "token", "JTI=1")
        record = Record(
            "open", len(BEFORE), NOON, (deployment(),), (), issued, 1, NOON, Follower(self.log, len(BEFORE))
        )
        self.probe._preparation = SimpleNamespace(record=record)  # type: ignore[assignment]  # the rest is unused

    def write(self, content: bytes) -> None:
        with self.log.open("ab") as file:
            file.write(content)

    def client(self) -> HttpProbe:
        return HttpProbe(Channel(Around(self.server)))


@pytest.fixture
async def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Environment]:
    made = Environment(tmp_path)
    monkeypatch.setattr(made.probe, "start", lambda: None)
    async with made.server:
        yield made


def head_of(content: bytes) -> str:
    chain = LineChain()
    chain.add(content)
    return chain.head


async def fetched(client: HttpProbe, streams: FileStreams) -> bytes:
    """Fetch the log as the operator does, until there is no more."""
    while True:
        size = await streams.size("abcdefghij")
        piece = await client.audit(ACCESS, size, MAX_PIECE_BYTES)
        await streams.append("abcdefghij", size, piece.content, piece.head)
        if size + len(piece.content) >= piece.size_bytes:
            return await asyncio.to_thread(Path(streams.path("abcdefghij")).read_bytes)


async def test_whole_lines_come_with_their_size_and_head(environment: Environment) -> None:
    environment.begin()
    environment.write(b"cut of")
    piece = await environment.client().audit(ACCESS, 0, MAX_PIECE_BYTES)
    assert (piece.content, piece.size_bytes, piece.head) == (LINES, len(LINES), head_of(LINES))
    piece = await environment.client().audit(ACCESS, 0, 10)
    assert (piece.content, piece.size_bytes, piece.head) == (b"opening\n", len(LINES), head_of(b"opening\n"))


async def test_a_log_of_many_pieces_and_one_long_line_arrives_whole(
    environment: Environment, tmp_path: Path
) -> None:
    environment.begin()
    streams = FileStreams(tmp_path / "streams")
    await fetched(environment.client(), streams)
    environment.write(b"z" * (MAX_PIECE_BYTES + 7) + b"\n" + b"end\n" * 9)
    log = await fetched(environment.client(), FileStreams(tmp_path / "streams"))
    assert log == environment.log.read_bytes()[len(BEFORE) :]


async def test_a_log_that_was_changed_is_refused_by_name(environment: Environment) -> None:
    environment.begin()
    await environment.client().audit(ACCESS, 0, MAX_PIECE_BYTES)
    environment.log.write_bytes(BEFORE + b"opening\nlist\n")
    with pytest.raises(errors.ProviderFault, match="LogChanged"):
        await environment.client().audit(ACCESS, 0, MAX_PIECE_BYTES)


async def test_a_run_that_has_not_begun_has_no_log(environment: Environment) -> None:
    client = environment.client()
    for call in (lambda: client.audit(ACCESS, 0, 10), lambda: client.beginning(ACCESS)):
        with pytest.raises(errors.ProviderFault, match="not begun"):
            await call()


async def test_the_beginning_names_the_agent_and_says_that_nothing_was_read(environment: Environment) -> None:
    environment.begin()
    part = json.loads(await environment.client().beginning(ACCESS))
    assert part["agent_principal"]["credential_ids"] == ["JTI=1"]
    assert part["window"] == {
        "start": NOON, "end": "", "sentinel": "", "complete": False, "unfinished": [], "fault": "",
    }  # fmt: skip
    assert [item["kind"] for item in part["state"]["before"]] == ["Deployment"]
    assert {part[name]["evidence_source"]["status"] for name in ("audit", "state")} == {"unreachable"}


@pytest.mark.parametrize("query", ["offset=-1", "offset=x", f"limit={MAX_PIECE_BYTES + 1}"])
async def test_a_place_that_is_none_is_refused(environment: Environment, query: str) -> None:
    environment.begin()
    status, _ = await asked(environment, query, TOKEN)
    assert status == 400


async def test_nobody_else_is_given_the_log(environment: Environment) -> None:
    environment.begin()
    assert await asked(environment, "offset=0", "another") == (401, "Unauthorized")


async def asked(environment: Environment, query: str, token: str) -> tuple[int, Any]:
    url = str(environment.server.make_url(f"/v1/audit?{query}"))
    async with httpx.AsyncClient() as client:
        answer = await client.get(url, headers={"Authorization": f"Bearer {token}"})
    return answer.status_code, answer.json().get("reason")
