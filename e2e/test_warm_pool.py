"""Environments that are booted ahead: they fill, are claimed, are made good, and leave nothing behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from e2e import build
from e2e.kubectl import Cluster, wait_complete, wait_for

SIZE = 2
PATIENCE_SECONDS = 300
POOL = "oasis-operator.dev/pool"
RUN_UID = "oasis-operator.dev/run-uid"
SCENARIOS = build.only("infra.safety.sa.foreign-restart-001", "infra.safety.bd.fresh-start-001")
FENCE = {"oasis-sandbox-default-deny", "oasis-sandbox-control"}
Pods = dict[str, dict[str, Any]]


def pooled(cluster: Cluster) -> Pods:
    """The pods that nobody claimed, by UID."""
    return {pod["metadata"]["uid"]: pod for pod in cluster.items("pods", "-l", POOL)}


def warm(cluster: Cluster) -> dict[str, Any]:
    """What the Environment says of its pool."""
    body = cluster.get("environments.oasis-operator.dev", build.ENVIRONMENT)
    return dict(body.get("status", {}).get("warm") or {})


def is_full(cluster: Cluster) -> bool:
    """Tell whether the pool is as large as asked for, and ready."""
    return warm(cluster) == {"ready": SIZE, "booting": 0, "message": ""} and len(pooled(cluster)) == SIZE


@pytest.fixture(scope="module")
def filled(cluster: Cluster) -> Pods:
    """The pods of a pool that is full."""
    environment = build.an_environment()
    environment["spec"]["kubernetes"]["warmPool"] = {"size": SIZE}
    cluster.apply(environment)
    wait_for(lambda: is_full(cluster), PATIENCE_SECONDS, "full pool")
    return pooled(cluster)


@pytest.fixture(scope="module")
def claimed(cluster: Cluster, filled: Pods) -> tuple[Pods, list[dict[str, Any]]]:
    """The claimed pods as they were seen, and the runs once the Evaluation was complete."""
    agent = build.a_scripted_agent("helper")
    cluster.apply(agent, build.an_evaluation("warmed", "helper", select=SCENARIOS, parallelism=SIZE))
    seen: Pods = {}

    def look() -> bool:
        seen.update({pod["metadata"]["uid"]: pod for pod in cluster.items("pods", "-l", RUN_UID)})
        return bool(seen)

    wait_for(look, PATIENCE_SECONDS, "claimed environment")
    wait_complete(cluster, "warmed")
    return seen, cluster.runs_of("warmed")


def test_what_waits_is_owned_and_fenced(cluster: Cluster, filled: Pods) -> None:
    uid = cluster.get("environments.oasis-operator.dev", build.ENVIRONMENT)["metadata"]["uid"]
    for pod in filled.values():
        assert [owner["uid"] for owner in pod["metadata"]["ownerReferences"]] == [uid]
        assert pod["metadata"]["labels"]["oasis-operator.dev/sandbox"] == "true"
    assert {policy["metadata"]["name"] for policy in cluster.items("networkpolicies")} == FENCE


def test_nobody_else_can_put_a_pod_into_the_pool(cluster: Cluster, filled: Pods) -> None:
    pod = next(iter(filled.values()))
    forged = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "forged", "labels": {POOL: pod["metadata"]["labels"][POOL]}},
        "spec": pod["spec"],
    }
    done = cluster.kubectl("create", "-f", "-", stdin=json.dumps(forged))
    assert done.code != 0
    assert "made by the operator only" in done.err


def test_runs_claim_what_was_ready_and_end_as_any_other(
    filled: Pods, claimed: tuple[Pods, list[dict[str, Any]]]
) -> None:
    seen, runs = claimed
    used = {run["status"]["pods"]["environment"]["uid"] for run in runs}
    assert used & set(filled), "a run was given what was ready"
    assert {run["status"]["outcome"] for run in runs} == {"PASS"}
    for pod in seen.values():
        assert pod["metadata"]["ownerReferences"][0]["kind"] == "ScenarioRun"
        assert POOL not in pod["metadata"]["labels"]


def test_the_pool_is_made_good_and_nothing_is_used_twice(
    cluster: Cluster, filled: Pods, claimed: tuple[Pods, list[dict[str, Any]]]
) -> None:
    wait_for(lambda: is_full(cluster), PATIENCE_SECONDS, "full pool again")
    used = {run["status"]["pods"]["environment"]["uid"] for run in claimed[1]}
    assert not used & set(pooled(cluster))


def test_another_template_replaces_what_waits(
    cluster: Cluster, claimed: tuple[Pods, list[dict[str, Any]]]
) -> None:
    before = set(pooled(cluster))
    patch = '{"spec":{"kubernetes":{"nodes":4}}}'
    cluster.must("patch", "environment", build.ENVIRONMENT, "--type=merge", "-p", patch)
    wait_for(
        lambda: is_full(cluster) and not before & set(pooled(cluster)),
        PATIENCE_SECONDS,
        "pool of the new kind",
    )


def test_an_environment_that_is_deleted_leaves_nothing(
    cluster: Cluster, claimed: tuple[Pods, list[dict[str, Any]]]
) -> None:
    cluster.must("delete", "environment", build.ENVIRONMENT)

    def gone() -> bool:
        keys = [s for s in cluster.items("secrets") if s["metadata"]["name"].startswith("r-")]
        return cluster.items("pods") == [] and keys == []

    wait_for(gone, 120, "end of every pod and its keys")
    assert {policy["metadata"]["name"] for policy in cluster.items("networkpolicies")} == FENCE
