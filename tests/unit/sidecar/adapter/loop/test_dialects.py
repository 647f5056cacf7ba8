"""Each API's shapes: a reply is the same whole and streamed, and goes back as the provider gave it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kit.models import ANSWERED, SHAPES, ToolCall, Turn
from oasis_operator.sidecar.adapter.loop import chat, messages, responses
from oasis_operator.sidecar.adapter.loop.client import explain
from oasis_operator.sidecar.adapter.loop.events import EventReader
from oasis_operator.sidecar.adapter.loop.machine import Trouble
from oasis_operator.sidecar.adapter.loop.talk import Options, Reply, Result, Results, Said, Stop
from oasis_operator.sidecar.gateway.rules import admit
from oasis_operator.wire.gateway import Api

if TYPE_CHECKING:
    from types import ModuleType

APIS = [
    (Api.CHAT, chat, "/v1/chat/completions"),
    (Api.RESPONSES, responses, "/v1/responses"),
    (Api.MESSAGES, messages, "/v1/messages"),
]
OPTIONS = Options(
    "m",
    "Be careful.",
    ({"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},),
    100,
    "0.5",
)
TWO = (ToolCall("look", '{"at": "é"}', "a"), ToolCall("look", "{}", "b"))
TURNS = {
    "words": Turn("Two pods."),
    "thoughts": Turn("Two pods.", reasoning="I count them."),
    "calls": Turn("Let me look.", TWO, stop="tools"),
    "cut off": Turn("Two p", stop="length"),
    "refusal": Turn("I will not.", stop="refusal"),
    "nothing": Turn(""),
}
STOPS = {"calls": Stop.TOOLS, "cut off": Stop.LENGTH, "refusal": Stop.REFUSAL}

every = pytest.mark.parametrize(("api", "dialect", "path"), APIS, ids=[api.name for api, _, _ in APIS])


def both(dialect: ModuleType, path: str, turn: Turn) -> tuple[Reply, Reply]:
    whole, events = SHAPES[path](turn)
    folded = dialect.fold([data for _, data in events])
    assert folded is not None
    return dialect.read(whole), dialect.read(folded)


@every
@pytest.mark.parametrize("name", TURNS)
def test_a_reply_is_the_same_whole_and_streamed(api: Api, dialect: ModuleType, path: str, name: str) -> None:
    turn = TURNS[name]
    whole, streamed = both(dialect, path, turn)
    assert whole == streamed
    assert (whole.text, whole.reasoning, whole.model) == (turn.text, turn.reasoning, ANSWERED)
    assert whole.stop is STOPS.get(name, Stop.DONE)
    assert [(c.id, c.name, json.loads(c.arguments)) for c in whole.calls] == [
        (c.id, c.name, json.loads(c.arguments)) for c in turn.calls
    ]


@every
def test_arguments_that_are_no_json_stay_what_they_are(api: Api, dialect: ModuleType, path: str) -> None:
    turn = Turn("", (ToolCall("look", '{"at": "sh', "a"),), stop="length")
    for reply in both(dialect, path, turn):
        assert reply.calls[0].arguments == '{"at": "sh'


@every
def test_a_conversation_goes_out_as_the_gateway_allows(api: Api, dialect: ModuleType, path: str) -> None:
    replies = [both(dialect, path, turn)[0] for turn in (TURNS["thoughts"], TURNS["calls"])]
    results = Results(tuple(Result(call, "ok", is_error=True) for call in replies[1].calls))
    talk = (
        Said("Earlier."),
        Reply("Told earlier."),
        Said("Count the pods."),
        replies[0],
        Said("Again."),
        replies[1],
        results,
    )
    body = dialect.request(talk, OPTIONS)
    assert admit(api, body, "m")["model"] == "m"
    text = json.dumps(body, ensure_ascii=False)
    for wanted in ("Be careful.", "Told earlier.", "Count the pods.", "Let me look.", "ok", '"a"', '"b"'):
        assert wanted in text, wanted
    assert body["temperature"] == 0.5
    assert dialect.request(talk, Options("m", "", ()))["stream"] is True


@every
@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": "x"}, {"output": []}, {"content": [1]}])
def test_what_is_no_answer_is_none(api: Api, dialect: ModuleType, path: str, body: dict[str, Any]) -> None:
    assert dialect.read(body) is None


@every
@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_a_stream_that_broke_off_is_no_answer(api: Api, dialect: ModuleType, path: str, kept: int) -> None:
    _, events = SHAPES[path](TURNS["thoughts"])
    assert dialect.fold([data for _, data in events][:kept]) is None


@every
def test_hostile_shapes_break_nothing(api: Api, dialect: ModuleType, path: str) -> None:
    odd: list[Any] = [1, "x", None, [], {"type": 3}, {"index": "9"}]
    events = [
        {"type": kind, "index": 0, "delta": value, "content_block": value, "choices": value, "message": value}
        for value in odd
        for kind in ("message_start", "content_block_start", "content_block_delta", "message_delta", 7)
    ]
    assert dialect.fold(events) is None


def test_parallel_calls_of_messages_are_one_turn_of_results() -> None:
    reply = both(messages, "/v1/messages", TURNS["calls"])[0]
    results = Results(tuple(Result(call, "ok") for call in reply.calls))
    body = messages.request((Said("x"), reply, results, Said("go on")), OPTIONS)
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][2]["content"]] == [
        "tool_result",
        "tool_result",
        "text",
    ]


def test_events_are_read_however_they_are_cut() -> None:
    stream = b': ping\nevent: x\ndata: {"a":\ndata: 1}\r\n\r\ndata: [DONE]\n\ndata: no\n\ndata:{"b": "\xc3\xa9"}\n\n'
    for size in (1, 2, 7, len(stream)):
        reader, found = EventReader(), []
        for start in range(0, len(stream), size):
            found += reader.feed(stream[start : start + size])
        assert found == [{"a": 1}, {"b": "é"}]


@pytest.mark.parametrize(
    ("status", "error", "headers", "trouble", "after"),
    [
        (429, {"type": "rate_limit_error"}, {"Retry-After": "3"}, Trouble.BUSY, 3.0),
        (429, {}, {"retry-after-ms": "1500"}, Trouble.BUSY, 1.5),
        (
            429,
            {},
            {"Retry-After": "Tue, 01 Dec 2026 00:00:30 GMT", "Date": "Tue, 01 Dec 2026 00:00:20 GMT"},
            Trouble.BUSY,
            10.0,
        ),
        (429, {}, {"Retry-After": "soon"}, Trouble.BUSY, None),
        (429, {"code": "insufficient_quota"}, {}, Trouble.MISCONFIGURED, None),
        (529, {"type": "overloaded_error"}, {}, Trouble.BUSY, None),
        (500, {}, {}, Trouble.OUTAGE, None),
        (400, {"code": "context_length_exceeded"}, {}, Trouble.TOO_LONG, None),
        (400, {"message": "prompt is too long: 9 tokens > 8 maximum"}, {}, Trouble.TOO_LONG, None),
        (413, {}, {}, Trouble.TOO_LONG, None),
        (400, {"message": "bad"}, {}, Trouble.MISCONFIGURED, None),
        (401, {}, {}, Trouble.MISCONFIGURED, None),
        (404, {}, {}, Trouble.MISCONFIGURED, None),
        (403, {"message": "used up"}, {"X-Gateway-Reason": "BudgetExceeded"}, Trouble.BUDGET, None),
        (502, {}, {"X-Gateway-Reason": "UpstreamUnreachable"}, Trouble.OUTAGE, None),
        (409, {}, {"X-Gateway-Reason": "Repeated"}, Trouble.FAULT, None),
        (401, {}, {"X-Gateway-Reason": "Unauthorized"}, Trouble.FAULT, None),
        (400, {}, {"X-Gateway-Reason": "Refused"}, Trouble.FAULT, None),
        (500, {}, {"X-Gateway-Reason": "of a newer gateway"}, Trouble.FAULT, None),
    ],
)
def test_what_an_answer_that_is_none_means(
    status: int, error: dict[str, str], headers: dict[str, str], trouble: Trouble, after: float | None
) -> None:
    failed = explain(status, {"error": error}, headers)
    assert (failed.trouble, failed.retry_after) == (trouble, after)
    assert failed.detail
