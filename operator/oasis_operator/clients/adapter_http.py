"""The adapter's interface over HTTPS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx

from oasis_operator import errors
from oasis_operator.clients import sidecar_http
from oasis_operator.wire.adapter import AdapterState, RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.sidecars import Access

_IDENTITY_SECONDS = 40.0
"""Longer than the adapter itself waits for the agent."""


class HttpAdapter:
    """Implements `ports.adapter.Adapter`."""

    def __init__(self, channel: sidecar_http.Channel) -> None:
        """Send through `channel`."""
        self._channel = channel

    async def state(self, access: Access) -> AdapterState:
        """Return where the adapter stands."""
        body = await self._channel.call(access, "GET", "/v1/state")
        return sidecar_http.read(AdapterState.from_json, body, "GET /v1/state")

    async def release(self, access: Access, request: Mapping[str, Any]) -> None:
        """Hand over what to check and the credential."""
        await self._channel.call(access, "POST", "/v1/release", request)

    async def identity(self, access: Access, adapter: Mapping[str, str]) -> Mapping[str, Any]:
        """Return what the agent says of itself; a 502 is the agent's own fault."""
        target = "/v1/identity?" + urlencode(adapter)
        response = await self._channel.send(access, "GET", target, timeout_seconds=_IDENTITY_SECONDS)
        if response.status_code == httpx.codes.BAD_GATEWAY:
            body = sidecar_http.parsed(response.content, "GET /v1/identity")
            raise errors.AgentFault(f"{body.get('reason', '')}: {body.get('message', '')}"[:512])
        if response.status_code >= httpx.codes.BAD_REQUEST:
            raise sidecar_http.refusal(response, "GET /v1/identity")
        return sidecar_http.parsed(response.content, "GET /v1/identity")

    async def start(self, access: Access, request: Mapping[str, Any]) -> RunState:
        """Deliver the prompt."""
        body = await self._channel.call(access, "PUT", "/v1/run", request)
        return sidecar_http.read(RunState.from_json, body, "PUT /v1/run")

    async def cancel(self, access: Access) -> None:
        """End the run."""
        await self._channel.call(access, "POST", "/v1/cancel")

    async def transcript(self, access: Access) -> bytes:
        """Fetch the transcript whole; its size and digest are announced with each piece."""
        return await self._channel.announced(
            access, "/v1/transcript", sidecar_http.TRANSCRIPT_LIMIT, "the transcript"
        )
