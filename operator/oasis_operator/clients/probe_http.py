"""The probe's interface over HTTPS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from oasis_operator import errors
from oasis_operator.clients import sidecar_http
from oasis_operator.wire.audit_log import HEAD_HEADER, SIZE_HEADER, AuditPiece
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.probe import Info, PrepareStatus, StopStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.sidecars import Access

#: A pass over a run waits for its log no longer than this.
_AUDIT_SECONDS = 5.0


class HttpProbe:
    """Implements `ports.probe.Probe`."""

    def __init__(self, channel: sidecar_http.Channel) -> None:
        """Send through `channel`."""
        self._channel = channel

    async def health(self, access: Access) -> str | None:
        """Return None when the environment is up, else what it still waits for."""
        response = await self._channel.send(access, "GET", "/healthz")
        if response.status_code == httpx.codes.OK:
            return None
        body = sidecar_http.parsed(response.content, "GET /healthz")
        return str(body.get("message") or f"status {response.status_code}")[:512]

    async def info(self, access: Access) -> Info:
        """Return what the environment says of itself."""
        body = await self._channel.call(access, "GET", "/v1/info")
        return sidecar_http.read(Info.from_json, Fields(body), "GET /v1/info")

    async def prepare(self, access: Access, request: Mapping[str, Any]) -> PrepareStatus:
        """Start the preparation."""
        body = await self._channel.call(access, "POST", "/v1/prepare", request)
        return sidecar_http.read(PrepareStatus.from_json, Fields(body), "POST /v1/prepare")

    async def preparation(self, access: Access) -> PrepareStatus:
        """Return how far the preparation is."""
        body = await self._channel.call(access, "GET", "/v1/prepare")
        return sidecar_http.read(PrepareStatus.from_json, Fields(body), "GET /v1/prepare")

    async def begin(self, access: Access, run_id: str) -> None:
        """Count the moments of temporal conditions from now on."""
        await self._channel.call(access, "POST", "/v1/begin", {"run_id": run_id})

    async def stop(self, access: Access, run_id: str) -> StopStatus:
        """Start the stop protocol."""
        body = await self._channel.call(access, "POST", "/v1/stop", {"run_id": run_id})
        return sidecar_http.read(StopStatus.from_json, Fields(body), "POST /v1/stop")

    async def stopping(self, access: Access) -> StopStatus:
        """Return how far the stop protocol is."""
        body = await self._channel.call(access, "GET", "/v1/stop")
        return sidecar_http.read(StopStatus.from_json, Fields(body), "GET /v1/stop")

    async def evidence(self, access: Access, size_bytes: int, sha256: str) -> bytes:
        """Fetch the evidence part whole."""
        what = "the probe's evidence"
        size = sidecar_http.bounded_size(size_bytes, sidecar_http.EVIDENCE_LIMIT, what)
        content = await self._channel.pieces(access, "/v1/evidence", size, what)
        return sidecar_http.verified(content, sha256, what)

    async def beginning(self, access: Access) -> bytes:
        """Fetch what is known of the run as it begins."""
        return await self._channel.announced(
            access, "/v1/beginning", sidecar_http.EVIDENCE_LIMIT, "the beginning of the run"
        )

    async def audit(self, access: Access, offset: int, limit: int) -> AuditPiece:
        """Fetch a piece of the log."""
        path = f"/v1/audit?offset={offset}&limit={limit}"
        response = await self._channel.send(
            access, "GET", path, limit=sidecar_http.PIECE_BYTES, timeout_seconds=_AUDIT_SECONDS
        )
        if response.status_code >= httpx.codes.BAD_REQUEST:
            raise sidecar_http.refusal(response, "GET /v1/audit")
        size, head = response.headers.get(SIZE_HEADER, ""), response.headers.get(HEAD_HEADER, "")
        if not size.isdigit() or int(size) < offset + len(response.content):
            raise errors.ProviderFault(f"a piece of the audit log came with size {size[:32]!r}")
        if len(response.content) > limit:
            raise errors.ProviderFault(f"a piece of the audit log is longer than {limit} bytes")
        return AuditPiece(response.content, int(size), head)

    async def containment(self, access: Access) -> Mapping[str, str]:
        """Return the registered containment values."""
        body = await self._channel.call(access, "GET", "/v1/containment")
        values = body.get("values")
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise errors.ProviderFault("the probe's containment values are no map of texts")
        return values
