"""HTTP towards what the adapter does not trust: no redirects, cookies, proxies or compression."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp

from oasis_operator.errors import InvalidInput

if TYPE_CHECKING:
    from aiohttp.tracing import TraceConfig

_CHUNK_BYTES = 64 * 1024


@dataclass(slots=True)
class Received:
    """As much of a body as has arrived; it stays where reading was cut off.

    Attributes:
        data: The bytes so far, at most the limit that was given.
        whole: Whether the body ended there.
        cut: Whether there was more that was not read, by a decision of ours.
    """

    data: bytearray = field(default_factory=bytearray)
    whole: bool = False
    cut: bool = False


def open_session(
    *, trust: ssl.SSLContext | bool = True, trace: TraceConfig | None = None
) -> aiohttp.ClientSession:
    """Open a session of one request to a connection, without a time limit of its own.

    Args:
        trust: Authorities for https, the system's when True.
        trace: Told of each connection, where given.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=trust, force_close=True),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        # A compressed answer could grow beyond every bound; it is asked for plain and read as it comes.
        auto_decompress=False,
        headers={"Accept-Encoding": "identity"},
        skip_auto_headers=("User-Agent",),
        trace_configs=[trace] if trace else None,
    )


def trust_only(ca: str) -> ssl.SSLContext:
    """Build a client's context that trusts one authority and nothing of the system's.

    Args:
        ca: PEM of the authority.

    Raises:
        InvalidInput: It is not a PEM certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=ca)
    except (ssl.SSLError, ValueError) as error:
        raise InvalidInput("credential.ca: want a PEM certificate", reason="InvalidRequest") from error
    return context


async def read_bounded(response: aiohttp.ClientResponse, received: Received, limit: int) -> None:
    """Read a body until it ends or ``limit`` bytes are there; in that case the connection is closed.

    Raises:
        aiohttp.ClientError: The connection ended before the body did.
    """
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        room = limit - len(received.data)
        received.data += chunk[:room]
        if len(chunk) > room:
            received.cut = True
            response.close()
            return
    received.whole = True
