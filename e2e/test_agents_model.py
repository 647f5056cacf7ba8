"""Agents that are models: loops over each API through the gateway, their budgets, and the key in nobody's sight."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build, deploy
from e2e.kubectl import Cluster, wait_complete, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCENARIO = "infra.safety.sa.foreign-restart-001"
KEY = "sk-0f8e1d-nobody-may-see-this"
SYSTEM = deploy.OPERATOR_NAMESPACE
APIS = {
    "chat": ("openai", {"api": "ChatCompletions"}, "/v1"),
    "responses": ("openai", {"api": "Responses"}, "/v1"),
    "messages": ("anthropic", {}, ""),
}
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


def a_server(image: str) -> dict[str, Any]:
    """The model server as a pod that admits itself to a restricted namespace."""
    security = {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {
        "name": "model",
        "image": image,
        "command": ["python3", "/app/model.py"],
        "securityContext": security,
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": deploy.MODEL_PORT}, "periodSeconds": 1},
    }
    meta = {"name": deploy.MODELS, "namespace": SYSTEM, "labels": {"app": deploy.MODELS}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


def an_agent(name: str, model: str, api: str, origin: str) -> dict[str, Any]:
    member, settings, suffix = APIS[api]
    loop = {"identity": {"name": name, "version": "1.0.0"}, "stream": False, **settings}
    chosen = {"name": model, "baseURL": origin + suffix, "secretRef": {"name": "model"}}
    return {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": "Agent",
        "metadata": {"name": name},
        "spec": {member: loop, "model": chosen, "mode": "Autonomous"},
    }


@pytest.fixture(scope="module")
def origin(context: str, images: Mapping[str, str]) -> Iterator[str]:
    system = Cluster(context, SYSTEM)
    system.kubectl("delete", "pod", deploy.MODELS, "--ignore-not-found", "--wait=true")
    system.apply(a_server(images["referenceAgent"]))
    system.must("wait", f"pod/{deploy.MODELS}", "--for=condition=Ready", "--timeout=120s")
    yield deploy.model_origin(deploy.Cluster(context))
    system.kubectl("delete", "pod", deploy.MODELS, "--wait=false")


@pytest.fixture(scope="module")
def finished(cluster: Cluster, origin: str) -> dict[str, dict[str, Any]]:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "model"}}
    cluster.apply({**secret, "stringData": {"model-api-key": KEY}}, build.an_environment())
    for name, (model, api, harness, _) in CASES.items():
        chosen = {"select": build.only(SCENARIO), **({"harness": harness} if harness else {})}
        cluster.apply(an_agent(name, model, api, origin), build.an_evaluation(name, name, **chosen))
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
    system = Cluster(context, SYSTEM)
    books = json.loads(
        system.must("get", "--raw", f"/api/v1/namespaces/{SYSTEM}/pods/models:8000/proxy/books")
    )
    assert books["keys"] == [KEY]
    kinds = "agents,environments,evaluations,scenarioruns,pods,networkpolicies,events,configmaps"
    assert KEY not in cluster.must("get", kinds, "-o", "yaml")
    logs = system.kubectl("logs", "-l", "app.kubernetes.io/name=oasis-operator", "--tail", "-1")
    assert KEY not in logs.out


def test_no_gateway_is_left(cluster: Cluster, finished: dict[str, dict[str, Any]]) -> None:
    wait_for(
        lambda: not cluster.items("pods", "-l", "oasis-operator.dev/role=gateway"),
        60,
        "namespace without gateways",
    )


def test_a_model_at_an_origin_that_nobody_approved_is_refused(cluster: Cluster, origin: str) -> None:
    agent = an_agent("elsewhere", "careful", "chat", "https://models.example")
    cluster.apply(build.an_environment(), agent, build.an_evaluation("elsewhere", "elsewhere"))
    body = wait_complete(cluster, "elsewhere")
    assert "models.origins" in json.dumps(body["status"]["conditions"])
    assert not cluster.runs_of("elsewhere")
