"""Which requests may reach a model: routes, the one model, and a list of allowed members for each API.

Members that are not listed are refused rather than dropped, so that nobody believes that they had an effect.
What a provider would fetch, keep or run itself (remote images, files, stored answers, hosted tools) is a way
out of the sandbox or a memory across runs, and never listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from oasis_operator.wire.fields import fault
from oasis_operator.wire.gateway import Api

_MOST_ITEMS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Shape:
    """What a request of one API may hold.

    Attributes:
        members: Names of allowed members.
        conversation: Member with the list of turns.
        kinds: Allowed values of `type` anywhere in the conversation.
        tool_kinds: Allowed values of `type` of a tool; None stands for an absent one.
        settings: Members that are set whatever the request says.
    """

    members: frozenset[str]
    conversation: str
    kinds: frozenset[str]
    tool_kinds: frozenset[str | None]
    settings: Mapping[str, Any]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHAPES: Final[Mapping[Api, Shape]] = {
    Api.CHAT: Shape(
        members=_words(
            "model messages tools tool_choice parallel_tool_calls max_tokens max_completion_tokens "
            "temperature top_p stop stream stream_options seed response_format reasoning_effort "
            "frequency_penalty presence_penalty logprobs top_logprobs n store user prompt_cache_key "
            "safety_identifier service_tier verbosity"
        ),
        conversation="messages",
        kinds=_words("text refusal function"),
        tool_kinds=frozenset({"function"}),
        settings={},
    ),
    Api.RESPONSES: Shape(
        members=_words(
            "model input instructions tools tool_choice parallel_tool_calls max_output_tokens temperature "
            "top_p stream reasoning text include store background truncation top_logprobs max_tool_calls "
            "user prompt_cache_key safety_identifier service_tier"
        ),
        conversation="input",
        kinds=_words(
            "message input_text output_text refusal function_call function_call_output reasoning "
            "reasoning_text summary_text"
        ),
        tool_kinds=frozenset({"function"}),
        settings={"store": False},
    ),
    Api.MESSAGES: Shape(
        members=_words(
            "model system messages tools tool_choice max_tokens temperature top_p top_k stop_sequences "
            "stream thinking"
        ),
        conversation="messages",
        kinds=_words("text tool_use tool_result thinking redacted_thinking ephemeral"),
        tool_kinds=frozenset({None, "custom"}),
        settings={},
    ),
}

_PARTS: Final = _words(
    "role content name tool_calls tool_call_id type text refusal function id arguments call_id output "
    "summary encrypted_content status annotations logprobs cache_control input tool_use_id is_error "
    "thinking signature data reasoning_content"
)
"""Members of what stands in a conversation."""

# Their content is text for the model alone: a schema, or what a tool was called with.
_OPAQUE: Final = frozenset({"arguments", "input_schema", "parameters"})
# What client libraries note on a turn for themselves, and send back with it: no part of any API.
_NOTES: Final = frozenset({"provider_specific_fields"})
# Members that clients send with their default, and the only values of theirs that mean nothing.
_HARMLESS: Final[dict[str, Any]] = {"n": 1, "background": False}
_INCLUDED: Final = ["reasoning.encrypted_content"]


def admit(api: Api, body: object, model: str) -> dict[str, Any]:
    """Return the request as it goes out.

    Raises:
        InvalidInput: A member, a content or a tool that is not allowed; the message names it.
    """
    shape = SHAPES[api]
    if not isinstance(body, Mapping):
        raise fault("", body, "want an object")
    # Clients send null for what they leave out.
    body = {name: _without_notes(value) for name, value in body.items() if value is not None}
    unknown = sorted(set(body) - shape.members)
    if unknown:
        raise fault(unknown[0], body[unknown[0]], "is not among the members that may be sent to a model")
    if body.get("model") != model:
        raise fault("model", body.get("model"), f"want {model}, the model of the Agent")
    for name, value in (_HARMLESS | ({"store": False} if api is Api.CHAT else {})).items():
        if body.get(name, value) != value:
            raise fault(name, body[name], f"want {value}, or leave it out")
    if body.get("include") not in (None, [], _INCLUDED):
        raise fault("include", body["include"], f"want nothing but {_INCLUDED}")
    _check_tools(body.get("tools"), shape)
    _check_turns(body.get(shape.conversation), shape.conversation, shape)
    _check_turns(body.get("system"), "system", shape)
    admitted = {**body, **shape.settings}
    if api is Api.CHAT and body.get("stream") is True:
        admitted["stream_options"] = {"include_usage": True}
    return admitted


def _without_notes(turns: object) -> object:
    """Return the turns of a conversation without what a client noted on them; anything else as it is."""
    if not isinstance(turns, list):
        return turns
    return [
        {name: item for name, item in turn.items() if name not in _NOTES}
        if isinstance(turn, Mapping)
        else turn
        for turn in turns
    ]


def _check_tools(tools: object, shape: Shape) -> None:
    if tools is None:
        return
    if not isinstance(tools, list):
        raise fault("tools", tools, "want a list")
    for index, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, Mapping) else tool
        if kind not in shape.tool_kinds:
            raise fault(f"tools[{index}].type", kind, "a tool that the provider runs itself is not allowed")


def _check_turns(value: object, path: str, shape: Shape) -> None:
    """Refuse every object of a conversation with a member or a `type` that is not allowed."""
    if isinstance(value, list):
        if len(value) > _MOST_ITEMS:
            raise fault(path, f"{len(value)} entries", f"want at most {_MOST_ITEMS}")
        for index, item in enumerate(value):
            _check_turns(item, f"{path}[{index}]", shape)
    if isinstance(value, Mapping):
        _check_part(value, path, shape)


def _check_part(part: Mapping[str, Any], path: str, shape: Shape) -> None:
    unknown = sorted(set(part) - _PARTS)
    if unknown:
        raise fault(f"{path}.{unknown[0]}", part[unknown[0]], "is not allowed in a conversation")
    kind = part.get("type")
    if kind is None and "role" not in part and shape is SHAPES[Api.RESPONSES]:
        raise fault(path, sorted(part), "want a role or a type: what the provider keeps is not referred to")
    if kind is not None and kind not in shape.kinds:
        raise fault(f"{path}.type", kind, "this content is not allowed: text and tool calls only")
    for name, item in part.items():
        if not (name in _OPAQUE or (name == "input" and kind == "tool_use")):
            _check_turns(item, f"{path}.{name}", shape)
