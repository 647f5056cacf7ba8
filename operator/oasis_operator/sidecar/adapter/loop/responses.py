"""The responses API: requests from a conversation, and replies from answers whole or streamed.

Nothing is kept at the provider: the conversation is sent whole, encrypted reasoning included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.adapter.loop.talk import Options, Reply, Said, Stop, Talk, ToolCall
from oasis_operator.sidecar.adapter.reading import items, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.sidecar.adapter.loop.talk import Entry

_ENDS = ("response.completed", "response.incomplete", "response.failed")
_ECHOED = {
    "message": ("type", "role", "content"),
    "reasoning": ("type", "id", "summary", "encrypted_content"),
    "function_call": ("type", "call_id", "name", "arguments"),
}


def request(talk: Talk, options: Options) -> dict[str, Any]:
    """Return a request's body."""
    functions = [{"type": "function", "strict": False, **tool} for tool in options.tools]
    return {
        "model": options.model,
        "instructions": options.instructions,
        "input": [item for entry in talk for item in _items(entry)],
        "stream": options.stream,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        **({"max_output_tokens": options.max_output_tokens} if options.max_output_tokens else {}),
        **({"tools": functions} if functions else {}),
        **({"temperature": float(options.temperature)} if options.temperature else {}),
    }


def read(body: dict[str, Any]) -> Reply | None:
    """Return the reply of a whole answer, None where it holds none."""
    status = text(body, "status")
    if status not in ("completed", "incomplete"):
        return None
    output = items(body, "output")
    parts = [part for item in output if text(item, "type") == "message" for part in items(item, "content")]
    refusal = "".join(text(part, "refusal") for part in parts)
    calls = tuple(
        ToolCall(text(item, "call_id"), text(item, "name"), text(item, "arguments"))
        for item in output
        if text(item, "type") == "function_call"
    )
    thoughts = [
        part for item in output if text(item, "type") == "reasoning" for part in items(item, "summary")
    ]
    cut = text(mapping(body, "incomplete_details"), "reason")
    stop = Stop.TOOLS if calls else Stop.DONE
    if status == "incomplete":
        stop = Stop.FILTERED if cut == "content_filter" else Stop.LENGTH
    return Reply(
        text=refusal or "".join(text(part, "text") for part in parts),
        reasoning="\n".join(text(part, "text") for part in thoughts),
        calls=calls,
        stop=Stop.REFUSAL if refusal else stop,
        model=text(body, "model"),
        items=[_echo(item) for item in output if text(item, "type") in _ECHOED],
    )


def fold(events: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the whole answer that a stream of events ends with, None where it broke off or failed."""
    for event in events:
        if text(event, "type") in _ENDS:
            return mapping(event, "response")
    return None


def _echo(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item as it stands in the next request; what only the provider kept is left out."""
    return {name: item[name] for name in _ECHOED[text(item, "type")] if item.get(name) is not None}


def _items(entry: Entry) -> list[dict[str, Any]]:
    if isinstance(entry, Said):
        return [{"role": "user", "content": entry.text}]
    if isinstance(entry, Reply):
        told = [{"role": "assistant", "content": entry.text}]
        return told if entry.items is None else list(entry.items)
    return [
        {"type": "function_call_output", "call_id": one.call.id, "output": one.text} for one in entry.each
    ]
