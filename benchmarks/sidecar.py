"""What the adapter costs: its imports, start and memory, and what it adds to a call of a model.

Run as `PYTHONPATH=tests:. .venv/bin/python -m benchmarks.sidecar [CALLS [PER_SECOND]]`; asserts nothing.
Adapter and gateway are processes of their own, as in their pods; the model answers at once.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
from benchmarks.gateway import SECRET, answers, call, memory
from benchmarks.gateway_streams import a_gateway

from contract.adapter.kit import closed_port
from kit.models import Turn, some_models
from oasis_operator.wire.gateway import run_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TOKEN = "token-of-the-benchmark"  # noqa: S105 - of nothing
MODULES = ("oasis_operator.sidecar.adapter.main", "oasis_operator.sidecar.gateway.main")
ROUNDS = 5


async def main() -> None:
    """Measure and print."""
    given = [float(text) for text in sys.argv[1:3]]
    calls, rate = [*given, *(500.0, 50.0)[len(given) :]]
    for module in MODULES:
        seconds = statistics.median(imported(module) for _ in range(ROUNDS))
        print(f"import of {module}: {1000 * seconds:.0f} ms, median of {ROUNDS}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with (
            some_models(Turn("Done. " * 100)) as models,
            a_gateway(folder, models.base_url("CHAT")) as (gateway, _, _),
            an_adapter(folder, gateway) as (passage, pid),
        ):
            print(f"adapter released: {memory(pid):.0f} MiB")
            await compare(f"{models.base_url('CHAT')}/chat/completions", passage, int(calls), 1 / rate)
            print(f"adapter after {calls:.0f} calls: {memory(pid):.0f} MiB")


def imported(module: str) -> float:
    """Give the seconds that an import takes in a process of its own, without the start of Python."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)


@asynccontextmanager
async def an_adapter(folder: Path, gateway: str) -> AsyncIterator[tuple[str, int]]:
    """Run an adapter and release it with a way to the gateway; gives the agent's way and its process."""
    (folder / "adapter-token").write_text(TOKEN)
    port, model_port = await closed_port(), await closed_port()
    settings = {
        "SIDECAR_HOST": "127.0.0.1",
        "SIDECAR_PORT": str(port),
        "SIDECAR_TLS_DIR": str(folder),
        "SIDECAR_ACCESS_DIR": str(folder / "access"),
        "SIDECAR_MODEL_PORT": str(model_port),
        "SIDECAR_LOCAL_PEERS": "allow",
    }
    started = time.monotonic()
    command = (sys.executable, "-m", "oasis_operator.sidecar", "adapter")
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **settings})
    try:
        while not await answers(port):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        print(f"adapter listens after {time.monotonic() - started:.2f} s, {memory(process.pid):.0f} MiB")
        await release(folder, port, gateway)
        while not await answers(model_port):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{model_port}/v1/chat/completions", process.pid
    finally:
        process.kill()
        await process.wait()


async def release(folder: Path, port: int, gateway: str) -> None:
    """Release an adapter that has nothing to prove."""
    trust = ssl.create_default_context(cafile=str(folder / "adapter.crt"))
    reach = {
        "host": "127.0.0.1",
        "port": int(gateway.partition("//")[2].partition("/")[0].rpartition(":")[2]),
        "ca": (folder / "adapter.crt").read_text(),
        "token": run_token(SECRET, "r"),
    }
    body = {"deny": [], "allow": [], "gateway": reach}
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session:
        url = f"https://127.0.0.1:{port}/v1/release"
        async with session.post(url, json=body, ssl=trust, server_hostname="sidecar") as answer:
            answer.raise_for_status()


async def compare(direct: str, passage: str, count: int, pause: float) -> None:
    """Make each call both ways and print the difference."""
    added = []
    async with aiohttp.ClientSession() as session:
        for _ in range(count):
            began = time.monotonic()
            straight = await call(session, direct, {})
            added.append(await call(session, passage, {}) - straight)
            await asyncio.sleep(max(0.0, pause - (time.monotonic() - began)))
    marks = statistics.quantiles(added, n=100)
    told = f"p50 {1000 * marks[49]:.2f} ms, p99 {1000 * marks[98]:.2f} ms"
    print(f"added by adapter and gateway together: {told}; load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    asyncio.run(main())
