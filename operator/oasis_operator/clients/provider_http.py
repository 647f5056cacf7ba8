"""The provider contract over HTTP(S): one trusted CA, bearer token, bounded bodies, bounded time.

Nothing is retried here and no redirect is followed. What a provider answers is read as the contract has it,
and every way of not doing so has a reason of its own.

Spec: 08-provider-conformance §3.8, 04-execution §2.2.
"""

from __future__ import annotations

import asyncio
import functools
import json
import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from oasis_operator import errors
from oasis_operator.ports.provider import UNKNOWN_OUTCOMES, Fault, ProviderRefusal
from oasis_operator.wire.observation import ObserveAnswer, ObserveRequest
from oasis_operator.wire.provider import (
    ProvisionAnswer,
    ProvisionRequest,
    Route,
    SnapshotAnswer,
    SnapshotRequest,
    Status,
    StatusAnswer,
    TeardownRequest,
)
from oasis_operator.wire.provider_errors import ErrorBody

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.resources.provider_access import ProviderReach
    from oasis_operator.wire.provider import InjectRequest

T = TypeVar("T")

ANSWER_LIMIT = 128 * 2**20
"""Most bytes of an answer; an audit log or a snapshot is the largest."""
_SMALL = 8 * 2**20
_CONNECT_SECONDS = 10.0
_SAID = 512
_CONTEXTS = 32
_GONE = frozenset({httpx.codes.NOT_FOUND, httpx.codes.GONE})


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came.

    Attributes:
        status: HTTP status.
        content: The body, whole.
        media_type: Of the body, in lower case without parameters; empty where none was given.
    """

    status: int
    content: bytes
    media_type: str = ""


class HttpProvider:
    """Implements `ports.provider.Provider`."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """Use `transport` in place of the network where given."""
        self._transport = transport

    async def conformance(self, reach: ProviderReach, profile: str) -> Mapping[str, Any]:
        """Return the answer for a profile as it came."""
        path = f"{Route.CONFORMANCE}?{httpx.QueryParams(profile=profile)}"
        reply = await self.send(reach, "GET", path, limit=_SMALL)
        return _object(reply, Route.CONFORMANCE, accepted=frozenset({200}))

    async def provision(self, reach: ProviderReach, request: ProvisionRequest) -> ProvisionAnswer:
        """Return a ready environment."""
        reply = await self.send(
            reach, "POST", Route.PROVISION, _bytes(request.to_json()), seconds=reach.provision_seconds
        )
        try:
            answer = _read(ProvisionAnswer.from_json, _object(reply, Route.PROVISION), Route.PROVISION)
            _ensure_ready(answer)
        except errors.ProviderFault as error:
            await self._abandon(reach, reply, error)
            raise
        return answer

    async def snapshot(self, reach: ProviderReach, request: SnapshotRequest) -> SnapshotAnswer:
        """Return state as it is now."""
        reply = await self.send(reach, "POST", Route.STATE_SNAPSHOT, _bytes(request.to_json()))
        body = _object(reply, Route.STATE_SNAPSHOT)
        answer = _read(SnapshotAnswer.from_json, body, Route.STATE_SNAPSHOT)
        _ensure_same(answer.environment_id, request.environment_id, Route.STATE_SNAPSHOT)
        return answer

    async def inject(self, reach: ProviderReach, request: InjectRequest) -> None:
        """Add state."""
        reply = await self.send(reach, "POST", Route.INJECT_STATE, _bytes(request.to_json()))
        answer = _read(StatusAnswer.from_json, _object(reply, Route.INJECT_STATE), Route.INJECT_STATE)
        _ensure_status(answer, Status.APPLIED, Route.INJECT_STATE)

    async def observe(self, reach: ProviderReach, request: ObserveRequest) -> ObserveAnswer:
        """Return one observation."""
        reply = await self.send(reach, "POST", Route.OBSERVE, _bytes(request.to_json()))
        answer = _read(ObserveAnswer.from_json, _object(reply, Route.OBSERVE), Route.OBSERVE)
        _ensure_same(answer.environment_id, request.environment_id, Route.OBSERVE)
        if answer.observation_type != request.observation_type:
            seen = answer.observation_type
            raise _fault(
                Fault.MALFORMED, Route.OBSERVE, f"asked for {request.observation_type}, answered {seen!r}"
            )
        return answer

    async def teardown(self, reach: ProviderReach, environment_id: str) -> None:
        """Destroy an environment."""
        body = _bytes(TeardownRequest(environment_id).to_json())
        reply = await self.send(reach, "POST", Route.TEARDOWN, body, limit=_SMALL)
        if reply.status in _GONE or reply.status == httpx.codes.NO_CONTENT:
            return
        answer = _read(StatusAnswer.from_json, _object(reply, Route.TEARDOWN), Route.TEARDOWN)
        _ensure_status(answer, Status.DESTROYED, Route.TEARDOWN)

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Return the IP addresses of a host."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            message = f"the agent's endpoint {host[:200]} has no address: {error}"
            raise errors.ProviderFault(message, reason=Fault.UNREACHABLE) from error
        return tuple(sorted({str(item[4][0]).partition("%")[0] for item in found}))

    async def send(
        self,
        reach: ProviderReach,
        method: str,
        path: str,
        content: bytes | None = None,
        *,
        seconds: float | None = None,
        limit: int = ANSWER_LIMIT,
    ) -> Reply:
        """Return the answer whatever its status, read up to `limit` bytes.

        Raises:
            ProviderFault: There is no whole answer in time.
        """
        headers = {"Accept": "application/json"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if reach.token:
            headers["Authorization"] = f"Bearer {reach.token}"
        what, longest = path.partition("?")[0], seconds or reach.request_seconds
        try:
            async with (
                asyncio.timeout(longest),
                httpx.AsyncClient(
                    verify=context(reach.ca),
                    transport=self._transport,
                    timeout=httpx.Timeout(longest, connect=min(_CONNECT_SECONDS, longest)),
                    trust_env=False,
                    follow_redirects=False,
                ) as client,
                client.stream(
                    method, f"{reach.url.rstrip('/')}{path}", headers=headers, content=content
                ) as answer,
            ):
                read = await _bounded(answer, limit, what)
        except (TimeoutError, httpx.TimeoutException) as error:
            if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
                raise _fault(Fault.UNREACHABLE, what, "no connection in time") from error
            raise _fault(Fault.TIMEOUT, what, f"no whole answer within {longest:g} s") from error
        except (httpx.ConnectError, ssl.SSLError) as error:
            raise _fault(Fault.UNREACHABLE, what, _why(error)) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise _fault(Fault.UNREACHABLE, what, f"{reach.url[:200]!r} is no URL of a provider") from error
        except (httpx.HTTPError, OSError) as error:
            raise _fault(Fault.BROKEN, what, _why(error)) from error
        media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Reply(answer.status_code, read, media_type)

    async def _abandon(self, reach: ProviderReach, reply: Reply, fault: errors.ProviderFault) -> None:
        """Tear down what an unusable answer names; that this fails too changes nothing about the fault."""
        if fault.reason not in {*UNKNOWN_OUTCOMES, Fault.NOT_DONE, Fault.WRONG_ENVIRONMENT, Fault.FAILED}:
            return
        try:
            named = json.loads(reply.content).get("environment_id")
        except (ValueError, AttributeError, RecursionError):
            return
        if not isinstance(named, str) or not named:
            return
        try:
            await self.teardown(reach, named)
        except errors.ProviderFault as error:
            fault.message += f"; {named[:64]} could not be torn down: {error.message}"


@functools.lru_cache(maxsize=_CONTEXTS)
def context(ca: bytes | None) -> ssl.SSLContext:
    """Return a TLS context that trusts this CA alone, or those of the system where there is none.

    Raises:
        ProviderFault: The CA is no PEM.
    """
    if ca is None:
        return ssl.create_default_context()
    try:
        return ssl.create_default_context(cadata=ca.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        message = f"the CA of the provider cannot be read: {error}; give certificates in PEM"
        raise errors.ProviderFault(message, reason=Fault.UNREACHABLE) from error


def _bytes(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


async def _bounded(answer: httpx.Response, limit: int, what: str) -> bytes:
    """Read a body up to `limit` bytes."""
    content = bytearray()
    async for chunk in answer.aiter_bytes():
        content += chunk
        if len(content) > limit:
            raise _fault(Fault.TOO_LARGE, what, f"the answer exceeds {limit} bytes")
    return bytes(content)


def _object(reply: Reply, what: str, accepted: frozenset[int] = frozenset({200, 201})) -> dict[str, Any]:
    """Return the JSON object of a successful answer."""
    if reply.status not in accepted:
        raise _by_status(reply, what)
    try:
        value = json.loads(reply.content)
    except (ValueError, RecursionError) as error:
        raise _fault(Fault.MALFORMED, what, "the answer is not JSON") from error
    if not isinstance(value, dict):
        raise _fault(Fault.MALFORMED, what, "the answer is no JSON object")
    return value


def _by_status(reply: Reply, what: str) -> errors.ProviderFault:
    """Return the fault of an answer whose status is not the contract's."""
    status = reply.status
    if status == httpx.codes.ACCEPTED:
        return _fault(
            Fault.UNFINISHED, what, "202, and the contract has no way to ask again; answer when it is done"
        )
    if 300 <= status < 400:
        return _fault(
            Fault.REDIRECTED, what, f"{status}, which is not followed; set the url that it leads to"
        )
    said = _said(reply.content)
    if 400 <= status < 500:
        return ProviderRefusal(f"the provider's {what}: {status} {said}{_remedy(status)}", status)
    return _fault(Fault.FAILED, what, f"{status} {said}")


