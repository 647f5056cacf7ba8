"""The provider API as another evaluator meets it: in the cluster, over TLS, with a token of its own.

Needs the chart with `providerApi.enabled`.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from e2e.deploy import OPERATOR_NAMESPACE, PROVIDER_HOST, RELEASE, provider_alias
from e2e.deploy import Cluster as HostCluster
from e2e.kubectl import Cluster, wait_for

SERVICE = f"{RELEASE}-provider"
URL = f"https://{PROVIDER_HOST}"
AUDIENCE = "oasis-provider"
PATIENCE_SECONDS = 600


def an_evaluator(name: str, image: str, audience: str, alias: dict[str, Any]) -> dict[str, Any]:
    """Build a pod that runs the command line with a token of its own account."""
    projected = [{"serviceAccountToken": {"path": "token", "audience": audience, "expirationSeconds": 3600}},
                 {"configMap": {"name": "ca"}}]  # fmt: skip
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "restartPolicy": "Never",
            "hostAliases": [alias],
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65532,
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": [{"name": "access", "projected": {"sources": projected}}],
            "containers": [
                {
                    "name": "evaluator",
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["/opt/venv/bin/oasis", "conformance", URL, "--ca-file", "/access/ca.crt",
                                "--token-file", "/access/token", "-o", "json"],
                    "volumeMounts": [{"name": "access", "mountPath": "/access", "readOnly": True}],
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                }
            ],
        },
    }  # fmt: skip


@pytest.fixture(scope="module")
def image(cluster: Cluster) -> str:
    """The operator's image, once the authority of its certificate is at hand."""
    cluster.must("get", "service", SERVICE, namespace=OPERATOR_NAMESPACE)
    pair = json.loads(
        cluster.must("get", "secret", "oasis-provider-tls", "-o", "json", namespace=OPERATOR_NAMESPACE)
    )
    authority = base64.b64decode(pair["data"]["ca.crt"]).decode()
    cluster.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ca"}, "data": {"ca.crt": authority}}
    )
    deployment = json.loads(
        cluster.must("get", "deployment", RELEASE, "-o", "json", namespace=OPERATOR_NAMESPACE)
    )
    return str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])


def ended(cluster: Cluster, name: str) -> tuple[int, str]:
    """Wait for a pod's end; return its exit code and what it printed."""

    def look() -> Any:
        statuses = cluster.get("pod", name)["status"].get("containerStatuses") or [{}]
        return statuses[0].get("state", {}).get("terminated")

    told = wait_for(
        look, PATIENCE_SECONDS, f"end of pod {name}: {cluster.kubectl('describe', 'pod', name).out}"
    )
    return int(told["exitCode"]), cluster.must("logs", name)


def test_every_rule_of_the_contract_is_kept_over_tls_with_a_token_of_the_cluster(
    cluster: Cluster, context: str, image: str
) -> None:
    alias = provider_alias(HostCluster(context))
    cluster.apply(an_evaluator("suite", image, AUDIENCE, alias))
    code, printed = ended(cluster, "suite")
    assert code == 0, printed
    assert '"AUTH-1"' in printed


def test_a_token_for_somebody_else_is_not_taken(cluster: Cluster, context: str, image: str) -> None:
    alias = provider_alias(HostCluster(context))
    cluster.apply(an_evaluator("stranger", image, "somebody-else", alias))
    code, printed = ended(cluster, "stranger")
    assert code == 8, printed
    assert "401" in printed


def test_nothing_is_left_of_what_was_served(cluster: Cluster, image: str) -> None:
    def left() -> bool:
        kinds = "pods,networkpolicies,secrets"
        listed = cluster.get(kinds, "", "-A", "-l", "oasis-operator.dev/served=true")["items"]
        return not listed

    wait_for(left, PATIENCE_SECONDS, "end of the served environments")
