"""The probe's interface for looks at a run that goes on, over HTTPS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from oasis_operator.clients import sidecar_http
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.live import LiveLog, LiveState, SelfTest
from oasis_operator.wire.probe import PrepareStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.ports.sidecars import Access
    from oasis_operator.wire.live import SelfTestRequest

#: A look waits for requests in flight, an injection for what was declared to be seen.
_LOOK_SECONDS = 60.0
_INJECT_SECONDS = 120.0


class HttpLiveEnvironment:
    """Implements `ports.live.LiveEnvironment`."""

    def __init__(self, channel: sidecar_http.Channel) -> None:
        """Send through `channel`."""
        self._channel = channel

    async def log(self, access: Access) -> LiveLog:
        """Return the audit log up to now."""
        body = await self._large(access, "GET", "/v1/live/log", _LOOK_SECONDS)
        return sidecar_http.read(LiveLog.from_json, Fields(body), "GET /v1/live/log")

    async def state(self, access: Access) -> LiveState:
        """Return all objects as they were and as they are."""
        body = await self._large(access, "GET", "/v1/live/state", _LOOK_SECONDS)
        return sidecar_http.read(LiveState.from_json, Fields(body), "GET /v1/live/state")

    async def inject(self, access: Access, state: Sequence[Mapping[str, Any]]) -> PrepareStatus:
        """Put further state into the environment."""
        sent = {"state": [dict(entry) for entry in state]}
        body = await self._large(access, "POST", "/v1/live/inject", _INJECT_SECONDS, sent)
        return sidecar_http.read(PrepareStatus.from_json, Fields(body), "POST /v1/live/inject")

    async def self_test(self, access: Access, request: SelfTestRequest) -> SelfTest:
        """Try what only the inside can."""
        body = await self._large(access, "POST", "/v1/live/self-test", _LOOK_SECONDS, request.to_json())
        return sidecar_http.read(SelfTest.from_json, Fields(body), "POST /v1/live/self-test")

    async def _large(
        self,
        access: Access,
        method: str,
        path: str,
        seconds: float,
        body: Mapping[str, Any] | None = None,
    ) -> Mapping[str, Any]:
        """Return a JSON object that may be as large as a run's evidence."""
        response = await self._channel.send(
            access, method, path, body=body, limit=sidecar_http.EVIDENCE_LIMIT, timeout_seconds=seconds
        )
        if response.status_code >= httpx.codes.BAD_REQUEST:
            raise sidecar_http.refusal(response, f"{method} {path}")
        return sidecar_http.parsed(response.content, f"{method} {path}")
