"""The adapter as it runs in a pod: a process of its own, HTTPS, files of a mounted Secret."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from contract.adapter.kit import (
    TOKEN,
    Certificate,
    RawAgent,
    a_certificate,
    a_raw_agent,
    closed_port,
    hangs,
    says,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class Running:
    process: asyncio.subprocess.Process
    url: str
    certificate: Certificate
    started_seconds: float

    def memory(self, name: str) -> float:
        """Give a figure of the process's memory in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name)) / 1024

    def http(self) -> aiohttp.ClientSession:
        trust = ssl.create_default_context(cafile=str(self.certificate.cert))
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trust), headers={"Authorization": f"Bearer {TOKEN}"}
        )


@contextlib.asynccontextmanager
async def a_process(folder: Path, **changes: str) -> AsyncIterator[Running]:
    certificate = a_certificate(folder, "adapter", "sidecar")
    (folder / "adapter-token").write_text(TOKEN + "\n")
    port = await closed_port()
    settings = {
        "SIDECAR_HOST": "127.0.0.1",
        "SIDECAR_PORT": str(port),
        "SIDECAR_TLS_DIR": str(folder),
        "SIDECAR_ACCESS_DIR": str(folder / "access"),
        **changes,
    }
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "oasis_operator.sidecar",
        "adapter",
        env={**os.environ, **settings},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.transport.abort()
                break
            except ConnectionRefusedError:
                assert process.returncode is None
                assert time.monotonic() - started < 20
                await asyncio.sleep(0.005)
        yield Running(process, f"https://127.0.0.1:{port}", certificate, time.monotonic() - started)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with a_process(tmp_path, SIDECAR_LOCAL_PEERS="allow") as process:
        yield process


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        pytest.param(b'{"final_answer": "' + "é".encode() * 2_000_000 + b'"}', "answered", id="long"),
        pytest.param(
            b'{"actions": [{"arguments": [' + b",".join(b'{"k%d": ""}' % i for i in range(149_000)) + b"]}]}",
            "answered",
            id="many values",
        ),
        pytest.param(b"x" * (32 << 20), "malformed", id="flood"),
    ],
)
async def test_it_is_small_and_serves_over_tls(
    running: Running, capsys: pytest.CaptureFixture[str], body: bytes, outcome: str
) -> None:
    idle = running.memory("VmRSS")
    async with a_raw_agent(says(body)) as agent, running.http() as http:
        assert await ask(http, "GET", running.url + "/healthz") == (503, "NotReleased")
        await run_on(running, http, agent)
        while (seen := await ask(http, "GET", running.url + "/v1/run"))[1] is None:
            assert seen[0] == 200
            await asyncio.sleep(0.02)
        assert seen == (200, outcome)
    peak = running.memory("VmHWM")
    with capsys.disabled():
        sys.stdout.write(
            f"\nadapter: starts in {running.started_seconds:.2f} s, {idle:.0f} MiB idle, {peak:.0f} MiB peak\n"
        )
    assert idle < 60
    assert peak < 128


async def run_on(running: Running, http: aiohttp.ClientSession, agent: RawAgent) -> None:
    """Release and start a run on an agent."""
    assert (await ask(http, "POST", running.url + "/v1/release", {}))[0] == 202
    for _ in range(100):
        if (await ask(http, "GET", running.url + "/healthz"))[0] == 200:
            break
        await asyncio.sleep(0.01)
    adapter = {"kind": "http", "url": agent.url}
    run = {"run_id": "r", "adapter": adapter, "prompt": "p", "timeout_seconds": 20}
    assert (await ask(http, "PUT", running.url + "/v1/run", run))[0] == 202


async def ask(http: aiohttp.ClientSession, method: str, url: str, body: Any = None) -> tuple[int, str | None]:
    """Give the status, and the reason or the run's outcome."""
    async with http.request(method, url, json=body, server_hostname="sidecar") as response:
        answer = await response.json()
        return response.status, answer.get("reason") or answer.get("outcome")


