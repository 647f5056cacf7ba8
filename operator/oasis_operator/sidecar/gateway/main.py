"""``oasis-sidecar gateway``: serves runs over HTTPS until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import ssl
import sys
from typing import TYPE_CHECKING

from aiohttp import web

from oasis_operator.sidecar.gateway.journal import Journal
from oasis_operator.sidecar.gateway.server import Gateway
from oasis_operator.sidecar.gateway.settings import GatewaySettings
from oasis_operator.sidecar.gateway.upstream import Upstream

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger(__name__)

_SHUTDOWN_SECONDS = 5.0


def run_gateway(argv: Sequence[str]) -> int:
    """Serve until SIGTERM or SIGINT.

    Returns:
        0 after a signal, 2 for arguments, an environment or files that cannot be used.
    """
    if argv:
        sys.stderr.write("usage: oasis-sidecar gateway\n")
        return 2
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        settings = GatewaySettings.from_environment(os.environ)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(settings.tls_dir / "adapter.crt", settings.tls_dir / "adapter.key")
        journal = Journal(settings.journal)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"gateway: {error}\n")
        return 2
    asyncio.run(_serve(settings, context, journal))
    return 0


async def _serve(settings: GatewaySettings, context: ssl.SSLContext, journal: Journal) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    upstream = Upstream(settings)
    gateway = Gateway(settings, journal, upstream)
    # A caller that hangs up must not leave a call of its own going on at the provider.
    runner = web.AppRunner(
        gateway.build_app(), access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS, handler_cancellation=True
    )
    await runner.setup()
    await web.TCPSite(runner, settings.host, settings.port, ssl_context=context).start()
    _log.info("listening on port %d for %s", settings.port, settings.configuration.base_url)
    await stopped.wait()
    await runner.cleanup()
    await upstream.close()
    journal.close()
