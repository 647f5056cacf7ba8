"""Requests of a model's tools to the environment's API server, with the agent's own credential."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import aiohttp
import yarl

from oasis_operator.sidecar.adapter.http_client import Received, open_session, read_bounded, trust_only
from oasis_operator.sidecar.adapter.loop.places import Kind, in_list, known
from oasis_operator.wire.agent import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.wire.release import Credential

_REQUEST_SECONDS: Final = 30.0
_MOST_BYTES: Final = 4 * 1024 * 1024
_MOST_GROUPS: Final = 50


@dataclass(frozen=True, slots=True)
class Answered:
    """What a server answered.

    Attributes:
        status: HTTP status; 0 where there was no answer.
        text: The body, or why there was none.
        cut: Whether there was more of it.
    """

    status: int
    text: str
    cut: bool = False

    @property
    def is_fine(self) -> bool:
        """Whether it is a success."""
        return 200 <= self.status < 300

    def body(self) -> dict[str, Any]:
        """Return it as a JSON object, empty where it is none."""
        try:
            value = json.loads(self.text)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


class Cluster:
    """The API server that the agent was given access to."""

    def __init__(self, credential: Credential) -> None:
        """Open a session; needs a running event loop."""
        self.namespace = credential.namespace
        self._server = credential.server.rstrip("/")
        self._token = credential.token
        self._session = open_session(trust=trust_only(credential.ca))
        self._found: dict[str, Kind] = {}

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self._session.close()

    async def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = "application/json",
    ) -> Answered:
        """Make one request; an error is an answer."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        received, status = Received(), 0
        try:
            url = yarl.URL(self._server + path, encoded=True).update_query(dict(query or {}))
            async with (
                asyncio.timeout(_REQUEST_SECONDS),
                self._session.request(
                    method,
                    url,
                    data=None if body is None else json.dumps(body).encode(),
                    headers=headers,
                    allow_redirects=False,
                ) as response,
            ):
                status = response.status
                await read_bounded(response, received, _MOST_BYTES)
        except TimeoutError:
            return Answered(status, f"no end within {_REQUEST_SECONDS:g} s", cut=True)
        except (aiohttp.ClientError, ValueError) as error:
            return Answered(status, f"the request failed: {type(error).__name__}")
        return Answered(status, decode(bytes(received.data)), received.cut)

    async def find(self, word: str) -> Kind | None:
        """Return a kind by any of its names: from the table, else from what the server has."""
        kind = known(word) or self._found.get(word)
        if kind is None:
            kind = await self._discover(word)
            if kind is not None:
                self._found[word] = kind
        return kind

    async def _discover(self, word: str) -> Kind | None:
        groups = (await self.request("GET", "/apis")).body().get("groups")
        wanted = word.partition(".")[2]
        for group in groups[:_MOST_GROUPS] if isinstance(groups, list) else ():
            version = (
                (group.get("preferredVersion") or {}).get("groupVersion") if isinstance(group, dict) else ""
            )
            if not version or (wanted and group.get("name") != wanted):
                continue
            base = f"/apis/{version}"
            listed = (await self.request("GET", base)).body().get("resources")
            entries = (
                [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
            )
            kind = in_list(word, base, entries)
            if kind is not None:
                return kind
        return None
