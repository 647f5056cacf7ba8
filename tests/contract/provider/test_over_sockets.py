"""The provider contract over real sockets and TLS: what the client trusts, and how long it waits."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from aiohttp import web

from kit.provider import PROFILE, TOKEN, SmallProvider
from oasis_operator import errors
from oasis_operator.cli import main
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.clients.pki import serving_pair
from oasis_operator.clients.provider_http import HttpProvider
from oasis_operator.ports.provider import Fault
from oasis_operator.resources.provider_access import ProviderReach

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Server:
    """A provider on a port of this machine, in a loop of its own.

    Attributes:
        provider: What it serves.
        behave: Replaces the answer to every request, if set.
        url: Where it is.
    """

    def __init__(self, provider: SmallProvider) -> None:
        self.provider = provider
        self.behave: Any = None
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.behave is not None:
            return await self.behave(request)  # type: ignore[no-any-return]
        content = await request.read()
        asked = httpx.Request(
            request.method, str(request.url), headers=dict(request.headers), content=content
        )
        answer = await self.provider.serve(asked)
        return web.Response(
            status=answer.status_code,
            body=answer.content,
            headers={"content-type": answer.headers["content-type"]},
        )


def tls(certificate: bytes, key: bytes, folder: Path) -> ssl.SSLContext:
    (folder / "tls.crt").write_bytes(certificate)
    (folder / "tls.key").write_bytes(key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


@contextmanager
def served(
    provider: SmallProvider, certificate: tuple[bytes, bytes] | None, folder: Path
) -> Iterator[Server]:
    server, loop, ready = Server(provider), asyncio.new_event_loop(), threading.Event()
    context = tls(*certificate, folder) if certificate else None

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{tail:.*}", server.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        port = runner.addresses[0][1]
        server.url = f"{'https' if context else 'http'}://localhost:{port}"
        return runner

    def work() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def pair(*names: str) -> tuple[bytes, bytes, bytes]:
    return serving_pair(names or ("localhost",), datetime.now(UTC), timedelta(hours=1))  # noqa: TID251


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[tuple[Server, ProviderReach]]:
    certificate, key, ca = pair()
    with served(SmallProvider(token=TOKEN), (certificate, key), tmp_path) as server:
        yield server, ProviderReach(server.url, ca, TOKEN, request_seconds=1.0)


async def reason_of(reach: ProviderReach) -> str:
    with pytest.raises(errors.ProviderFault) as caught:
        await HttpProvider().conformance(reach, PROFILE)
    return caught.value.reason


async def test_the_named_authority_is_trusted(secured: tuple[Server, ProviderReach]) -> None:
    _, reach = secured
    assert (await HttpProvider().conformance(reach, PROFILE))["provider"] == "small"


async def test_no_other_authority_is_trusted_and_nothing_is_sent(
    secured: tuple[Server, ProviderReach],
) -> None:
    server, reach = secured
    assert await reason_of(replace(reach, ca=pair()[2])) == Fault.UNREACHABLE
    assert await reason_of(replace(reach, ca=None)) == Fault.UNREACHABLE
    assert server.provider.calls == []


async def test_a_certificate_of_another_name_is_not_trusted(tmp_path: Path) -> None:
    certificate, key, ca = pair("elsewhere.example")
    with served(SmallProvider(), (certificate, key), tmp_path) as server:
        assert await reason_of(ProviderReach(server.url, ca)) == Fault.UNREACHABLE


async def test_a_wrong_token_is_refused(secured: tuple[Server, ProviderReach]) -> None:
    _, reach = secured
    assert await reason_of(replace(reach, token="another")) == Fault.REFUSED


async def test_a_provider_that_says_nothing_is_waited_for_no_longer_than_asked(
    secured: tuple[Server, ProviderReach],
) -> None:
    server, reach = secured

    async def silent(_request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(30)
        return web.Response()

    server.behave = silent
    assert await reason_of(reach) == Fault.TIMEOUT


async def test_a_body_that_trickles_is_cut_off_by_the_same_limit(
    secured: tuple[Server, ProviderReach],
) -> None:
    server, reach = secured

    async def trickle(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        for _ in range(300):
            await answer.write(b" ")
            await asyncio.sleep(0.1)
        return answer

    server.behave = trickle
    assert await reason_of(reach) == Fault.TIMEOUT


async def test_a_connection_that_breaks_off_in_the_body_is_no_answer(
    secured: tuple[Server, ProviderReach],
) -> None:
    server, reach = secured

    async def break_off(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-length": "1000"})
        await answer.prepare(request)
        await answer.write(b'{"provider": "sm')
        assert request.transport is not None
        request.transport.abort()
        return answer

    server.behave = break_off
    assert await reason_of(reach) == Fault.BROKEN


async def test_a_redirect_is_not_followed_and_the_token_goes_nowhere(
    secured: tuple[Server, ProviderReach], tmp_path: Path
) -> None:
    server, reach = secured
    (tmp_path / "other").mkdir()
    with served(SmallProvider(), None, tmp_path / "other") as other:

        async def redirect(_request: web.Request) -> web.StreamResponse:
            raise web.HTTPTemporaryRedirect(f"{other.url}/v1/conformance")

        server.behave = redirect
        assert await reason_of(reach) == Fault.REDIRECTED
        assert other.provider.calls == []


async def test_nobody_there_is_unreachable() -> None:
    assert await reason_of(ProviderReach("http://127.0.0.1:9")) == Fault.UNREACHABLE


def conformance(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[ExitCode, str, str]:
    code = main.invoke(["conformance", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_command_tries_a_provider_with_token_and_authority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate, key, ca = pair()
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    (tmp_path / "ca.pem").write_bytes(ca)
    with served(SmallProvider(token=TOKEN), (certificate, key), tmp_path) as server:
        options = (
            "--token-file",
            str(tmp_path / "token"),
            "--ca-file",
            str(tmp_path / "ca.pem"),
            "-o",
            "json",
        )
        code, out, _ = conformance(capsys, server.url, *options)
        report = json.loads(out)
        assert code is ExitCode.PASS, [one for one in report["rules"] if one["outcome"] == "broken"]
        assert report["conformant"] is True
        assert TOKEN not in out
        assert server.provider.alive == []


def test_the_command_names_what_is_broken_and_says_so_by_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = SmallProvider(conformance={"profile": "another"})
    with served(provider, None, tmp_path) as server:
        code, out, _ = conformance(capsys, server.url, "--profile-id", PROFILE)
    assert code is ExitCode.FINDINGS
    line = next(one for one in out.splitlines() if "CONF-3" in one)
    assert line.startswith("broken")
    assert "08 §3.8.2" in line
    assert "1 broken" in out


def test_the_command_tells_a_provider_that_is_not_there_from_one_that_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = conformance(capsys, "http://127.0.0.1:9")
    assert code is ExitCode.UNREACHABLE
    assert out == ""
    assert "ProviderUnreachable" in err


@pytest.mark.parametrize(
    "url", ["provider.example", "ftp://provider.example", "https://", "https://p.example/?a=b"]
)
def test_the_command_refuses_what_is_no_address_of_a_provider(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = conformance(capsys, url)
    assert code is ExitCode.USAGE
    assert repr(url) in err


def test_the_command_holds_the_answer_against_a_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from oasis_operator.clients.profile_files import bundled_root

    folder = bundled_root() / "software-infrastructure"
    provider = SmallProvider(hooks={"any-profile": lambda _provider, _body, answer: answer})
    with served(provider, None, tmp_path) as server:
        code, out, _ = conformance(capsys, server.url, "--profile", str(folder), "-o", "json")
    found = {one["id"]: one for one in json.loads(out)["rules"]}
    assert code is ExitCode.FINDINGS
    assert found["CONF-7"]["outcome"] == "broken"
    assert "gaps" in found["CONF-7"]["detail"]
