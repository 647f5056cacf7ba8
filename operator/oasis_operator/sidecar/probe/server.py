"""The probe's routes: HTTPS, a bearer token on all but the health check, errors as ``{reason, message}``."""

from __future__ import annotations

import hmac
import ssl
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from aiohttp import web

from oasis_operator.errors import InvalidInput, NotReady
from oasis_operator.model import jsontext
from oasis_operator.sidecar.probe.follow import LogChanged
from oasis_operator.sidecar.probe.runs import digest
from oasis_operator.sidecar.probe.service import Conflict, Probe
from oasis_operator.wire.audit_log import HEAD_HEADER, SIZE_HEADER
from oasis_operator.wire.fields import Fields, fault
from oasis_operator.wire.live import SelfTestRequest
from oasis_operator.wire.pieces import DIGEST_HEADER, TOTAL_SIZE_HEADER
from oasis_operator.wire.probe import MAX_BODY_BYTES, MAX_PIECE_BYTES
from oasis_operator.wire.probe_request import CheckRequest, PrepareRequest

if TYPE_CHECKING:
    from pathlib import Path

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_PROBE = web.AppKey("probe", Probe)
_BYTES = "application/octet-stream"
_MOST_LOG_BYTES = 1 << 40


def build_app(probe: Probe, token: str) -> web.Application:
    """Build the application; the caller serves it."""
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_errors, _guard(token)])
    app[_PROBE] = probe
    app.router.add_get("/healthz", _health)
    app.router.add_get("/v1/info", _info)
    app.router.add_post("/v1/check", _check)
    app.router.add_post("/v1/prepare", _prepare)
    app.router.add_get("/v1/prepare", _preparation)
    app.router.add_post("/v1/begin", _begin)
    app.router.add_post("/v1/stop", _stop)
    app.router.add_get("/v1/stop", _stopping)
    app.router.add_get("/v1/evidence", _evidence)
    app.router.add_get("/v1/beginning", _beginning)
    app.router.add_get("/v1/audit", _audit)
    app.router.add_get("/v1/containment", _containment)
    app.router.add_get("/v1/live/log", _live_log)
    app.router.add_get("/v1/live/state", _live_state)
    app.router.add_post("/v1/live/inject", _inject)
    app.router.add_post("/v1/live/self-test", _self_test)
    app.on_startup.append(_start)
    app.on_cleanup.append(_close)
    return app


def serving_context(folder: Path) -> ssl.SSLContext:
    """Load the certificate that the run's authority signed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(folder / "probe.crt", folder / "probe.key")
    return context


async def _start(app: web.Application) -> None:
    app[_PROBE].start()


async def _close(app: web.Application) -> None:
    await app[_PROBE].close()


def _answer(status: int, reason: str, message: str) -> web.Response:
    return web.json_response({"reason": reason, "message": message}, status=status)


def _guard(token: str) -> Any:
    expected = f"Bearer {token}".encode()

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode()
        if request.path != "/healthz" and not hmac.compare_digest(given, expected):
            return _answer(401, "Unauthorized", "Authorization: want the bearer token of this probe")
        return await handler(request)

    return guard


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except InvalidInput as error:
        return _answer(400, error.reason, error.message)
    except (NotReady, Conflict, LogChanged) as error:
        return _answer(409, getattr(error, "reason", "Conflict"), str(error))
    except web.HTTPException as error:
        return _answer(error.status, error.reason.replace(" ", ""), error.text or error.reason)
    except Exception as error:  # noqa: BLE001  # the operator must get an answer it can read
        return _answer(500, "InternalError", f"{type(error).__name__}: {error}")


async def _body(request: web.Request) -> Fields:
    data = await request.read()
    try:
        return Fields.of(jsontext.parse(data))
    except ValueError:
        raise fault("", data[:80], "want JSON") from None


async def _health(request: web.Request) -> web.Response:
    trouble = await request.app[_PROBE].health()
    if trouble is None:
        return web.json_response({"status": "ok"})
    return web.json_response({"status": "unavailable", "message": trouble}, status=503)


async def _info(request: web.Request) -> web.Response:
    return web.json_response(request.app[_PROBE].info().to_json())


async def _check(request: web.Request) -> web.Response:
    faults = request.app[_PROBE].check(CheckRequest.from_json(await _body(request)))
    return web.json_response({"faults": [item.to_json() for item in faults]})


async def _prepare(request: web.Request) -> web.Response:
    status = request.app[_PROBE].prepare(PrepareRequest.from_json(await _body(request)))
    return web.json_response(status.to_json(), status=202)


async def _preparation(request: web.Request) -> web.Response:
    return web.json_response(request.app[_PROBE].preparation().to_json())


async def _live_log(request: web.Request) -> web.Response:
    return web.json_response((await request.app[_PROBE].live_log()).to_json())


async def _live_state(request: web.Request) -> web.Response:
    return web.json_response((await request.app[_PROBE].live_state()).to_json())


async def _inject(request: web.Request) -> web.Response:
    entries = (await _body(request)).items("state")
    status = await request.app[_PROBE].inject([entry.body for entry in entries])
    return web.json_response(status.to_json())


async def _begin(request: web.Request) -> web.Response:
    run_id = (await _body(request)).text("run_id", longest=253)
    return web.json_response({"since": request.app[_PROBE].begin(run_id)})


async def _self_test(request: web.Request) -> web.Response:
    wanted = SelfTestRequest.from_json(await _body(request))
    return web.json_response((await request.app[_PROBE].self_test(wanted)).to_json())


async def _stop(request: web.Request) -> web.Response:
    run_id = (await _body(request)).text("run_id", longest=253)
    return web.json_response(request.app[_PROBE].stop(run_id).to_json(), status=202)


async def _stopping(request: web.Request) -> web.Response:
    return web.json_response(request.app[_PROBE].stopping().to_json())


async def _evidence(request: web.Request) -> web.Response:
    return _piece_of(request, request.app[_PROBE].evidence())


async def _beginning(request: web.Request) -> web.Response:
    data = request.app[_PROBE].beginning()
    answer = _piece_of(request, data)
    answer.headers.update({TOTAL_SIZE_HEADER: str(len(data)), DIGEST_HEADER: f"sha256:{digest(data)}"})
    return answer


def _piece_of(request: web.Request, data: bytes) -> web.Response:
    offset = _number(request, "offset", 0, len(data))
    limit = _number(request, "limit", MAX_PIECE_BYTES, MAX_PIECE_BYTES)
    return web.Response(body=data[offset : offset + limit], content_type=_BYTES)


async def _audit(request: web.Request) -> web.Response:
    offset = _number(request, "offset", 0, _MOST_LOG_BYTES)
    limit = _number(request, "limit", MAX_PIECE_BYTES, MAX_PIECE_BYTES)
    piece = await request.app[_PROBE].audit(offset, limit)
    headers = {SIZE_HEADER: str(piece.size_bytes), HEAD_HEADER: piece.head}
    return web.Response(body=piece.content, content_type=_BYTES, headers=headers)


async def _containment(request: web.Request) -> web.Response:
    return web.json_response({"values": dict(request.app[_PROBE].containment())})


def _number(request: web.Request, name: str, default: int, most: int) -> int:
    text = request.query.get(name, str(default))
    if not text.isdecimal() or int(text) > most:
        raise fault(name, text, f"want a whole number from 0 to {most}")
    return int(text)
