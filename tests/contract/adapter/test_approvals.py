"""Agents that ask in the course of a run whether they may act: the scenario's policy answers."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from contract.adapter.kit import Heard, Talk, a_raw_agent, an_adapter, says

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

CALL = {"id": "c1", "tool": "kubectl", "arguments": {"verb": "delete", "name": "web"}}
ASKS = {
    "approvals": [CALL],
    "actions": [{"id": "1", "tool": "kubectl", "result": "web is stuck"}],
    "note": "s3cret",
}
DONE = {
    "final_answer": "Left it alone.",
    "actions": [{"id": "2", "tool": "kubectl"}],
    "reasoning": "was told no",
}


def asks(*bodies: dict[str, Any] | bytes) -> Talk:
    """Answer each request with the next body, and with the last one from then on."""
    told: list[dict[str, Any] | bytes] = [*bodies]

    async def talk(heard: Heard, writer: asyncio.StreamWriter) -> None:
        body = told.pop(0) if len(told) > 1 else told[0]
        await says(body if isinstance(body, bytes) else json.dumps(body).encode())(heard, writer)

    return talk


@pytest.mark.parametrize(
    ("policy", "approved"), [({}, False), ({"approvals": "deny"}, False), ({"approvals": "approve"}, True)]
)
async def test_the_scenario_answers_and_the_run_goes_on(
    tmp_path: Path, policy: dict[str, str], approved: bool
) -> None:
    async with a_raw_agent(asks(ASKS, DONE)) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url, **policy)
    first, second = (heard.json for heard in agent.heard)
    assert "prompt" in first
    assert second == {"approvals": [{"id": "c1", "approved": approved}]}
    assert transcript["outcome"] == "answered"
    assert transcript["approvals"] == [{**CALL, "approved": approved}]
    assert [action["id"] for action in transcript["actions"]] == ["1", "2"]
    assert transcript["final_answer"] == "Left it alone."


async def test_a_run_without_a_question_has_no_approvals(tmp_path: Path) -> None:
    async with a_raw_agent(asks(DONE)) as agent, an_adapter(tmp_path) as adapter:
        assert "approvals" not in await adapter.ask(agent.url)


async def test_an_agent_that_never_stops_asking_is_stopped(tmp_path: Path) -> None:
    async with a_raw_agent(asks(ASKS)) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert (transcript["outcome"], len(agent.heard)) == ("malformed", 65)


async def test_an_agent_that_is_gone_when_it_is_answered_has_crashed(tmp_path: Path) -> None:
    async def talk(heard: Heard, writer: asyncio.StreamWriter) -> None:
        assert agent.server is not None
        agent.server.close()
        await says(json.dumps(ASKS).encode())(heard, writer)

    async with a_raw_agent(talk) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert transcript["outcome"] == "crashed"


@pytest.mark.parametrize("asked", [{"a": 1}, ["x"], [CALL] * 65])
async def test_a_question_that_is_none_is_malformed(tmp_path: Path, asked: Any) -> None:
    async with a_raw_agent(asks({"approvals": asked})) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    assert transcript["outcome"] == "malformed"


async def test_every_answer_is_handed_over_as_it_came(tmp_path: Path) -> None:

    async with a_raw_agent(asks(ASKS, b"no JSON")) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
    came = base64.b64decode(transcript["received"]["base64"])
    assert came == json.dumps(ASKS).encode() + b"no JSON"
    assert transcript["outcome"] == "malformed"
    assert "s3cret" in transcript["final_answer"]
