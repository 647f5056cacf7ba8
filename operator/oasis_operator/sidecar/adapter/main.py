"""``oasis-sidecar adapter``: serves the adapter contract over HTTPS until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import ssl
import sys
from typing import TYPE_CHECKING

from aiohttp import web

from oasis_operator.sidecar.adapter.listener import accept
from oasis_operator.sidecar.adapter.options import Options
from oasis_operator.sidecar.adapter.routes import build_app
from oasis_operator.sidecar.adapter.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger(__name__)

_BACKLOG = 128
_SHUTDOWN_SECONDS = 2.0


def run_adapter(argv: Sequence[str]) -> int:
    """Serve until SIGTERM or SIGINT.

    Returns:
        0 after a signal, 2 for arguments, an environment or files that cannot be read.
    """
    if argv:
        sys.stderr.write("usage: oasis-sidecar adapter\n")
        return 2
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        options = Options.from_environment(os.environ)
        token = _read_token(options)
        context = _server_context(options)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"adapter: {error}\n")
        return 2
    asyncio.run(_serve(options, token, context))
    return 0


async def _serve(options: Options, token: str, context: ssl.SSLContext) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    session = Session(options)
    runner = web.AppRunner(build_app(session, token), access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    if runner.server is None:
        raise RuntimeError("the runner was not set up")
    with _listen(options) as listening:
        accepting = loop.create_task(
            accept(listening, runner.server, context, local_peers=options.local_peers)
        )
        _log.info("listening on port %d, boot %s", listening.getsockname()[1], session.boot_id)
        await stopped.wait()
        await session.linger(options.linger_seconds)
        accepting.cancel()
    await session.close()
    await runner.cleanup()


def _listen(options: Options) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listening = socket.create_server((options.host, options.port), family=family, backlog=_BACKLOG)
    listening.setblocking(False)
    return listening


def _read_token(options: Options) -> str:
    token = (options.tls_dir / "adapter-token").read_text(encoding="utf-8").strip()
    if not token:
        raise ValueError("adapter-token: empty")
    return token


def _server_context(options: Options) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(options.tls_dir / "adapter.crt", options.tls_dir / "adapter.key")
    return context
