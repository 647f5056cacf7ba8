"""The way from an adapter to the model gateway: its pinned certificate, the run's token, numbered calls."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

import aiohttp

from oasis_operator.sidecar.adapter.http_client import Received, open_session, read_bounded, trust_only
from oasis_operator.wire import gateway as wire
from oasis_operator.wire.gateway import Usage

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

_USAGE_SECONDS: Final = 3.0
_MOST_USAGE_BYTES: Final = 4096
_SERVER_NAME: Final = "sidecar"


class GatewayClient:
    """Calls of one run."""

    def __init__(self, reach: wire.Reach) -> None:
        """Open a session; needs a running event loop.

        Raises:
            InvalidInput: The authority is no certificate.
        """
        host = f"[{reach.host}]" if ":" in reach.host else reach.host
        self._base = f"https://{host}:{reach.port}"
        self._headers = {"Authorization": f"Bearer {reach.token}"}
        self._session = open_session(trust=trust_only(reach.ca))

    def post(
        self, path: str, body: bytes, number: int
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Send a call under its number.

        Raises:
            aiohttp.ClientError: It could not be sent, or no answer came.
        """
        headers = {
            **self._headers,
            "Content-Type": "application/json",
            wire.CALL_HEADER: str(number),
        }
        return self._session.post(
            self._base + path,
            data=body,
            headers=headers,
            allow_redirects=False,
            server_hostname=_SERVER_NAME,
        )

    async def usage(self) -> Usage | None:
        """Return what the run's calls took so far, None where the gateway does not tell."""
        received = Received()
        try:
            async with (
                asyncio.timeout(_USAGE_SECONDS),
                self._session.get(
                    f"{self._base}/v1/usage", headers=self._headers, server_hostname=_SERVER_NAME
                ) as told,
            ):
                await read_bounded(told, received, _MOST_USAGE_BYTES)
            return Usage.from_json(json.loads(bytes(received.data)))
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return None

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()
