"""A way to the model for an agent in a container of its own: a listener on the pod's loopback address.

The agent's client speaks plain HTTP to it and needs no key; what it sends goes to the gateway with the run's
token, and what comes back is passed on as it comes. Of the provider's answers nothing is judged here but
whether the fault is ours.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Final

import aiohttp
from aiohttp import web

from oasis_operator.sidecar.adapter.gateway_client import GatewayClient
from oasis_operator.sidecar.adapter.reading import mapping, text
from oasis_operator.wire import gateway as wire
from oasis_operator.wire.gateway import Api, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis_operator.wire.gateway import Reach, Usage

_log = logging.getLogger(__name__)

_PASSED: Final = ("Content-Type", "Retry-After", "Retry-After-Ms", "Request-Id", "X-Request-Id")
_OURS: Final = frozenset({Reason.UNAUTHORIZED, Reason.REPEATED, Reason.FAULT})
# A provider that refuses the key or the model was told wrong things by whoever declared the Agent.
_MISCONFIGURED: Final = frozenset({401, 403, 404})
_SHUTDOWN_SECONDS: Final = 0.5


class Passage:
    """Passes an agent's calls of its model on.

    Attributes:
        answered: How many calls the model answered.
    """

    def __init__(
        self, reach: Reach, on_budget: Callable[[str], None], on_fault: Callable[[str], None]
    ) -> None:
        """Speak with the gateway; needs a running event loop.

        Args:
            reach: The gateway.
            on_budget: Told when a call was refused for its budget.
            on_fault: Told when something of ours is at fault.

        Raises:
            InvalidInput: The gateway's authority is no certificate.
        """
        self.answered = 0
        self._gateway = GatewayClient(reach)
        self._on_budget = on_budget
        self._on_fault = on_fault
        self._calls = 0
        self._runner: web.AppRunner | None = None

    async def open(self, port: int) -> None:
        """Begin to listen.

        Raises:
            OSError: The port is taken.
        """
        app = web.Application(client_max_size=wire.MAX_REQUEST_BYTES)
        for api in Api:
            app.router.add_post(api.value, self._pass)
        # Who hangs up must not leave a call going on.
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS, handler_cancellation=True
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()

    async def usage(self) -> Usage | None:
        """Return what the run's calls took so far."""
        return await self._gateway.usage()

    async def close(self) -> None:
        """Stop listening, and end what is under way."""
        if self._runner is not None:
            await self._runner.cleanup()
        await self._gateway.close()

    async def _pass(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self._calls += 1
        answer: web.StreamResponse | None = None
        try:
            async with self._gateway.post(request.path, body, self._calls) as response:
                self._note(response)
                if response.headers.get(wire.REASON_HEADER) == Reason.BUDGET:
                    return await self._stopped(response)
                headers = {name: response.headers[name] for name in _PASSED if name in response.headers}
                answer = web.StreamResponse(status=response.status, headers=headers)
                await answer.prepare(request)
                async for chunk in response.content.iter_any():
                    await answer.write(chunk)
                await answer.write_eof()
                return answer
        except aiohttp.ClientConnectorError as error:
            self._on_fault(f"the model gateway cannot be reached ({type(error).__name__})")
        except aiohttp.ClientError:
            # The gateway cuts a stream where the provider did; a gateway that died looks the same.
            _log.info("an answer of the model broke off")
        if answer is None:
            return web.json_response({"error": {"message": "the model is out of reach"}}, status=502)
        if request.transport is not None:
            request.transport.abort()
        return answer

    async def _stopped(self, response: aiohttp.ClientResponse) -> web.Response:
        """Tell of a call that a budget held back in the gateway's own words, and pass the refusal on."""
        content, detail = b"", ""
        try:
            content = await response.read()
            detail = text(mapping(json.loads(content), "error"), "message")[:256]
        except (aiohttp.ClientError, ValueError):
            _log.info("the gateway did not say which budget is used up")
        self._on_budget(detail or "the token budget is used up")
        return web.Response(status=response.status, body=content, content_type="application/json")

    def _note(self, response: aiohttp.ClientResponse) -> None:
        """Count an answer, and tell of one that says something about us."""
        reason = response.headers.get(wire.REASON_HEADER)
        if reason in _OURS or (reason is not None and reason not in {*Reason}):
            self._on_fault(f"the model gateway refused a call ({reason})")
        elif reason is None and response.status in _MISCONFIGURED:
            self._on_fault(f"the model's API refuses the request (status {response.status})")
        elif response.status < 300:
            self.answered += 1
