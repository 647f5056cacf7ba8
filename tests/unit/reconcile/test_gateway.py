"""The model gateway around an evaluation: there before its first run, known to its runs, gone at its end."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from kit.fakes.cluster import NAMESPACE, SETTINGS, Cluster
from kit.fakes.sidecars import Agent
from oasis_operator.resources import kinds, labels, names

if TYPE_CHECKING:
    from collections.abc import Mapping

ORIGIN = "https://models.example"
MODEL: dict[str, Any] = {
    "openai": {"identity": {"name": "helper", "version": "1.2.3"}, "api": "Responses"},
    "model": {"name": "m-1", "baseURL": f"{ORIGIN}/v1", "secretRef": {"name": "key"}},
    "mode": "Autonomous",
    "configuration": {"zone_model": True},
}


def a_cluster() -> Cluster:
    return Cluster(settings=dataclasses.replace(SETTINGS, model_origins=(ORIGIN,)))


def gateways(cluster: Cluster) -> list[dict[str, Any]]:
    pods = cluster.kube.of(kinds.POD)
    return [pod for pod in pods if pod["metadata"]["labels"].get(labels.ROLE) == labels.ROLE_GATEWAY]


def started(cluster: Cluster) -> list[Mapping[str, Any]]:
    """Note what adapters are asked to run."""
    noted: list[Mapping[str, Any]] = []
    start = cluster.deps.adapter.start

    async def noting(access: Any, request: Mapping[str, Any]) -> Any:
        noted.append(request["adapter"])
        return await start(access, request)

    cluster.deps.adapter.start = noting  # type: ignore[method-assign]
    return noted


async def test_runs_of_a_model_are_told_of_the_gateway_and_it_goes_with_them() -> None:
    cluster = a_cluster()
    noted = started(cluster)
    budget = {"maxSteps": 7, "maxTokens": 900, "hardStop": True}
    cluster.user_evaluates(MODEL, harness={"budget": budget})
    seen: list[dict[str, Any]] = []
    released: list[dict[str, Any]] = []
    policies: list[dict[str, Any]] = []
    for _ in range(200):
        await cluster.turn()
        seen = gateways(cluster) or seen
        released = [life.released for life in cluster.world.adapters.values() if life.released] or released
        policies += cluster.kube.of(kinds.NETWORK_POLICY)
        if cluster.is_quiet():
            break
    assert cluster.status()["verdict"] == "PASS", cluster.status()
    assert cluster.status()["identity"]["name"] == "helper"

    (pod,) = seen
    address, token = pod["status"]["podIP"], pod["metadata"]["labels"][labels.RUN]
    (told,) = noted
    assert (told["kind"], told["api"], told["model"], told["step_limit"]) == ("openai", "Responses", "m-1", 7)
    assert (told["gateway"]["host"], told["gateway"]["port"]) == (address, 8443)
    assert {"name": "model gateway", "host": address, "port": 8443} in released[0]["allow"]
    environment = pod["spec"]["containers"][0]["env"][0]["value"]
    assert '"run_tokens": 900' in environment
    assert '"hard_stop": true' in environment
    way = [{"podSelector": {"matchLabels": {labels.RUN: token, labels.ROLE: "gateway"}}}]
    open_ways = [rule.get("to") for item in policies for rule in item["spec"].get("egress") or ()]
    assert way in open_ways

    assert not gateways(cluster)
    left = {
        body["metadata"]["name"]
        for kind in (kinds.SECRET, kinds.NETWORK_POLICY)
        for body in cluster.kube.of(kind)
    }
    assert names.secret(token) not in left


async def test_what_a_run_used_and_might_have_used_stands_in_its_status() -> None:
    cluster = a_cluster()
    usage = {"input": 700, "output": 50, "estimated": True, "steps": 3}
    cluster.world.agents["s-1"] = Agent(usage=usage)
    budget = {"maxSteps": 7, "maxTokens": 900, "maxTime": "90s", "hardStop": True}
    cluster.user_evaluates(MODEL, harness={"budget": budget})
    await cluster.settle()
    (run,) = cluster.kube.of(kinds.SCENARIO_RUN)
    told = run["status"]["budget"]
    assert (told["steps"], told["tokens"]) == ({"used": 3, "limit": 7}, {"used": 750, "limit": 900})
    assert told["tokensEstimated"] is True
    assert told["seconds"]["limit"] == 90
    assert 0 <= told["seconds"]["used"] <= 90


async def test_a_run_without_a_budget_says_what_it_used_and_no_limit() -> None:
    cluster = a_cluster()
    cluster.user_evaluates()
    await cluster.settle()
    (run,) = cluster.kube.of(kinds.SCENARIO_RUN)
    assert run["status"]["budget"]["steps"] == {"used": 0}
    assert "tokens" not in run["status"]["budget"]


@pytest.mark.parametrize("name", ["maxTokens", "maxTokensTogether"])
async def test_tokens_stop_an_agent_in_a_container_with_a_model_and_no_other(name: str) -> None:
    agent = {"http": {"port": 8080}, "image": "registry.example/agent:1", "mode": "Autonomous"}
    harness = {"budget": {name: 900, "hardStop": True}}
    cluster = a_cluster()
    cluster.user_evaluates({**agent, "model": MODEL["model"]}, harness=harness)
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    without = a_cluster()
    without.user_evaluates(agent, harness=harness)
    await without.settle()
    assert "spec.harness.budget.hardStop" in without.condition("Complete")["message"]


async def test_each_run_has_a_token_of_its_own() -> None:
    cluster = a_cluster()
    noted = started(cluster)
    cluster.user_evaluates(MODEL, repetitions=2)
    await cluster.settle()
    assert len({told["gateway"]["token"] for told in noted}) == 2


async def test_an_origin_that_nobody_approved_is_refused_before_anything_is_made() -> None:
    cluster = Cluster()
    cluster.user_evaluates(MODEL)
    await cluster.settle()
    message = cluster.condition("Complete")["message"]
    assert "spec.model.baseURL" in message
    assert "models.origins" in message
    assert "verdict" not in cluster.status()
    assert not cluster.kube.of(kinds.POD)


async def test_nothing_runs_before_the_gateway_is_ready() -> None:
    cluster = a_cluster()
    cluster.kubelet.holds = lambda pod: pod["metadata"]["labels"].get(labels.ROLE) == labels.ROLE_GATEWAY
    cluster.user_evaluates(MODEL)
    for _ in range(60):
        await cluster.turn()
    assert gateways(cluster)
    assert not cluster.kube.of(kinds.SCENARIO_RUN)


async def test_a_gateway_that_is_lost_accuses_nobody_and_is_not_made_again() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(MODEL)
    while not cluster.kube.of(kinds.SCENARIO_RUN):
        await cluster.turn()
    (pod,) = gateways(cluster)
    cluster.kube.remove((kinds.POD.plural, NAMESPACE, pod["metadata"]["name"]))
    await cluster.settle()
    assert cluster.status()["verdict"] == "PROVIDER_FAILURE"
    (run,) = cluster.kube.of(kinds.SCENARIO_RUN)
    assert run["status"]["failure"]["message"] == "the model gateway is gone"
    assert not gateways(cluster)


async def test_an_evaluation_that_is_cancelled_before_it_runs_leaves_no_gateway() -> None:
    cluster = a_cluster()
    cluster.kubelet.holds = lambda pod: (
        "deletionTimestamp" not in pod["metadata"]
        and pod["metadata"]["labels"].get(labels.ROLE) == labels.ROLE_GATEWAY
    )
    cluster.user_evaluates(MODEL)
    while not gateways(cluster):
        await cluster.turn()
    cluster.kube.edit(kinds.EVALUATION, NAMESPACE, "check", lambda item: item["spec"].update(state="Cancel"))
    await cluster.settle()
    assert not gateways(cluster)


@pytest.mark.parametrize("crash_at", range(1, 60, 3))
async def test_a_restart_at_any_call_makes_one_gateway_and_leaves_none(crash_at: int) -> None:
    cluster = a_cluster()
    cluster.user_evaluates(MODEL)
    await cluster.settle_through_crashes(crash_at)
    assert cluster.status()["verdict"] == "PASS"
    assert not gateways(cluster)


async def test_an_agent_in_a_container_is_let_in_with_the_way_to_its_model() -> None:
    cluster = a_cluster()
    noted = started(cluster)
    agent = {"http": {"port": 8080}, "image": "registry.example/agent:1", "mode": "Autonomous"}
    cluster.user_evaluates({**agent, "model": MODEL["model"]})
    released: dict[str, Any] = {}
    for _ in range(200):
        await cluster.turn()
        for life in cluster.world.adapters.values():
            released = life.released if life.released and life.released["credential"] else released
        if cluster.is_quiet():
            break
    assert cluster.status()["verdict"] == "PASS", cluster.status()
    assert released["gateway"]["port"] == 8443
    assert "gateway" not in noted[0]
    assert not gateways(cluster)


async def test_an_attempt_that_is_left_in_its_middle_leaves_no_gateway() -> None:
    cluster = a_cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    cluster.user_evaluates(MODEL)
    for _ in range(100):
        await cluster.turn()
        if cluster.kube.of(kinds.SCENARIO_RUN):
            break
    (old,) = gateways(cluster)
    cluster.world.agents["s-1"] = Agent()
    cluster.kube.edit(kinds.EVALUATION, NAMESPACE, "check", lambda item: item["spec"].update(runToken="two"))
    for _ in range(3):
        await cluster.turn()
    token = old["metadata"]["labels"][labels.RUN]
    for kind in (kinds.POD, kinds.SECRET, kinds.NETWORK_POLICY):
        found = [
            item for item in cluster.kube.of(kind) if item["metadata"]["labels"].get(labels.RUN) == token
        ]
        assert [item for item in found if not item["metadata"].get("deletionTimestamp")] == []
    await cluster.settle()
    assert cluster.status()["attempt"] == 2
    assert gateways(cluster) == []
