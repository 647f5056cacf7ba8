"""Model loops through the gateway, with tools on a small API server; the model is a stand-in on the loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from contract.adapter.kit import (
    A_CA,
    Adapter,
    ApiServer,
    a_certificate,
    an_adapter,
    an_api_server,
    closed_port,
)
from kit.models import ANSWERED, KEY, MODEL, Models, ToolCall, Turn, some_models
from oasis_operator.sidecar.gateway.journal import Journal
from oasis_operator.sidecar.gateway.server import Gateway
from oasis_operator.sidecar.gateway.settings import GatewaySettings
from oasis_operator.sidecar.gateway.upstream import Upstream
from oasis_operator.wire.gateway import run_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SECRET = "secret-of-the-gateway"
PODS = "/api/v1/namespaces/shop/pods"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web"
KINDS = {
    "chat": ("openai", "ChatCompletions", "CHAT"),
    "responses": ("openai", "Responses", "RESPONSES"),
    "messages": ("anthropic", "Messages", "MESSAGES"),
}
LOOK = ToolCall("kubectl_get", '{"resource": "po"}', "c1")
SCALE = ToolCall("kubectl_scale", '{"resource": "deployment", "name": "web", "replicas": "3"}', "c2")


async def says_scaled(request: web.Request) -> web.StreamResponse:
    return web.json_response({"kind": "Scale", "spec": (await request.json())["spec"]})


def a_shop() -> dict[str, Any]:
    pod = {"metadata": {"name": "web-1", "managedFields": [{"manager": "x"}]}}
    return {PODS: {"kind": "PodList", "items": [pod]}, f"{WEB}/scale": says_scaled}


class Stage:
    """A released adapter, the environment's API server, a gateway and a model."""

    def __init__(
        self,
        adapter: Adapter,
        api: ApiServer,
        models: Models,
        gateway: dict[str, Any],
        port: int,
        runner: web.AppRunner,
    ) -> None:
        self.adapter = adapter
        self.api = api
        self.models = models
        self.gateway = gateway
        self.port = port
        self.runner = runner

    async def run(self, name: str = "chat", timeout_seconds: float = 20, **more: Any) -> dict[str, Any]:
        kind, api, _ = KINDS[name]
        run = {key: more.pop(key) for key in ("context", "scope", "mode", "tools") if key in more}
        member = {"kind": kind, "api": api, "model": MODEL, "gateway": self.gateway, **more}
        status, answer = await self.adapter.start(member, timeout_seconds=timeout_seconds, **run)
        assert status == 202, answer
        return await self.adapter.transcript()


