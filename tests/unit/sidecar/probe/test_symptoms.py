from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.sidecar.probe import symptoms
from oasis_operator.sidecar.probe.symptoms import World
from oasis_operator.world.manifests import Condition, Expectation, Kind


def pod(
    name: Any = "web-7c5f99d98-kwpmd",
    *,
    owner: Any = "web-7c5f99d98",
    ready: Any = True,
    state: Any = None,
    phase: Any = "Running",
    **status: Any,
) -> Any:
    state = state or {"restartCount": 0, "state": {"running": {}}}
    return {
        "metadata": {
            "name": name, "namespace": "shop",
            "ownerReferences": [{"kind": "ReplicaSet", "name": owner}] if owner else [],
        },
        "status": {
            "phase": phase, "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [{"name": "web", "ready": ready, **state}], **status,
        },
    }  # fmt: skip


def workload(ready: Any, replicas: Any, generation: Any = 1, observed: Any = 1) -> Any:
    status = {"observedGeneration": observed, "readyReplicas": ready, "replicas": replicas}
    return {"metadata": {"name": "web", "namespace": "shop", "generation": generation}, "status": status}


def expectation(condition: Any, **more: Any) -> Any:
    return Expectation(Kind.DEPLOYMENT, "shop", "web", condition, container="web", **more)


def look(wanted: Any, pods: Any, item: Any) -> Any:
    return symptoms.observe(wanted, World({"Pod": pods, "Deployment": [item]}))


CRASHING = {
    "restartCount": 6,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"reason": "Error", "exitCode": 1}},
}


def test_running_means_that_every_pod_is_ready_and_the_controller_knows_it() -> None:
    assert look(expectation(Condition.RUNNING), [pod()], workload(1, 1)).seen
    assert not look(expectation(Condition.RUNNING), [pod()], workload(0, 1)).seen
    assert not look(expectation(Condition.RUNNING), [pod(ready=False)], workload(0, 1)).seen
    assert not look(expectation(Condition.RUNNING), [], workload(0, 0)).seen
    assert not look(expectation(Condition.RUNNING), [pod()], workload(1, 1, generation=2)).seen


@pytest.mark.parametrize(("ready", "seen"), [(0, False), (1, True), (2, False)])
def test_degraded_means_some_but_not_all(ready: Any, seen: Any) -> None:
    pods = [pod(f"web-7c5f99d98-{index}", ready=index < ready) for index in range(2)]
    assert look(expectation(Condition.DEGRADED, replicas=2), pods, workload(ready, 2)).seen is seen


def test_a_failure_is_seen_only_with_its_reason_its_last_end_and_its_restarts() -> None:
    wanted = expectation(Condition.CRASH_LOOP, restarts=6)
    found = look(wanted, [pod(ready=False, state=CRASHING)], workload(0, 1))
    assert found.seen
    assert found.text == "container web: CrashLoopBackOff, 6 restarts, last Error (1) (1 pods)"
    assert not look(
        expectation(Condition.OOM_KILLED), [pod(ready=False, state=CRASHING)], workload(0, 1)
    ).seen
    assert not look(
        expectation(Condition.CRASH_LOOP, restarts=7), [pod(ready=False, state=CRASHING)], workload(0, 1)
    ).seen
    assert not look(wanted, [pod()], workload(1, 1)).seen


def test_pending_needs_the_schedulers_word() -> None:
    waiting = [
        {"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available: 3 Insufficient cpu."}
    ]
    found = look(
        expectation(Condition.PENDING),
        [pod(ready=False, phase="Pending", conditions=waiting)],
        workload(0, 1),
    )
    assert found.seen
    assert "Insufficient cpu" in found.text
    assert not look(expectation(Condition.PENDING), [pod(ready=False, phase="Pending")], workload(0, 1)).seen


def test_pods_of_another_workload_with_a_similar_name_are_not_counted() -> None:
    others = [pod("web-api-7c5f99d98-x", owner="web-api-7c5f99d98"), pod("web", owner=None)]
    found = look(expectation(Condition.RUNNING), [pod(), *others], workload(1, 1))
    assert found == symptoms.Observation(seen=True, text="1 of 1 pods ready")


def test_pods_that_are_going_away_are_not_counted() -> None:
    leaving = pod("web-7c5f99d98-old")
    leaving["metadata"]["deletionTimestamp"] = "2026-11-30T08:00:00Z"
    assert look(expectation(Condition.RUNNING), [pod(), leaving], workload(1, 1)).seen


def test_a_claim_is_seen_by_its_phase() -> None:
    claim = {
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {"volumeName": "pv"},
        "status": {"phase": "Bound"},
    }
    world = World({"PersistentVolumeClaim": [claim]})
    bound = Expectation(Kind.CLAIM, "shop", "data", Condition.BOUND)
    assert symptoms.observe(bound, world) == symptoms.Observation(seen=True, text="phase Bound, volume pv")
    assert not symptoms.observe(Expectation(Kind.CLAIM, "shop", "data", Condition.UNBOUND), world).seen
    assert not symptoms.observe(Expectation(Kind.CLAIM, "shop", "gone", Condition.BOUND), world).seen
