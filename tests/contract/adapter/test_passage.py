"""Agents in containers that ask their model through the adapter: plain HTTP on the loopback address, no key."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import ClientSession, web

from contract.adapter.kit import PROMPT
from contract.adapter.test_model import Stage, a_stage
from kit.models import KEY, MODEL, Turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Asking:
    """An agent over HTTP that asks its model some times and answers with what it heard last."""

    def __init__(self, port: int, times: int, body: dict[str, Any]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.times = times
        self.body = body
        self.heard: list[tuple[int, str]] = []

    async def work(self, request: web.Request) -> web.StreamResponse:
        prompt = (await request.json())["prompt"]
        async with ClientSession() as http:
            for _ in range(self.times):
                body = {"model": MODEL, "messages": [{"role": "user", "content": prompt}], **self.body}
                async with http.post(f"{self.url}/v1/chat/completions", json=body) as answer:
                    self.heard.append((answer.status, await answer.text()))
        return web.json_response({"actions": [], "final_answer": self.heard[-1][1]})


@contextlib.asynccontextmanager
async def an_agent(stage: Stage, times: int = 1, **body: Any) -> AsyncIterator[tuple[Asking, str]]:
    agent = Asking(stage.port, times, body)
    app = web.Application()
    app.router.add_post("/", agent.work)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield agent, f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def told(stage: Stage, url: str, **changes: Any) -> dict[str, Any]:
    status, answer = await stage.adapter.start({"kind": "http", "url": url}, timeout_seconds=10, **changes)
    assert status == 202, answer
    return await stage.adapter.transcript()


@pytest.mark.parametrize("stream", [False, True])
async def test_an_agent_finds_its_model_and_what_it_takes_is_in_the_transcript(
    tmp_path: Path, stream: bool
) -> None:
    async with a_stage(tmp_path, Turn("Done.", usage=(40, 10)), container=True) as stage:
        async with an_agent(stage, times=2, stream=stream) as (agent, url):
            transcript = await told(stage, url)
        asked = stage.models.asked
        keys = {headers["authorization"] for headers in stage.models.headers}
    assert transcript["outcome"] == "answered"
    assert PROMPT in json.dumps(asked)
    assert [status for status, _ in agent.heard] == [200, 200]
    assert transcript["usage"] == {"input": 80, "output": 20, "estimated": False, "steps": 2}
    assert keys == {f"Bearer {KEY}"}
    assert KEY not in json.dumps([transcript, agent.heard])


async def test_an_agent_whose_tokens_are_used_up_is_stopped(tmp_path: Path) -> None:
    turn = Turn("Done.", usage=(40, 10))
    async with (
        a_stage(tmp_path, turn, container=True, run_tokens=100) as stage,
        an_agent(stage, times=50) as (_, url),
    ):
        transcript = await told(stage, url)
        assert len(stage.models.asked) == 2
    assert transcript["outcome"] == "budget"
    assert transcript["detail"] == "Harness budget exceeded: Token budget exceeded (100/100)"
    assert transcript["usage"]["steps"] == 2


@pytest.mark.parametrize("turn", [Turn("Incorrect API key", status=401), Turn("no such model", status=404)])
async def test_a_provider_that_refuses_key_or_model_accuses_nobody(tmp_path: Path, turn: Turn) -> None:
    async with a_stage(tmp_path, turn, container=True) as stage, an_agent(stage) as (_, url):
        transcript = await told(stage, url)
        _, state, _ = await stage.adapter.call("GET", "/v1/run")
    assert state["fault"] is True
    assert transcript["evidence_source"]["status"] == "unreachable"


async def test_what_the_gateway_does_not_allow_is_told_to_the_agent(tmp_path: Path) -> None:
    async with (
        a_stage(tmp_path, Turn("Done."), container=True) as stage,
        an_agent(stage, store=True) as (agent, url),
    ):
        transcript = await told(stage, url)
        assert not stage.models.asked
    assert agent.heard[0][0] == 400
    assert "store" in agent.heard[0][1]
    assert transcript["outcome"] == "answered"


async def test_a_busy_provider_is_the_agents_own_to_wait_for(tmp_path: Path) -> None:
    busy = Turn("slow down", status=429, headers={"Retry-After": "3"})
    async with a_stage(tmp_path, busy, container=True) as stage, an_agent(stage) as (agent, url):
        transcript = await told(stage, url)
    assert agent.heard[0][0] == 429
    assert transcript["outcome"] == "answered"


async def test_a_fault_before_the_prompt_ends_the_run_as_soon_as_it_begins(tmp_path: Path) -> None:
    async with a_stage(tmp_path, Turn("Incorrect API key", status=401), container=True) as stage:
        async with ClientSession() as http:
            body = {"model": MODEL, "messages": []}
            async with http.post(f"http://127.0.0.1:{stage.port}/v1/chat/completions", json=body) as answer:
                assert answer.status == 401
        async with an_agent(stage) as (agent, url):
            transcript = await told(stage, url)
    assert transcript["evidence_source"]["status"] == "unreachable"
    assert agent.heard == []


async def test_an_agent_without_a_model_finds_nobody_there(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", stage.port)
