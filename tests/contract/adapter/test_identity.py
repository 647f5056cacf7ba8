from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from contract.adapter.kit import a_raw_agent, an_adapter, closed_port, hangs, says, says_raw

if TYPE_CHECKING:
    from pathlib import Path

NESTED = {
    "identity": {"name": "helper", "version": "2.1.0", "description": "helps"},
    "configuration": {"mode": "supervised", "zones": ["a"]},
}


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (NESTED, NESTED),
        (
            {"name": "helper", "version": "2.1.0"},
            {"identity": {"name": "helper", "version": "2.1.0", "description": ""}, "configuration": {}},
        ),
        (
            {"identity": {"name": " he\x1b[31mlper\n", "version": 2}},
            {"identity": {"name": "helper", "version": "2", "description": ""}, "configuration": {}},
        ),
    ],
)
async def test_identity_is_read_nested_or_flat(tmp_path: Path, told: Any, read: Any) -> None:
    async with a_raw_agent(says(json.dumps(told).encode())) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        status, answer, _ = await adapter.call("GET", f"/v1/identity?kind=http&url={quote(agent.url)}")
        assert (status, answer) == (200, read)
        assert (await adapter.call("GET", "/v1/identity"))[1] == read
    assert len(agent.heard) == 1
    assert agent.heard[0].head.startswith(b"GET /identity-and-configuration HTTP/1.1\r\n")


async def test_identity_is_asked_for_where_the_agent_has_it(tmp_path: Path) -> None:
    told = says(json.dumps(NESTED).encode())
    async with a_raw_agent(told) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        query = f"kind=http&url={quote(agent.url)}&identity_path=/v2/who%3Fas%3Djson&path=/v2/tasks"
        assert (await adapter.call("GET", f"/v1/identity?{query}"))[0] == 200
    assert agent.heard[0].head.startswith(b"GET /v2/who?as=json HTTP/1.1\r\n")


async def test_a_path_without_a_slash_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    async with a_raw_agent(says(b"{}")) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        for member in ("path", "identity_path"):
            query = f"url={quote(agent.url)}&{member}=@elsewhere.example/"
            status, answer, _ = await adapter.call("GET", f"/v1/identity?{query}")
            assert (status, answer["reason"]) == (400, "InvalidRequest")
            assert f"adapter.{member}" in answer["message"]
    assert agent.heard == []


@pytest.mark.parametrize(
    ("talk", "reason"),
    [
        (says(b"{}"), "AgentAnswerMalformed"),
        (says(b'{"identity": {"name": "", "version": "1"}}'), "AgentAnswerMalformed"),
        (says(b'{"identity": {"name": "a"}}'), "AgentAnswerMalformed"),
        (says(b'{"identity": [], "name": "a", "version": "1"}'), "AgentAnswerMalformed"),
        (says(b'{"name": "a", "version": "1", "configuration": []}'), "AgentAnswerMalformed"),
        (says(b"x" * 300_000), "AgentAnswerMalformed"),
        (says(b"", "404 Not Found"), "AgentAnswerMalformed"),
        (says(b"", "500 Oh"), "AgentCrashed"),
        (says_raw(b""), "AgentCrashed"),
    ],
)
async def test_an_identity_that_is_none_is_told_with_its_reason(
    tmp_path: Path, talk: Any, reason: str
) -> None:
    async with a_raw_agent(talk) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        status, answer, _ = await adapter.call("GET", f"/v1/identity?url={quote(agent.url)}")
        assert (status, answer["reason"]) == (502, reason)
        status, _, _ = await adapter.call("GET", f"/v1/identity?url={quote(agent.url)}")
        assert status == 502


async def test_an_agent_that_does_not_listen_has_no_identity(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        await adapter.release()
        url = quote(f"http://127.0.0.1:{await closed_port()}")
        status, answer, _ = await adapter.call("GET", f"/v1/identity?url={url}")
        assert (status, answer["reason"]) == (502, "PromptNotDelivered")
        status, answer, _ = await adapter.call("GET", "/v1/identity?kind=scripted")
        assert (status, answer["reason"]) == (502, "AgentFault")
        status, answer, _ = await adapter.call("GET", "/v1/identity?kind=none")
        assert (status, answer["reason"]) == (400, "InvalidRequest")


async def test_an_identity_has_its_time(tmp_path: Path) -> None:
    async with a_raw_agent(hangs) as agent, an_adapter(tmp_path, identity_seconds=0.3) as adapter:
        await adapter.release()
        status, answer, _ = await adapter.call("GET", f"/v1/identity?url={quote(agent.url)}")
        assert (status, answer["reason"]) == (502, "AgentTimeout")
