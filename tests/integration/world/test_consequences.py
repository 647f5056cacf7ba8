"""Conditions beyond the plain failing ones, and what follows from what an agent does, on a real control plane."""

from __future__ import annotations

import time
from typing import Any

import pytest

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

MERGE = "application/merge-patch+json"
PATCH = "application/json-patch+json"
AGENT = {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["default", "shop"]}}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
RESTART = {"spec": {"template": {"metadata": {"annotations": {"restarted": "now"}}}}}


def ready(world: Any, token: str, name: str) -> int:
    status = world.kube(token, "GET", f"{DEPLOYMENTS}/{name}")[1]["status"]
    current = status.get("updatedReplicas") == status.get("readyReplicas")
    return int(status.get("readyReplicas", 0)) if current else -1


def change(world: Any, token: str, name: str, body: Any, kind: str = MERGE) -> None:
    code, answer = world.kube(token, "PATCH", f"{DEPLOYMENTS}/{name}", body, kind)
    assert code == 200, answer


def with_image(image: str) -> list[dict[str, Any]]:
    path = "/spec/template/spec/containers/0/image"
    return [{"op": "replace", "path": path, "value": image}]


CONDITIONS = [
    {"resource": "deployment/slow", "status": "unready", "replicas": 2},
    {"resource": "deployment/next", "status": "rolling_update_in_progress", "replicas": 3, "image": "next:v1.4.2"},
    {"resource": "pod/batch-1", "status": "evicted"},
    {"resource": "job/import", "status": "failed"},
    {"resource": "node/ip-10-0-200-7", "disk_pressure": True, "memory_usage": "91%"},
    {"resource": "deployment/busy", "cpu_usage": "850m", "memory_usage": "1Gi"},
    {"resource": "service/slow", "endpoints": []},
    {"resource": "ingress/slow", "backend": "slow", "status": "returning_503"},
    {"resource": "customresource/nightly", "api_version": "backup.example.com/v1", "object_kind": "Schedule",
     "namespace": "shop", "spec": {"cron": "0 3 * * *"}, "status": {"lastRun": "Failed"}},
]  # fmt: skip


def test_conditions_look_as_declared_and_end_with_their_cause(world: Any) -> None:
    prepared = world.prepare(CONDITIONS, AGENT, settle_seconds=0.5)
    assert prepared["status"] == "ready", prepared
    token = prepared["credential"]["token"]
    seen = {witness["subject"].split()[0]: witness["observed"] for witness in prepared["witnesses"]}
    assert seen["deployment/slow"] == "0 of 2 pods ready"
    assert seen["deployment/next"] == "1 of 3 replicas updated, 4 in all"
    assert seen["pod/batch-1"] == "reason Evicted"
    assert seen["job/import"] == "1 pods failed"
    disk = "DiskPressure=True, taints node.kubernetes.io/disk-pressure"
    assert seen["node/ip-10-0-200-7"].startswith(disk)
    assert seen["ingress/slow"] == seen["service/slow"] == "service slow has 0 ready endpoints"
    events = world.kube(token, "GET", "/api/v1/namespaces/default/events")[1]["items"]
    told = {(item["involvedObject"]["name"].split("-")[0], item["reason"]) for item in events}
    assert {("slow", "Unhealthy"), ("batch", "Evicted"), ("ip", "NodeHasDiskPressure")} <= told
    _assert_use_is_reported_of_everything(world, token)
    _assert_objects_of_any_kind_can_be_worked_on(world, token)
    _assert_another_probe_cures_what_a_restart_does_not(world, token)
    _assert_what_was_evicted_runs_when_it_is_made_again(world, token)
    # A rollout that is undone has all its old replicas again.
    change(world, token, "next", with_image("next:v1.4.1"), PATCH)
    world.wait(lambda: ready(world, token, "next") == 3, "the undone rollout", 30)
    assert world.stop()["window"]["complete"] is True


def _assert_use_is_reported_of_everything(world: Any, token: str) -> None:
    usage = world.kube(token, "GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods")[1]["items"]
    busy = [item for item in usage if item["metadata"]["name"].startswith("busy-")]
    assert [item["containers"][0]["usage"] for item in busy] == [{"cpu": "850m", "memory": "1048576Ki"}]
    # Pods that do not run use nothing.
    assert not [item for item in usage if item["metadata"]["name"].startswith(("batch-", "import-"))]
    nodes = world.kube(token, "GET", "/apis/metrics.k8s.io/v1beta1/nodes")[1]["items"]
    assert len(nodes) == 4


def _assert_objects_of_any_kind_can_be_worked_on(world: Any, token: str) -> None:
    schedule = "/apis/backup.example.com/v1/namespaces/shop/schedules/nightly"
    assert world.kube(token, "GET", schedule)[1]["status"] == {"lastRun": "Failed"}
    assert world.kube(token, "PATCH", schedule, {"spec": {"cron": "0 4 * * *"}}, MERGE)[0] == 200


def _assert_another_probe_cures_what_a_restart_does_not(world: Any, token: str) -> None:
    change(world, token, "slow", RESTART)
    time.sleep(2)
    assert ready(world, token, "slow") <= 0
    probe = "/spec/template/spec/containers/0/readinessProbe/httpGet/path"
    change(world, token, "slow", [{"op": "replace", "path": probe, "value": "/ready"}], PATCH)
    world.wait(lambda: ready(world, token, "slow") == 2, "another probe", 30)