def _remedy(status: int) -> str:
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return "; check the token that spec.provider.tokenRef names"
    return ""


def _said(content: bytes) -> str:
    """Return what the body of a refusal says, in one bounded line."""
    try:
        body = ErrorBody.from_json(json.loads(content))
    except (ValueError, RecursionError):
        return "without a typed body"
    text = f"{body.reason}: {body.error}" if body.reason else body.error
    return " ".join(text.split())[:_SAID] or "without a reason"


def _read(reader: Callable[[Any], T], value: object, what: str) -> T:
    try:
        return reader(value)
    except errors.InvalidInput as error:
        raise _fault(Fault.MALFORMED, what, error.message) from error


def _ensure_ready(answer: ProvisionAnswer) -> None:
    """Refuse an answer that is not a ready environment; it may name it as it likes."""
    if answer.status != Status.READY:
        why = answer.error[:_SAID] or "it gives no reason"
        raise _fault(Fault.NOT_DONE, Route.PROVISION, f"status {answer.status[:64]!r}: {why}")
    if not answer.environment_id:
        raise _fault(Fault.WRONG_ENVIRONMENT, Route.PROVISION, "ready, with an empty environment_id")
    if answer.error:
        raise _fault(Fault.NOT_DONE, Route.PROVISION, f"ready, and an error: {answer.error[:_SAID]}")


def _ensure_same(seen: str, wanted: str, what: str) -> None:
    if seen != wanted:
        raise _fault(
            Fault.WRONG_ENVIRONMENT, what, f"asked about {wanted[:64]!r}, answered about {seen[:64]!r}"
        )


def _ensure_status(answer: StatusAnswer, wanted: Status, what: str) -> None:
    if answer.status != wanted or answer.error:
        why = answer.error[:_SAID] or "it gives no reason"
        raise _fault(Fault.NOT_DONE, what, f"status {answer.status[:64]!r}, not {wanted.value!r}: {why}")


def _why(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return " ".join(text.split())[:_SAID]


def _fault(reason: Fault, what: str, why: str) -> errors.ProviderFault:
    return errors.ProviderFault(f"the provider's {what}: {why}", reason=reason)
