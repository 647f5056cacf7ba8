"""The adapter kind ``http``: an agent that speaks the agent contract as an HTTP server.

An answer with a server error counts as a crash, since the agent says by it that it failed at the task; any
other answer that is not a success is outside the contract. Either way what it said is kept.

Spec: 04-execution §1.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl

from oasis_operator.sidecar.adapter.faults import crashed, malformed, not_delivered
from oasis_operator.sidecar.adapter.http_client import Received, open_session, read_bounded
from oasis_operator.wire.adapter import DEFAULT_AGENT_URL, IDENTITY_PATH
from oasis_operator.wire.agent import MAX_ANSWER_BYTES, Prompt, parse_answer, parse_identity
from oasis_operator.wire.fields import Fields, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiohttp.tracing import TraceConfig

    from oasis_operator.errors import AgentFault
    from oasis_operator.sidecar.adapter.options import Options
    from oasis_operator.sidecar.adapter.record import Record
    from oasis_operator.sidecar.adapter.task import Task
    from oasis_operator.wire.adapter import RunRequest
    from oasis_operator.wire.agent import Identity

_IDENTITY_BYTES = 256 * 1024
_PAUSE_SECONDS = 0.1
_LONGEST_PATH = 1024
# Kept of an answer that is not HTTP.
_NOT_HTTP_CHARACTERS = 2048


class HttpAgent:
    """Drives an agent over HTTP."""

    def check(self, adapter: Mapping[str, Any]) -> None:
        """Check where the agent is spoken to.

        Raises:
            InvalidInput: The URL is no http or https one with a host, or a path begins without a slash.
        """
        _read_url(adapter, "path", "")
        _read_url(adapter, "identity_path", IDENTITY_PATH)

    async def identify(self, adapter: Mapping[str, Any], options: Options) -> Identity:
        """Ask ``GET /identity-and-configuration``, or another path, as soon as the agent listens.

        Raises:
            AgentFault: It did not listen in time, went away, or answered outside its contract.
        """
        received = Received()
        url = _read_url(adapter, "identity_path", IDENTITY_PATH)
        async with open_session() as session:
            await _exchange(
                lambda: session.get(url, allow_redirects=False),
                received,
                options.listen_seconds,
                _IDENTITY_BYTES,
            )
        return parse_identity(bytes(received.data))

    async def run(self, task: Task, record: Record) -> None:
        """Send ``POST /``, or another path, once, as soon as the agent listens, and read its answer.

        A connection that is refused carried nothing, so it is tried again; once one stands, the prompt counts
        as delivered and nothing is ever sent again.

        Raises:
            AgentFault: Never delivered, crashed, or malformed.
        """
        url = _read_url(task.request.adapter, "path", "")
        body = _render_prompt(task.request)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        async with open_session(trace=_on_connected(record.deliver)) as session:
            await _exchange(
                lambda: session.post(url, data=body, headers=headers, allow_redirects=False),
                record.received,
                task.options.listen_seconds,
                MAX_ANSWER_BYTES,
            )
        # Parsing a large answer takes long enough to keep the kubelet's probe waiting.
        record.take(await asyncio.to_thread(parse_answer, bytes(record.received.data)))


async def _exchange(send: Callable[[], Any], received: Received, listen_seconds: float, limit: int) -> None:
    """Connect, trying again while the agent does not listen, and read one answer."""
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


def _on_connected(tell: Callable[[], None]) -> TraceConfig:
    async def connected(*_: object) -> None:
        tell()

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(connected)
    return trace


def _render_prompt(request: RunRequest) -> bytes:
    prompt = Prompt(request.prompt, request.tools, request.mode, request.scope, request.context)
    return json.dumps(prompt.to_json(), ensure_ascii=False).encode()


def _read_url(adapter: Mapping[str, Any], member: str, default: str) -> str:
    """Return the agent's URL with the path that a member of the adapter names, or a default one."""
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