async def test_the_agent_beside_it_is_not_spoken_to(tmp_path: Path) -> None:
    async with a_process(tmp_path) as shut, shut.http() as http:
        for _ in range(300):
            with pytest.raises(aiohttp.ClientError):
                await http.get(shut.url + "/healthz", server_hostname="sidecar")
        assert shut.memory("VmHWM") < 60
        assert shut.process.returncode is None


async def test_it_ends_at_once_on_a_signal(running: Running) -> None:
    running.process.terminate()
    assert await asyncio.wait_for(running.process.wait(), 5) == 0


async def test_a_transcript_outlives_the_agent_s_container_until_it_is_fetched(running: Running) -> None:
    async with a_raw_agent(hangs) as agent, running.http() as http:
        await run_on(running, http, agent)
        await until_heard(agent)
        # The kubelet ends the sidecar once the agent's process has ended, which resets its connections.
        running.process.terminate()
        agent.hang_up()
        seen: tuple[int, str | None] = (200, None)
        for _ in range(100):
            seen = await ask(http, "GET", running.url + "/v1/run")
            if seen[1]:
                break
            await asyncio.sleep(0.02)
        assert seen == (200, "crashed")
        assert running.process.returncode is None
        async with http.get(running.url + "/v1/transcript", server_hostname="sidecar") as response:
            assert (await response.json(content_type=None))["outcome"] == "crashed"
        assert await asyncio.wait_for(running.process.wait(), 5) == 0


async def test_a_transcript_that_nobody_fetches_does_not_keep_it(tmp_path: Path) -> None:
    changes = {"SIDECAR_LOCAL_PEERS": "allow", "SIDECAR_LINGER_SECONDS": "0.3"}
    async with a_process(tmp_path, **changes) as process, a_raw_agent(hangs) as agent, process.http() as http:
        await run_on(process, http, agent)
        await until_heard(agent)
        process.process.terminate()
        assert await asyncio.wait_for(process.process.wait(), 5) == 0


async def test_that_no_prompt_came_is_known_for_a_while_after_the_agent_s_end(tmp_path: Path) -> None:
    changes = {"SIDECAR_LOCAL_PEERS": "allow", "SIDECAR_LINGER_SECONDS": "20"}
    certificate = a_certificate(tmp_path, "ca", "kubernetes")
    given = {"token": "t", "ca": certificate.pem, "namespace": "shop", "server": "https://kubernetes:6443"}
    async with a_process(tmp_path, **changes) as running, running.http() as http:
        assert (await ask(http, "POST", running.url + "/v1/release", {"credential": given}))[0] == 202
        for _ in range(200):
            if (await ask(http, "GET", running.url + "/healthz"))[0] == 200:
                break
            await asyncio.sleep(0.01)
        running.process.terminate()
        await asyncio.sleep(0.3)
        assert (await ask(http, "GET", running.url + "/v1/run"))[0] == 404
        assert running.process.returncode is None


async def until_heard(agent: RawAgent) -> None:
    for _ in range(500):
        if agent.heard:
            return
        await asyncio.sleep(0.01)
    pytest.fail("the prompt did not arrive")


async def test_plain_http_and_old_tls_get_nothing(running: Running) -> None:
    async with aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.ClientError):
            await http.get(running.url.replace("https", "http") + "/healthz")
    old = ssl.create_default_context(cafile=str(running.certificate.cert))
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=old)) as http:
        with pytest.raises(aiohttp.ClientError):
            await http.get(running.url + "/healthz", server_hostname="sidecar")


async def test_it_does_not_start_without_its_token(tmp_path: Path) -> None:
    a_certificate(tmp_path, "adapter", "sidecar")
    (tmp_path / "adapter-token").write_text("\n")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "oasis_operator.sidecar",
        "adapter",
        env={
            **os.environ,
            "SIDECAR_TLS_DIR": str(tmp_path),
            "SIDECAR_PORT": "0",
            "SIDECAR_ACCESS_DIR": str(tmp_path),
        },
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 2
    assert b"adapter-token: empty" in said
