"""The adapter contract's routes: who may call them, what they read and what they answer."""

from __future__ import annotations

import hmac
import json
import logging
from typing import TYPE_CHECKING, Any

from aiohttp import web

from oasis_operator.errors import AgentFault, InvalidInput, OasisError
from oasis_operator.sidecar.adapter.session import NoRunError, WrongStateError
from oasis_operator.wire.adapter import DEFAULT_AGENT_URL, MAX_PIECE_BYTES, CancelRequest, Phase, RunRequest
from oasis_operator.wire.pieces import DIGEST_HEADER, TOTAL_SIZE_HEADER
from oasis_operator.wire.release import ReleaseRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from oasis_operator.sidecar.adapter.session import Session

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_log = logging.getLogger(__name__)

_BODY_BYTES = 8 * 1024 * 1024
_STATUS: Mapping[type[OasisError], int] = {
    InvalidInput: 400,
    NoRunError: 404,
    WrongStateError: 409,
    AgentFault: 502,
}


def build_app(session: Session, token: str) -> web.Application:
    """Build the application that serves one session.

    Args:
        session: The adapter's state.
        token: Bearer token that every route but ``/healthz`` asks for.
    """
    routes = Routes(session)
    app = web.Application(middlewares=[_guard(token), _explain], client_max_size=_BODY_BYTES)
    app.router.add_get("/healthz", routes.healthz)
    app.router.add_get("/v1/state", routes.state)
    app.router.add_post("/v1/release", routes.release)
    app.router.add_get("/v1/identity", routes.identity)
    app.router.add_put("/v1/run", routes.start)
    app.router.add_get("/v1/run", routes.run)
    app.router.add_post("/v1/cancel", routes.cancel)
    app.router.add_get("/v1/transcript", routes.transcript)
    return app


class Routes:
    """Handlers of the adapter contract; errors become answers in the middleware."""

    def __init__(self, session: Session) -> None:
        """Serve one session."""
        self._session = session

    async def healthz(self, _: web.Request) -> web.Response:
        """Answer 200 once released, so that a kubelet starts the agent only then."""
        if self._session.phase is Phase.RELEASED:
            return web.json_response({"status": "ok"})
        return _refuse(503, "NotReleased", str(self._session.phase))

    async def state(self, _: web.Request) -> web.Response:
        """Answer with the adapter's state."""
        return web.json_response(self._session.state.to_json())

    async def release(self, request: web.Request) -> web.Response:
        """Begin the release; answer with the state."""
        self._session.release(ReleaseRequest.from_json(await _body(request)))
        return web.json_response(self._session.state.to_json(), status=202)

    async def identity(self, request: web.Request) -> web.Response:
        """Answer with what the agent told; the query stands for the run's adapter."""
        adapter = {"kind": "http", "url": DEFAULT_AGENT_URL, **request.query}
        return web.json_response((await self._session.identify(adapter)).to_json())

    async def start(self, request: web.Request) -> web.Response:
        """Start the run or find it; answer with its state."""
        run = self._session.start(RunRequest.from_json(await _body(request)))
        return web.json_response(run.state.to_json(), status=202)

    async def run(self, _: web.Request) -> web.Response:
        """Answer with the run's state."""
        return web.json_response(self._session.run().state.to_json())

    async def cancel(self, request: web.Request) -> web.Response:
        """End the run; answer with its state."""
        run = self._session.run()
        await run.cancel(CancelRequest.from_json(await _body(request) if request.can_read_body else {}))
        return web.json_response(run.state.to_json())

    async def transcript(self, request: web.Request) -> web.Response:
        """Answer with a piece of the finished run's transcript."""
        run = self._session.run()
        if not run.transcript:
            raise WrongStateError("the run is not finished", reason="RunNotFinished")
        offset = _bound(request, "offset", 0, low=0, high=len(run.transcript))
        limit = _bound(request, "limit", MAX_PIECE_BYTES, low=1, high=MAX_PIECE_BYTES)
        return web.Response(
            body=run.piece(offset, limit),
            content_type="application/octet-stream",
            headers={TOTAL_SIZE_HEADER: str(len(run.transcript)), DIGEST_HEADER: run.digest},
        )


def _guard(token: str) -> Any:
    wanted = f"Bearer {token}".encode()

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="replace")
        if request.path != "/healthz" and not hmac.compare_digest(given, wanted):
            return _refuse(401, "Unauthorized", "want the adapter's bearer token")
        return await handler(request)

    return guard


@web.middleware
async def _explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except (InvalidInput, NoRunError, WrongStateError, AgentFault) as error:
        return _refuse(_status_of(error), error.reason, error.message)
    except web.HTTPException as error:
        return _refuse(error.status, type(error).__name__.removeprefix("HTTP"), error.reason)
    except Exception:  # noqa: BLE001 -- told in the log, and to the caller as a fault of ours
        _log.exception("%s %s", request.method, request.path)
        return _refuse(500, "InternalError", "the adapter failed; its log has the cause")


def _status_of(error: OasisError) -> int:
    return next(status for kind, status in _STATUS.items() if isinstance(error, kind))


async def _body(request: web.Request) -> Any:
    try:
        return json.loads(await request.read())
    except (ValueError, RecursionError) as error:
        raise InvalidInput("body: not JSON", reason="InvalidRequest") from error


def _bound(request: web.Request, name: str, default: int, *, low: int, high: int) -> int:
    text = request.query.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 16 and low <= int(text) <= high):
        raise InvalidInput(f"{name}: {text[:80]!r}: want a whole number from {low} to {high}")
    return int(text)


def _refuse(status: int, reason: str, message: str) -> web.Response:
    return web.json_response({"reason": reason, "message": message}, status=status)
