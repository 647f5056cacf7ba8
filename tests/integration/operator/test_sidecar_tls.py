"""The operator's client against a real adapter process: certificates, token and contract fit together."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from oasis_operator import errors
from oasis_operator.clients.adapter_http import HttpAdapter
from oasis_operator.clients.pki import run_secret_data
from oasis_operator.clients.sidecar_http import Channel
from oasis_operator.ports.sidecars import Access
from oasis_operator.wire.adapter import Phase, RunStatus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
async def access(tmp_path: Path) -> AsyncIterator[Access]:
    now = datetime.now(UTC)  # noqa: TID251 - the certificates must be valid now
    data = {name: base64.b64decode(text) for name, text in run_secret_data(now, timedelta(hours=1)).items()}
    for name in ("adapter.crt", "adapter.key", "adapter-token"):
        (tmp_path / name).write_bytes(data[name])
    (tmp_path / "access").mkdir()
    port = free_port()
    environment = {
        **os.environ,
        "SIDECAR_HOST": "127.0.0.1",
        "SIDECAR_PORT": str(port),
        "SIDECAR_TLS_DIR": str(tmp_path),
        "SIDECAR_ACCESS_DIR": str(tmp_path / "access"),
        # The adapter refuses peers of its own network namespace, where a hostile agent would be.
        "SIDECAR_LOCAL_PEERS": "allow",
    }
    code = "import sys; from oasis_operator.sidecar.main import main; sys.exit(main(['adapter']))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, env=environment)
    found = Access("127.0.0.1", data["ca.crt"], data["adapter-token"].decode(), port)
    try:
        await answers(HttpAdapter(Channel()), found)
        yield found
    finally:
        process.kill()
        await process.wait()


async def answers(adapter: HttpAdapter, access: Access) -> None:
    for _ in range(100):
        try:
            await adapter.state(access)
        except errors.Transient:
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError("the adapter never answered")


async def finished(adapter: HttpAdapter, access: Access) -> None:
    for _ in range(100):
        state = await adapter.state(access)
        if state.run and state.run.status is RunStatus.FINISHED:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the run never ended")


async def test_a_scripted_run_goes_from_release_to_transcript(access: Access) -> None:
    adapter = HttpAdapter(Channel())
    assert (await adapter.state(access)).phase is Phase.WAITING
    await adapter.release(access, {"deny": [], "allow": [], "credential": None})
    state = await adapter.state(access)
    for _ in range(100):
        if state.phase is Phase.RELEASED:
            break
        await asyncio.sleep(0.05)
        state = await adapter.state(access)
    request = {
        "run_id": "abcdefghij",
        "boot_id": state.boot_id,
        "adapter": {"kind": "scripted", "steps": [], "answer": "done", "reasoning": ""},
        "prompt": "look",
        "tools": [],
        "mode": "autonomous",
        "scope": {},
        "context": [],
        "timeout_seconds": 5,
    }
    await adapter.start(access, request)
    await finished(adapter, access)
    # There is no environment here, so that the script ends without having reached it.
    assert b'"outcome":"not_delivered"' in await adapter.transcript(access)


async def test_another_runs_ca_or_token_opens_nothing(access: Access) -> None:
    adapter = HttpAdapter(Channel())
    now = datetime.now(UTC)  # noqa: TID251 - as above
    other = base64.b64decode(run_secret_data(now, timedelta(hours=1))["ca.crt"])
    with pytest.raises(errors.Transient, match="CERTIFICATE_VERIFY_FAILED"):
        await adapter.state(Access(access.host, other, access.token, access.port))
    with pytest.raises(errors.ProviderFault, match="401"):
        await adapter.state(Access(access.host, access.ca, "wrong", access.port))
