"""What the model gateway adds to many answers that are streamed at once: delay of each piece, and memory.

Run as `PYTHONPATH=tests:. .venv/bin/python -m benchmarks.gateway_streams [STREAMS [RATE [SECONDS]]]`;
asserts nothing. The model is a process of its own that says in each piece when it sent it; all processes of a
machine have one clock. The same streams are read once straight and once through the gateway.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import ssl
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web
from benchmarks.gateway import SECRET, answers, memory, processor_seconds

from contract.adapter.kit import a_certificate, closed_port
from kit.models import KEY, MODEL
from oasis_operator.wire.gateway import run_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_CHUNK = {"object": "chat.completion.chunk", "model": MODEL}


def serve(port: int, rate: float, seconds: float) -> None:
    """Stream pieces at a rate to whoever asks."""

    async def stream(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        next_at, end = time.monotonic(), time.monotonic() + seconds
        while next_at < end:
            choice = {"index": 0, "delta": {"content": f"{time.monotonic():.6f}"}, "finish_reason": None}
            await response.write(f"data: {json.dumps({**_CHUNK, 'choices': [choice]})}\n\n".encode())
            next_at += 1 / rate
            await asyncio.sleep(max(0.0, next_at - time.monotonic()))
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", stream)
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None, handle_signals=False)


async def main() -> None:
    """Measure both ways and print."""
    given = [float(text) for text in sys.argv[1:4]]
    streams, rate, seconds = [*given, *(500.0, 20.0, 10.0)[len(given) :]]
    port = await closed_port()
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(port, rate, seconds), daemon=True
    )
    server.start()
    try:
        while not await answers(port):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
        print(f"{streams:.0f} streams of {rate:g} pieces a second for {seconds:g} s")
        url = f"http://127.0.0.1:{port}/v1"
        await read_all("straight", f"{url}/chat/completions", int(streams), None)
        with tempfile.TemporaryDirectory() as folder:
            async with a_gateway(Path(folder), url) as (through, trust, pid):
                began = processor_seconds(pid)
                print(f"gateway idle: {memory(pid):.0f} MiB")
                await read_all("through it", through, int(streams), trust, pid)
                print(f"processor of the gateway: {processor_seconds(pid) - began:.1f} s")
    finally:
        server.terminate()
        server.join()


@asynccontextmanager
async def a_gateway(folder: Path, url: str) -> AsyncIterator[tuple[str, ssl.SSLContext, int]]:
    """Run a gateway; gives its address, whom to trust and its process."""
    certificate = a_certificate(folder, "adapter", "sidecar")
    (folder / "adapter-token").write_text(SECRET)
    (folder / "model-api-key").write_text(KEY)
    port = await closed_port()
    told = {"base_url": url, "model": MODEL, "origins": [url.removesuffix("/v1")]}
    settings = {
        "GATEWAY_CONFIGURATION": json.dumps(told),
        "GATEWAY_TLS_DIR": str(folder),
        "GATEWAY_KEY_DIR": str(folder),
        "GATEWAY_JOURNAL": str(folder / "journal"),
        "GATEWAY_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "oasis_operator.sidecar", "gateway", env={**os.environ, **settings}
    )
    try:
        while not await answers(port):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        trust = ssl.create_default_context(cafile=str(certificate.cert))
        yield f"https://127.0.0.1:{port}/v1/chat/completions", trust, process.pid
    finally:
        process.terminate()
        await process.wait()


async def read_all(
    what: str, url: str, streams: int, trust: ssl.SSLContext | None, pid: int | None = None
) -> None:
    """Read all streams at once and print the delay of their pieces, and the most memory on the way."""
    delays: list[float] = []
    most = [0.0]
    async with AsyncExitStack() as stack:
        connector = aiohttp.TCPConnector(limit=0, ssl=trust if trust is not None else True)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        watching = asyncio.create_task(watch(pid, most)) if pid is not None else None
        await asyncio.gather(*(read_one(session, url, number, delays) for number in range(1, streams + 1)))
        if watching is not None:
            watching.cancel()
    marks = statistics.quantiles(delays, n=100)
    spread = f"p50 {1000 * marks[49]:.1f} ms, p99 {1000 * marks[98]:.1f} ms, most {1000 * max(delays):.0f} ms"
    print(f"{what}: {len(delays)} pieces, {spread}" + (f", at most {most[0]:.0f} MiB" if pid else ""))


async def read_one(session: aiohttp.ClientSession, url: str, number: int, delays: list[float]) -> None:
    """Read one stream to its end."""
    headers = {"Authorization": f"Bearer {run_token(SECRET, 'r')}", "X-Call": str(number)}
    body = {"model": MODEL, "messages": [{"role": "user", "content": "go"}], "stream": True}
    async with session.post(url, json=body, headers=headers) as response:
        response.raise_for_status()
        async for line in response.content:
            if line.startswith(b"data: {"):
                sent = json.loads(line[6:])["choices"][0]["delta"]["content"]
                delays.append(time.monotonic() - float(sent))


async def watch(pid: int, most: list[float]) -> None:
    """Keep the most memory that was seen."""
    while True:
        most[0] = max(most[0], memory(pid))
        await asyncio.sleep(0.2)


if __name__ == "__main__":
    asyncio.run(main())