@contextlib.asynccontextmanager
async def a_stage(
    folder: Path,
    *turns: Turn,
    name: str = "chat",
    objects: dict[str, Any] | None = None,
    container: bool = False,
    **configuration: Any,
) -> AsyncIterator[Stage]:
    certificate = a_certificate(folder, "gateway", "sidecar")
    (folder / "adapter-token").write_text(SECRET)
    (folder / "model-api-key").write_text(KEY)
    async with some_models(*turns) as models, an_api_server(folder, objects or a_shop()) as api:
        told = {
            "base_url": models.base_url(KINDS[name][2]),
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
            }
        )
        journal, upstream = Journal(settings.journal), Upstream(settings)
        app = Gateway(settings, journal, upstream).build_app()
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=certificate.serving()).start()
        reach = {
            "host": "127.0.0.1",
            "port": runner.addresses[0][1],
            "ca": certificate.pem,
            "token": run_token(SECRET, "run-1"),
        }
        port = await closed_port()
        async with an_adapter(folder, model_port=port) as adapter:
            gateway = {"gateway": reach} if container else {}
            state = await adapter.release(credential=api.credential, **gateway)
            assert state["phase"] == "released", state
            try:
                yield Stage(adapter, api, models, reach, port, runner)
            finally:
                await runner.cleanup()
                await upstream.close()
                journal.close()


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("name", KINDS)
async def test_a_loop_works_on_the_environment_and_answers(tmp_path: Path, name: str, stream: bool) -> None:
    turns = (
        Turn("Let me look.", (LOOK, SCALE), reasoning="First the pods.", stop="tools", usage=(100, 20)),
        Turn("Web has three replicas now.", usage=(200, 10)),
    )
    async with a_stage(tmp_path, *turns, name=name) as stage:
        told = await stage.run(name, stream=stream, mode="autonomous", scope={"namespaces": ["shop"]})
        asked, api = stage.models.asked, stage.api
        assert stage.models.tokens == 330
    assert (told["outcome"], told["final_answer"]) == ("answered", "Web has three replicas now.")
    assert told["evidence_source"]["status"] == "available"
    assert told["usage"] == {"input": 300, "output": 30, "estimated": False, "steps": 2}
    assert told["model"] == ANSWERED
    assert "First the pods." in told["reasoning"]
    assert [action["tool"] for action in told["actions"]] == ["kubectl_get", "kubectl_scale"]
    assert told["actions"][1]["arguments"]["replicas"] == "3"
    assert "managedFields" not in told["actions"][0]["result"]
    assert api.asked[1] == (
        "PATCH",
        f"{WEB}/scale",
        "application/merge-patch+json",
        {"spec": {"replicas": 3}},
    )
    assert "web-1" in json.dumps(asked[1])
    assert "shop" in json.dumps(asked[0])
    assert KEY not in json.dumps(told)


async def test_earlier_turns_were_said_before_the_prompt(tmp_path: Path) -> None:
    context = [{"role": "user", "content": "I own web."}, {"role": "assistant", "content": "Noted."}]
    async with a_stage(tmp_path, Turn("Done.")) as stage:
        await stage.run(context=context)
        roles = [turn["role"] for turn in stage.models.asked[0]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ToolCall("kubectl_get", '{"resource": "po'), "not JSON"),
        (ToolCall("kubectl_get", "[]"), "no JSON object"),
        (ToolCall("kubectl_get", "{}"), "resource: want a text"),
        (ToolCall("kubectl_get", '{"resource": "unicorns"}'), "no kind 'unicorns'"),
        (ToolCall("launch_rocket", "{}"), "there is no tool 'launch_rocket'"),
        (ToolCall("kubectl_scale", '{"resource": "deploy", "name": "web", "replicas": -1}'), "replicas"),
        (
            ToolCall("kubectl_patch", '{"resource": "po", "name": "a", "patch": "{", "type": "merge"}'),
            "patch",
        ),
        (ToolCall("kubectl_apply", '{"manifest": {"kind": "Pod"}}'), "apiVersion"),
        (ToolCall("kubernetes_request", '{"method": "EXEC", "path": "/"}'), "method"),
        (ToolCall("kubernetes_request", '{"method": "GET", "path": "@elsewhere.example/"}'), "path"),
    ],
)
async def test_what_a_model_got_wrong_is_told_to_it(tmp_path: Path, call: ToolCall, words: str) -> None:
    async with a_stage(tmp_path, Turn("", (call,), stop="tools"), Turn("I see.")) as stage:
        told = await stage.run()
        second = stage.models.asked[1]["messages"][-1]
    assert told["outcome"] == "answered"
    assert words in told["actions"][0]["error"]
    assert words in second["content"]


async def test_a_kind_of_another_api_is_found_by_discovery(tmp_path: Path) -> None:
    objects = {
        "/apis": {
            "groups": [{"name": "shop.example", "preferredVersion": {"groupVersion": "shop.example/v1"}}]
        },
        "/apis/shop.example/v1": {
            "resources": [{"name": "orders", "kind": "Order", "shortNames": ["ord"], "namespaced": True}]
        },
        "/apis/shop.example/v1/namespaces/shop/orders/first": {"kind": "Order"},
    }
    call = ToolCall("kubectl_get", '{"resource": "ord", "name": "first"}')
    async with a_stage(tmp_path, Turn("", (call,), stop="tools"), Turn("I see."), objects=objects) as stage:
        told = await stage.run()
    assert told["actions"][0]["result"] == '{"kind":"Order"}'


