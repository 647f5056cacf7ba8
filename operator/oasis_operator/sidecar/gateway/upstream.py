"""Calls to the model's API: one address, the key in its header, no redirect, nothing retried.

A call that may have reached the provider is never sent twice here; whoever asked decides what to do.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import aiohttp

from oasis_operator.wire.gateway import Api

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from oasis_operator.sidecar.gateway.settings import GatewaySettings

_CONNECT_SECONDS: Final = 10.0
_MOST_CONNECTIONS: Final = 512
_VERSION: Final = "2023-06-01"
#: Headers of an answer that are passed on.
PASSED: Final = ("Content-Type", "Retry-After", "Retry-After-Ms", "Request-Id", "X-Request-Id")
_PATHS: Final = {
    Api.CHAT: "/chat/completions",
    Api.RESPONSES: "/responses",
    # The base URL of this API has no version in it.
    Api.MESSAGES: "/v1/messages",
}


class Upstream:
    """The model's API."""

    def __init__(self, settings: GatewaySettings) -> None:
        """Open a session; needs a running event loop."""
        self._settings = settings
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=_MOST_CONNECTIONS),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=settings.call_seconds, sock_connect=_CONNECT_SECONDS),
            auto_decompress=False,
            headers={"Accept-Encoding": "identity"},
            skip_auto_headers=("User-Agent",),
        )

    def call(self, api: Api, body: dict[str, Any]) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Send a request; its body has been admitted.

        Raises:
            aiohttp.ClientError: It could not be sent, or no answer came.
            TimeoutError: It took too long.
        """
        content = json.dumps(body, ensure_ascii=False).encode(errors="replace")
        return self._session.post(
            f"{self._settings.configuration.base_url}{_PATHS[api]}",
            data=content,
            headers={"Content-Type": "application/json", **self._credentials(api)},
            allow_redirects=False,
        )

    def redacted(self, content: bytes) -> bytes:
        """Return what a provider said without the key, which some repeat in their errors."""
        key = self._settings.key.encode()
        return content.replace(key, b"[key]") if key else content

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    def _credentials(self, api: Api) -> dict[str, str]:
        key = self._settings.key
        if api is Api.MESSAGES:
            return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}
        return {"Authorization": f"Bearer {key}"} if key else {}
