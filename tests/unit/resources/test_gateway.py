from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from kit.fakes.cluster import SETTINGS
from kit.fakes.stores import FakeKeys
from oasis_operator.api.v1alpha1.agent import AgentSpec
from oasis_operator.api.v1alpha1.harness import HarnessBudget
from oasis_operator.resources import agent_pod, gateway, labels, network_policy
from oasis_operator.resources.pod_state import pod_state
from oasis_operator.resources.run import run_objects
from oasis_operator.sidecar.adapter.model_agent import ModelAgent
from oasis_operator.wire.gateway import Configuration, Reach, run_of

EVALUATION = {"metadata": {"name": "check", "namespace": "shop", "uid": "u-2"}}
BUILT = dataclasses.replace(SETTINGS, model_origins=("https://models.example",))
SPEC = AgentSpec.model_validate(
    {
        "anthropic": {
            "identity": {"name": "helper", "version": "1.0.0"},
            "instructions": "Be careful.",
            "temperature": "0.5",
            "maxOutputTokens": 100,
        },
        "model": {"name": "m-1", "baseURL": "https://models.example/", "secretRef": {"name": "key"}},
        "mode": "Autonomous",
    }
)
assert SPEC.model is not None
MODEL = SPEC.model


def a_pod(**budget: Any) -> dict[str, Any]:
    limits = HarnessBudget.model_validate(budget) if budget else None
    return gateway.build_pod("t", EVALUATION, MODEL, limits, BUILT)


def configuration(pod: dict[str, Any]) -> Configuration:
    (variable,) = pod["spec"]["containers"][0]["env"]
    assert variable["name"] == "GATEWAY_CONFIGURATION"
    return Configuration.from_json(json.loads(variable["value"]))


def test_the_key_is_mounted_into_the_gateway_and_stands_in_no_variable() -> None:
    pod = a_pod()
    (key,) = (volume for volume in pod["spec"]["volumes"] if volume["name"] == "model")
    assert key["secret"]["secretName"] == "key"
    assert key["secret"]["items"] == [{"key": "model-api-key", "path": "model-api-key"}]
    assert [item["name"] for item in pod["spec"]["containers"][0]["env"]] == ["GATEWAY_CONFIGURATION"]
    assert "key" not in json.dumps(configuration(pod).to_json())


def test_a_server_without_a_key_needs_no_secret() -> None:
    bare = MODEL.model_copy(update={"secret_ref": None})
    pod = gateway.build_pod("t", EVALUATION, bare, None, BUILT)
    assert "model" not in {volume["name"] for volume in pod["spec"]["volumes"]}


def test_the_gateway_is_hardened_but_no_sandbox_pod() -> None:
    pod = a_pod()
    assert labels.SANDBOX not in pod["metadata"]["labels"]
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert (pod["spec"]["dnsPolicy"], pod["spec"]["restartPolicy"]) == ("ClusterFirst", "Always")
    context = pod["spec"]["containers"][0]["securityContext"]
    assert context["readOnlyRootFilesystem"] is True
    assert context["capabilities"] == {"drop": ["ALL"]}
    deny = network_policy.default_deny("shop")["spec"]["podSelector"]["matchLabels"]
    assert not labels.matches(pod["metadata"]["labels"], deny)


@pytest.mark.parametrize(
    ("budget", "tokens", "stops"),
    [
        ({}, None, False),
        ({"maxTokens": 100}, 100, False),
        ({"maxTokens": 100, "hardStop": True}, 100, True),
        ({"maxTokens": 0}, None, False),
    ],
)
def test_the_harnesss_budget_is_the_gateways(budget: dict[str, Any], tokens: int | None, stops: bool) -> None:
    found = configuration(a_pod(**budget))
    assert (found.run_tokens, found.hard_stop) == (tokens, stops)
    assert (found.base_url, found.model) == ("https://models.example", "m-1")
    assert found.origins == ("https://models.example",)


