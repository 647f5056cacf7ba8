from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.world.manifests import Condition, Kind, Usage
from oasis_operator.world.plan import build_plan, custom_kinds, objects_of
from oasis_operator.world.usage import build_node_usage, build_pod_usage

NOW = "2026-11-30T08:00:00Z"


def plan_of(*state: Any) -> Any:
    return build_plan(state, now=NOW)


def deployment(**fields: Any) -> Any:
    return {"resource": "deployment/web", "namespace": "shop", **fields}


def objects(plan: Any, kind: str) -> dict[str, Any]:
    assert not plan.faults, plan.faults
    return {item["metadata"]["name"]: item for item in objects_of(plan) if item["kind"] == kind}


def container(plan: Any) -> Any:
    return objects(plan, "Deployment")["web"]["spec"]["template"]["spec"]["containers"][0]


def expected(plan: Any, kind: Kind) -> Any:
    (only,) = [item for item in plan.expectations if item.kind is kind]
    return only


def test_a_rolling_update_comes_from_a_revision_before_and_keeps_all_else() -> None:
    plan = plan_of(deployment(status="rolling_update_in_progress", replicas=3, image="web:v1.4.2"))
    (manifest,) = [item for rank in plan.ranks for item in rank if item.body["kind"] == "Deployment"]
    images = [
        body["spec"]["template"]["spec"]["containers"][0]["image"]
        for body in (manifest.body, manifest.next_body)
    ]
    assert images == ["web:v1.4.1", "web:v1.4.2"]
    assert expected(plan, Kind.DEPLOYMENT).condition is Condition.ROLLING_UPDATE


def test_what_is_killed_for_memory_has_a_limit_that_can_be_raised() -> None:
    assert container(plan_of(deployment(status="OOMKilled")))["resources"]["limits"] == {"memory": "256Mi"}
    plan = plan_of(deployment(status="OOMKilled", memory_limit="64Mi"))
    assert container(plan)["resources"]["limits"] == {"memory": "64Mi"}


def test_what_was_used_before_the_kill_stands_in_a_metric() -> None:
    plan = plan_of(deployment(status="OOMKilled", memory_usage="250Mi"))
    assert objects(plan, "KeptnMetric")["web-memory-working-set"]["status"]["value"] == str(250 * 2**20)
    assert plan.usage == ()


def test_a_readiness_probe_is_what_fails_where_pods_are_unready() -> None:
    assert "readinessProbe" in container(plan_of(deployment(status="unready")))


def test_errors_of_what_runs_are_reported_with_it() -> None:
    plan = plan_of(deployment(status="elevated_error_rate", error_rate="8%"))
    assert objects(plan, "KeptnMetric")["web-error-rate"]["status"]["value"] == "0.08"
    own = {"resource": "metrics/web", "error_rate": "9%"}
    plan = plan_of(deployment(status="elevated_error_rate"), own)
    assert objects(plan, "KeptnMetric")["web-error-rate"]["metadata"]["namespace"] == "shop"


def test_a_failure_that_lies_ahead_leaves_the_present_as_it_is() -> None:
    plan = plan_of(deployment(injected_failure="image-pull-backoff-on-restart", replicas=2))
    only = expected(plan, Kind.DEPLOYMENT)
    assert (only.condition, only.on_restart, only.replicas) == (Condition.RUNNING, Condition.IMAGE_PULL, 2)


def test_conditions_of_a_deployment_are_proven_and_not_written() -> None:
    said = [{"type": "Available", "status": "False", "reason": "pod unhealthy"}]
    plan = plan_of(deployment(status="degraded", replicas=3, conditions=said))
    assert expected(plan, Kind.DEPLOYMENT).statements == (("Available", "False"),)
    assert "status" not in objects(plan, "Deployment")["web"]


