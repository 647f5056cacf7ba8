"""A domain that is no cluster: databases of a foreign provider, judged by the bundled profile of databases."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build
from e2e.kubectl import Cluster, condition, wait_complete, wait_for
from oasis_operator.clients.pki import serving_pair

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME, PORT, TOKEN = "databases", 8444, "the-token-of-this-provider"
PROFILE = {"bundled": "database"}


def a_service() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME},
        "spec": {"selector": {"app": NAME}, "ports": [{"port": PORT, "targetPort": PORT}]},
    }


def a_provider(image: str) -> dict[str, Any]:
    """The provider as one pod: it keeps everything in an empty folder and needs no right in the cluster."""
    container = {
        "name": "provider",
        "image": image,
        "imagePullPolicy": "Never",
        "env": [
            {"name": "DATABASE_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "DATABASE_TLS", "value": "/etc/provider"},
            {"name": "DATABASE_TOKEN_FILE", "value": "/etc/provider/token"},
        ],
        "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
        "volumeMounts": [
            {"name": "data", "mountPath": "/var/lib/databases"},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "provider", "mountPath": "/etc/provider", "readOnly": True},
        ],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    spec = {
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": 65532, "fsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [
            {"name": "data", "emptyDir": {}},
            {"name": "tmp", "emptyDir": {}},
            {"name": "provider", "secret": {"secretName": NAME, "defaultMode": 0o440}},
        ],
    }  # fmt: skip
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME},
        "spec": {
            "selector": {"matchLabels": {"app": NAME}},
            "template": {"metadata": {"labels": {"app": NAME}}, "spec": spec},
        },
    }


@pytest.fixture(scope="module")
def environment(cluster: Cluster, images: Mapping[str, str]) -> str:
    """An Environment of a provider of databases in this namespace."""
    cluster.apply(a_service())
    address = str(cluster.get("service", NAME)["spec"]["clusterIP"])
    pair = serving_pair((address,), datetime.now(UTC), timedelta(hours=4))  # noqa: TID251
    data = dict(zip(("tls.crt", "tls.key", "ca.crt"), (part.decode() for part in pair), strict=True))
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": NAME},
            "stringData": {**data, "token": TOKEN},
        },
        a_provider(images["databases"]),
        {
            "apiVersion": "oasis-operator.dev/v1alpha1",
            "kind": "Environment",
            "metadata": {"name": build.ENVIRONMENT},
            "spec": {
                "provider": {
                    "url": f"https://{address}:{PORT}",
                    "caRef": {"secret": {"name": NAME}},
                    "tokenRef": {"name": NAME},
                }
            },
        },
    )
    cluster.must("rollout", "status", f"deployment/{NAME}", "--timeout=120s")
    return build.ENVIRONMENT


@pytest.fixture(scope="module")
def finished(cluster: Cluster, environment: str) -> dict[str, dict[str, Any]]:
    """One Evaluation for each witness, by the witness; all scenarios are played without a cluster."""
    witnesses = ("Satisfying", "Violating", "Idle")
    for witness in witnesses:
        cluster.apply(
            build.a_scripted_agent(witness.lower(), None if witness == "Idle" else witness),
            build.an_evaluation(
                witness.lower(), witness.lower(), profile=PROFILE, environmentRef={"name": environment},
                select={"suite": "smoke"}, parallelism=3,
            ),
        )  # fmt: skip
    return {witness: wait_complete(cluster, witness.lower(), 900) for witness in witnesses}


def outcomes(cluster: Cluster, name: str) -> list[str]:
    runs = cluster.runs_of(name)
    assert len(runs) == 4, json.dumps([run["status"] for run in runs])[:4000]
    return [str(run["status"].get("outcome")) for run in runs]


def test_the_provider_meets_the_profile(finished: dict[str, dict[str, Any]]) -> None:
    for body in finished.values():
        assert condition(body, "ProviderConformant")["status"] == "True", condition(
            body, "ProviderConformant"
        )


def test_who_does_right_passes_every_scenario(cluster: Cluster, finished: dict[str, dict[str, Any]]) -> None:
    assert set(outcomes(cluster, "satisfying")) == {"PASS"}
    assert finished["Satisfying"]["status"]["verdict"] == "PASS"


def test_who_does_wrong_fails_every_safety_scenario(
    cluster: Cluster, finished: dict[str, dict[str, Any]]
) -> None:
    safety = [run for run in cluster.runs_of("violating") if ".safety." in run["spec"]["scenarioID"]]
    assert [run["status"]["outcome"] for run in safety] == ["FAIL"] * 2
    assert finished["Violating"]["status"]["verdict"] == "FAIL"


def test_who_does_nothing_gets_no_capability(cluster: Cluster, finished: dict[str, dict[str, Any]]) -> None:
    for run in cluster.runs_of("idle"):
        if ".safety." in run["spec"]["scenarioID"]:
            assert run["status"]["vacuous"], run["status"]
    assert not finished["Idle"]["status"].get("gateable", {}).get("allowed")


def test_nothing_is_left_at_the_provider(cluster: Cluster, finished: dict[str, dict[str, Any]]) -> None:
    del finished

    def empty() -> bool:
        left = cluster.must("exec", f"deploy/{NAME}", "--", "ls", "/var/lib/databases").split()
        return left == ["template"]

    wait_for(empty, 120, "end of every database")
