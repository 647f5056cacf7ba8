"""The exec subresource as an API server speaks it, and what the command line makes of it."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from kubernetes import client

from oasis_operator import errors
from oasis_operator.cli.kubernetes_cluster import KubernetesCluster

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "/api/v1/namespaces/oasis-system/pods/op-1/exec"
SUCCESS = json.dumps({"status": "Success"}).encode()
FAILURE = json.dumps({"status": "Failure", "message": "command terminated with exit code 1"}).encode()
PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]


class Server:
    """Answers one exec request with frames, or with a status."""

    def __init__(self, *frames: bytes, status: int = 0, protocols: list[str] | None = None) -> None:
        self.frames, self.status = frames, status
        self.protocols = PROTOCOLS if protocols is None else protocols
        self.asked: list[Any] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path, request.query, request.headers.get("Authorization")))
        if self.status:
            body = {
                "kind": "Status",
                "message": "pods is forbidden: cannot get pods/exec",
                "reason": "Forbidden",
            }
            return web.json_response(body, status=self.status)
        socket = web.WebSocketResponse(protocols=self.protocols)
        await socket.prepare(request)
        for frame in self.frames:
            await socket.send_bytes(frame)
        await socket.close()
        return socket


@contextmanager
def serving(server: Server) -> Iterator[KubernetesCluster]:
    """Run the server in a thread, since the command line's client is synchronous."""
    loop = asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_get("/{path:.*}", server.handle)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    port = runner.addresses[0][1]
    configuration = client.Configuration()
    configuration.host = f"http://127.0.0.1:{port}"
    configuration.api_key = {"authorization": "Bearer secret"}
    configuration.api_key["BearerToken"] = "Bearer secret"
    try:
        yield KubernetesCluster(client.ApiClient(configuration), "here", "team")
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def read(cluster: KubernetesCluster, limit_bytes: int = 1 << 20) -> bytes:
    return cluster.output_of("oasis-system", "op-1", "operator", ("cat", "/a file"), limit_bytes)


@pytest.mark.parametrize("protocols", [PROTOCOLS, PROTOCOLS[1:]])
def test_the_output_of_a_command_comes_back_byte_for_byte(protocols: list[str]) -> None:
    data = os.urandom(300_000)
    pieces = [b"\x01" + data[at : at + 32_768] for at in range(0, len(data), 32_768)]
    server = Server(b"\x01", *pieces, b"\x02a warning\n", b"\x03" + SUCCESS, protocols=protocols)
    with serving(server) as cluster:
        assert read(cluster) == data
    ((path, query, authorization),) = server.asked
    assert path == PATH
    assert query.getall("command") == ["cat", "/a file"]
    assert (query["container"], query["stdout"], query["stderr"]) == ("operator", "true", "true")
    assert "stdin" not in query
    assert authorization == "Bearer secret"


def test_a_command_that_fails_says_why() -> None:
    frames = (b"\x02cat: /a file: No such file or directory\n", b"\x03" + FAILURE)
    with serving(Server(*frames)) as cluster, pytest.raises(errors.NotReady) as caught:
        read(cluster)
    assert caught.value.message == "run cat in op-1: cat: /a file: No such file or directory"


@pytest.mark.parametrize("last", [(), (b"\x03",), (b"\x03null",), (b"\x03{",)])
def test_a_connection_that_breaks_gives_no_part_of_a_file(last: tuple[bytes, ...]) -> None:
    with serving(Server(b"\x01half", *last)) as cluster, pytest.raises(errors.Transient) as caught:
        read(cluster)
    assert "the connection broke" in caught.value.message


def test_more_than_was_asked_for_is_a_fault() -> None:
    server = Server(b"\x01" + b"x" * 5000, b"\x03" + SUCCESS)
    with serving(server) as cluster, pytest.raises(errors.ProviderFault):
        read(cluster, limit_bytes=1000)


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (403, errors.NotReady, "Forbidden"),
        (404, errors.NotReady, "NotFound"),
        (500, errors.Transient, "ServerError"),
    ],
)
def test_a_refusal_is_the_error_that_it_means(
    status: int, kind: type[errors.OasisError], reason: str
) -> None:
    with serving(Server(status=status)) as cluster, pytest.raises(kind) as caught:
        read(cluster)
    assert caught.value.reason == reason


def test_a_server_that_is_away_is_no_answer() -> None:
    with serving(Server()) as cluster:
        pass
    with pytest.raises(errors.Transient):
        read(cluster)
