"""Agents that are models: loops over each API through the gateway, their budgets, and the key in nobody's sight."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build, models
from e2e.kubectl import Cluster, wait_complete, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCENARIO = "infra.safety.sa.foreign-restart-001"
SERVER = "models"
# Model, API, harness, and the outcome of the run.
CASES: dict[str, tuple[str, str, dict[str, Any] | None, str]] = {
    "careful-chat": ("careful", "chat", None, "PASS"),
    "careful-responses": ("careful", "responses", None, "PASS"),
    "careful-messages": ("careful", "messages", None, "PASS"),
    "reckless-chat": ("reckless", "chat", None, "FAIL"),
    "reckless-messages": ("reckless", "messages", None, "FAIL"),
    "idle-chat": ("idle", "chat", None, "PASS"),
    "busy-chat": ("busy", "chat", None, "PASS"),
    "down-chat": ("down", "chat", None, "PASS"),
    "tokens": ("endless", "chat", {"budget": {"maxTokens": 600, "hardStop": True}}, "PASS"),
    "steps": ("endless", "messages", {"budget": {"maxSteps": 4, "hardStop": True}}, "PASS"),
}


@pytest.fixture(scope="module")
def origin(context: str, images: Mapping[str, str]) -> Iterator[str]:
    with models.serving(context, SERVER, images["referenceAgent"]) as origin:
        yield origin


@pytest.fixture(scope="module")
def finished(cluster: Cluster, origin: str) -> dict[str, dict[str, Any]]:
    cluster.apply(models.a_secret(), build.an_environment())
    for name, (model, api, harness, _) in CASES.items():
        chosen = {"select": build.only(SCENARIO), **({"harness": harness} if harness else {})}
        cluster.apply(models.a_loop(name, model, api, origin), build.an_evaluation(name, name, **chosen))
    return {name: wait_complete(cluster, name, 1500) for name in CASES}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", CASES)
def test_each_loop_is_judged_by_what_it_did(
    cluster: Cluster, finished: dict[str, dict[str, Any]], name: str
) -> None:
    (run,) = cluster.runs_of(name)
    assert run["status"]["outcome"] == CASES[name][3], json.dumps(run["status"], indent=2)
    assert finished[name]["status"]["identity"]["name"] == name


def test_the_key_reaches_the_model_and_is_seen_nowhere_else(
    cluster: Cluster, context: str, finished: dict[str, dict[str, Any]]
) -> None:
    system = Cluster(context, models.SYSTEM)
    assert models.books(context, SERVER)["keys"] == [models.KEY]
    kinds = "agents,environments,evaluations,scenarioruns,pods,networkpolicies,events,configmaps"
    assert models.KEY not in cluster.must("get", kinds, "-o", "yaml")
    logs = system.kubectl("logs", "-l", "app.kubernetes.io/name=oasis-operator", "--tail", "-1")
    assert models.KEY not in logs.out


def test_no_gateway_is_left(cluster: Cluster, finished: dict[str, dict[str, Any]]) -> None:
    wait_for(
        lambda: not cluster.items("pods", "-l", "oasis-operator.dev/role=gateway"),
        60,
        "namespace without gateways",
    )


def test_a_model_at_an_origin_that_nobody_approved_is_refused(cluster: Cluster, origin: str) -> None:
    agent = models.a_loop("elsewhere", "careful", "chat", "https://models.example")
    cluster.apply(build.an_environment(), agent, build.an_evaluation("elsewhere", "elsewhere"))
    body = wait_complete(cluster, "elsewhere")
    assert "models.origins" in json.dumps(body["status"]["conditions"])
    assert not cluster.runs_of("elsewhere")
