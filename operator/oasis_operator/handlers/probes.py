"""The operator's own small servers: livez, readyz and metrics, and a listener that proves a deny.

The listener accepts connections and closes them. That a sandbox cannot reach it shows something only because
a pod without a policy can.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AsyncExitStack

_LAG_LIMIT_SECONDS = 10.0
_TICK_SECONDS = 1.0


class Health:
    """What the probes of the kubelet are told."""

    def __init__(
        self,
        clock: Callable[[], float],
        watch_age: Callable[[], float] = lambda: 0.0,
        watch_limit_seconds: float = math.inf,
    ) -> None:
        """Read the time and the age of the oldest change that no watch told of from these, in seconds."""
        self._clock = clock
        self._watch_age = watch_age
        self._watch_limit_seconds = watch_limit_seconds
        self._ticked = clock()
        self.is_ready = False
        """Whether everything was looked at once and the workers run."""
        self.lag_seconds = 0.0
        """By how much the last tick of the event loop was late."""

    async def tick(self) -> None:
        """Take the event loop's pulse until cancelled."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            now = self._clock()
            self.lag_seconds = max(0.0, now - self._ticked - _TICK_SECONDS)
            self._ticked = now

    @property
    def ailment(self) -> str:
        """Why the process should be started anew; empty where the loop turns and the watches are heard."""
        if self._clock() - self._ticked >= _LAG_LIMIT_SECONDS:
            return "the event loop hangs"
        behind = self._watch_age()
        if behind >= self._watch_limit_seconds:
            return f"the watches have been silent on a change for {behind:.0f} s"
        return ""


def build_app(health: Health, metrics: Callable[[], bytes]) -> web.Application:
    """Return the application with `/livez`, `/readyz` and `/metrics`."""

    async def livez(_: web.Request) -> web.Response:
        ailment = health.ailment
        return _answer(is_ok=not ailment, otherwise=ailment)

    async def readyz(_: web.Request) -> web.Response:
        return _answer(is_ok=health.is_ready, otherwise="not everything was looked at yet")

    async def show_metrics(_: web.Request) -> web.Response:
        return web.Response(
            body=metrics(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )

    app = web.Application()
    app.router.add_get("/livez", livez)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", show_metrics)
    return app


async def serve(stack: AsyncExitStack, app: web.Application, port: int, reachability_port: int) -> None:
    """Start both servers; the stack stops them."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, None, port).start()
    listener = await asyncio.start_server(_accept_and_close, None, reachability_port)
    stack.callback(listener.close)


async def _accept_and_close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


def _answer(*, is_ok: bool, otherwise: str) -> web.Response:
    return web.Response(text="ok") if is_ok else web.Response(status=503, text=otherwise)
