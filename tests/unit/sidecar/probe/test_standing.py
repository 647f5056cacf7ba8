from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.sidecar.probe import symptoms
from oasis_operator.sidecar.probe.symptoms import World
from oasis_operator.world.manifests import Condition, Expectation, Kind


def observed(expectation: Expectation, **objects: Any) -> Any:
    return symptoms.observe(expectation, World(objects))


def item(name: str, namespace: str | None = "shop", **members: Any) -> Any:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"metadata": {**metadata, "generation": 1}, **members}


def slices(*ready: bool) -> Any:
    endpoints = [{"addresses": ["10.1.1.1"], "conditions": {"ready": each}} for each in ready]
    labels = {"kubernetes.io/service-name": "api"}
    return [{"metadata": {"name": "api-x", "namespace": "shop", "labels": labels}, "endpoints": endpoints}]


@pytest.mark.parametrize(
    ("found", "seen"), [(slices(False), True), (slices(), True), (slices(True, False), False)]
)
@pytest.mark.parametrize("kind", [Kind.SERVICE, Kind.INGRESS])
def test_a_backend_is_gone_when_none_of_its_endpoints_is_ready(kind: Kind, found: Any, seen: bool) -> None:
    expectation = Expectation(kind, "shop", "api", Condition.NO_ENDPOINTS, message="api")
    objects = {"Service": [item("api")], "Ingress": [item("api")], "EndpointSlice": found}
    assert observed(expectation, **objects).seen is seen


def test_a_service_that_nobody_has_looked_at_yet_is_not_without_endpoints() -> None:
    expectation = Expectation(Kind.SERVICE, "shop", "api", Condition.NO_ENDPOINTS, message="api")
    assert not observed(expectation, Service=[item("api")], EndpointSlice=[]).seen


@pytest.mark.parametrize(
    ("status", "taints", "seen"),
    [
        ("True", ["node.kubernetes.io/memory-pressure"], True),
        ("True", [], False),
        ("False", ["node.kubernetes.io/memory-pressure"], False),
    ],
)
def test_a_node_is_under_pressure_once_it_is_tainted(status: str, taints: Any, seen: bool) -> None:
    node = item(
        "n", None,
        spec={"taints": [{"key": key} for key in taints]},
        status={"conditions": [{"type": "MemoryPressure", "status": status}]},
    )  # fmt: skip
    expectation = Expectation(Kind.NODE, "", "n", Condition.UNDER_PRESSURE, message="MemoryPressure")
    assert observed(expectation, Node=[node]).seen is seen


@pytest.mark.parametrize(("utilization", "seen"), [(173, True), (80, False), (None, False)])
def test_an_autoscaler_wants_what_it_measures(utilization: int | None, seen: bool) -> None:
    target = {"resource": {"name": "cpu", "target": {"averageUtilization": 80}}}
    measured = [{"resource": {"name": "cpu", "current": {"averageUtilization": utilization}}}]
    status = {"currentReplicas": 3, "currentMetrics": measured if utilization else None}
    expectation = Expectation(Kind.AUTOSCALER, "shop", "h", Condition.SCALING, 3, message="7")
    hpa = item("h", spec={"metrics": [target]}, status=status)
    assert observed(expectation, HorizontalPodAutoscaler=[hpa]).seen is seen


@pytest.mark.parametrize(("sync", "seen"), [("Synced", True), ("OutOfSync", False), ("", False)])
def test_an_application_is_in_sync_where_its_status_says_so(sync: str, seen: bool) -> None:
    expectation = Expectation(Kind.APPLICATION, "shop", "a", Condition.SYNCED, message="Synced")
    application = item("a", status={"sync": {"status": sync}})
    assert observed(expectation, Application=[application]).seen is seen


@pytest.mark.parametrize(
    ("status", "seen"), [({"value": "0.08"}, True), ({"value": "0.8"}, False), ({}, False)]
)
def test_a_metric_is_seen_with_its_value(status: Any, seen: bool) -> None:
    expectation = Expectation(Kind.METRIC, "shop", "m", Condition.REPORTED, message="0.08")
    assert observed(expectation, KeptnMetric=[item("m", status=status)]).seen is seen


@pytest.mark.parametrize(
    ("condition", "status", "seen"),
    [
        (Condition.COMPLETE, {"succeeded": 1}, True),
        (Condition.FAILED, {"failed": 1, "conditions": [{"type": "Failed", "status": "True"}]}, True),
        (Condition.FAILED, {"failed": 1}, False),
        (Condition.COMPLETE, {"failed": 1, "conditions": [{"type": "Failed", "status": "True"}]}, False),
    ],
)
def test_a_job_ended_as_declared(condition: Condition, status: Any, seen: bool) -> None:
    expectation = Expectation(Kind.JOB, "shop", "j", condition)
    assert observed(expectation, Job=[item("j", status=status)]).seen is seen


def pods(*ready: bool) -> Any:
    owner = [{"kind": "ReplicaSet", "name": "web-5d8f7c9b4"}]
    return [
        {
            "metadata": {"name": f"web-{number}", "namespace": "shop", "ownerReferences": owner},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": str(each)}],
                "containerStatuses": [{"name": "web", "state": {"running": {}}, "ready": each}],
            },
        }
        for number, each in enumerate(ready)
    ]


def deployment(conditions: Any = (), **status: Any) -> Any:
    return item("web", spec={}, status={"observedGeneration": 1, "conditions": list(conditions), **status})


@pytest.mark.parametrize(
    ("updated", "total", "count", "seen"),
    [(1, 4, 4, True), (3, 4, 4, False), (3, 3, 3, False), (0, 3, 3, False), (1, 4, 3, False)],
)
def test_a_rolling_update_is_between_two_revisions(updated: int, total: int, count: int, seen: bool) -> None:
    expectation = Expectation(Kind.DEPLOYMENT, "shop", "web", Condition.ROLLING_UPDATE, 3)
    found = deployment(updatedReplicas=updated, replicas=total)
    assert observed(expectation, Deployment=[found], Pod=pods(*[True] * count)).seen is seen


@pytest.mark.parametrize(("ready", "seen"), [((False, False), True), ((True, False), False)])
def test_pods_are_unready_only_where_all_of_them_run_without_being_ready(ready: Any, seen: bool) -> None:
    expectation = Expectation(Kind.DEPLOYMENT, "shop", "web", Condition.UNREADY, 2, container="web")
    found = deployment(replicas=2, readyReplicas=sum(ready))
    assert observed(expectation, Deployment=[found], Pod=pods(*ready)).seen is seen


@pytest.mark.parametrize(("status", "seen"), [("False", True), ("True", False)])
def test_what_is_said_of_a_deployments_condition_must_be_so(status: str, seen: bool) -> None:
    said = (("Available", "False"),)
    expectation = Expectation(Kind.DEPLOYMENT, "shop", "web", Condition.DEGRADED, 2, statements=said)
    found = deployment([{"type": "Available", "status": status}], replicas=2, readyReplicas=1)
    assert observed(expectation, Deployment=[found], Pod=pods(True, False)).seen is seen
