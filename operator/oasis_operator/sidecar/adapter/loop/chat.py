"""The chat completions API: requests from a conversation, and replies from answers whole or streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.adapter.loop.talk import Options, Reply, Said, Stop, Talk, ToolCall
from oasis_operator.sidecar.adapter.reading import items, mapping, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.sidecar.adapter.loop.talk import Entry

_STOPS = {
    "stop": Stop.DONE,
    "tool_calls": Stop.TOOLS,
    "function_call": Stop.TOOLS,
    "length": Stop.LENGTH,
    "content_filter": Stop.FILTERED,
}
_MOST_CALLS = 1000


def request(talk: Talk, options: Options) -> dict[str, Any]:
    """Return a request's body."""
    turns = [message for entry in talk for message in _messages(entry)]
    functions = [{"type": "function", "function": dict(tool)} for tool in options.tools]
    return {
        "model": options.model,
        "messages": [{"role": "system", "content": options.instructions}, *turns],
        "stream": options.stream,
        **({"max_completion_tokens": options.max_output_tokens} if options.max_output_tokens else {}),
        **({"tools": functions} if functions else {}),
        **({"temperature": float(options.temperature)} if options.temperature else {}),
    }


def read(body: dict[str, Any]) -> Reply | None:
    """Return the reply of a whole answer, None where it holds none."""
    choice = next(iter(items(body, "choices")), None)
    if choice is None:
        return None
    message = mapping(choice, "message")
    refusal = text(message, "refusal")
    calls = tuple(
        ToolCall(
            id=text(call, "id") or f"call-{index}",
            name=text(mapping(call, "function"), "name"),
            arguments=text(mapping(call, "function"), "arguments"),
        )
        for index, call in enumerate(items(message, "tool_calls"))
    )
    stop = _STOPS.get(text(choice, "finish_reason"), Stop.DONE)
    return Reply(
        text=refusal or text(message, "content"),
        reasoning=text(message, "reasoning_content") or text(message, "reasoning"),
        calls=calls,
        stop=Stop.REFUSAL if refusal else stop,
        model=text(body, "model"),
        items=_echo(message, calls),
    )


def fold(events: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the whole answer that a stream of events makes up, None where it broke off."""
    model, finish = "", ""
    said = {"content": "", "refusal": "", "reasoning_content": ""}
    calls: dict[int, dict[str, str]] = {}
    for event in events:
        model = text(event, "model") or model
        for choice in items(event, "choices"):
            delta = mapping(choice, "delta")
            for name in said:
                said[name] += text(delta, name)
            said["reasoning_content"] += text(delta, "reasoning")
            _add_calls(calls, delta)
            finish = text(choice, "finish_reason") or finish
    if not finish:
        return None
    made = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for _, call in sorted(calls.items())
    ]
    message = {**{name: value for name, value in said.items() if value}, "tool_calls": made}
    return {"model": model, "choices": [{"message": message, "finish_reason": finish}]}


def _add_calls(calls: dict[int, dict[str, str]], delta: dict[str, Any]) -> None:
    for part in items(delta, "tool_calls"):
        index = number(part, "index")
        if index not in calls and len(calls) >= _MOST_CALLS:
            continue
        call = calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        function = mapping(part, "function")
        call["id"] = call["id"] or text(part, "id")
        call["name"] = call["name"] or text(function, "name")
        call["arguments"] += text(function, "arguments")


def _echo(message: dict[str, Any], calls: tuple[ToolCall, ...]) -> dict[str, Any]:
    """Return an answer as it stands in the next request: text and calls, nothing that is told only."""
    echoed: dict[str, Any] = {"role": "assistant", "content": text(message, "content")}
    if text(message, "refusal"):
        echoed["refusal"] = text(message, "refusal")
    if calls:
        echoed["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    return echoed


def _messages(entry: Entry) -> list[dict[str, Any]]:
    if isinstance(entry, Said):
        return [{"role": "user", "content": entry.text}]
    if isinstance(entry, Reply):
        return [entry.items or {"role": "assistant", "content": entry.text}]
    return [{"role": "tool", "tool_call_id": one.call.id, "content": one.text} for one in entry.each]
