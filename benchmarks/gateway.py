"""What the model gateway costs: its start, its memory, and the delay that it adds to a call.

Run as `PYTHONPATH=tests:. .venv/bin/python -m benchmarks.gateway [SECONDS [PER_SECOND]]`; asserts nothing.

The gateway is a process of its own behind TLS, as in its pod; the model is a server that answers at once.
Each call is made once straight to that server and once through the gateway, and the difference is told.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import statistics
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

from contract.adapter.kit import a_certificate, closed_port
from kit.models import KEY, MODEL, Turn, some_models
from oasis_operator.wire.gateway import run_token

SECRET = "secret-of-the-benchmark"  # noqa: S105 - of nothing
BODY = {"model": MODEL, "messages": [{"role": "user", "content": "x" * 4000}]}


async def main() -> None:
    """Measure and print."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 50
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with some_models(Turn("Done. " * 100)) as models:
            await measure(folder, models.base_url("CHAT"), models.origin, int(seconds * rate), 1 / rate)


async def measure(folder: Path, base_url: str, origin: str, count: int, pause: float) -> None:
    """Start a gateway and send calls both ways."""
    certificate = a_certificate(folder, "adapter", "sidecar")
    (folder / "adapter-token").write_text(SECRET)
    (folder / "model-api-key").write_text(KEY)
    port = await closed_port()
    settings = {
        "GATEWAY_CONFIGURATION": json.dumps({"base_url": base_url, "model": MODEL, "origins": [origin]}),
        "GATEWAY_TLS_DIR": str(folder),
        "GATEWAY_KEY_DIR": str(folder),
        "GATEWAY_JOURNAL": str(folder / "journal"),
        "GATEWAY_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
    }
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "oasis_operator.sidecar", "gateway", env={**os.environ, **settings}
    )
    try:
        while not await answers(port):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        print(f"start: {time.monotonic() - started:.2f} s, idle {memory(process.pid):.0f} MiB")
        trust = ssl.create_default_context(cafile=str(certificate.cert))
        connector = aiohttp.TCPConnector(ssl=trust)
        before_calls = processor_seconds(process.pid)
        url = f"https://127.0.0.1:{port}/v1/chat/completions"
        async with aiohttp.ClientSession(connector=connector) as session:
            await compare(session, f"{base_url}/chat/completions", url, count, pause)
        spent = processor_seconds(process.pid) - before_calls
        print(f"processor: {1000 * spent / count:.2f} ms a call; load average {os.getloadavg()[0]:.1f}")
        print(f"memory after {count} calls: {memory(process.pid):.0f} MiB")
    finally:
        process.terminate()
        await process.wait()


async def compare(
    session: aiohttp.ClientSession, direct: str, gateway: str, count: int, pause: float
) -> None:
    """Make each call both ways and print the difference."""
    straight, through = [], []
    for number in range(1, count + 1):
        began = time.monotonic()
        straight.append(await call(session, direct, {}))
        headers = {"Authorization": f"Bearer {run_token(SECRET, 'r')}", "X-Call": str(number)}
        through.append(await call(session, gateway, headers))
        await asyncio.sleep(max(0.0, pause - (time.monotonic() - began)))
    added = [after - before for before, after in zip(straight, through, strict=True)]
    for what, times in (("straight", straight), ("through it", through), ("added", added)):
        marks = statistics.quantiles(times, n=100)
        print(f"{what}: p50 {1000 * marks[49]:.2f} ms, p99 {1000 * marks[98]:.2f} ms")


async def answers(port: int) -> bool:
    """Tell whether something listens."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return False
    writer.transport.abort()
    return True


async def call(session: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> float:
    """Make one call; give its seconds."""
    began = time.monotonic()
    async with session.post(url, json=BODY, headers=headers) as response:
        await response.read()
        response.raise_for_status()
    return time.monotonic() - began


def processor_seconds(pid: int) -> float:
    """Give the processor time that a process took."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Give a process's resident memory in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    asyncio.run(main())
