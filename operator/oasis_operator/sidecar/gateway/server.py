"""The gateway's routes: a call is admitted, put down, sent, passed back as it comes, and put down again."""

from __future__ import annotations

import hashlib
import json
import logging
from typing import TYPE_CHECKING, Final

import aiohttp
from aiohttp import web

from oasis_operator.errors import InvalidInput
from oasis_operator.sidecar.gateway.ledger import Call, Ledger
from oasis_operator.sidecar.gateway.rules import admit
from oasis_operator.sidecar.gateway.upstream import PASSED, Upstream
from oasis_operator.sidecar.gateway.usage import Meter, estimate
from oasis_operator.wire import gateway as wire
from oasis_operator.wire.gateway import Api, Reason, Usage

if TYPE_CHECKING:
    from oasis_operator.sidecar.gateway.journal import Journal
    from oasis_operator.sidecar.gateway.settings import GatewaySettings

_log = logging.getLogger(__name__)

_LONGEST_LINE: Final = 4 * 1024 * 1024
_STATUS: Final = {
    Reason.UNAUTHORIZED: 401,
    Reason.REFUSED: 400,
    Reason.BUDGET: 403,
    Reason.REPEATED: 409,
    Reason.UPSTREAM: 502,
    Reason.FAULT: 500,
}


class RefusedError(Exception):
    """The gateway answers by itself."""

    def __init__(self, reason: Reason, message: str) -> None:
        """Refuse for a reason, with a sentence that holds nothing secret."""
        super().__init__(message)
        self.reason = reason
        self.message = message


