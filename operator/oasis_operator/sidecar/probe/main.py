"""Entry point of the probe container."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from aiohttp import web

from oasis_operator.errors import InvalidSpec
from oasis_operator.sidecar.probe.server import build_app, serving_context
from oasis_operator.sidecar.probe.service import Probe
from oasis_operator.sidecar.probe.settings import ProbeSettings, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_probe(argv: Sequence[str]) -> int:
    """Serve the probe until a signal ends it.

    Args:
        argv: Arguments after the command's name; there are none.

    Returns:
        The exit code: 0 after a signal, 2 for wrong settings.
    """
    if argv:
        print(f"probe: {argv[0]}: takes no arguments", file=sys.stderr)  # noqa: T201  # before any log exists
        return 2
    try:
        settings = read_settings(os.environ)
        asyncio.run(_serve(settings, _read_token(settings)))
    except (InvalidSpec, OSError) as error:
        print(f"probe: {error}", file=sys.stderr)  # noqa: T201  # see above
        return 2
    return 0


def _read_token(settings: ProbeSettings) -> str:
    path = settings.credentials / "probe-token"
    token = path.read_text().strip()
    if not token:
        raise InvalidSpec(f"{path}: is empty")
    return token


async def _serve(settings: ProbeSettings, token: str) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, ended.set)
    runner = web.AppRunner(build_app(Probe(settings), token), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(
            runner, settings.host, settings.port, ssl_context=serving_context(settings.credentials)
        )
        await site.start()
        await ended.wait()
    finally:
        await runner.cleanup()
