"""One request to an agent over HTTP and its answer, guarded: what both kinds that speak with servers share.

An answer with a server error counts as a crash, since the agent says by it that it failed at the task; any
other answer that is not a success is outside the contract. Either way what it said is kept.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl

from oasis_operator.sidecar.adapter.faults import crashed, malformed, not_delivered
from oasis_operator.sidecar.adapter.http_client import read_bounded
from oasis_operator.wire.adapter import DEFAULT_AGENT_URL
from oasis_operator.wire.fields import Fields, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiohttp.tracing import TraceConfig

    from oasis_operator.errors import AgentFault
    from oasis_operator.sidecar.adapter.http_client import Received

_PAUSE_SECONDS = 0.1
_LONGEST_PATH = 1024
# Kept of an answer that is not HTTP.
_NOT_HTTP_CHARACTERS = 2048


async def exchange(send: Callable[[], Any], received: Received, listen_seconds: float, limit: int) -> None:
    """Connect, trying again while the agent does not listen, and read one answer.

    Args:
        send: Makes the request.
        received: Takes up what comes, up to `limit` bytes in all.
        listen_seconds: How long the agent may take to listen.
        limit: Most bytes.

    Raises:
        AgentFault: Never delivered, crashed, or malformed.
    """
    deadline = time.monotonic() + listen_seconds
    while True:
        try:
            async with send() as response:
                await _read_answer(response, received, limit)
        except aiohttp.ClientConnectorError as error:
            if time.monotonic() >= deadline:
                raise not_delivered("the agent does not listen") from error
            await asyncio.sleep(_PAUSE_SECONDS)
        except aiohttp.ClientError as error:
            raise _explain(error, received) from error
        else:
            return


async def _read_answer(response: aiohttp.ClientResponse, received: Received, limit: int) -> None:
    await read_bounded(response, received, limit)
    # Behind a status below 200 comes another protocol, of which nobody reads what is said.
    received.cut = received.cut or response.status < 200
    if response.status >= 500:
        raise crashed(f"the agent answered with status {response.status}")
    if not 200 <= response.status < 300:
        raise malformed(f"the agent answered with status {response.status}")
    if not received.whole:
        raise malformed(f"the answer is larger than {limit} bytes")


def _explain(error: aiohttp.ClientError, received: Received) -> AgentFault:
    """Tell an agent that went away from one that does not speak HTTP.

    The library's message may quote the agent, so it is kept as what was seen and not as our own words; what
    else the agent sent was never read.
    """
    if isinstance(error, aiohttp.ClientResponseError):
        received.cut = True
        received.data += error.message[:_NOT_HTTP_CHARACTERS].encode(errors="replace")
        return malformed("the agent did not answer in HTTP")
    return crashed(f"the connection ended before the answer did ({type(error).__name__})")


def on_connected(tell: Callable[[], None]) -> TraceConfig:
    """Return what tells of each connection that stands."""

    async def connected(*_: object) -> None:
        tell()

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(connected)
    return trace


def read_url(adapter: Mapping[str, Any], member: str, default: str) -> str:
    """Return the agent's URL with the path that a member of the adapter names, or a default one.

    Raises:
        InvalidInput: The URL is no http or https one with a host, or the path begins without a slash.
    """
    fields = Fields(adapter, "adapter")
    url = fields.text("url", DEFAULT_AGENT_URL, longest=2048)
    want = "want an http or https URL with a host"
    try:
        parts = yarl.URL(url)
    except ValueError as error:
        raise fault(fields.at("url"), url, want) from error
    if parts.scheme not in ("http", "https") or not parts.host:
        raise fault(fields.at("url"), url, want)
    path = fields.text(member, default, longest=_LONGEST_PATH)
    if path and not path.startswith("/"):
        raise fault(fields.at(member), path, "want a path that begins with a slash")
    return url.rstrip("/") + path if path else url
