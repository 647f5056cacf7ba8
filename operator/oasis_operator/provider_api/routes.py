"""The routes of the provider contract over HTTP: who may ask, how much, and in what form it is answered.

Nobody who may not ask is read from; nobody is read from without a bound. Paths are taken with and without
`/v1` and with any number of slashes.

Spec: 04-execution §2.2, 08-provider-conformance §3.8.1.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import structlog
from aiohttp import web

from oasis_operator import errors
from oasis_operator.model import jsontext
from oasis_operator.provider_api.refusals import Refused
from oasis_operator.wire.fields import fault
from oasis_operator.wire.observation import ObserveRequest
from oasis_operator.wire.provider import (
    InjectRequest,
    ProvisionRequest,
    Route,
    SnapshotRequest,
    TeardownRequest,
)
from oasis_operator.wire.provider_errors import ErrorReason

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from oasis_operator.provider_api.authentication import Authentication
    from oasis_operator.wire.observation import ObserveAnswer
    from oasis_operator.wire.provider import ProvisionAnswer, SnapshotAnswer, StatusAnswer

_log = structlog.get_logger(__name__)
#: Largest request body, in bytes.
MAX_BODY_BYTES = 8 * 2**20
_BODY_SECONDS = 30.0
_BODIES_AT_ONCE = 16
_LOOKS_AT_ONCE = 4
_SLASHES = re.compile(r"/+")
_LARGE_BYTES = 2**18


@dataclass(frozen=True, slots=True)
class Limits:
    """What is done at once, over all callers; the rest waits its turn.

    Attributes:
        bodies: Request bodies that are read and parsed.
        looks: Environments that are read, since each answer may be large.
    """

    bodies: asyncio.Semaphore
    looks: asyncio.Semaphore


class Environments(Protocol):
    """What serves the routes; see `service.Service`. Each raises `Refused` where it does not do as asked."""

    @property
    def is_full(self) -> bool:
        """Whether as many provisions go on as may."""
        ...

    async def provision(self, request: ProvisionRequest) -> ProvisionAnswer:
        """Make an environment."""
        ...

    async def snapshot(self, request: SnapshotRequest) -> SnapshotAnswer:
        """Return the state as it is now."""
        ...

    async def inject(self, request: InjectRequest) -> StatusAnswer:
        """Add state."""
        ...

    async def observe(self, request: ObserveRequest) -> ObserveAnswer:
        """Return an observation."""
        ...

    async def teardown(self, request: TeardownRequest) -> StatusAnswer:
        """Remove an environment."""
        ...


class Answering(Protocol):
    """What answers the conformance query."""

    async def answer(self, profile: str) -> Mapping[str, Any]:
        """Return the answer about a profile."""
        ...


class Api:
    """Answers one request after the other, or many at once."""

    def __init__(self, service: Environments, claims: Answering, authentication: Authentication) -> None:
        """Serve `service`, claim what `claims` tells, and admit whom `authentication` admits."""
        self._service, self._claims, self._authentication = service, claims, authentication
        self._limits = Limits(asyncio.Semaphore(_BODIES_AT_ONCE), asyncio.Semaphore(_LOOKS_AT_ONCE))
        self._posts: Mapping[Route, Callable[[Any], Awaitable[Any]]] = {
            Route.PROVISION: self._provision,
            Route.STATE_SNAPSHOT: self._snapshot,
            Route.INJECT_STATE: self._inject,
            Route.OBSERVE: self._observe,
            Route.TEARDOWN: self._teardown,
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request; nothing is raised but the end of the server."""
        try:
            return await self._answered(request)
        except Refused as refused:
            return _refusal(refused)
        except errors.InvalidInput as error:
            return _refusal(Refused(ErrorReason.INVALID_REQUEST, error.message))
        except web.HTTPRequestEntityTooLarge:
            return _refusal(_too_large())
        except (errors.Transient, errors.NotReady) as error:
            return _refusal(Refused(ErrorReason.UNAVAILABLE, f"{error.reason}: {error.message}"))
        except Exception as error:  # noqa: BLE001 - a caller must get an answer that it can read
            _log.exception("provider API: internal error", path=request.path[:256])
            message = f"internal error: {type(error).__name__}"
            return _refusal(Refused(ErrorReason.FAILED, message))

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        route = route_of(request.path)
        if route is None:
            wanted = ", ".join(Route)
            raise Refused(ErrorReason.UNKNOWN_ROUTE, f"{request.path[:256]}: no route; there are {wanted}")
        wanted_method = "GET" if route is Route.CONFORMANCE else "POST"
        if request.method != wanted_method:
            return _refusal(
                Refused(ErrorReason.UNKNOWN_ROUTE, f"{route}: {request.method}: want {wanted_method}"), 405
            )
        await self._authentication.admit(request.headers.get("Authorization", ""))
        if route is Route.CONFORMANCE:
            return await _json(await self._claims.answer(_profile(request)))
        if (request.content_length or 0) > MAX_BODY_BYTES:
            raise _too_large()
        if route is Route.PROVISION and self._service.is_full and not request.content_length:
            raise Refused(ErrorReason.TOO_MANY, "as many provisions go on as may; ask again")
        body = await self._body(request)
        answer = await self._posts[route](body)
        if route is Route.PROVISION and is_gone(request) and not body.get("environment_id"):
            # Nobody knows its name, so nobody could ever tear it down.
            await self._service.teardown(TeardownRequest(answer.environment_id))
        return await _json(answer.to_json())

    async def _body(self, request: web.Request) -> Mapping[str, Any]:
        async with self._limits.bodies:
            try:
                async with asyncio.timeout(_BODY_SECONDS):
                    data = await request.read()
            except TimeoutError:
                message = f"body: did not arrive within {_BODY_SECONDS:g} s"
                raise Refused(ErrorReason.INVALID_REQUEST, message) from None
            try:
                value = await _aside(len(data), jsontext.parse, data)
            except ValueError:
                raise fault("", data[:80].decode(errors="replace"), "want JSON") from None
        if not isinstance(value, dict):
            raise fault("", value, "want an object")
        return value

    async def _provision(self, body: object) -> Any:
        return await self._service.provision(ProvisionRequest.from_json(body))

    async def _snapshot(self, body: object) -> Any:
        async with self._limits.looks:
            return await self._service.snapshot(SnapshotRequest.from_json(body))

    async def _inject(self, body: object) -> Any:
        return await self._service.inject(InjectRequest.from_json(body))

    async def _observe(self, body: object) -> Any:
        async with self._limits.looks:
            return await self._service.observe(ObserveRequest.from_json(body))

    async def _teardown(self, body: object) -> Any:
        return await self._service.teardown(TeardownRequest.from_json(body))