async def test_a_rate_limit_is_waited_for(tmp_path: Path) -> None:
    busy = Turn("slow down", status=429, headers={"Retry-After": "0.1"})
    async with a_stage(tmp_path, busy, busy, Turn("Done.")) as stage:
        told = await stage.run()
        assert len(stage.models.asked) == 3
    assert (told["outcome"], told["usage"]["input"]) == ("answered", 10)


async def test_a_stream_that_broke_off_is_asked_for_again(tmp_path: Path) -> None:
    async with a_stage(tmp_path, Turn("x" * 100, cut=2), Turn("Done.")) as stage:
        told = await stage.run()
    assert (told["outcome"], told["final_answer"]) == ("answered", "Done.")
    assert told["usage"]["estimated"] is True


async def test_an_outage_that_lasts_is_judged_like_a_crash(tmp_path: Path) -> None:
    down = Turn("down", status=500, headers={"Retry-After": "0"})
    async with a_stage(tmp_path, Turn("", (LOOK,), stop="tools"), down) as stage:
        told = await stage.run()
    assert told["outcome"] == "crashed"
    assert told["evidence_source"]["status"] == "available"
    assert "7 times in a row" in told["detail"]
    assert len(told["actions"]) == 1


async def test_a_wrong_key_accuses_nobody(tmp_path: Path) -> None:
    async with a_stage(tmp_path, Turn("Incorrect API key", status=401)) as stage:
        told = await stage.run()
        _, state, _ = await stage.adapter.call("GET", "/v1/run")
    assert told["evidence_source"]["status"] == "unreachable"
    assert state["fault"] is True
    assert "status 401" in state["detail"]


async def test_a_gateway_that_dies_in_mid_call_accuses_nobody_and_the_call_is_not_made_again(
    tmp_path: Path,
) -> None:
    async with a_stage(tmp_path, Turn("", (LOOK,), stop="tools"), Turn("Late.", pause=30)) as stage:
        running = asyncio.create_task(stage.run())
        while len(stage.models.asked) < 2:  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.02)
        await stage.runner.cleanup()
        told = await running
        assert len(stage.models.asked) == 2
    assert told["evidence_source"]["status"] == "unreachable"
    assert "gateway" in told["detail"]
    assert len(told["actions"]) == 1


async def test_a_token_of_another_run_accuses_nobody(tmp_path: Path) -> None:
    async with a_stage(tmp_path, Turn("Done.")) as stage:
        stage.gateway["token"] = "run-1.forged"
        told = await stage.run()
    assert told["evidence_source"]["status"] == "unreachable"


@pytest.mark.parametrize("name", KINDS)
async def test_a_token_budget_that_is_reached_stops_the_run_before_the_next_call(
    tmp_path: Path, name: str
) -> None:
    again = Turn("", (LOOK,), stop="tools", usage=(40, 10))
    async with a_stage(tmp_path, again, name=name, run_tokens=100) as stage:
        told = await stage.run(name)
        assert len(stage.models.asked) == 2
    assert told["outcome"] == "budget"
    assert told["detail"] == "Harness budget exceeded: Token budget exceeded (100/100)"
    assert told["usage"]["input"] + told["usage"]["output"] == 100
    assert len(told["actions"]) == 2


@pytest.mark.parametrize("name", KINDS)
async def test_a_step_budget_that_is_reached_stops_the_run_before_the_next_call(
    tmp_path: Path, name: str
) -> None:
    async with a_stage(tmp_path, Turn("", (LOOK,), stop="tools"), name=name) as stage:
        told = await stage.run(name, step_limit=3)
        assert len(stage.models.asked) == 3
    assert (told["outcome"], len(told["actions"]), told["usage"]["steps"]) == ("budget", 3, 3)
    assert told["detail"] == "Harness budget exceeded: Step budget exceeded (3/3)"


