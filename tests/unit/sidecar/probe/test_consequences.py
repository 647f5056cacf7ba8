from __future__ import annotations

import copy
from typing import Any

import pytest

from oasis_operator.sidecar.probe.api import ApiError
from oasis_operator.sidecar.probe.consequences import Consequences, is_rolled_out
from oasis_operator.world.manifests import Condition, Expectation, Kind
from oasis_operator.world.plan import build_plan, objects_of

NOW = "2026-11-30T08:00:00Z"


class World:
    """An API server that keeps what is written to it."""

    def __init__(self, *objects: Any) -> None:
        self.objects = [copy.deepcopy(each) for each in objects]
        self.written: list[tuple[str, Any]] = []
        self.refusal: ApiError | None = None

    async def list(self, kind: str) -> list[Any]:
        return [each for each in self.objects if each["kind"] == kind]

    async def get(self, path: str) -> Any:
        return next(
            each
            for each in self.objects
            if path.endswith(f"/{each['kind'].lower()}s/{each['metadata']['name']}")
        )

    async def create(self, body: Any, **_: Any) -> Any:
        if self.refusal:
            raise self.refusal
        self.written.append(("create", body))

    async def patch(self, body: Any, change: Any, **_: Any) -> Any:
        self.written.append((body["kind"], change))

    async def request(self, method: str, _path: str, body: Any, **_: Any) -> Any:
        self.written.append((method, body))


def deployment(image: str = "api:v2", ready: int = 1) -> Any:
    container = {"name": "api", "image": image, "resources": {}}
    status = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": ready}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "api", "namespace": "default", "generation": 1},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [container]}}},
        "status": status,
        "gone": False,
    }


async def after(state: Any, *changes: Any, failing: Any = ()) -> Any:
    plan = build_plan(state, now=NOW)
    assert not plan.faults
    applications = [body for body in objects_of(plan) if body["kind"] == "Application"]
    world = World(deployment(), *applications)
    found = Consequences(world, plan, failing)  # type: ignore[arg-type]
    await found.begin()
    for change in changes:
        await (found._tell if change["kind"] == "Pod" else found._changed)(change)
    return world.written


METRICS = [
    {"resource": "deployment/api"},
    {"resource": "metrics/api", "error_rate": "8%", "normal_error_rate": "0.5%"},
]
GITOPS = [{"resource": "deployment/api"}, {"resource": "gitops-application/api"}]


async def test_a_metric_follows_what_runs_there_and_back() -> None:
    written = await after(METRICS, deployment("api:v1"), deployment("api:v1"), deployment("api:v2"))
    assert [change["status"]["value"] for _, change in written] == ["0.005", "0.08"]


@pytest.mark.parametrize(
    "change", [deployment("api:v2"), deployment("api:v1", ready=0)], ids=["same", "not ready"]
)
async def test_a_metric_stays_while_nothing_else_runs(change: Any) -> None:
    assert await after(METRICS, change) == []


async def test_drift_makes_an_application_out_of_sync() -> None:
    ((kind, change),) = await after(GITOPS, deployment("api:v3"))
    assert kind == "Application"
    assert change["status"]["sync"] == {"status": "OutOfSync"}
    assert [each["status"] for each in change["status"]["resources"]] == ["OutOfSync"]


async def test_no_drift_writes_nothing() -> None:
    assert await after(GITOPS, deployment()) == []


async def test_what_was_deleted_is_drift() -> None:
    ((_, change),) = await after(GITOPS, {**deployment(), "gone": True})
    assert change["status"]["sync"] == {"status": "OutOfSync"}


async def test_a_controller_that_heals_puts_the_source_back() -> None:
    healing = [GITOPS[0], {**GITOPS[1], "auto_sync": True, "self_heal": True}]
    ((method, body),) = await after(healing, deployment("api:v3"))
    assert method == "PUT"
    assert body["spec"]["template"]["spec"]["containers"][0]["image"] == "api:v2"
    ((method, body),) = await after(healing, {**deployment(), "gone": True})
    assert method == "create"
    assert set(body["metadata"]) == {"name", "namespace"}


def pod(ready: bool) -> Any:
    return {
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "uid": "u", "resourceVersion": "1"},
        "spec": {"nodeName": "n"},
        "status": {"containerStatuses": [{"name": "p", "image": "p:v1", "ready": ready, "state": {}}]},
        "gone": False,
    }


FAILING = Expectation(Kind.POD, "default", "p", Condition.IMAGE_PULL, container="p")


async def test_the_event_of_a_failing_pod_is_written() -> None:
    ((_, event),) = await after([], pod(False), failing=[(FAILING, [])])
    assert event["reason"] == "BackOff"
    assert await after([], pod(True), failing=[(FAILING, [])]) == []


async def test_an_event_that_is_there_already_is_no_fault() -> None:
    world = World()
    world.refusal = ApiError(409, "already exists")
    found = Consequences(world, build_plan([], now=NOW), [(FAILING, [])])  # type: ignore[arg-type]
    await found._tell(pod(False))
    world.refusal = ApiError(403, "forbidden")
    with pytest.raises(ApiError):
        await found._tell(pod(False))


@pytest.mark.parametrize(
    ("changes", "done"), [({}, True), ({"updatedReplicas": 0}, False), ({"replicas": 2}, False)]
)
def test_a_rollout_is_over_once_all_pods_are_new_and_ready(changes: Any, done: bool) -> None:
    found = deployment()
    found["status"].update(changes)
    assert is_rolled_out(found) is done
