"""HTTPS to the sidecars of one run: pinned CA, bearer token, bounded bodies, bounded time.

What a sidecar of the agent pod answers is testimony from beside a hostile process: it is size-limited and
parsed as JSON, nothing more.
"""

from __future__ import annotations

import hashlib
import json
import ssl
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from oasis_operator import errors
from oasis_operator.clients.pki import SERVER_NAME
from oasis_operator.wire.pieces import DIGEST_HEADER, TOTAL_SIZE_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.ports.sidecars import Access

T = TypeVar("T")

JSON_LIMIT = 8 * 2**20
PIECE_BYTES = 4 * 2**20
EVIDENCE_LIMIT = 128 * 2**20
TRANSCRIPT_LIMIT = 32 * 2**20
_TIMEOUT_SECONDS = 10.0
_CONNECT_SECONDS = 3.0
_CONTEXTS = 64


class Channel:
    """Requests to sidecars; one TLS context per run's CA, since each run trusts only its own."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """Use `transport` in place of the network where given."""
        self._transport = transport
        self._contexts: OrderedDict[bytes, ssl.SSLContext] = OrderedDict()

    async def call(
        self, access: Access, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Return the JSON object of a successful answer.

        Raises:
            Transient: When there is no answer, or one of 500 and above.
            ProviderFault: When the answer refuses the request or is no JSON object.
        """
        response = await self.send(access, method, path, body=body)
        if response.status_code >= httpx.codes.BAD_REQUEST:
            raise refusal(response, f"{method} {path}")
        return parsed(response.content, f"{method} {path}")

    async def send(
        self,
        access: Access,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        limit: int = JSON_LIMIT,
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> httpx.Response:
        """Return the answer, whatever its status, with its body read up to `limit` bytes."""
        url = f"https://{_host(access.host)}:{access.port}{path}"
        headers = {"Authorization": f"Bearer {access.token}", "Host": SERVER_NAME}
        what = f"{method} {path} on {access.host}"
        try:
            async with (
                httpx.AsyncClient(
                    verify=self._context(access.ca),
                    transport=self._transport,
                    timeout=httpx.Timeout(timeout_seconds, connect=_CONNECT_SECONDS),
                    trust_env=False,
                ) as client,
                client.stream(
                    method, url, headers=headers, json=body, extensions={"sni_hostname": SERVER_NAME}
                ) as response,
            ):
                content = await _bounded(response, limit, what)
        except (httpx.HTTPError, ssl.SSLError, OSError) as error:
            raise errors.Transient(f"{what}: {type(error).__name__}: {error}", reason="Network") from error
        return httpx.Response(response.status_code, headers=response.headers, content=content)

    async def pieces(self, access: Access, path: str, size_bytes: int, what: str) -> bytes:
        """Return `size_bytes` bytes fetched in pieces."""
        content = bytearray()
        while len(content) < size_bytes:
            target = f"{path}?offset={len(content)}&limit={PIECE_BYTES}"
            response = await self.send(access, "GET", target, limit=PIECE_BYTES)
            if response.status_code != httpx.codes.OK:
                raise refusal(response, f"GET {target}")
            if not response.content:
                raise errors.ProviderFault(f"{what} ends after {len(content)} of {size_bytes} bytes")
            content += response.content
        return bytes(content)

    async def announced(self, access: Access, path: str, limit: int, what: str) -> bytes:
        """Return a document whose size and digest are announced with each piece of it."""
        first = await self.send(access, "GET", f"{path}?offset=0&limit=1", limit=PIECE_BYTES)
        if first.status_code >= httpx.codes.BAD_REQUEST:
            raise refusal(first, f"GET {path}")
        size = first.headers.get(TOTAL_SIZE_HEADER, "")
        if not size.isdigit():
            raise errors.ProviderFault(f"{what} came without its size")
        content = await self.pieces(access, path, bounded_size(int(size), limit, what), what)
        return verified(content, first.headers.get(DIGEST_HEADER, ""), what)

    def _context(self, ca: bytes) -> ssl.SSLContext:
        """Return the context that trusts this CA alone."""
        if ca not in self._contexts:
            try:
                context = ssl.create_default_context(cadata=ca.decode("ascii"))
            except (ssl.SSLError, ValueError) as error:
                raise errors.ProviderFault(f"the run's CA cannot be read: {error}") from error
            self._contexts[ca] = context
            if len(self._contexts) > _CONTEXTS:
                self._contexts.popitem(last=False)
        self._contexts.move_to_end(ca)
        return self._contexts[ca]


def parsed(content: bytes, what: str) -> Mapping[str, Any]:
    """Return a JSON object, or raise ProviderFault."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise errors.ProviderFault(f"{what}: the answer is not JSON") from error
    if not isinstance(value, dict):
        raise errors.ProviderFault(f"{what}: the answer is no JSON object")
    return value


def read(reader: Callable[[Any], T], value: object, what: str) -> T:
    """Return a body read by `reader`, or raise ProviderFault where it is outside the contract."""
    try:
        return reader(value)
    except errors.InvalidInput as error:
        raise errors.ProviderFault(f"{what}: {error.message}", reason="SidecarRefused") from error


def refusal(response: httpx.Response, what: str) -> errors.OasisError:
    """Return the exception for an answer of 400 or above."""
    try:
        body = json.loads(response.content)
        detail = f"{body.get('reason', '')}: {body.get('message', '')}"[:512]
    except (ValueError, AttributeError, RecursionError):
        detail = "no reason given"
    message = f"{what}: {response.status_code} {detail}"
    if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        return errors.Transient(message, reason="SidecarError")
    return errors.ProviderFault(message, reason="SidecarRefused")


def verified(content: bytes, digest: str, what: str) -> bytes:
    """Return the bytes if they have this SHA-256, with or without `sha256:`, else raise ProviderFault."""
    if hashlib.sha256(content).hexdigest() != digest.removeprefix("sha256:"):
        raise errors.ProviderFault(f"{what} does not match its digest", reason="EvidenceUnreachable")
    return content


def bounded_size(size_bytes: int, limit: int, what: str) -> int:
    """Return the announced size if it is allowed, else raise ProviderFault."""
    if not 0 <= size_bytes <= limit:
        raise errors.ProviderFault(
            f"{what} of {size_bytes} bytes exceeds the limit of {limit}", reason="EvidenceUnreachable"
        )
    return size_bytes


async def _bounded(response: httpx.Response, limit: int, what: str) -> bytes:
    """Read a body up to `limit` bytes."""
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > limit:
            raise errors.ProviderFault(f"{what}: the answer exceeds {limit} bytes")
    return bytes(content)


def _host(address: str) -> str:
    """Return an address as it stands in a URL."""
    return f"[{address}]" if ":" in address else address
