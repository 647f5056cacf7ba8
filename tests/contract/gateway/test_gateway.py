"""The gateway between a run and a stand-in for a model's API."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import ClientError, ClientSession, web

from kit.models import KEY, MODEL, Models, ToolCall, Turn, some_models
from oasis_operator.sidecar.gateway.journal import Journal
from oasis_operator.sidecar.gateway.server import Gateway
from oasis_operator.sidecar.gateway.settings import GatewaySettings
from oasis_operator.sidecar.gateway.upstream import Upstream
from oasis_operator.wire.gateway import Api, run_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SECRET = "secret-of-the-gateway"


@dataclass
class Caller:
    url: str
    http: ClientSession
    token: str
    api: Api
    calls: int = 0

    def body(self, **more: Any) -> dict[str, Any]:
        talk = [{"role": "user", "content": "hello"}]
        member = "input" if self.api is Api.RESPONSES else "messages"
        extra = {"max_tokens": 10} if self.api is Api.MESSAGES else {}
        return {"model": MODEL, member: talk, **extra, **more}

    async def call(
        self, number: int | None = None, **more: Any
    ) -> tuple[int, dict[str, Any], dict[str, str]]:
        self.calls += 1
        headers = {"Authorization": f"Bearer {self.token}", "X-Call": str(number or self.calls)}
        async with self.http.post(
            self.url + self.api.value, json=self.body(**more), headers=headers
        ) as response:
            content = await response.read()
            told = json.loads(content) if response.content_type == "application/json" else {"raw": content}
            return response.status, told, dict(response.headers)

    async def usage(self) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self.http.get(self.url + "/v1/usage", headers=headers) as response:
            return dict(await response.json())


@contextlib.asynccontextmanager
async def a_gateway(
    folder: Path, models: Models, api: Api = Api.CHAT, **configuration: Any
) -> AsyncIterator[Caller]:
    (folder / "adapter-token").write_text(SECRET)
    (folder / "model-api-key").write_text(KEY + "\n")
    told = {
        "base_url": models.base_url(api.name),
        "model": MODEL,
        "origins": [models.origin],
        **configuration,
    }
    settings = GatewaySettings.from_environment(
        {
            "GATEWAY_CONFIGURATION": json.dumps(told),
            "GATEWAY_TLS_DIR": str(folder),
            "GATEWAY_KEY_DIR": str(folder),
            "GATEWAY_JOURNAL": str(folder / "journal"),
            "GATEWAY_CALL_SECONDS": "60",
        }
    )
    journal, upstream = Journal(settings.journal), Upstream(settings)
    runner = web.AppRunner(
        Gateway(settings, journal, upstream).build_app(),
        access_log=None,
        shutdown_timeout=0.2,
        handler_cancellation=True,
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with ClientSession() as http:
        try:
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield Caller(url, http, run_token(SECRET, "run-1"), api)
        finally:
            await runner.cleanup()
            await upstream.close()
            journal.close()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", Api)
async def test_calls_pass_and_their_tokens_are_those_of_the_provider(
    tmp_path: Path, api: Api, stream: bool
) -> None:
    turns = (Turn("one", usage=(10, 5)), Turn("two", (ToolCall("look"),), stop="tools", usage=(20, 7)))
    async with some_models(*turns) as models, a_gateway(tmp_path, models, api) as caller:
        for _ in turns:
            status, told, headers = await caller.call(stream=stream)
            assert (status, "X-Gateway-Reason" in headers) == (200, False), told
        assert await caller.usage() == {"input": 30, "output": 12, "estimated": False}
        assert models.tokens == 42
        key = models.headers[0].get("x-api-key") or models.headers[0]["authorization"]
        assert key.removeprefix("Bearer ") == KEY


async def test_the_key_goes_nowhere_but_to_the_provider(tmp_path: Path) -> None:
    leaking = Turn(f"Incorrect API key provided: {KEY}", status=401)
    async with (
        some_models(leaking, Turn(f"the key is {KEY}")) as models,
        a_gateway(tmp_path, models) as caller,
    ):
        refused, told, _ = await caller.call()
        _, streamed, _ = await caller.call(stream=True)
    assert refused == 401
    assert "[key]" in json.dumps(told)
    assert KEY not in json.dumps(told)
    assert KEY.encode() not in streamed["raw"]
    assert KEY not in (tmp_path / "journal").read_text()


@pytest.mark.parametrize(
    "token",
    ["", "run-1", "run-1.0", run_token("another", "run-1"), f"run-2{run_token(SECRET, 'run-1')[5:]}", KEY],
)
async def test_only_runs_of_this_gateway_are_served(tmp_path: Path, token: str) -> None:
    async with some_models() as models, a_gateway(tmp_path, models) as caller:
        caller.token = token
        status, _, headers = await caller.call()
        assert (status, headers["X-Gateway-Reason"]) == (401, "Unauthorized")
        assert (await caller.usage())["error"]["type"] == "Unauthorized"
    assert not models.asked


async def test_a_request_that_is_not_allowed_does_not_go_out(tmp_path: Path) -> None:
    async with some_models() as models, a_gateway(tmp_path, models) as caller:
        status, told, headers = await caller.call(store=True)
        assert (status, headers["X-Gateway-Reason"]) == (400, "Refused")
        assert told["error"]["message"].startswith("store")
        assert (await caller.usage())["input"] == 0
    assert not models.asked


async def test_no_call_goes_out_behind_a_budget_that_is_reached(tmp_path: Path) -> None:
    async with (
        some_models(Turn("x", usage=(40, 10))) as models,
        a_gateway(tmp_path, models, run_tokens=100) as caller,
    ):
        results = [(await caller.call())[0] for _ in range(4)]
        _, told, headers = await caller.call()
    assert results == [200, 200, 403, 403]
    assert len(models.asked) == 2
    assert headers["X-Gateway-Reason"] == "BudgetExceeded"
    assert told["error"]["message"] == "Harness budget exceeded: Token budget exceeded (100/100)"


async def test_a_budget_without_a_hard_stop_only_counts(tmp_path: Path) -> None:
    async with (
        some_models(Turn("x", usage=(40, 10))) as models,
        a_gateway(tmp_path, models, run_tokens=10, hard_stop=False) as caller,
    ):
        assert [(await caller.call())[0] for _ in range(2)] == [200, 200]
        assert (await caller.usage())["input"] == 80


async def test_runs_share_the_evaluations_budget(tmp_path: Path) -> None:
    async with (
        some_models(Turn("x", usage=(40, 10))) as models,
        a_gateway(tmp_path, models, evaluation_tokens=50) as caller,
    ):
        assert (await caller.call())[0] == 200
        caller.token = run_token(SECRET, "run-2")
        assert (await caller.call())[0] == 403


async def test_no_call_goes_out_twice_even_to_a_gateway_that_was_killed(tmp_path: Path) -> None:
    async with some_models(Turn("x", usage=(40, 10))) as models:
        async with a_gateway(tmp_path, models) as caller:
            assert (await caller.call(7))[0] == 200
        with (tmp_path / "journal").open("ab") as file:
            file.write(
                b'{"entry":"begin","run":"run-1","call":8,"usage":{"input":9,"estimated":true}}\n{"ent'
            )
        async with a_gateway(tmp_path, models, run_tokens=59) as caller:
            for number in (7, 8):
                status, _, headers = await caller.call(number)
                assert (status, headers["X-Gateway-Reason"]) == (409, "Repeated")
            assert await caller.usage() == {"input": 49, "output": 10, "estimated": True}
            assert (await caller.call(9))[0] == 403
    assert len(models.asked) == 1


async def test_what_a_provider_refuses_costs_nothing_and_passes_with_its_hints(tmp_path: Path) -> None:
    turn = Turn("slow down", status=429, code="rate_limit_error", headers={"Retry-After": "3"})
    async with some_models(turn) as models, a_gateway(tmp_path, models) as caller:
        status, told, headers = await caller.call()
        assert (status, headers["Retry-After"], told["error"]["type"]) == (429, "3", "rate_limit_error")
        assert "X-Gateway-Reason" not in headers
        assert await caller.usage() == {"input": 0, "output": 0, "estimated": False}


async def test_a_stream_that_breaks_off_breaks_off_and_is_estimated(tmp_path: Path) -> None:
    async with (
        some_models(Turn("x" * 300, cut=3)) as models,
        a_gateway(tmp_path, models) as caller,
    ):
        with pytest.raises(ClientError):
            await caller.call(stream=True)
        used = await caller.usage()
    assert used["estimated"] is True
    assert used["input"] > 0
    assert used["output"] > 0


async def test_a_caller_that_hangs_up_pays_for_what_went_out(tmp_path: Path) -> None:
    async with (
        some_models(Turn("x", pause=3)) as models,
        a_gateway(tmp_path, models) as caller,
    ):
        call = asyncio.create_task(caller.call())
        await models.arrived.wait()
        call.cancel()
        ends: list[str] = []
        for _ in range(50):
            ends = [line for line in (tmp_path / "journal").read_text().splitlines() if '"end"' in line]
            if ends:
                break
            await asyncio.sleep(0.05)
        used = await caller.usage()
    assert used["estimated"] is True
    assert used["input"] > 0
    assert ends


async def test_a_provider_that_is_not_there_is_an_outage_that_costs_nothing(tmp_path: Path) -> None:
    async with some_models() as models:
        pass
    async with a_gateway(tmp_path, models) as caller:
        status, _, headers = await caller.call()
        assert (status, headers["X-Gateway-Reason"]) == (502, "UpstreamUnreachable")
        assert (await caller.usage())["input"] == 0


async def test_an_answer_beyond_its_bound_is_an_outage(tmp_path: Path) -> None:
    async with (
        some_models(Turn(raw=b" " * (16 * 2**20 + 1))) as models,
        a_gateway(tmp_path, models) as caller,
    ):
        status, _, headers = await caller.call()
    assert (status, headers["X-Gateway-Reason"]) == (502, "UpstreamUnreachable")


async def test_an_origin_that_nobody_approved_is_refused_at_the_start(tmp_path: Path) -> None:
    async with some_models() as models:
        with pytest.raises(ValueError, match="no origin that the operator approves"):
            async with a_gateway(tmp_path, models, origins=["https://127.0.0.1"]):
                pass
