"""The operator as its own foreign provider: it serves an environment and evaluates an agent in it over the contract.

Needs the chart with `providerApi.enabled`, its environments in a namespace of their own, agents of other namespaces
among `providerApi.agentPeers`, and `networkPolicy.extraEgress` that lets the operator reach itself on 8444.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from e2e import build
from e2e.deploy import OPERATOR_NAMESPACE, RELEASE, SERVED_NAMESPACE
from e2e.kubectl import Cluster, condition, wait_complete, wait_for

SERVICE = f"{RELEASE}-provider"
URL = f"https://{SERVICE}.{OPERATOR_NAMESPACE}.svc"
# Another module has environments there meanwhile.
PATIENCE_SECONDS = 600
SCENARIOS = build.only("infra.safety.sa.foreign-restart-001")


@pytest.fixture(scope="module")
def environment(cluster: Cluster) -> str:
    """An Environment of the provider that the operator serves, with its authority and a token of this namespace."""
    cluster.must("get", "service", SERVICE, namespace=OPERATOR_NAMESPACE)
    pair = json.loads(
        cluster.must("get", "secret", "oasis-provider-tls", "-o", "json", namespace=OPERATOR_NAMESPACE)
    )
    authority = base64.b64decode(pair["data"]["ca.crt"]).decode()
    cluster.kubectl("create", "serviceaccount", "runner")
    token = cluster.must("create", "token", "runner", "--audience=oasis-provider", "--duration=2h").strip()
    cluster.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ca"}, "data": {"ca.crt": authority}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token"}, "stringData": {"token": token}},
        {
            "apiVersion": "oasis-operator.dev/v1alpha1",
            "kind": "Environment",
            "metadata": {"name": build.ENVIRONMENT},
            "spec": {
                "provider": {
                    "url": URL,
                    "caRef": {"configMap": {"name": "ca"}},
                    "tokenRef": {"name": "token"},
                }
            },
        },
    )
    return build.ENVIRONMENT


def leftovers(cluster: Cluster) -> list[str]:
    """Pods of environments that the provider still has."""
    listed = cluster.get("pods", "", "-n", SERVED_NAMESPACE, "-l", "oasis-operator.dev/role=environment")[
        "items"
    ]
    return [pod["metadata"]["name"] for pod in listed]


@pytest.mark.parametrize(
    ("witness", "verdict"), [("Satisfying", "PASS"), ("Violating", "FAIL")], ids=["satisfying", "violating"]
)
def test_an_agent_is_judged_by_what_the_provider_observed(
    cluster: Cluster, environment: str, witness: str, verdict: str
) -> None:
    agent, name = f"agent-{witness.lower()}", f"foreign-{witness.lower()}"
    cluster.apply(
        build.a_scripted_agent(agent, witness),
        build.an_evaluation(name, agent, environmentRef={"name": environment}, select=SCENARIOS),
    )
    body = wait_complete(cluster, name)
    assert condition(body, "ProviderConformant")["status"] == "True", condition(body, "ProviderConformant")
    runs: list[dict[str, Any]] = cluster.runs_of(name)
    assert [run["status"].get("outcome") for run in runs] == [verdict], [run["status"] for run in runs]
    wait_for(lambda: not leftovers(cluster), PATIENCE_SECONDS, "end of the environment")


def test_an_environment_shows_what_its_provider_answered(cluster: Cluster, environment: str) -> None:
    def shown() -> Any:
        return (
            cluster.get("environments.oasis-operator.dev", environment).get("status", {}).get("conformance")
        )

    records = wait_for(shown, PATIENCE_SECONDS * 3, "conformance report")
    assert all(record["conformant"] or record["gaps"] for record in records)


def test_a_run_that_is_deleted_in_its_middle_leaves_nothing_at_the_provider(
    cluster: Cluster, environment: str
) -> None:
    cluster.apply(
        build.a_scripted_agent("agent-deleted"),
        build.an_evaluation(
            "deleted", "agent-deleted", environmentRef={"name": environment}, select=SCENARIOS
        ),
    )
    wait_for(lambda: leftovers(cluster), PATIENCE_SECONDS, "environment")
    cluster.must("delete", "evaluations.oasis-operator.dev", "deleted", "--wait=false")
    wait_for(lambda: not leftovers(cluster), PATIENCE_SECONDS, "end of the environment")


def test_a_provider_that_is_not_there_is_refused_without_a_verdict(
    cluster: Cluster, environment: str
) -> None:
    spec = {"provider": {"url": f"https://nowhere.{OPERATOR_NAMESPACE}.svc"}}
    nowhere = {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": "Environment",
        "metadata": {"name": "nowhere"},
        "spec": spec,
    }
    cluster.apply(
        nowhere,
        build.a_scripted_agent("agent-nowhere"),
        build.an_evaluation("nowhere", "agent-nowhere", environmentRef={"name": "nowhere"}, select=SCENARIOS),
    )
    body = wait_complete(cluster, "nowhere")
    assert "verdict" not in body["status"]
    assert body["status"]["conformanceGaps"][0]["requirement"] == "conformance_endpoint"
