"""What the adapter's contract tests share: certificates, a client, agents that say anything, a small API server."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from aiohttp import ClientResponse, ClientSession, web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from oasis_operator.sidecar.adapter.options import Options
from oasis_operator.sidecar.adapter.routes import build_app
from oasis_operator.sidecar.adapter.session import Session

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "token-of-the-adapter"
AGENT_TOKEN = "token-of-the-agent"
PROMPT = "Restart the deployment web."


def some_options(folder: Path, **changes: Any) -> Options:
    """Options with waits short enough for tests."""
    settings = {
        "access_dir": folder / "access",
        "connect_seconds": 0.5,
        "confirm_seconds": 0.2,
        "settle_seconds": 0.6,
        "listen_seconds": 0.4,
        "identity_seconds": 2.0,
    }
    return Options(**{**settings, **changes})


@dataclass
class Adapter:
    """A client of one adapter."""

    session: Session
    http: ClientSession
    url: str

    async def call(
        self, method: str, path: str, body: Any = None, token: str | None = TOKEN
    ) -> tuple[int, Any, ClientResponse]:
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        async with self.http.request(method, self.url + path, json=body, headers=headers) as response:
            data = await response.read()
            parsed = json.loads(data) if response.content_type == "application/json" else data
            return response.status, parsed, response

    async def release(self, **request: Any) -> dict[str, Any]:
        status, _, _ = await self.call("POST", "/v1/release", {"deny": [], "allow": [], **request})
        assert status == 202
        return await self.until(lambda state: state["phase"] in ("released", "failed"))

    async def until(self, done: Callable[[dict[str, Any]], bool], seconds: float = 10) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while True:
            _, state, _ = await self.call("GET", "/v1/state")
            if done(state):
                return dict(state)
            assert time.monotonic() < deadline, state
            await asyncio.sleep(0.02)

    async def start(self, adapter: dict[str, Any], **changes: Any) -> tuple[int, Any]:
        body = {"run_id": "run-1", "adapter": adapter, "prompt": PROMPT, "timeout_seconds": 5, **changes}
        status, answer, _ = await self.call("PUT", "/v1/run", body)
        return status, answer

    async def transcript(self) -> dict[str, Any]:
        await self.until(lambda state: state["run"] and state["run"]["status"] == "finished", 20)
        body, size = b"", 1
        while len(body) < size:
            status, piece, response = await self.call("GET", f"/v1/transcript?offset={len(body)}")
            assert status == 200
            assert piece
            body, size = body + piece, int(response.headers["X-Total-Size"])
        return dict(json.loads(body))

    async def ask(self, url: str, **changes: Any) -> dict[str, Any]:
        """Release, run against an HTTP agent and give the transcript."""
        await self.release()
        status, answer = await self.start({"kind": "http", "url": url}, **changes)
        assert status == 202, answer
        return await self.transcript()


@contextlib.asynccontextmanager
async def an_adapter(folder: Path, **changes: Any) -> AsyncIterator[Adapter]:
    """Serve an adapter in this process, without TLS."""
    session = Session(some_options(folder, **changes))
    server = TestServer(build_app(session, TOKEN))
    await server.start_server()
    async with ClientSession() as http:
        try:
            yield Adapter(session, http, str(server.make_url("")).rstrip("/"))
        finally:
            await session.close()
            await server.close()


Talk = Callable[["Heard", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Heard:
    """One request as it reached an agent."""

    head: bytes = b""
    body: bytes = b""
    reader: asyncio.StreamReader = field(default_factory=asyncio.StreamReader)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class RawAgent:
    """An agent that speaks whatever bytes a test wants."""

    port: int = 0
    heard: list[Heard] = field(default_factory=list)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def hang_up(self) -> None:
        """Reset every connection, as the end of a process does."""
        for writer in self.writers:
            writer.transport.abort()


@contextlib.asynccontextmanager
async def a_raw_agent(talk: Talk) -> AsyncIterator[RawAgent]:
    """Listen, read each request whole, then hand the connection to ``talk``."""
    agent = RawAgent()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        agent.writers.append(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            heard = Heard(head, await reader.readexactly(size), reader)
            agent.heard.append(heard)
            await talk(heard, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            agent.hung_up.set()
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    agent.port = server.sockets[0].getsockname()[1]
    agent.server = server
    try:
        yield agent
    finally:
        server.close()


def says(body: bytes, status: str = "200 OK", headers: str = "") -> Talk:
    """Answer with one whole body."""

    async def talk(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body)
        await writer.drain()

    return talk


def says_raw(data: bytes, *, reset: bool = False) -> Talk:
    """Write bytes as they are and close; with a reset where asked."""

    async def talk(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if reset:
            await asyncio.sleep(0.05)
            writer.transport.abort()

    return talk


async def hangs(heard: Heard, _: asyncio.StreamWriter) -> None:
    """Say nothing until the other side hangs up."""
    await heard.reader.read()


async def closed_port() -> int:
    """Give a port of 127.0.0.1 on which nothing listens."""
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    server.close()
    await server.wait_closed()
    return port


@contextlib.asynccontextmanager
async def a_listener() -> AsyncIterator[int]:
    """Listen on a free port of 127.0.0.1."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()