class Gateway:
    """One gateway's calls."""

    def __init__(self, settings: GatewaySettings, journal: Journal, upstream: Upstream) -> None:
        """Take up the books where they were left."""
        self._settings = settings
        self._journal = journal
        self._upstream = upstream
        self._ledger = Ledger(settings.configuration)
        self._ledger.read(journal.lines())

    def build_app(self) -> web.Application:
        """Build the application."""
        app = web.Application(client_max_size=wire.MAX_REQUEST_BYTES)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/v1/usage", self._usage)
        for api in Api:
            app.router.add_post(api.value, self._call)
        return app

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _usage(self, request: web.Request) -> web.StreamResponse:
        try:
            run = self._run_of(request)
        except RefusedError as refused:
            return _refuse(refused)
        return web.json_response(self._ledger.used(run).to_json())

    async def _call(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._handle(Api(request.path), request)
        except RefusedError as refused:
            return _refuse(refused)
        except web.HTTPException as error:
            return _refuse(RefusedError(Reason.REFUSED, error.reason))
        except Exception:  # noqa: BLE001 -- told in the log, and to the caller as a fault of ours
            _log.exception("%s", request.path)
            return _refuse(RefusedError(Reason.FAULT, "the gateway failed; its log has the cause"))

    async def _handle(self, api: Api, request: web.Request) -> web.StreamResponse:
        run = self._run_of(request)
        call = Call(run, _number(request))
        content = await request.read()
        try:
            body = admit(api, json.loads(content), self._settings.configuration.model)
        except InvalidInput as error:
            raise RefusedError(Reason.REFUSED, error.message) from error
        except (ValueError, RecursionError) as error:
            raise RefusedError(Reason.REFUSED, "the request is not JSON") from error
        # From here to the line in the journal nothing waits, so that no second request comes between.
        if self._ledger.is_known(call):
            raise RefusedError(Reason.REPEATED, f"call {call.number} of this run went out before")
        exceeded = self._ledger.exceeded(run)
        if exceeded and self._settings.configuration.hard_stop:
            raise RefusedError(Reason.BUDGET, exceeded)
        meter = Meter(api, len(content))
        digest = hashlib.sha256(content).hexdigest()
        expected = Usage(estimate(len(content)), 0, estimated=True)
        self._journal.keep(self._ledger.begin(call, expected, api=api.name, request=digest))
        return await self._send(api, body, request, call, meter)

    async def _send(
        self, api: Api, body: dict[str, object], request: web.Request, call: Call, meter: Meter
    ) -> web.StreamResponse:
        """Send, pass on and put down what it took, however it ends."""
        answer = _Answer(request, meter, self._upstream)
        # Once it may have been sent it costs what it would, until the provider is seen to refuse it.
        status, accepted = 0, True
        try:
            async with self._upstream.call(api, body) as response:
                status = response.status
                accepted = status < 300
                return await answer.pass_on(response)
        except aiohttp.ClientConnectorError as error:
            accepted = False
            raise RefusedError(Reason.UPSTREAM, "the model's API cannot be reached") from error
        except (aiohttp.ClientError, TimeoutError) as error:
            return answer.broken(error)
        finally:
            taken = meter.usage if accepted else meter.refused()
            told = answer.digest.hexdigest()
            self._journal.keep(self._ledger.end(call, taken, status=status, answer=told))

    def _run_of(self, request: web.Request) -> str:
        """Return the run whose token a request shows; either API's clients have their own header for it."""
        shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
        run = wire.run_of(self._settings.secret, shown or request.headers.get("X-Api-Key", ""))
        if run is None:
            raise RefusedError(Reason.UNAUTHORIZED, "want the token of a run")
        return run


class _Answer:
    """An answer on its way back."""

    def __init__(self, request: web.Request, meter: Meter, upstream: Upstream) -> None:
        self.digest = hashlib.sha256()
        self._request = request
        self._meter = meter
        self._upstream = upstream
        self._stream: web.StreamResponse | None = None

    async def pass_on(self, response: aiohttp.ClientResponse) -> web.StreamResponse:
        """Pass an answer on: a stream line by line as it comes, anything else whole."""
        headers = {name: response.headers[name] for name in PASSED if name in response.headers}
        if response.content_type == "text/event-stream" and response.status < 300:
            return await self._pass_lines(response, headers)
        content = bytearray()
        async for chunk in response.content.iter_any():
            content += chunk
            if len(content) > wire.MAX_ANSWER_BYTES:
                raise aiohttp.ClientPayloadError("too large")
        self._meter.whole(bytes(content))
        body = self._upstream.redacted(bytes(content))
        self.digest.update(body)
        return web.Response(body=body, status=response.status, headers=headers)

    async def _pass_lines(
        self, response: aiohttp.ClientResponse, headers: dict[str, str]
    ) -> web.StreamResponse:
        stream = web.StreamResponse(headers=headers)
        await stream.prepare(self._request)
        self._stream = stream
        total, rest = 0, b""
        async for chunk in response.content.iter_any():
            total += len(chunk)
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            if total > wire.MAX_ANSWER_BYTES or len(rest) > _LONGEST_LINE:
                raise aiohttp.ClientPayloadError("too large")
            if lines:
                await self._write(stream, lines)
        await self._write(stream, [rest], end=b"")
        await stream.write_eof()
        return stream

    async def _write(self, stream: web.StreamResponse, lines: list[bytes], end: bytes = b"\n") -> None:
        for line in lines:
            self._meter.line(line)
        content = self._upstream.redacted(b"\n".join(lines) + end)
        self.digest.update(content)
        await stream.write(content)

    def broken(self, error: Exception) -> web.StreamResponse:
        """Answer for a provider that broke off; a stream that has begun can only be cut.

        Raises:
            RefusedError: Nothing was passed on yet.
        """
        if self._stream is None:
            raise RefusedError(Reason.UPSTREAM, "the model's API did not answer whole") from error
        if self._request.transport is not None:
            self._request.transport.abort()
        return self._stream


def _number(request: web.Request) -> int:
    text = request.headers.get(wire.CALL_HEADER, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RefusedError(Reason.REFUSED, f"{wire.CALL_HEADER}: want the number of the call")
    return int(text)


def _refuse(refused: RefusedError) -> web.Response:
    return web.json_response(
        wire.error_body(refused.reason, refused.message),
        status=_STATUS[refused.reason],
        headers={wire.REASON_HEADER: refused.reason.value},
    )