def route_of(path: str) -> Route | None:
    """Return the route that a path means, None where it means none."""
    plain = _SLASHES.sub("/", path).rstrip("/")
    whole = plain if plain.startswith("/v1/") else f"/v1{plain}"
    return next((route for route in Route if route == whole), None)


def build_app(api: Api) -> web.Application:
    """Return the application; the caller serves it."""
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.router.add_route("*", "/{path:.*}", api.handle)
    return app


def is_gone(request: web.Request) -> bool:
    """Tell whether nobody will read the answer."""
    return request.transport is None or request.transport.is_closing()


def _profile(request: web.Request) -> str:
    wanted = request.query.get("profile", "")
    if not 0 < len(wanted) <= 253:
        raise Refused(
            ErrorReason.INVALID_REQUEST, "profile: want the identifier of a profile as query parameter"
        )
    return wanted


def _too_large() -> Refused:
    return Refused(ErrorReason.TOO_LARGE, f"body: more than {MAX_BODY_BYTES} bytes; leave something out")


def _refusal(refused: Refused, status: int = 0) -> web.Response:
    response = web.json_response(refused.to_json(), status=status or refused.status, headers=refused.headers)
    if refused.reason is ErrorReason.TOO_LARGE:
        # What is left of the body is not worth reading.
        response.force_close()
    return response


async def _json(body: Mapping[str, Any]) -> web.Response:
    text = await asyncio.to_thread(json.dumps, body, ensure_ascii=False)
    return web.Response(text=text, content_type="application/json")


async def _aside(size: int, work: Callable[[bytes], Any], data: bytes) -> Any:
    """Do what is much in a thread, so that others are answered meanwhile."""
    return await asyncio.to_thread(work, data) if size > _LARGE_BYTES else work(data)
