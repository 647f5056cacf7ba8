"""The loops and the gateway with an open model server that others made and a model that is small but real."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from contract.adapter.kit import closed_port
from contract.adapter.test_model import a_stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PYTHON = Path(
    os.environ.get("OASIS_MODEL_SERVER", Path.home() / ".cache/oasis-operator/model-server/bin/python")
)
QUESTION = "Name one colour."


@pytest.fixture
def python() -> Path:
    """The Python that has the server."""
    if not PYTHON.exists():
        reason = f"there is no {PYTHON}: make model-server"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return PYTHON


@pytest.fixture
async def server(tmp_path: Path, python: Path) -> AsyncIterator[str]:
    """The address of a server that is up."""
    port = await closed_port()
    script = Path(__file__).with_name("serve.py")
    with (tmp_path / "server.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(python, script, str(port), stdout=log, stderr=log)
        try:
            await is_up(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            await process.wait()


async def is_up(url: str, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(60), aiohttp.ClientSession() as http:
        while True:
            assert process.returncode is None, "the server ended: see server.log"
            try:
                async with http.get(url) as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.05)


async def told(folder: Path, server: str, **loop: Any) -> dict[str, Any]:
    """The transcript of a run of the loop; a small model may go on for ever, so its steps are bounded."""
    configuration: dict[str, Any] = {"base_url": f"{server}/v1", "origins": [server]}
    async with a_stage(folder, **configuration) as stage:
        more = {"step_limit": 3, "max_output_tokens": 64, "timeout_seconds": 240, **loop}
        return await stage.run(**more)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_loop_works_with_a_server_that_others_made(tmp_path: Path, server: str, stream: bool) -> None:
    transcript = await told(tmp_path, server, stream=stream)
    assert transcript["outcome"] in {"answered", "budget"}, transcript["detail"]
    assert transcript["evidence_source"]["status"] == "available"
    usage = transcript["usage"]
    assert usage["estimated"] is False, "the server tells its tokens, also at the end of a stream"
    assert usage["steps"] >= 1
    assert usage["input"] > 500, "instructions and tools are among what it read"
    assert 0 < usage["output"] <= 64 * usage["steps"]
    assert "SmolLM2" in transcript["model"]
    assert transcript["final_answer"] or transcript["reasoning"] or transcript["actions"]


@pytest.mark.timeout(300)
async def test_the_gateways_books_are_the_servers(tmp_path: Path, server: str) -> None:
    body = {
        "model": "model-1",
        "messages": [{"role": "user", "content": QUESTION}],
        "max_tokens": 16,
    }
    expected = {"input": 0, "output": 0}
    configuration: dict[str, Any] = {"base_url": f"{server}/v1", "origins": [server]}
    async with a_stage(tmp_path, container=True, **configuration) as stage, aiohttp.ClientSession() as http:
        for stream in (False, True, True):
            url = f"http://127.0.0.1:{stage.port}/v1/chat/completions"
            async with http.post(url, json={**body, "stream": stream}) as answer:
                assert answer.status == 200
                text = await answer.text()
            seen = text if not stream else next(x for x in text.split("data: ") if '"usage"' in x)
            usage = json.loads(seen)["usage"]
            expected["input"] += usage["prompt_tokens"]
            expected["output"] += usage["completion_tokens"]
        passage = stage.adapter.session._passage
        assert passage is not None
        books = await passage.usage()
    assert books is not None
    assert {"input": books.input, "output": books.output} == expected
    assert not books.estimated
