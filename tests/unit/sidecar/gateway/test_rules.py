from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.sidecar.gateway.rules import admit
from oasis_operator.wire.gateway import Api

TALK = [{"role": "user", "content": "hello"}]
CHAT = {"model": "m", "messages": TALK}
RESPONSES = {"model": "m", "input": TALK}
MESSAGES = {"model": "m", "messages": TALK, "max_tokens": 10}
SCHEMA = {"type": "object", "properties": {"image_url": {"type": "string"}}}


@pytest.mark.parametrize(
    ("api", "body"),
    [
        (Api.CHAT, CHAT),
        (
            Api.CHAT,
            {
                **CHAT,
                "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                        ],
                    },
                    {"role": "tool", "tool_call_id": "1", "content": "ok"},
                ],
            },
        ),
        (
            Api.RESPONSES,
            {
                **RESPONSES,
                "include": ["reasoning.encrypted_content"],
                "input": [
                    *TALK,
                    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"},
                    {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "1", "output": "ok"},
                ],
            },
        ),
        (
            Api.MESSAGES,
            {
                **MESSAGES,
                "system": "be kind",
                "tools": [{"name": "f", "input_schema": SCHEMA}],
                "messages": [
                    *TALK,
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "thinking", "thinking": "hm", "signature": "s"},
                            {
                                "type": "tool_use",
                                "id": "1",
                                "name": "f",
                                "input": {"type": "image", "url": "x"},
                            },
                        ],
                    },
                    {
                        "role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}],
                    },
                ],
            },
        ),
    ],
)
def test_text_and_tool_calls_go_out(api: Api, body: dict[str, Any]) -> None:
    assert admit(api, body, "m").items() >= body.items()


def test_what_clients_send_with_its_default_is_no_offence() -> None:
    sent = {**CHAT, "n": 1, "store": False, "metadata": None, "audio": None}
    assert admit(Api.CHAT, sent, "m") == {**CHAT, "n": 1, "store": False}
    asked = {**RESPONSES, "previous_response_id": None, "background": False, "prompt": None}
    assert admit(Api.RESPONSES, asked, "m") == {**RESPONSES, "background": False, "store": False}


CALLED = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
FUNCTION = {
    "type": "function",
    "function": {"name": "bash", "description": "runs", "parameters": SCHEMA, "strict": True},
}
# Second requests of agents as the registries have them, in their members: what `make agents-real` sends whole.
SEEN = {
    "holmesgpt": {
        "max_tokens": 64000,
        "temperature": 1e-08,
        "tool_choice": "auto",
        "tools": [FUNCTION],
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [CALLED],
                "provider_specific_fields": {"refusal": None},
            },
            {"role": "tool", "tool_call_id": "c1", "name": "bash", "content": "r"},
        ],
    },
    "pydantic-ai": {
        "stream": False,
        "tool_choice": "auto",
        "tools": [FUNCTION],
        "messages": [
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": None, "tool_calls": [CALLED]},
            {"role": "tool", "tool_call_id": "c1", "content": "r"},
        ],
    },
    "mini-swe-agent": {
        "tools": [FUNCTION],
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "", "tool_calls": [CALLED]},
            {"role": "tool", "tool_call_id": "c1", "content": "r"},
            {"role": "user", "content": "u"},
        ],
    },
}


@pytest.mark.parametrize("agent", SEEN)
def test_what_agents_of_the_registries_send_goes_out(agent: str) -> None:
    body: dict[str, Any] = {"model": "m", **SEEN[agent]}
    sent = admit(Api.CHAT, body, "m")
    assert [turn["role"] for turn in sent["messages"]] == [turn["role"] for turn in body["messages"]]
    assert sent["tools"] == body["tools"]


def test_what_a_client_library_notes_for_itself_stays_at_home() -> None:
    noted = {
        "role": "assistant",
        "content": "hi",
        "provider_specific_fields": {"refusal": None, "file": "f-1"},
    }
    sent = admit(Api.CHAT, {**CHAT, "messages": [*TALK, noted]}, "m")
    assert sent["messages"] == [*TALK, {"role": "assistant", "content": "hi"}]


def test_nothing_is_kept_at_the_provider_and_streams_tell_their_usage() -> None:
    assert admit(Api.RESPONSES, {**RESPONSES, "store": True}, "m")["store"] is False
    streamed = {**CHAT, "stream": True, "stream_options": {"include_usage": False}}
    assert admit(Api.CHAT, streamed, "m")["stream_options"] == {"include_usage": True}


IMAGE = {"type": "image_url", "image_url": {"url": "https://elsewhere.example/x"}}


@pytest.mark.parametrize(
    ("api", "body", "where"),
    [
        (Api.CHAT, [], "body"),
        (Api.CHAT, {**CHAT, "model": "other"}, "model"),
        (Api.CHAT, {"messages": TALK}, "model"),
        (Api.CHAT, {**CHAT, "store": True}, "store"),
        (Api.CHAT, {**CHAT, "n": 2}, "n"),
        (Api.CHAT, {**CHAT, "web_search_options": {}}, "web_search_options"),
        (Api.CHAT, {**CHAT, "metadata": {"a": "b"}}, "metadata"),
        (Api.CHAT, {**CHAT, "tools": [{"type": "web_search"}]}, "tools[0].type"),
        (Api.CHAT, {**CHAT, "tools": {}}, "tools"),
        (Api.CHAT, {**CHAT, "messages": [{"role": "user", "content": [IMAGE]}]}, "messages[0].content[0]"),
        (Api.CHAT, {**CHAT, "messages": [{"role": "assistant", "audio": {"id": "a"}}]}, "messages[0].audio"),
        (
            Api.CHAT,
            {**CHAT, "messages": [{"role": "user", "content": [{"type": "file", "text": "x"}]}]},
            "messages[0].content[0].type",
        ),
        (Api.RESPONSES, {**RESPONSES, "previous_response_id": "r"}, "previous_response_id"),
        (Api.RESPONSES, {**RESPONSES, "background": True}, "background"),
        (Api.RESPONSES, {**RESPONSES, "include": ["file_search_call.results"]}, "include"),
        (Api.RESPONSES, {**RESPONSES, "input": [{"type": "item_reference", "id": "i"}]}, "input[0].type"),
        (Api.RESPONSES, {**RESPONSES, "input": [{"id": "i"}]}, "input[0]"),
        (Api.RESPONSES, {**RESPONSES, "tools": [{"type": "mcp"}]}, "tools[0].type"),
        (Api.MESSAGES, {**MESSAGES, "mcp_servers": []}, "mcp_servers"),
        (Api.MESSAGES, {**MESSAGES, "container": "c"}, "container"),
        (Api.MESSAGES, {**MESSAGES, "tools": [{"type": "web_search_20250305"}]}, "tools[0].type"),
        (
            Api.MESSAGES,
            {
                **MESSAGES,
                "messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}],
            },
            "messages[0].content[0].source",
        ),
        (Api.MESSAGES, {**MESSAGES, "messages": [{"role": "user"}] * 10_001}, "messages"),
    ],
)
def test_whatever_a_provider_would_fetch_keep_or_run_is_refused_by_name(
    api: Api, body: Any, where: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        admit(api, body, "m")
    assert str(caught.value).startswith(where)
