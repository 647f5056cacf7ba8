"""Agents that answer in bad faith: whatever they send is bounded, ended in time, and told for what it is."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import resource
import time
from typing import TYPE_CHECKING, Any

import pytest
import rfc8785

from contract.adapter.kit import Heard, a_raw_agent, an_adapter, says, says_raw
from oasis_operator.wire.agent import MAX_ACTIONS, MAX_ANSWER_BYTES

if TYPE_CHECKING:
    from pathlib import Path

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def answer(**members: Any) -> bytes:
    return json.dumps({"actions": [], "final_answer": "", **members}).encode()


async def test_a_flood_is_cut_early(tmp_path: Path) -> None:
    sent = 0

    async def floods(_: Heard, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        block = b"flood " * 20_000
        writer.write(HEAD + b"Content-Length: 209715200\r\n\r\n" + b'{"final_answer": "')
        while sent < 209_715_200:
            writer.write(block)
            await writer.drain()
            sent += len(block)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with a_raw_agent(floods) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
        await asyncio.wait_for(agent.hung_up.wait(), 5)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert transcript["outcome"] == "malformed"
    assert transcript["detail"] == f"the answer is larger than {MAX_ANSWER_BYTES} bytes"
    assert transcript["final_answer"].startswith('{"final_answer": "flood flood ')
    assert len(transcript["final_answer"]) == MAX_ANSWER_BYTES
    assert transcript["received"]["cut"] is True
    assert transcript["truncated"] is True
    assert sent < 4 * MAX_ANSWER_BYTES
    assert grown < 60


async def test_a_slow_drip_ends_with_the_run(tmp_path: Path) -> None:
    async def drips(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 1000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"s")
            await writer.drain()
            await asyncio.sleep(0.02)

    started = time.monotonic()
    async with a_raw_agent(drips) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url, timeout_seconds=0.5)
        await asyncio.wait_for(agent.hung_up.wait(), 5)
    assert transcript["outcome"] == "timeout"
    assert transcript["final_answer"].startswith("ss")
    assert transcript["received"]["cut"] is False
    assert transcript["truncated"] is True
    assert time.monotonic() - started < 5


async def test_an_answer_is_handed_over_as_it_came(tmp_path: Path) -> None:
    raw = b'{"final_answer": "s3cr3t", "note": "\\u0073", "final_answer": "\xff"}  '
    async with a_raw_agent(says(raw)) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert transcript["outcome"] == "answered"
    assert transcript["received"] == {"base64": base64.b64encode(raw).decode(), "cut": False}


@pytest.mark.parametrize(
    "talk",
    [
        pytest.param(says_raw(b"s3cr3t, not HTTP\r\n\r\nmore"), id="no HTTP"),
        pytest.param(
            says_raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nmore"), id="another protocol"
        ),
    ],
)
async def test_what_was_not_read_at_all_counts_as_cut(tmp_path: Path, talk: Any) -> None:
    async with a_raw_agent(talk) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert transcript["outcome"] == "malformed"
    assert transcript["received"]["cut"] is True


async def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    async def floods(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for index in range(1_000_000):
            writer.write(f"X-{index}: {'y' * 100}\r\n".encode())
            await writer.drain()

    async with a_raw_agent(floods) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert transcript["outcome"] == "malformed"


async def test_interim_answers_without_end_end_with_the_run(tmp_path: Path) -> None:
    async def stalls(_: Heard, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 10)
            await writer.drain()
            await asyncio.sleep(0.001)

    async with a_raw_agent(stalls) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url, timeout_seconds=0.5)
    assert transcript["outcome"] == "timeout"


@pytest.mark.parametrize(
    ("talk", "outcome", "seen"),
    [
        pytest.param(says(b'{"secret": "s3cr3t"}', "500 Oh"), "crashed", "s3cr3t", id="a server error"),
        pytest.param(says(b"s3cr3t", "418 Teapot"), "malformed", "s3cr3t", id="a client error"),
        pytest.param(
            says(b"gone s3cr3t", "302 Found", "Location: http://127.0.0.1:9/\r\n"),
            "malformed",
            "s3cr3t",
            id="a redirect",
        ),
        pytest.param(says(b""), "malformed", "", id="an empty body"),
        pytest.param(says(b"not json s3cr3t"), "malformed", "s3cr3t", id="no JSON"),
        pytest.param(says(b'["s3cr3t"]'), "malformed", "s3cr3t", id="no object"),
        pytest.param(says(b'{"hello": "s3cr3t"}'), "malformed", "s3cr3t", id="an object of another contract"),
        pytest.param(
            says(b'{"actions": {"a": "s3cr3t"}}'), "malformed", "s3cr3t", id="actions that are no list"
        ),
        pytest.param(
            says(b'{"actions": ["s3cr3t"]}'), "malformed", "s3cr3t", id="an action that is no object"
        ),
        pytest.param(
            says(b'{"final_answer": "s3cr3t \xff'), "malformed", "s3cr3t \ufffd", id="broken text in no JSON"
        ),
        pytest.param(
            says(gzip.compress(answer()), headers="Content-Encoding: gzip\r\n"),
            "malformed",
            "",
            id="compressed",
        ),
        pytest.param(says_raw(b"s3cr3t, not HTTP\r\n\r\n"), "malformed", "s3cr3t", id="no HTTP"),
        pytest.param(says_raw(b""), "crashed", "", id="a closed connection"),
        pytest.param(says_raw(b"", reset=True), "crashed", "", id="a reset connection"),
        pytest.param(
            says_raw(HEAD + b"Content-Length: 99\r\n\r\ns3cr3t"),
            "crashed",
            "s3cr3t",
            id="a body that breaks off",
        ),
        pytest.param(
            says_raw(HEAD + b"Content-Length: 99\r\n\r\ns3cr3t", reset=True),
            "crashed",
            "s3cr3t",
            id="a body that is reset",
        ),
        pytest.param(
            says_raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n"),
            "malformed",
            "",
            id="a chunk without a size",
        ),
        pytest.param(
            says_raw(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
                + b"y" * 100_000
            ),
            "malformed",
            "",
            id="another protocol",
        ),
        pytest.param(says(b'{"final_answer": ' + b"[" * 100_000), "malformed", "[[[", id="depth without end"),
        pytest.param(
            says(b'{"final_answer": ' + b"[" * 70 + b"]" * 70 + b"}"), "malformed", "[[[", id="JSON too deep"
        ),
        pytest.param(
            says(b'{"actions": [' + b"{}," * 400_000 + b"{}]}"), "malformed", "{},{}", id="values without end"
        ),
        pytest.param(
            says(b'{"final_answer": ' + b"9" * 100_000), "malformed", "999", id="a number without end"
        ),
    ],
)
async def test_what_is_no_answer_is_told_and_kept(tmp_path: Path, talk: Any, outcome: str, seen: str) -> None:
    async with a_raw_agent(talk) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
        assert (await adapter.call("GET", "/healthz", token=None))[0] == 200
    assert transcript["outcome"] == outcome, transcript["detail"]
    assert seen in transcript["final_answer"]
    assert "s3cr3t" not in transcript["detail"]
    assert transcript["actions"] == []
    assert transcript["delivered_at"] is not None
    assert len(agent.heard) == 1
    rfc8785.dumps(transcript)


async def test_a_redirect_leads_nowhere(tmp_path: Path) -> None:
    async with a_raw_agent(says(answer())) as elsewhere:
        moved = says(b"", "307 Moved", f"Location: {elsewhere.url}/\r\n")
        async with a_raw_agent(moved) as agent, an_adapter(tmp_path) as adapter:
            transcript = await adapter.ask(agent.url)
    assert transcript["outcome"] == "malformed"
    assert elsewhere.heard == []


async def test_a_long_list_of_actions_is_cut(tmp_path: Path) -> None:
    actions = [{"id": str(i), "tool": "t", "arguments": {}, "result": ""} for i in range(MAX_ACTIONS + 500)]
    talk = says(answer(actions=actions, final_answer="all of it"))
    async with a_raw_agent(talk) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert (transcript["outcome"], transcript["truncated"]) == ("answered", True)
    assert len(transcript["actions"]) == MAX_ACTIONS
    assert transcript["final_answer"] == "all of it"


async def test_forged_ids_are_told_apart(tmp_path: Path) -> None:
    ids: list[Any] = ["same", "same", "same#2", None, 7, {"x": 1}, "", "y" * 1000, "a\x1b[2Jb"]
    actions = [{"id": each, "tool": "t"} for each in ids]
    async with a_raw_agent(says(answer(actions=actions))) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    told = [action["id"] for action in transcript["actions"]]
    assert told == ["same", "same#2", "same#2#3", "#4", "7", '{"x": 1}', "#7", "y" * 256, "ab"]
    assert len(set(told)) == len(told)


async def test_what_json_cannot_carry_is_repaired(tmp_path: Path) -> None:
    body = (
        b'\xef\xbb\xbf{"final_answer": "half \\ud83d bad \xff\xfe end", "reasoning": ["a", 1], "model": 4, "actions": [{'
        b'"id": 1, "tool": null, "duration_ms": 1e999, "result": {"b": 1, "a": NaN}, "error": false,'
        b'"arguments": {"big": 9007199254740993, "neg": -9007199254740993, "inf": -1e999, "nan": NaN, "ok": 1.5}},'
        b'{"arguments": "text", "duration_ms": -5}]}'
    )
    async with a_raw_agent(says(body)) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert transcript["outcome"] == "answered", transcript["detail"]
    assert transcript["final_answer"] == "half \ufffd bad \ufffd\ufffd end"
    assert (transcript["reasoning"], transcript["model"]) == ('["a", 1]', "4")
    first, second = transcript["actions"]
    assert first["arguments"] == {
        "big": "9007199254740993",
        "neg": "-9007199254740993",
        "inf": "-1e999",
        "nan": "NaN",
        "ok": 1.5,
    }
    assert (first["result"], first["error"], first["duration_ms"]) == ('{"a": "NaN", "b": 1}', "false", 0)
    assert (second["arguments"], second["duration_ms"]) == ({"value": "text"}, 0)
    rfc8785.dumps(transcript)


async def test_what_acts_on_a_terminal_is_stripped_and_nothing_that_is_read(tmp_path: Path) -> None:
    text = "a\x1b[31;1mred\x1b[0m\r\nb\tc\x00\x07\x9b2J\u202eevil\u2066 \x1b]8;;http://x/?s3cr3t\x07link \x1b[123456789m"
    talk = says(answer(final_answer=text, reasoning={"k\x1b[0m": text}))
    async with a_raw_agent(talk) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert transcript["final_answer"] == "ared\nb\tc2Jevil ]8;;http://x/?s3cr3tlink [123456789m"
    assert json.loads(transcript["reasoning"]) == {"k": transcript["final_answer"]}
