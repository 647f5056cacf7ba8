"""What the tools beside a cluster say, compiled from objects as an API server lists them."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from oasis_operator.world.check import tools_of
from oasis_operator.world.monitoring.series import draw, value_at
from oasis_operator.world.monitoring.state import Watched
from oasis_operator.world.monitoring.tools import TOOLS
from oasis_operator.world.monitoring.traffic import part_below
from oasis_operator.world.plan import build_plan, objects_of

NOW = "2026-11-30T08:00:00Z"
AT = 1796025600.0
MEMORY = "container_memory_working_set_bytes"


def plan_of(*state: Any) -> Any:
    plan = build_plan(state, now=NOW)
    assert not plan.faults, plan.faults
    return plan


def listed(*state: Any, **more: list[Any]) -> dict[str, list[Any]]:
    """Give the objects of a state as lists by kind, with identities."""
    objects = defaultdict(list, {kind: list(items) for kind, items in more.items()})
    for body in objects_of(plan_of(*state)):
        objects[body["kind"]].append(json.loads(json.dumps(body)))
    return dict(objects)


def told(*state: Any, **more: list[Any]) -> Any:
    return Watched(AT, TOOLS).look(listed(*state, **more), AT)


def series(state: Any, name: str, **labels: str) -> list[Any]:
    wanted = {"__name__": name, **labels}.items()
    return [one for one in state["prometheus"]["series"] if wanted <= one["labels"].items()]


def pod(name: str, namespace: str = "default", restarts: int = 0, **container: Any) -> Any:
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": name},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", **container}]},
        "status": {
            "phase": "Running",
            "containerStatuses": [
                {"name": "c", "ready": True, "restartCount": restarts, "state": {"running": {}}}
            ],
        },
    }


def node(name: str) -> Any:
    addresses = [{"type": "InternalIP", "address": "10.0.1.2"}]
    return {
        "metadata": {"name": name},
        "spec": {},
        "status": {"addresses": addresses, "capacity": {"cpu": "2", "memory": "8Gi"}, "conditions": []},
    }


def latest(one: Any, at: float = AT) -> float:
    return value_at(tuple((t, v) for t, v in one["points"]), at)


def metrics(name: str = "web", **fields: Any) -> dict[str, Any]:
    return {"resource": f"metrics/{name}", **fields}


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ({"resource": "deployment/web"}, []),
        ({"resource": "metrics/web", "error_rate": "8%"}, ["prometheus"]),
        ({"resource": "alert/high-memory"}, ["prometheus", "alertmanager"]),
        ({"resource": "logs/web", "entries": ["a"]}, ["loki"]),
        ({"resource": "deployment/web", "last_log": "a"}, ["loki"]),
        ({"kind": "traces", "name": "t", "spec": {"root_span": {"name": "a", "duration_ms": 1}}}, ["jaeger"]),
        ({"resource": "dashboards/d", "panels": ["cpu"]}, ["prometheus", "grafana"]),
    ],
)
def test_only_the_tools_that_a_state_speaks_of_are_there(state: Any, names: list[str]) -> None:
    plan = plan_of(state)
    plan = replace(plan, state=(state,))
    found = tools_of(plan)
    assert [tool.name for tool in found] == names
    services = {
        (body["metadata"]["name"], body["spec"]["ports"][0]["port"])
        for body in objects_of(plan)
        if body["kind"] == "Service"
    }
    assert services == {(tool.service, tool.port) for tool in found}
    namespaces = [body["metadata"]["name"] for body in objects_of(plan) if body["kind"] == "Namespace"]
    assert ("monitoring" in namespaces) == bool(names)


def test_a_service_that_the_scenario_declares_itself_stays_as_it_is() -> None:
    own = {"resource": "service/prometheus", "namespace": "monitoring", "port": 80}
    plan = plan_of(own, metrics(error_rate="8%"))
    found = [body for body in objects_of(plan) if body["kind"] in ("Service", "EndpointSlice")]
    assert [(body["kind"], body["spec"]["ports"][0]["port"]) for body in found] == [("Service", 80)]


def test_a_share_of_errors_is_that_of_the_counters_now_and_then() -> None:
    points = [{"t": "-30m", "value": "0.1%"}, {"t": "-20m", "value": "8%"}, {"t": "now", "value": "12%"}]
    state = told(metrics(error_rate=points))
    good, bad = (series(state, "http_requests_total", job="web", code=code)[0] for code in ("200", "500"))
    for at, share in ((AT, 0.12), (AT - 300, 0.12), (AT - 1200, 0.08), (AT - 1800, 0.001), (AT + 99, 0.12)):
        assert latest(bad, at) / (latest(bad, at) + latest(good, at)) == pytest.approx(share)
    assert {good["shape"], bad["shape"]} == {"count"}


def test_a_usual_value_held_until_a_while_ago() -> None:
    state = told(metrics(p99_latency_ms=4500, normal_p99_latency_ms=200))
    buckets = {one["labels"]["le"]: one for one in series(state, "http_request_duration_seconds_bucket")}
    total = buckets["+Inf"]
    for at, seconds in ((AT, "4.5"), (AT - 800, "4.5"), (AT - 7200, "0.2")):
        assert latest(buckets[seconds], at) / latest(total, at) == pytest.approx(0.99)
    rates = [latest(one) for one in sorted(buckets.values(), key=lambda one: float(one["labels"]["le"]))]
    assert rates == sorted(rates)


@pytest.mark.parametrize("known", [{}, {0.5: 0.2}, {0.99: 4.5}, {0.5: 0.1, 0.95: 0.4, 0.99: 0.3}])
def test_parts_of_requests_grow_with_the_time_that_they_may_take(known: dict[float, float]) -> None:
    parts = [part_below(bound, list(known), list(known.values())) for bound in (0.001, 0.05, 0.2, 1, 60)]
    assert parts == sorted(parts)
    assert parts[-1] == 1


def test_the_memory_of_the_fullest_pod_is_what_is_declared() -> None:
    points = [{"t": "-6h", "value": "500Mi"}, {"t": "now", "value": "1.6Gi"}]
    entry = metrics(series={"container_memory_working_set_bytes": points})
    state = told(entry, Pod=[pod("web-1"), pod("web-2"), pod("other-1")])
    found = {one["labels"]["pod"]: latest(one) for one in series(state, "container_memory_working_set_bytes")}
    assert max(found["web-1"], found["web-2"]) == pytest.approx(1.6 * 2**30, rel=1e-6)
    assert found["other-1"] < 200 * 2**20
    earliest = max(latest(one, AT - 6 * 3600) for one in series(state, "container_memory_working_set_bytes"))
    assert earliest == 500 * 2**20


def test_workloads_whose_names_begin_alike_have_their_own_pods() -> None:
    entries = [metrics(name, series={MEMORY: size}) for name, size in (("web", "1Gi"), ("web-canary", "2Gi"))]
    pods = [pod("web-1"), pod("web-canary-1")]
    for one, app in zip(pods, ("web", "web-canary"), strict=True):
        one["metadata"]["labels"] = {"app": app}
    state = told(*entries, Pod=pods)
    assert {one["labels"]["pod"]: latest(one) / 2**30 for one in series(state, MEMORY)} == {
        "web-1": 1, "web-canary-1": 2,
    }  # fmt: skip


def test_rules_of_one_name_have_one_series() -> None:
    state = told({"resource": "alert/high-memory"}, {"resource": "alert/high.memory"})
    assert len(state["alerts"]) == 2
    assert len(series(state, "ALERTS", alertstate="firing")) == 1


def test_what_objects_report_anew_is_a_jump_in_the_series() -> None:
    watched = Watched(AT, TOOLS)
    objects = listed(metrics(error_rate="8%"))
    watched.look(objects, AT)
    objects["KeptnMetric"][0]["status"].update(value="0.005", lastUpdated="2026-11-30T08:02:00Z")
    state = watched.look(objects, AT + 121)
    bad = series(state, "http_requests_total", code="500")[0]
    good = series(state, "http_requests_total", code="200")[0]
    for at, share in ((AT + 119, 0.08), (AT + 121, 0.005)):
        assert latest(bad, at) / (latest(bad, at) + latest(good, at)) == pytest.approx(share)


def test_what_is_gone_ends_and_what_is_new_begins() -> None:
    watched = Watched(AT, TOOLS)
    watched.look({"Pod": [pod("web-1")]}, AT)
    state = watched.look({"Pod": [pod("web-2", restarts=1)]}, AT + 60)
    ended, begun = (series(state, "kube_pod_info", pod=name)[0] for name in ("web-1", "web-2"))
    assert (ended["until"], begun["from"], "until" in begun) == (AT + 60, AT + 60, False)
    state = watched.look({"Pod": [pod("web-2", restarts=2)]}, AT + 90)
    restarts = series(state, "kube_pod_container_status_restarts_total", pod="web-2")[0]
    assert restarts["points"] == [[AT + 60, 1], [AT + 90, 2]]
    assert restarts["shape"] == "step"


def test_an_alert_that_fires_has_its_series_and_is_about_something_that_is_so() -> None:
    deployment = {"resource": "deployment/web", "status": "running"}
    state = told({"resource": "alert/high-error-rate", "for": "5m"}, deployment)
    alert = state["alerts"][0]
    assert alert["labels"]["alertname"] == "HighErrorRate"
    assert alert["labels"]["job"] == "web"
    assert alert["active_at"] + 300 == alert["firing_at"] < AT
    assert len(series(state, "ALERTS", alertstate="firing")) == 1
    bad = series(state, "http_requests_total", job="web", code="500")[0]
    good = series(state, "http_requests_total", job="web", code="200")[0]
    assert latest(bad) / (latest(bad) + latest(good)) > 0.05
    assert state["prometheus"]["groups"][0]["rules"][0]["state"] == "firing"


def test_an_alert_about_memory_is_about_a_pod_with_a_limit() -> None:
    limited: Any = {"resources": {"limits": {"memory": "256Mi"}}}
    entry = {"resource": "alert/high-memory", "status": "pending"}
    state = told(entry, Pod=[pod("free"), pod("held", **limited)])
    assert state["alerts"][0]["labels"]["pod"] == "held"
    assert state["alerts"][0]["state"] == "pending"
    used = series(state, "container_memory_working_set_bytes", pod="held")[0]
    assert latest(used) / (256 * 2**20) > 0.9
    assert not series(state, "ALERTS", alertstate="firing")


def test_an_alert_that_is_inactive_is_a_rule_and_nothing_else() -> None:
    state = told({"resource": "alert/high-memory", "status": "inactive"})
    assert state["alerts"] == []
    assert not series(state, "ALERTS")
    assert state["prometheus"]["groups"][0]["rules"][0]["state"] == "inactive"


def test_panels_say_what_nodes_use_and_how_many_requests_there_are() -> None:
    panels = [
        {"title": "Request Rate", "current_value": "1200 req/s"},
        {"title": "Error Rate", "current_value": "12%"},
        {"title": "Disk Usage", "current_value": "92%"},
        {"title": "CPU Usage", "current_value": "45%"},
    ]
    state = told({"resource": "dashboard/health", "panels": panels}, Node=[node("a"), node("b"), node("c")])
    assert [each["document"]["title"] for each in state["dashboards"]] == ["Health"]
    total = sum(latest(one) for one in series(state, "http_requests_total"))
    assert total == pytest.approx(1200)
    assert latest(series(state, "http_requests_total", code="500")[0]) == pytest.approx(144)
    idle = [latest(one) for one in series(state, "node_cpu_seconds_total", mode="idle")]
    assert sum(idle) / len(idle) == pytest.approx(0.55)
    fullest = max(
        1 - latest(one) / latest(series(state, "node_filesystem_size_bytes", node=one["labels"]["node"])[0])
        for one in series(state, "node_filesystem_avail_bytes")
    )
    assert fullest == pytest.approx(0.92)


def test_traces_are_those_of_the_objects() -> None:
    root = {"service": "gate", "operation": "GET /", "duration_ms": 8200}
    state = told({"resource": "traces/slow-request-abc123", "root_span": root})
    assert [each["traceID"] for each in state["traces"]] == ["abc123"]
    assert state["traces"][0]["spans"][0]["duration"] == 8_200_000


def test_no_series_is_there_twice_and_all_are_in_order() -> None:
    state = told(
        metrics(error_rate="8%", latency_p99="800ms", normal_latency_p99="400ms"),
        {"resource": "alert/high-latency"},
        Pod=[pod("web-1")], Node=[node("a")],
    )  # fmt: skip
    keys = [json.dumps(one["labels"], sort_keys=True) for one in state["prometheus"]["series"]]
    assert len(keys) == len(set(keys))
    for one in state["prometheus"]["series"]:
        moments = [point[0] for point in one["points"]]
        assert moments == sorted(moments)
        assert one["labels"]["__name__"]


def test_a_curve_holds_its_values_at_their_moments() -> None:
    curve = draw([(0.0, 1.0), (600.0, 5.0)], hold=100, usual=2.0, changes=[(700.0, 3.0)])
    assert [value_at(curve, at) for at in (-200, -50, 0, 550, 600, 699, 700, 900)] == [2, 1, 1, 5, 5, 5, 3, 3]


def test_nothing_in_the_file_names_whose_it_is() -> None:
    state = told(
        metrics(error_rate="8%"), {"resource": "alert/high-memory"}, {"resource": "dashboard/d", "panels": ["cpu"]},
        Pod=[pod("web-1")], Node=[node("a")],
    )  # fmt: skip
    text = json.dumps(state).lower()
    for word in ("oasis", "scenario", "sandbox", "simulat", "harness", "fake", "kwok"):
        assert word not in text