def test_a_canary_gets_its_share_of_the_traffic() -> None:
    canary = {"resource": "deployment/web-canary", "namespace": "shop", "traffic_weight": "10%"}
    plan = plan_of(deployment(), canary)
    routes = objects(plan, "Ingress")
    notes = routes["web-canary"]["metadata"]["annotations"]
    assert notes["nginx.ingress.kubernetes.io/canary-weight"] == "10"
    assert set(objects(plan, "Service")) == set(routes) == {"web", "web-canary"}
    assert routes["web"]["spec"]["rules"][0]["host"] == routes["web-canary"]["spec"]["rules"][0]["host"]


def test_what_a_namespace_is_said_to_hold_is_there() -> None:
    plan = plan_of({"resource": "namespace/team", "deployments": ["a", "b"], "resource_quotas": ["q"]})
    assert set(objects(plan, "Deployment")) == {"a", "b"}
    assert objects(plan, "ResourceQuota")["q"]["spec"]["hard"]
    assert {item["metadata"]["namespace"] for item in objects(plan, "Deployment").values()} == {"team"}


def test_log_lines_have_somebody_who_wrote_them() -> None:
    plan = plan_of({"resource": "logs/mesh", "entries": ["x"]})
    assert set(objects(plan, "Deployment")) == {"mesh"}
    plan = plan_of(deployment(), {"resource": "logs/web", "entries": ["x"]})
    assert [(line.subject, line.namespace) for line in plan.logs if line.subject == "web"] == [
        ("web", "shop")
    ]
    assert set(objects(plan, "Deployment")) == {"web"}


def test_an_ingress_without_a_backend_leads_to_the_only_service() -> None:
    plan = plan_of(
        {"resource": "ingress/public", "status": "returning_503"},
        {"resource": "service/api", "endpoints": []},
    )
    assert expected(plan, Kind.INGRESS).message == expected(plan, Kind.SERVICE).message == "api"
    backend = objects(plan, "Ingress")["public"]["spec"]["rules"][0]["http"]["paths"][0]["backend"]
    assert backend["service"]["name"] == "api"


def test_a_node_in_trouble_says_why_and_is_expected_to_be_tainted() -> None:
    plan = plan_of({"resource": "node/n", "memory_pressure": True, "disk_pressure": False})
    conditions = {each["type"]: each for each in objects(plan, "Node")["n"]["status"]["conditions"]}
    assert conditions["MemoryPressure"]["reason"] == "KubeletHasInsufficientMemory"
    assert conditions["DiskPressure"]["reason"] == "KubeletHasNoDiskPressure"
    assert expected(plan, Kind.NODE).message == "MemoryPressure"
    (event,) = objects(plan, "Event").values()
    assert event["reason"] == "NodeHasInsufficientMemory"


def test_pending_pods_ask_for_little_where_nodes_have_less() -> None:
    nodes = {"resource": "nodes", "count": 3, "allocatable_cpu": "low"}
    plan = plan_of(deployment(status="pending", reason="Insufficient CPU"), nodes)
    assert plan.node_allocatable == {"cpu": "500m"}
    assert container(plan)["resources"]["requests"] == {"cpu": "1"}


def test_an_autoscaler_that_is_scaling_measures_a_use_that_asks_for_it() -> None:
    hpa = {"resource": "hpa/h", "namespace": "shop", "target": "deployment/web", "min_replicas": 2, "max_replicas": 10,
           "current_status": "scaling_in_progress", "target_replicas": 7}  # fmt: skip
    plan = plan_of(deployment(replicas=3), hpa)
    assert plan.usage == (Usage("deployment", "shop", "web", cpu="173m"),)
    assert container(plan)["resources"]["requests"] == {"cpu": "100m"}
    assert objects(plan, "HorizontalPodAutoscaler")["h"]["spec"]["behavior"]["scaleUp"]
    assert {"pods.metrics.k8s.io", "nodes.metrics.k8s.io"} <= set(objects(plan, "CustomResourceDefinition"))
    assert expected(plan, Kind.AUTOSCALER).message == "7"


NODE = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "1000Ki"}}}