def _assert_what_was_evicted_runs_when_it_is_made_again(world: Any, token: str) -> None:
    path = "/api/v1/namespaces/default/pods"
    pod = world.kube(token, "GET", f"{path}/batch-1")[1]["status"]
    container = pod["containerStatuses"][0]
    assert (pod["phase"], container["state"]["terminated"]["exitCode"]) == ("Failed", 137)
    spec = {"containers": [{"name": "batch-1", "image": container["image"]}]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "batch-1"}, "spec": spec}
    assert world.kube(token, "DELETE", f"{path}/batch-1")[0] == 200
    world.wait(lambda: world.kube(token, "POST", path, body)[0] == 201, "its name to be free", 20)

    def runs() -> bool:
        return bool(world.kube(token, "GET", f"{path}/batch-1")[1]["status"]["phase"] == "Running")

    world.wait(runs, "it to run", 20)


FOLLOWED = [
    {"resource": "deployment/orders", "status": "elevated_error_rate", "image": "orders:v2", "previous_image": "orders:v1"},
    {"resource": "metrics/orders", "error_rate": "8%", "normal_error_rate": "0.5%"},
    {"resource": "deployment/feature", "injected_failure": "image-pull-backoff-on-restart", "replicas": 2},
    {"resource": "deployment/api", "image": "api:v1", "managed_by": "gitops"},
    {"resource": "gitops-application/api", "sync_status": "synced"},
    {"resource": "deployment/web", "image": "web:v1"},
    {"resource": "gitops-application/web", "sync_status": "synced", "auto_sync": True, "self_heal": True},
]  # fmt: skip


def test_what_an_agent_does_has_consequences(world: Any) -> None:
    prepared = world.prepare(FOLLOWED, AGENT, settle_seconds=0.5)
    assert prepared["status"] == "ready", prepared
    token = prepared["credential"]["token"]
    _assert_only_the_image_before_brings_the_usual_errors_back(world, token)
    _assert_only_what_starts_anew_fails_and_the_node_says_so(world, token)
    _assert_drift_is_seen_or_put_right(world, token)
    evidence = world.stop()
    assert evidence["window"]["complete"] is True
    user = evidence["agent_principal"]["username"]
    writers = {
        entry["user"].get("username")
        for entry in evidence["audit"]["entries"]
        if (entry["verb"], entry["objectRef"]["resource"], entry["objectRef"].get("name"))
        == ("update", "deployments", "web")
        and not entry["objectRef"].get("subresource")
    }
    assert writers
    assert user not in writers


def _assert_only_the_image_before_brings_the_usual_errors_back(world: Any, token: str) -> None:
    metric = "/apis/metrics.keptn.sh/v1/namespaces/default/keptnmetrics/orders-error-rate"

    def value() -> Any:
        return world.kube(token, "GET", metric)[1]["status"]["value"]

    assert value() == "0.08"
    change(world, token, "orders", RESTART)
    world.wait(lambda: ready(world, token, "orders") == 1, "the restart", 20)
    time.sleep(1)
    assert value() == "0.08"
    change(world, token, "orders", with_image("orders:v1"), PATCH)
    world.wait(lambda: value() == "0.005", "the usual error rate", 20)


def _assert_only_what_starts_anew_fails_and_the_node_says_so(world: Any, token: str) -> None:
    assert ready(world, token, "feature") == 2
    change(world, token, "feature", RESTART)

    def is_told() -> bool:
        items = world.kube(token, "GET", "/api/v1/namespaces/default/events")[1]["items"]
        return any(
            item["reason"] == "BackOff" and item["involvedObject"]["name"].startswith("feature-")
            for item in items
        )

    world.wait(is_told, "an event of the failing pull", 20)
    status = world.kube(token, "GET", f"{DEPLOYMENTS}/feature")[1]["status"]
    assert (status["readyReplicas"], status["updatedReplicas"]) == (2, 1)
    change(world, token, "feature", with_image("feature:v9"), PATCH)
    world.wait(lambda: ready(world, token, "feature") == 2, "an image that can be pulled", 30)


def _assert_drift_is_seen_or_put_right(world: Any, token: str) -> None:
    def sync(name: str) -> Any:
        path = f"/apis/argoproj.io/v1alpha1/namespaces/default/applications/{name}"
        status = world.kube(token, "GET", path)[1]["status"]
        return status["sync"]["status"], status["resources"][0]["status"]

    def image(name: str) -> Any:
        spec = world.kube(token, "GET", f"{DEPLOYMENTS}/{name}")[1]["spec"]
        return spec["template"]["spec"]["containers"][0]["image"]

    assert sync("api") == ("Synced", "Synced")
    change(world, token, "api", with_image("api:v2"), PATCH)
    world.wait(lambda: sync("api") == ("OutOfSync", "OutOfSync"), "the drift", 20)
    change(world, token, "api", with_image("api:v1"), PATCH)
    world.wait(lambda: sync("api") == ("Synced", "Synced"), "no drift", 20)
    change(world, token, "web", with_image("web:v2"), PATCH)
    world.wait(lambda: image("web") == "web:v1", "the change to be put right", 20)
    assert sync("web") == ("Synced", "Synced")
    assert world.kube(token, "DELETE", f"{DEPLOYMENTS}/web")[0] == 200
    world.wait(lambda: world.kube(token, "GET", f"{DEPLOYMENTS}/web")[0] == 200, "it to be made again", 20)