@pytest.mark.parametrize(
    ("budget", "tokens"), [({}, None), ({"maxTokensTogether": 0}, None), ({"maxTokensTogether": 500}, 500)]
)
def test_the_budget_of_all_runs_is_the_gateways_too(budget: dict[str, Any], tokens: int | None) -> None:
    assert configuration(a_pod(**budget)).evaluation_tokens == tokens


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("https://m.example/v1", 443),
        ("http://m.example", 80),
        ("http://m.example:8000/v1", 8000),
        ("https://[2001:db8::1]:8443", 8443),
        ("https://[2001:db8::1]", 443),
    ],
)
def test_agents_alone_reach_the_gateway_and_it_the_models_port(url: str, port: int) -> None:
    spec = gateway.build_policy("t", EVALUATION, MODEL.model_copy(update={"base_url": url}))["spec"]
    agents = {"matchLabels": {labels.SANDBOX: "true", labels.ROLE: labels.ROLE_AGENT}}
    assert spec["ingress"] == [
        {"from": [{"podSelector": agents}], "ports": [{"protocol": "TCP", "port": 8443}]}
    ]
    assert [[entry["port"] for entry in rule["ports"]] for rule in spec["egress"]] == [[53, 53], [port]]
    assert labels.matches(a_pod()["metadata"]["labels"], spec["podSelector"]["matchLabels"])


def test_a_run_may_reach_the_gateway_besides_its_environment() -> None:
    objects = run_objects({"metadata": {"name": "r", "namespace": "shop", "uid": "u"}}, 1, 60)
    plain = network_policy.run_policy(objects)
    opened = gateway.opened(plain, "t")
    assert opened["spec"]["egress"][:-1] == plain["spec"]["egress"]
    (peer,) = opened["spec"]["egress"][-1]["to"]
    assert labels.matches(a_pod()["metadata"]["labels"], peer["podSelector"]["matchLabels"])
    assert opened["spec"]["ingress"] == plain["spec"]["ingress"]


def test_what_a_run_is_told_is_what_its_adapter_and_the_gateway_take() -> None:
    secret = gateway.build_secret("t", EVALUATION, FakeKeys().run_secret_data(None, None))  # type: ignore[arg-type]
    assert set(secret["data"]) == {"ca.crt", "adapter.crt", "adapter.key", "adapter-token"}
    pod = pod_state({"metadata": {"uid": "u"}, "spec": {}, "status": {"podIP": "10.1.0.9"}})
    assert pod is not None
    reach = gateway.reach_of(secret, pod, "run-1")
    assert reach.token not in repr(reach)
    member = {**gateway.adapter_of(SPEC, MODEL), "gateway": reach.to_json(), "step_limit": 3}
    ModelAgent("anthropic").check(member)
    assert member["instructions"] == "Be careful."
    assert run_of("adapter-token", reach.token) == "run-1"
    assert Reach(**member["gateway"]) == reach


def test_an_agent_in_a_container_finds_its_model_without_a_key_and_keeps_its_own_settings() -> None:
    spec = AgentSpec.model_validate(
        {
            "http": {"port": 8080},
            "image": "registry.example/agent:1",
            "model": {"name": "m-1", "baseURL": "https://models.example/v1", "secretRef": {"name": "key"}},
            "env": [{"name": "OPENAI_BASE_URL", "value": "http://elsewhere.example"}],
            "mode": "Autonomous",
        }
    )
    objects = run_objects({"metadata": {"name": "r", "namespace": "shop", "uid": "u"}}, 1, 60)
    pod = agent_pod.build_agent_pod(agent_pod.run_pod_plan(objects, "10.1.0.9"), spec, BUILT)
    (container,) = pod["spec"]["containers"]
    variables = {item["name"]: item.get("value") for item in container["env"]}
    assert len(variables) == len(container["env"])
    assert variables["OPENAI_BASE_URL"] == "http://elsewhere.example"
    assert variables["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8442"
    assert variables["OPENAI_API_KEY"] == "unset"
    assert "model" not in {volume["name"] for volume in pod["spec"]["volumes"]}
