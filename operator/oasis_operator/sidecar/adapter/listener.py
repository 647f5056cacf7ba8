"""Accepting connections to the control port: TLS for who comes from outside the pod, nothing for the agent.

The agent shares the pod's network, so it could try tokens there or hold connections until the adapter's
memory is gone; a connection costs several hundred KiB once TLS begins. So it is hung up on before that.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable

_log = logging.getLogger(__name__)

_HANDSHAKE_SECONDS = 10.0
# Accepting may fail for want of descriptors, which come back when connections end.
_PAUSE_SECONDS = 0.1


async def accept(
    listening: socket.socket,
    protocol: Callable[[], asyncio.BaseProtocol],
    context: ssl.SSLContext,
    *,
    local_peers: bool,
) -> None:
    """Accept connections until cancelled.

    Args:
        listening: A bound, listening, non-blocking socket.
        protocol: Makes the protocol of each connection.
        context: The server's TLS.
        local_peers: Whether connections from within the pod are served too.
    """
    loop = asyncio.get_running_loop()
    greetings: set[asyncio.Task[None]] = set()
    while True:
        try:
            connection, _ = await loop.sock_accept(listening)
        except OSError as error:
            _log.warning("accept: %s", error)
            await asyncio.sleep(_PAUSE_SECONDS)
            continue
        if not local_peers and is_local(connection):
            connection.close()
            continue
        greeting = loop.create_task(_greet(connection, protocol, context))
        greetings.add(greeting)
        greeting.add_done_callback(greetings.discard)


def is_local(connection: socket.socket) -> bool:
    """Tell whether a connection comes from the pod itself; one that has ended meanwhile counts as such."""
    try:
        peer, own = connection.getpeername()[0], connection.getsockname()[0]
    except OSError:
        return True
    return bool(peer == own or ipaddress.ip_address(peer.partition("%")[0]).is_loopback)


async def _greet(
    connection: socket.socket, protocol: Callable[[], asyncio.BaseProtocol], context: ssl.SSLContext
) -> None:
    try:
        await asyncio.get_running_loop().connect_accepted_socket(
            protocol, connection, ssl=context, ssl_handshake_timeout=_HANDSHAKE_SECONDS
        )
    except OSError as error:
        # Includes what TLS itself refuses; whoever it was may come again.
        _log.info("handshake: %s", type(error).__name__)
