"""The messages API: requests from a conversation, and replies from answers whole or streamed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.adapter.loop.talk import Options, Reply, Said, Stop, Talk, ToolCall
from oasis_operator.sidecar.adapter.reading import items, mapping, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.sidecar.adapter.loop.talk import Entry

_STOPS = {
    "end_turn": Stop.DONE,
    "stop_sequence": Stop.DONE,
    "tool_use": Stop.TOOLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
}
_ECHOED = {
    "text": ("type", "text"),
    "tool_use": ("type", "id", "name", "input"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
}
# Where a call's arguments could not be read they stand under this name, which no tool has.
_UNREAD = "unread_arguments"
# This API wants a limit.
_DEFAULT_TOKENS = 8192


def request(talk: Talk, options: Options) -> dict[str, Any]:
    """Return a request's body."""
    tools = [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
        for tool in options.tools
    ]
    return {
        "model": options.model,
        "system": options.instructions,
        "messages": _alternating([_message(entry) for entry in talk]),
        "max_tokens": options.max_output_tokens or _DEFAULT_TOKENS,
        "stream": options.stream,
        **({"tools": tools} if tools else {}),
        **({"temperature": float(options.temperature)} if options.temperature else {}),
    }


def read(body: dict[str, Any]) -> Reply | None:
    """Return the reply of a whole answer, None where it holds none."""
    reason = text(body, "stop_reason")
    if not reason:
        return None
    content = items(body, "content")
    calls = tuple(_call(block) for block in content if text(block, "type") == "tool_use")
    return Reply(
        text="".join(text(block, "text") for block in content if text(block, "type") == "text"),
        reasoning="\n".join(
            text(block, "thinking") for block in content if text(block, "type") == "thinking"
        ),
        calls=calls,
        stop=_STOPS.get(reason, Stop.DONE),
        model=text(body, "model"),
        items=[_echo(block) for block in content if text(block, "type") in _ECHOED],
    )


def fold(events: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the whole answer that a stream of events makes up, None where it broke off or failed."""
    model, reason, ended = "", "", False
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        kind = text(event, "type")
        if kind == "message_start":
            model = text(mapping(event, "message"), "model")
        elif kind == "content_block_start":
            blocks[number(event, "index")] = {**mapping(event, "content_block"), "json": ""}
        elif kind == "content_block_delta":
            _add(blocks.get(number(event, "index")), mapping(event, "delta"))
        elif kind == "message_delta":
            reason = text(mapping(event, "delta"), "stop_reason") or reason
        ended = ended or kind == "message_stop"
    content = [_closed(block) for _, block in sorted(blocks.items())]
    return {"model": model, "content": content, "stop_reason": reason} if ended and reason else None


def _add(block: dict[str, Any] | None, delta: dict[str, Any]) -> None:
    if block is None:
        return
    for name in ("text", "thinking", "signature"):
        if name in delta:
            block[name] = text(block, name) + text(delta, name)
    block["json"] += text(delta, "partial_json")


def _closed(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block with its streamed arguments; those that are no JSON stay the text that they are."""
    told = block.pop("json")
    if text(block, "type") == "tool_use" and told:
        try:
            block["input"] = json.loads(told)
        except (ValueError, RecursionError):
            block["input"] = told
    return block


def _call(block: dict[str, Any]) -> ToolCall:
    given = block.get("input")
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return ToolCall(text(block, "id"), text(block, "name"), arguments)


def _echo(block: dict[str, Any]) -> dict[str, Any]:
    echoed = {name: block[name] for name in _ECHOED[text(block, "type")] if name in block}
    if text(block, "type") == "tool_use" and not isinstance(echoed.get("input"), dict):
        echoed["input"] = {_UNREAD: echoed.get("input")}
    return echoed


def _message(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Said):
        return {"role": "user", "content": [{"type": "text", "text": entry.text}]}
    if isinstance(entry, Reply):
        told = [{"type": "text", "text": entry.text}] if entry.text else []
        return {"role": "assistant", "content": told if entry.items is None else list(entry.items)}
    results = [
        {"type": "tool_result", "tool_use_id": one.call.id, "content": one.text, "is_error": one.is_error}
        for one in entry.each
    ]
    return {"role": "user", "content": results}


def _alternating(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join neighbours of one role, and leave out what says nothing: the API takes turns alone."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        if not message["content"]:
            continue
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1] = {**message, "content": [*joined[-1]["content"], *message["content"]]}
        else:
            joined.append(message)
    return joined