def target(port: int, name: str = "somewhere") -> dict[str, Any]:
    return {"name": name, "host": "127.0.0.1", "port": port}


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate and its key, as PEM files."""

    cert: Path
    key: Path

    @property
    def pem(self) -> str:
        return self.cert.read_text()

    def serving(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.key)
        return context


def a_certificate(folder: Path, name: str, *dns_names: str) -> Certificate:
    """Write a certificate for names and 127.0.0.1, trusted as its own authority, and its key."""
    paths = Certificate(folder / f"{name}.crt", folder / f"{name}.key")
    cert, key = issue(*dns_names)
    paths.cert.write_bytes(cert)
    paths.key.write_bytes(key)
    return paths


def issue(*dns_names: str) -> tuple[bytes, bytes]:
    """Issue a certificate and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, dns_names[0])])
    now = datetime.fromtimestamp(time.time(), tz=UTC)
    names = [*(x509.DNSName(each) for each in dns_names), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    cert = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return cert.public_bytes(serialization.Encoding.PEM), secret


A_CA = issue("some-authority")[0].decode()


@dataclass
class ApiServer:
    """A small API server: it answers from a table, wants the agent's token and notes what was asked."""

    certificate: Certificate
    objects: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, str, str, Any]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def credential(self) -> dict[str, str]:
        return {"token": AGENT_TOKEN, "ca": self.certificate.pem, "namespace": "shop", "server": self.url}

    def asked_for(self, method: str) -> list[str]:
        return [path for verb, path, _, _ in self.asked if verb == method]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {AGENT_TOKEN}":
            return web.json_response({"kind": "Status", "code": 401, "message": "Unauthorized"}, status=401)
        text = await request.text()
        body = json.loads(text) if text else None
        self.asked.append((request.method, request.path_qs, request.headers.get("Content-Type", ""), body))
        answer = self.objects.get(request.path)
        if callable(answer):
            response: web.StreamResponse = await answer(request)
            return response
        if answer is None:
            return web.json_response({"kind": "Status", "code": 404, "message": "not found"}, status=404)
        return web.json_response(answer)


@contextlib.asynccontextmanager
async def an_api_server(folder: Path, objects: dict[str, Any] | None = None) -> AsyncIterator[ApiServer]:
    certificate = a_certificate(folder, "cluster", "kubernetes.default.svc")
    api = ApiServer(certificate, objects or {})
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", api.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=certificate.serving())
    await site.start()
    api.port = runner.addresses[0][1]
    try:
        yield api
    finally:
        await runner.cleanup()
