from __future__ import annotations

import json
from typing import Any

import pytest

from oasis_operator.errors import AgentFault
from oasis_operator.model.text import clean_text
from oasis_operator.wire.agent import (
    MALFORMED,
    MAX_ANSWER_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    Action,
    Answer,
    Identity,
    Prompt,
    decode,
    parse_answer,
    parse_identity,
)


def test_a_prompt_has_the_members_of_the_contract() -> None:
    prompt = Prompt("do it", ("kubectl",), "supervised", {"namespaces": ["a"]})
    assert prompt.to_json() == {
        "prompt": "do it",
        "tools": ["kubectl"],
        "mode": "supervised",
        "scope": {"namespaces": ["a"]},
    }


def test_an_answer_is_read_member_by_member() -> None:
    raw = b"""{"actions": [{"id": "1", "tool": "t", "arguments": {"a": [1]}, "result": "r", "error": "e",
        "duration_ms": 2.9}], "reasoning": "why", "final_answer": "what", "model": "m"}"""
    assert parse_answer(raw) == Answer(
        actions=(Action("1", "t", {"a": [1]}, "r", "e", 2),), reasoning="why", final_answer="what", model="m"
    )


@pytest.mark.parametrize(
    "raw", [b'{"final_answer": ""}', b'{"actions": []}', b'{"actions": null, "final_answer": ""}']
)
def test_one_member_is_enough_for_an_answer(raw: bytes) -> None:
    assert parse_answer(raw) == Answer()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "the answer is not JSON"),
        (b'{"final_answer": "a"} trailing', "the answer is not JSON"),
        (b"\x80\x81", "the answer is not JSON"),
        ('{"final_answer": "a"}'.encode("utf-16"), "the answer is not JSON"),
        (b"null", "the answer is not a JSON object"),
        (b"{}", "the answer has neither actions nor final_answer"),
        (b'{"actions": 3}', "actions is not a list"),
        (b'{"actions": [{}, 3]}', "actions[1] is not an object"),
        (b'{"final_answer": ' + b"[" * MAX_DEPTH, f"the answer is nested deeper than {MAX_DEPTH}"),
        (b'{"actions": [' + b"0," * MAX_VALUES, f"the answer holds more than {MAX_VALUES} values"),
        (b" " * (MAX_ANSWER_BYTES + 1), f"the answer is larger than {MAX_ANSWER_BYTES} bytes"),
    ],
)
def test_what_is_no_answer_is_malformed(raw: bytes, message: str) -> None:
    with pytest.raises(AgentFault) as caught:
        parse_answer(raw)
    assert (caught.value.reason, caught.value.message) == (MALFORMED, message)


@pytest.mark.parametrize("text", ["[" * 500, "," * 400_000, '\\"]}[{,' * 1000, "\\\\"])
def test_brackets_and_commas_inside_a_string_do_not_count(text: str) -> None:
    assert parse_answer(json.dumps({"final_answer": text}).encode()).final_answer == text


def test_depth_up_to_the_bound_is_read() -> None:
    nested: Any = "deep"
    for _ in range(MAX_DEPTH - 3):
        nested = [nested]
    raw = json.dumps({"actions": [{"arguments": nested}]}).encode()
    assert parse_answer(raw).actions[0].arguments == {"value": nested}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain ü \U0001f600", "plain ü \U0001f600"),
        ("tab\tline\n", "tab\tline\n"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b\x1b[0m[31mx", "[31mx"),
        ("\x1b[1234;5mx", "[1234;5mx"),
        ("\x1b]0;title\x07x", "]0;titlex"),
        ("\x00\x08\x0b\x7f\x85\x9bx", "x"),
        ("\u202ex\u2066\u2069", "x"),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_text_is_cleaned_of_what_acts_and_keeps_what_is_read(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned
    assert clean_text(cleaned) == cleaned


def test_bytes_are_repaired() -> None:
    assert decode(b"a\xffb\xe2\x82") == "a\ufffdb\ufffd"


@pytest.mark.parametrize(
    "raw",
    [
        b'{"identity": {"name": "n", "version": "1"}, "configuration": {"mode": "x"}}',
        b'{"name": "n", "version": "1", "configuration": {"mode": "x"}, "more": 1}',
    ],
)
def test_an_identity_is_read_nested_or_flat(raw: bytes) -> None:
    assert parse_identity(raw) == Identity("n", "1", "", {"mode": "x"})


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (["conversation_context"], ("conversation_context",)),
        (["telepathy", 7, "conversation_context", "conversation_context"], ("conversation_context",)),
        (["Conversation_Context"], ()),
        ("conversation_context", ()),
        ({"conversation_context": True}, ()),
        (None, ()),
    ],
)
@pytest.mark.parametrize("nested", [True, False])
def test_capabilities_are_a_list_of_known_words(told: Any, read: tuple[str, ...], nested: bool) -> None:
    who = {"name": "n", "version": "1"}
    body = {"identity": who, "capabilities": told} if nested else {**who, "capabilities": told}
    identity = parse_identity(json.dumps(body).encode())
    assert identity.capabilities == read
    assert identity.to_json().get("capabilities", []) == list(read)


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b'{"name": "n"}',
        b'{"name": " ", "version": "1"}',
        b'{"identity": 1}',
        b'{"name":"n","version":"1","configuration":1}',
    ],
)
def test_an_identity_needs_name_and_version(raw: bytes) -> None:
    with pytest.raises(AgentFault) as caught:
        parse_identity(raw)
    assert caught.value.reason == MALFORMED
