from __future__ import annotations

import json
from typing import Any

import pytest

from oasis_operator.sidecar.gateway.usage import Meter, estimate
from oasis_operator.wire.gateway import Api, Usage

CACHED = {
    "input_tokens": 7,
    "cache_creation_input_tokens": 2,
    "cache_read_input_tokens": 1,
    "output_tokens": 5,
}


@pytest.mark.parametrize(
    ("api", "body"),
    [
        (Api.CHAT, {"usage": {"prompt_tokens": 10, "completion_tokens": 5}}),
        (Api.RESPONSES, {"usage": {"input_tokens": 10, "output_tokens": 5}}),
        (Api.MESSAGES, {"usage": CACHED}),
    ],
)
def test_an_answer_tells_what_it_took(api: Api, body: dict[str, Any]) -> None:
    meter = Meter(api, 1000)
    meter.whole(json.dumps(body).encode())
    assert meter.usage == Usage(10, 5)


@pytest.mark.parametrize(
    ("api", "lines"),
    [
        (Api.CHAT, [{"choices": []}, {"usage": {"prompt_tokens": 10, "completion_tokens": 5}}]),
        (
            Api.RESPONSES,
            [{"type": "x"}, {"response": {"usage": {"input_tokens": 10, "output_tokens": 5}}}],
        ),
        (
            Api.MESSAGES,
            [
                {"message": {"usage": {**CACHED, "output_tokens": 1}}},
                {"usage": {"output_tokens": 3}},
                {"usage": {"output_tokens": 5}},
            ],
        ),
    ],
)
def test_a_stream_tells_what_it_took(api: Api, lines: list[dict[str, Any]]) -> None:
    meter = Meter(api, 1000)
    for line in lines:
        meter.line(b"event: x\n"[:-1])
        meter.line(b"data: " + json.dumps(line).encode())
    meter.line(b"data: [DONE]")
    assert meter.usage == Usage(10, 5)


def test_what_is_not_told_is_estimated_and_says_so() -> None:
    meter = Meter(Api.CHAT, 300)
    meter.line(b"data: " + b"x" * 60)
    assert meter.usage == Usage(100, 20, estimated=True)
    assert meter.refused() == Usage()


def test_a_message_that_broke_off_counts_what_was_streamed() -> None:
    meter = Meter(Api.MESSAGES, 3000)
    meter.line(b'data: {"message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}')
    found = meter.usage
    assert (found.input, found.estimated) == (10, True)
    assert found.output > 1


@pytest.mark.parametrize("told", [-1, True, "5", 10**13, None])
def test_a_figure_that_is_none_is_no_figure(told: object) -> None:
    meter = Meter(Api.CHAT, 30)
    meter.whole(json.dumps({"usage": {"prompt_tokens": told, "completion_tokens": 5}}).encode())
    assert (meter.usage.input, meter.usage.estimated) == (10, True)


def test_an_estimate_is_never_below_one_token() -> None:
    assert [estimate(size) for size in (0, 1, 3, 4)] == [0, 1, 1, 2]
