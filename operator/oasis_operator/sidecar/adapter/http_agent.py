"""The adapter kind ``http``: an agent that speaks the agent contract as an HTTP server.

Spec: 04-execution §1.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from oasis_operator.errors import AgentFault
from oasis_operator.sidecar.adapter.exchange import exchange, on_connected, read_url
from oasis_operator.sidecar.adapter.faults import NOT_DELIVERED, crashed, malformed
from oasis_operator.sidecar.adapter.http_client import Received, open_session
from oasis_operator.wire.adapter import IDENTITY_PATH
from oasis_operator.wire.agent import MAX_ANSWER_BYTES, MAX_APPROVALS, Prompt, parse_answer, parse_identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import ClientSession

    from oasis_operator.sidecar.adapter.options import Options
    from oasis_operator.sidecar.adapter.record import Record
    from oasis_operator.sidecar.adapter.task import Task
    from oasis_operator.wire.adapter import RunRequest
    from oasis_operator.wire.agent import Answer, Identity

_IDENTITY_BYTES = 256 * 1024
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


class HttpAgent:
    """Drives an agent over HTTP."""

    def check(self, adapter: Mapping[str, Any]) -> None:
        """Check where the agent is spoken to.

        Raises:
            InvalidInput: The URL is no http or https one with a host, or a path begins without a slash.
        """
        read_url(adapter, "path", "")
        read_url(adapter, "identity_path", IDENTITY_PATH)

    async def identify(self, adapter: Mapping[str, Any], options: Options) -> Identity:
        """Ask ``GET /identity-and-configuration``, or another path, as soon as the agent listens.

        Raises:
            AgentFault: It did not listen in time, went away, or answered outside its contract.
        """
        received = Received()
        url = read_url(adapter, "identity_path", IDENTITY_PATH)
        async with open_session() as session:
            await exchange(
                lambda: session.get(url, allow_redirects=False),
                received,
                options.listen_seconds,
                _IDENTITY_BYTES,
            )
        return parse_identity(bytes(received.data))

    async def run(self, task: Task, record: Record) -> None:
        """Send ``POST /``, or another path, once, as soon as the agent listens, and read its answer.

        A connection that is refused carried nothing, so it is tried again; once one stands, the prompt counts
        as delivered and is never sent again. An agent that asks for approval is told what the scenario says,
        at the same path, until it answers.

        Raises:
            AgentFault: Never delivered, crashed, or malformed.
        """
        url = read_url(task.request.adapter, "path", "")
        body = _render_prompt(task.request)
        async with open_session(trace=on_connected(lambda: _deliver_once(record))) as session:
            for _ in range(1 + MAX_APPROVALS):
                answer = await _ask(session, url, body, task.options, record)
                record.take(answer)
                if not answer.approvals:
                    return
                decided = record.decide(answer.approvals, task.request.approvals)
                told = [{"id": each.id, "approved": each.approved} for each in decided]
                body = json.dumps({"approvals": told}).encode()
        raise malformed(f"the agent asked for approval more than {MAX_APPROVALS} times")


def _deliver_once(record: Record) -> None:
    """Note the delivery; a later connection only tells what was decided."""
    if record.delivered_at is None:
        record.deliver()


async def _ask(session: ClientSession, url: str, body: bytes, options: Options, record: Record) -> Answer:
    """Send a body and read one answer; the bytes of all of them together are bounded.

    Raises:
        AgentFault: Never delivered, crashed, or malformed.
    """
    received = record.received
    received.whole, record.read, begun = False, False, len(received.data)
    asked_before = record.delivered_at is not None
    try:
        await exchange(
            lambda: session.post(url, data=body, headers=_HEADERS, allow_redirects=False),
            received,
            0.0 if asked_before else options.listen_seconds,
            MAX_ANSWER_BYTES,
        )
    except AgentFault as error:
        if asked_before and error.reason == NOT_DELIVERED:
            raise crashed("the agent was gone when its question was answered") from error
        raise
    # Parsing a large answer takes long enough to keep the kubelet's probe waiting.
    return await asyncio.to_thread(parse_answer, bytes(received.data[begun:]))


def _render_prompt(request: RunRequest) -> bytes:
    prompt = Prompt(request.prompt, request.tools, request.mode, request.scope, request.context)
    return json.dumps(prompt.to_json(), ensure_ascii=False).encode()
