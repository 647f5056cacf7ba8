"""Requests to the model gateway, and what its answers mean to a loop."""

from __future__ import annotations

import asyncio
import json
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, Self

import aiohttp

from oasis_operator.sidecar.adapter.gateway_client import GatewayClient
from oasis_operator.sidecar.adapter.http_client import Received, read_bounded
from oasis_operator.sidecar.adapter.loop import chat, messages, responses
from oasis_operator.sidecar.adapter.loop.events import EventReader
from oasis_operator.sidecar.adapter.loop.machine import Failed, Trouble
from oasis_operator.sidecar.adapter.reading import mapping, text
from oasis_operator.wire import gateway as wire
from oasis_operator.wire.gateway import Api, Reason

if TYPE_CHECKING:
    from types import ModuleType

    from oasis_operator.sidecar.adapter.loop.talk import Options, Reply, Talk
    from oasis_operator.wire.gateway import Usage

DIALECTS: Final[dict[Api, ModuleType]] = {Api.CHAT: chat, Api.RESPONSES: responses, Api.MESSAGES: messages}

_CONNECT_TRIES: Final = 30
_PAUSE_SECONDS: Final = 0.5
# What providers say of a conversation that does not fit, none of them in the same way.
_OVERFLOW: Final = (
    "context_length_exceeded",
    "context length",
    "context window",
    "prompt is too long",
    "too many tokens",
)
_OUR_REASONS: Final = {Reason.BUDGET: Trouble.BUDGET, Reason.UPSTREAM: Trouble.OUTAGE}
_BUSY: Final = frozenset({429, 503, 529})
_QUOTA: Final = "insufficient_quota"


class Model:
    """A model behind the gateway, asked once for each number of a call."""

    def __init__(self, api: Api, reach: wire.Reach, options: Options) -> None:
        """Open a session; needs a running event loop."""
        self._api = api
        self._dialect = DIALECTS[api]
        self._options = options
        self._gateway = GatewayClient(reach)
        self._calls = 0

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self._gateway.close()

    async def ask(self, talk: Talk) -> Reply | Failed:
        """Send a conversation; a request that never left is sent again, one that may have is not."""
        self._calls += 1
        body = json.dumps(self._dialect.request(talk, self._options), ensure_ascii=False)
        for _ in range(_CONNECT_TRIES):
            try:
                return await self._ask(body.encode(errors="replace"))
            except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError):
                return Failed(Trouble.FAULT, "the gateway shows another certificate than its own")
            except aiohttp.ClientConnectorError:
                await asyncio.sleep(_PAUSE_SECONDS)
            except aiohttp.ClientError as error:
                return Failed(Trouble.FAULT, f"the gateway broke off ({type(error).__name__})")
        return Failed(Trouble.FAULT, "the gateway cannot be reached")

    async def usage(self) -> Usage | None:
        """Return what the run's calls took so far, None where the gateway does not tell."""
        return await self._gateway.usage()

    async def _ask(self, body: bytes) -> Reply | Failed:
        async with self._gateway.post(self._api.value, body, self._calls) as response:
            if response.content_type == "text/event-stream" and response.status == 200:
                return await self._read_stream(response)
            received = Received()
            await read_bounded(response, received, wire.MAX_ANSWER_BYTES)
            told = _object(bytes(received.data))
            if response.status == 200:
                return self._read(told)
            return explain(response.status, told, dict(response.headers))

    async def _read_stream(self, response: aiohttp.ClientResponse) -> Reply | Failed:
        reader, events = EventReader(), []
        try:
            async for chunk in response.content.iter_any():
                events += reader.feed(chunk)
        except aiohttp.ClientError:
            # The gateway cuts a stream where the provider did.
            return Failed(Trouble.OUTAGE, "the model's answer broke off")
        failed = next(
            (event for event in events if text(event, "type") in ("error", "response.failed")), None
        )
        if failed is not None:
            kind = mapping(failed, "error") or mapping(failed, "response", "error")
            busy = text(kind, "type") in ("overloaded_error", "rate_limit_error")
            return Failed(Trouble.BUSY if busy else Trouble.OUTAGE, "the model's answer ended in an error")
        whole = self._dialect.fold(events)
        return Failed(Trouble.OUTAGE, "the model's answer broke off") if whole is None else self._read(whole)

    def _read(self, body: dict[str, Any]) -> Reply | Failed:
        reply: Reply | None = self._dialect.read(body)
        return reply or Failed(Trouble.OUTAGE, "the model's API answered with no answer")


def explain(status: int, body: dict[str, Any], headers: dict[str, str]) -> Failed:
    """Return what an answer that is no success means."""
    told = {name.lower(): value for name, value in headers.items()}
    reason = told.get(wire.REASON_HEADER.lower())
    error = mapping(body, "error")
    if reason is not None:
        trouble = _OUR_REASONS.get(Reason(reason), Trouble.FAULT) if reason in {*Reason} else Trouble.FAULT
        return Failed(trouble, text(error, "message")[:256] or "the gateway refused")
    said = f"{text(error, 'code')} {text(error, 'type')} {text(error, 'message')}".lower()
    if status == 413 or (status == 400 and any(words in said for words in _OVERFLOW)):
        return Failed(Trouble.TOO_LONG, "the conversation does not fit the model's context")
    if status in _BUSY and _QUOTA not in said:
        return Failed(Trouble.BUSY, f"the model's API is busy (status {status})", _retry_after(told))
    if status >= 500 or status in (408, 409):
        return Failed(Trouble.OUTAGE, f"the model's API failed (status {status})", _retry_after(told))
    return Failed(Trouble.MISCONFIGURED, f"the model's API refuses the request (status {status})")


def _retry_after(headers: dict[str, str]) -> float | None:
    """Return the seconds after which to come back: given in milliseconds, in seconds, or as a date."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers["retry-after"]
        if value.replace(".", "", 1).isdigit():
            return float(value)
        date = parsedate_to_datetime(headers["date"])
        return max(0.0, (parsedate_to_datetime(value) - date).total_seconds())
    except (KeyError, ValueError, TypeError):
        return None


def _object(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
