"""A stand-in for the APIs of model servers, on the loopback address: it plays turns and keeps books of its own.

It speaks chat completions, responses and messages, whole or as a stream, in the shapes that the providers
document. What a turn says is a script of the test.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

KEY = "sk-the-key-of-the-tests"
MODEL = "model-1"
ANSWERED = "model-1-2026-11-01"

Event = tuple[str | None, dict[str, Any]]


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool; arguments are text, which need not be JSON."""

    name: str
    arguments: str = "{}"
    id: str = "call-1"


@dataclass(frozen=True)
class Turn:
    """One answer.

    Attributes:
        stop: `stop`, `tools`, `length`, `refusal` or `filter`.
        usage: Tokens told; None tells nothing.
        status: Above 299, the answer is an error with `text` as its message and `code` as its kind.
        cut: Break the connection after so many events of a stream.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    stop: str = "stop"
    usage: tuple[int, int] | None = (10, 5)
    status: int = 200
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    pause: float = 0.0
    raw: bytes | None = None


@dataclass
class Models:
    """A server with a script of turns; the last one is repeated."""

    turns: list[Turn]
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    port: int = 0
    books: list[tuple[int, int]] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def base_url(self, api: str) -> str:
        return self.origin if api == "MESSAGES" else f"{self.origin}/v1"

    @property
    def tokens(self) -> int:
        return sum(read + written for read, written in self.books)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        turn = self.turns[min(len(self.asked), len(self.turns) - 1)]
        self.asked.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.arrived.set()
        await asyncio.sleep(turn.pause)
        if turn.raw is not None:
            return web.Response(body=turn.raw, status=turn.status, content_type="application/json")
        if turn.status > 299:
            error = {"type": turn.code or "error", "code": turn.code or None, "message": turn.text}
            return web.json_response(
                {"type": "error", "error": error}, status=turn.status, headers=turn.headers
            )
        if turn.usage is not None:
            self.books.append(turn.usage)
        whole, events = SHAPES[request.path](turn)
        if body.get("stream") is not True:
            return web.json_response(whole)
        return await self._stream(request, turn, events)

    async def _stream(self, request: web.Request, turn: Turn, events: Iterable[Event]) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        for number, (name, data) in enumerate(events):
            if number == turn.cut:
                assert request.transport is not None
                request.transport.abort()
                return stream
            head = f"event: {name}\n" if name else ""
            await stream.write(f"{head}data: {json.dumps(data)}\n\n".encode())
        if request.path == "/v1/chat/completions":
            await stream.write(b"data: [DONE]\n\n")
        await stream.write_eof()
        return stream


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part]


def _chat(turn: Turn) -> tuple[dict[str, Any], list[Event]]:
    reasons = {"stop": "stop", "tools": "tool_calls", "length": "length", "filter": "content_filter"}
    finish = reasons.get(turn.stop, "stop")
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.stop == "refusal":
        message |= {"content": None, "refusal": turn.text}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
    usage = _chat_usage(turn)
    head = {"id": "chat-1", "model": ANSWERED, "created": 1_790_000_000, "object": "chat.completion"}
    whole: dict[str, Any] = {**head, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    if usage:
        whole["usage"] = usage

    def chunk(delta: dict[str, Any], reason: str | None = None) -> Event:
        part = {**head, "object": "chat.completion.chunk"}
        return None, {**part, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    events = [chunk({"role": "assistant"})]
    events += [chunk(delta) for delta in _chat_deltas(turn)]
    events.append(chunk({}, finish))
    if usage:
        events.append((None, {**head, "choices": [], "usage": usage}))
    return whole, events


def _chat_usage(turn: Turn) -> dict[str, int] | None:
    if turn.usage is None:
        return None
    read, written = turn.usage
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _chat_deltas(turn: Turn) -> list[dict[str, Any]]:
    said = "refusal" if turn.stop == "refusal" else "content"
    deltas: list[dict[str, Any]] = [{"reasoning_content": part} for part in _halves(turn.reasoning)]
    deltas += [{said: part} for part in _halves(turn.text)]
    for index, call in enumerate(turn.calls):
        function = {"name": call.name, "arguments": ""}
        start = {"index": index, "id": call.id, "type": "function", "function": function}
        deltas.append({"tool_calls": [start]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
            for part in _halves(call.arguments)
        ]
    return deltas


def _responses(turn: Turn) -> tuple[dict[str, Any], list[Event]]:
    output: list[dict[str, Any]] = []
    if turn.reasoning:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        output.append({"type": "reasoning", "id": "rs-1", "summary": summary, "encrypted_content": "xyz"})
    if turn.text:
        content = {"type": "output_text", "text": turn.text, "annotations": []}
        if turn.stop == "refusal":
            content = {"type": "refusal", "refusal": turn.text}
        output.append(
            {"type": "message", "id": "m-1", "role": "assistant", "status": "completed", "content": [content]}
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc-{n}",
            "call_id": c.id,
            "name": c.name,
            "arguments": c.arguments,
            "status": "completed",
        }
        for n, c in enumerate(turn.calls)
    ]
    cut = {"length": "max_output_tokens", "filter": "content_filter"}.get(turn.stop)
    whole: dict[str, Any] = {
        "id": "resp-1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": ANSWERED,
        "output": output,
    }
    whole |= {"status": "incomplete" if cut else "completed"}
    if cut:
        whole["incomplete_details"] = {"reason": cut}
    if turn.usage:
        read, written = turn.usage
        whole["usage"] = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    end = "response.incomplete" if cut else "response.completed"
    events: list[Event] = [("response.created", {"type": "response.created", "response": {"id": "resp-1"}})]
    for index, item in enumerate(output):
        events.append(
            (
                "response.output_item.done",
                {"type": "response.output_item.done", "output_index": index, "item": item},
            )
        )
    events.append((end, {"type": end, "response": whole}))
    return whole, events


def _messages(turn: Turn) -> tuple[dict[str, Any], list[Event]]:
    reasons = {
        "stop": "end_turn",
        "tools": "tool_use",
        "length": "max_tokens",
        "refusal": "refusal",
        "filter": "refusal",
    }
    content: list[dict[str, Any]] = []
    if turn.reasoning:
        content.append({"type": "thinking", "thinking": turn.reasoning, "signature": "sig"})
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    for call in turn.calls:
        try:
            given = json.loads(call.arguments)
        except ValueError:
            given = call.arguments
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    head: dict[str, Any] = {"id": "msg-1", "type": "message", "role": "assistant", "model": ANSWERED}
    whole = {**head, "content": content, "stop_reason": reasons[turn.stop]}
    read, written = turn.usage or (0, 0)
    if turn.usage:
        whole["usage"] = {"input_tokens": read - 2, "cache_read_input_tokens": 2, "output_tokens": written}
    start = {"input_tokens": read - 2, "cache_read_input_tokens": 2, "output_tokens": 1} if turn.usage else {}
    events: list[Event] = [
        ("message_start", {"type": "message_start", "message": {**head, "content": [], "usage": start}}),
        ("ping", {"type": "ping"}),
    ]
    for index, block in enumerate(content):
        blank: dict[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
        empty = {name: blank.get(name, value) for name, value in block.items()}
        events.append(
            ("content_block_start", {"type": "content_block_start", "index": index, "content_block": empty})
        )
        events += [
            ("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
            for delta in _deltas(block, turn)
        ]
        events.append(("content_block_stop", {"type": "content_block_stop", "index": index}))
    change = {
        "type": "message_delta",
        "delta": {"stop_reason": reasons[turn.stop]},
        "usage": {"output_tokens": written} if turn.usage else {},
    }
    return whole, [*events, ("message_delta", change), ("message_stop", {"type": "message_stop"})]


def _deltas(block: dict[str, Any], turn: Turn) -> list[dict[str, Any]]:
    if block["type"] == "text":
        return [{"type": "text_delta", "text": part} for part in _halves(block["text"])]
    if block["type"] == "thinking":
        parts = [{"type": "thinking_delta", "thinking": part} for part in _halves(block["thinking"])]
        return [*parts, {"type": "signature_delta", "signature": "sig"}]
    text = next(call.arguments for call in turn.calls if call.id == block["id"])
    return [{"type": "input_json_delta", "partial_json": part} for part in _halves(text)]


SHAPES = {"/v1/chat/completions": _chat, "/v1/responses": _responses, "/v1/messages": _messages}


@contextlib.asynccontextmanager
async def some_models(*turns: Turn) -> AsyncIterator[Models]:
    """Serve turns on a free port of 127.0.0.1."""
    models = Models(list(turns) or [Turn("Done.")])
    app = web.Application(client_max_size=64 * 2**20)
    for path in SHAPES:
        app.router.add_post(path, models.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    models.port = runner.addresses[0][1]
    try:
        yield models
    finally:
        await runner.cleanup()