def test_a_node_uses_what_is_declared_of_it_before_what_is_declared_of_all() -> None:
    declared = [Usage("node", "", "n", cpu="97%"), Usage("node", "", "", "60%", "60%")]
    assert build_node_usage(NODE, declared, NOW)["usage"] == {"cpu": "3880m", "memory": "600Ki"}


def test_a_share_is_one_of_the_limit_where_there_is_one() -> None:
    limits = {"resources": {"limits": {"cpu": "200m"}}}
    pod = {"metadata": {"name": "p", "namespace": "shop"}, "spec": {"containers": [{"name": "c", **limits}]}}
    declared = [Usage("pod", "shop", "p", cpu="50%")]
    assert build_pod_usage(pod, NODE, declared, NOW)["containers"][0]["usage"]["cpu"] == "100m"
    del pod["spec"]["containers"][0]["resources"]  # type: ignore[index]
    assert build_pod_usage(pod, NODE, declared, NOW)["containers"][0]["usage"]["cpu"] == "2000m"


def test_only_kinds_of_the_authors_own_are_granted_beside_the_known_ones() -> None:
    own = {"resource": "customresource/a", "api_version": "b.example/v1", "object_kind": "Backup"}
    assert custom_kinds(plan_of(own, {"resource": "gitops-application/x"})) == (("b.example", "backups"),)


REFUSED = {
    "a rolling update of one": (deployment(status="rolling_update_in_progress", replicas=1), "replicas", "contradicts"),
    "a rolling update that recreates": (
        deployment(status="rolling_update_in_progress", update_strategy="Recreate"), "update_strategy", "contradicts"),
    "errors that nobody counts": (deployment(status="elevated_error_rate"), "error_rate", "metrics/web"),
    "errors of what fails": (deployment(status="error", error_rate="8%"), "error_rate", "elevated_error_rate"),
    "use of what waits": (deployment(status="CrashLoopBackOff", cpu_usage="95%"), "cpu_usage", "contradicts"),
    "use in words": (deployment(cpu_usage="much"), "cpu_usage", "want a share"),
    "an unknown failure ahead": (deployment(injected_failure="fire"), "injected_failure", "possible are"),
    "a failure ahead of what fails": (
        deployment(status="error", injected_failure="crash-loop-on-restart"), "injected_failure", "contradicts"),
    "an available deployment that is degraded": (
        deployment(status="degraded", conditions=[{"type": "Available", "status": "True"}]), "conditions", "contradicts"),
    "a condition that nobody sets": (
        deployment(conditions=[{"type": "Happy", "status": "True"}]), "conditions", "possible is"),
    "a canary of nothing": (
        {"resource": "deployment/web-canary", "traffic_weight": "10%"}, "traffic_weight", "beside a declared"),
    "a share in words": (deployment(traffic_weight="some"), "traffic_weight", "such as 10%"),
    "endpoints": ({"resource": "service/s", "endpoints": ["10.0.0.1"]}, "endpoints", "possible is []"),
    "an ingress that leads nowhere": ({"resource": "ingress/i"}, "backend", "not exactly one"),
    "an evicted deployment": (deployment(status="evicted"), "status", "possible are"),
    "names that are none": ({"resource": "namespace/n", "deployments": ["A B"]}, "deployments", "list of names"),
    "nodes with some room": ({"resource": "nodes", "allocatable_cpu": "some"}, "allocatable_cpu", "want low"),
    "a target without scaling": (
        {"resource": "hpa/h", "target": "deployment/x", "target_replicas": 4}, "target_replicas", "needs"),
    "scaling to what there is": (
        {"resource": "hpa/h", "target": "deployment/x", "current_status": "scaling_in_progress", "target_replicas": 1},
        "target_replicas", "another number"),
    "a job that runs": ({"resource": "job/j", "status": "running"}, "status", "possible are"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_so_is_refused_by_name(case: str) -> None:
    entry, field, words = REFUSED[case]
    faults = {fault.field: fault.message for fault in plan_of(entry).faults}
    assert words in faults.get(field, ""), faults