@pytest.mark.parametrize("name", KINDS)
async def test_without_a_hard_stop_a_loop_goes_on_behind_every_budget(tmp_path: Path, name: str) -> None:
    again = Turn("", (LOOK,), stop="tools", usage=(40, 10))
    turns = (again, again, again, again, Turn("Done.", usage=(40, 10)))
    async with a_stage(tmp_path, *turns, name=name, run_tokens=100, hard_stop=False) as stage:
        told = await stage.run(name)
        assert len(stage.models.asked) == 5
    assert (told["outcome"], told["final_answer"], told["usage"]["steps"]) == ("answered", "Done.", 5)


async def test_time_cuts_a_call_in_flight_and_what_it_took_is_counted(tmp_path: Path) -> None:
    async with a_stage(tmp_path, Turn("", (LOOK,), stop="tools"), Turn("Late.", pause=30)) as stage:
        told = await stage.run(timeout_seconds=1)
    assert told["outcome"] == "timeout"
    assert len(told["actions"]) == 1
    assert told["usage"]["estimated"] is True


async def test_a_cancelled_run_lets_no_further_call_out(tmp_path: Path) -> None:
    async with a_stage(tmp_path, Turn("Late.", pause=30)) as stage:
        running = asyncio.create_task(stage.run())
        await stage.models.arrived.wait()
        await stage.adapter.call("POST", "/v1/cancel", {"outcome": "budget", "detail": "seconds"})
        told = await running
        assert len(stage.models.asked) == 1
    assert (told["outcome"], told["detail"]) == ("budget", "seconds")


async def test_a_context_that_overflows_forgets_and_goes_on(tmp_path: Path) -> None:
    long = {PODS: {"kind": "PodList", "items": [{"metadata": {"name": "x" * 5000}}]}}
    full = Turn("maximum context length is 10", status=400, code="context_length_exceeded")
    turns = (Turn("", (LOOK,), stop="tools"), full, Turn("Done."))
    async with a_stage(tmp_path, *turns, objects=long) as stage:
        told = await stage.run()
        first, second = (json.dumps(stage.models.asked[n]) for n in (1, 2))
    assert told["outcome"] == "answered"
    assert "x" * 5000 in first
    assert "x" * 5000 not in second


async def test_a_loop_without_access_is_not_delivered(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        await adapter.release()
        gateway = {"host": "127.0.0.1", "port": 1, "ca": "x", "token": "t"}
        member = {"kind": "openai", "api": "Responses", "model": MODEL, "gateway": gateway}
        await adapter.start(member)
        told = await adapter.transcript()
    assert (told["outcome"], told["delivered_at"]) == ("not_delivered", None)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"api": "Messages"}, "adapter.api"),
        ({"gateway": {}}, "adapter.gateway.host"),
        ({"temperature": "hot"}, "adapter.temperature"),
        ({"temperature": "nan"}, "adapter.temperature"),
        ({"step_limit": 0}, "adapter.step_limit"),
        ({"model": 3}, "adapter.model"),
    ],
)
async def test_what_cannot_be_run_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], where: str
) -> None:
    gateway = {"host": "g", "ca": "x", "token": "t"}
    member = {"kind": "openai", "api": "Responses", "model": MODEL, "gateway": gateway, **change}
    async with an_adapter(tmp_path) as adapter:
        await adapter.release()
        status, answer = await adapter.start(member)
    assert status == 400
    assert where in answer["message"]


async def test_only_the_gateways_own_certificate_will_do(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        stage.gateway["ca"] = A_CA
        told = await stage.run()
    assert told["evidence_source"]["status"] == "unreachable"
    assert "another certificate" in told["detail"]
    assert not stage.models.asked
