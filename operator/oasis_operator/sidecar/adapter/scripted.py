"""The adapter kind ``scripted``: fixed steps against the API server with the agent's own credential.

It stands in for an agent whose every action is known beforehand: the witnesses of a scenario, the idle agent.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl

from oasis_operator.errors import AgentFault
from oasis_operator.sidecar.adapter.faults import not_delivered
from oasis_operator.sidecar.adapter.http_client import Received, open_session, read_bounded, trust_only
from oasis_operator.sidecar.adapter.query import split_target, values_of
from oasis_operator.wire.agent import Action, Identity, decode
from oasis_operator.wire.fields import Fields, fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.adapter.options import Options
    from oasis_operator.sidecar.adapter.record import Record
    from oasis_operator.sidecar.adapter.task import Task
    from oasis_operator.wire.release import Credential

#: Tool name of each recorded request.
TOOL = "kubernetes-api"

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_MOST_STEPS = 10_000
_EXCERPT_BYTES = 2048
_BODY_BYTES = 8 * 1024 * 1024
# A watch has no end of its own.
_REQUEST_SECONDS = 30.0
_PATCH_TYPE = "application/strategic-merge-patch+json"


@dataclass(frozen=True, slots=True)
class Request:
    """One API request.

    Attributes:
        method: Upper case.
        path: Starts with a slash; without a query.
        query: What follows the question mark, escaped; may be empty.
        body: JSON value, or text that is sent as it stands; None sends none.
        content_type: Of the body.
    """

    method: str
    path: str
    query: str
    body: Any
    content_type: str

    def arguments(self) -> dict[str, Any]:
        """Give the request as the arguments of an action; what is empty is left out."""
        told = {"method": self.method, "path": self.path, "query": values_of(self.query), "body": self.body}
        return {name: value for name, value in told.items() if value not in (None, {})}

    def url(self, server: str) -> yarl.URL:
        """Give the address below a server's, as it is sent."""
        query = f"?{self.query}" if self.query else ""
        return yarl.URL(f"{server.rstrip('/')}{self.path}{query}", encoded=True)


@dataclass(frozen=True, slots=True)
class Script:
    """What a scripted agent does and then says.

    Attributes:
        steps: Requests, and pauses in seconds, in order; may be empty.
        answer: Its final answer.
        reasoning: Its reasoning.
        stop_on_error: Whether it stops at the first answer that is no success.
    """

    steps: tuple[Request | float, ...] = ()
    answer: str = ""
    reasoning: str = ""
    stop_on_error: bool = False


class ScriptedAgent:
    """Runs the steps of a script."""

    def check(self, adapter: Mapping[str, Any]) -> None:
        """Check the script.

        Raises:
            InvalidInput: A step cannot be run; the message names its index, member and value.
        """
        parse_script(adapter)

    async def identify(self, _adapter: Mapping[str, Any], _options: Options) -> Identity:
        """Refuse: a script has no identity of its own.

        Raises:
            AgentFault: Always.
        """
        raise AgentFault("a scripted agent does not tell an identity")

    async def run(self, task: Task, record: Record) -> None:
        """Run the steps in order; an error answer is a result like any other unless the script stops at it.

        Raises:
            AgentFault: There are requests to send but no access was given.
        """
        script = parse_script(task.request.adapter)
        if task.credential is None:
            raise not_delivered("a scripted agent needs access to an environment")
        record.deliver()
        async with open_session(trust=trust_only(task.credential.ca)) as session:
            await _run_steps(script, session, task.credential, record)
        record.reasoning, record.final_answer = script.reasoning, script.answer


def parse_script(adapter: Mapping[str, Any]) -> Script:
    """Read a script from the adapter member of a request.

    Raises:
        InvalidInput: A member or a step is of another form than the contract's.
    """
    fields = Fields(adapter, "adapter")
    return Script(
        steps=tuple(_parse_step(step) for step in fields.items("steps", most=_MOST_STEPS)),
        answer=fields.text("answer", ""),
        reasoning=fields.text("reasoning", ""),
        stop_on_error=fields.flag("stop_on_error", default=False),
    )


def _parse_step(step: Fields) -> Request | float:
    if step.has("request") == step.has("pause_seconds"):
        raise fault(step.path, sorted(step.body), "want exactly one of request and pause_seconds")
    if step.has("pause_seconds"):
        return step.number("pause_seconds", low=0, high=3600)
    return _parse_request(step.child("request"))


def _parse_request(request: Fields) -> Request:
    method = request.text("method", longest=16).upper()
    if method not in _METHODS:
        raise fault(request.at("method"), method, f"want one of {', '.join(_METHODS)}")
    path, query = split_target(request)
    return Request(
        method=method,
        path=path,
        query=query,
        body=request.body.get("body"),
        content_type=request.text(
            "content_type", _PATCH_TYPE if method == "PATCH" else "application/json", longest=256
        ),
    )


async def _run_steps(
    script: Script, session: aiohttp.ClientSession, credential: Credential, record: Record
) -> None:
    for index, step in enumerate(script.steps):
        if not isinstance(step, Request):
            await asyncio.sleep(step)
            continue
        action = await _act(f"step-{index + 1}", step, session, credential)
        record.act(action)
        if action.error and script.stop_on_error:
            return


async def _act(name: str, request: Request, session: aiohttp.ClientSession, credential: Credential) -> Action:
    started = time.monotonic()
    received = Received()
    status, error = None, ""
    try:
        async with (
            asyncio.timeout(_REQUEST_SECONDS),
            session.request(
                request.method,
                request.url(credential.server),
                data=_render_body(request.body),
                headers=_headers(request, credential),
                allow_redirects=False,
            ) as response,
        ):
            status = response.status
            await read_bounded(response, received, _BODY_BYTES)
    except TimeoutError:
        error = f"no end within {_REQUEST_SECONDS:g} s"
    except aiohttp.ClientError as failure:
        error = type(failure).__name__
    if status is not None and status >= 400:
        error = f"status {status}"
    return Action(
        id=name,
        tool=TOOL,
        arguments=request.arguments(),
        result=_summarise(status, received),
        error=error,
        duration_ms=round((time.monotonic() - started) * 1000),
    )


def _headers(request: Request, credential: Credential) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {credential.token}", "Accept": "application/json"}
    if request.body is not None:
        headers["Content-Type"] = request.content_type
    return headers


def _render_body(body: Any) -> bytes | None:
    if body is None:
        return None
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _summarise(status: int | None, received: Received) -> str:
    """Give status, size, digest and the beginning of an answer as JSON text; empty where none came."""
    if status is None:
        return ""
    data = bytes(received.data)
    summary = {
        "status": status,
        "size_bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "body": decode(data[:_EXCERPT_BYTES]),
    }
    return json.dumps(summary, ensure_ascii=False)
