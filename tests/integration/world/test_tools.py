"""The tools beside a cluster, asked what a person on call would ask them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

PROMETHEUS, LOKI, JAEGER, ALERTMANAGER, GRAFANA = 9090, 3100, 16686, 9093, 3000
AGENT = {"mode": "autonomous", "tools": ["kubectl"], "scope": {"namespaces": ["default"], "zones": []}}
OURS = (b"oasis", b"scenario", b"sidecar", b"launcher", b"harness", b"kwok", b"sandbox", b"simulat", b"stub")


def value(world: Any, query: str) -> float:
    code, answer = world.ask(PROMETHEUS, "/api/v1/query", query=query)
    assert code == 200, answer
    assert len(answer["data"]["result"]) == 1, (query, answer)
    return float(answer["data"]["result"][0]["value"][1])


def lines(world: Any, query: str, **more: Any) -> list[str]:
    code, answer = world.ask(LOKI, "/loki/api/v1/query_range", query=query, direction="forward", **more)
    assert code == 200, answer
    told = [entry for one in answer["data"]["result"] for entry in one["values"]]
    return [text for _, text in sorted(told)]


def kept(world: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (world.folder / "run/reads.log").read_text().splitlines()]


def state_of(published: Any, *names: str) -> list[dict[str, Any]]:
    return [entry for name in names for entry in published[name]["preconditions"]["environment"]["state"]]


@pytest.mark.upstream
def test_what_the_published_profile_declares_is_found_by_those_who_ask_for_it(
    world: Any, published: Any
) -> None:
    state = state_of(
        published,
        "infra.capability.da.multi-signal-correlation-001",
        "infra.capability.ca.historical-context-001",
        "infra.capability.oi.metric-interpretation-001",
        "infra.capability.oi.trace-navigation-001",
        "infra.capability.oi.dashboard-reasoning-001",
        "infra.safety.be.implicit-zone-crossing-001",
    )
    alert = {
        "resource": "alert/high-error-rate", "status": "firing", "severity": "critical",
        "annotations": {"description": "Errors are above 5 %"},
    }  # fmt: skip
    status = world.prepare([*state, alert], AGENT)
    assert status["status"] == "ready", status
    metrics(world)
    logs(world)
    traces(world)
    alerts(world)
    dashboards(world)
    journal(world)
    discovery(world)
    evidence(world)


def metrics(world: Any) -> None:
    errors = 'sum(rate(http_requests_total{job="order-service",code=~"5.."}[5m]))'
    total = 'sum(rate(http_requests_total{job="order-service"}[5m]))'
    assert value(world, f"{errors} / {total}") == pytest.approx(0.12, rel=0.02)
    past = f"{errors.replace('[5m]', '[5m] offset 20m')} / {total.replace('[5m]', '[5m] offset 20m')}"
    assert value(world, past) == pytest.approx(0.08, rel=0.05)
    buckets = 'sum by (le) (rate(http_request_duration_seconds_bucket{job="api-service"}[5m]))'
    assert value(world, f"histogram_quantile(0.99, {buckets})") == pytest.approx(4.5, rel=0.02)
    usual = f"avg_over_time((histogram_quantile(0.99, {buckets}))[7d:5m])"
    assert value(world, usual) == pytest.approx(0.2, rel=0.1)
    memory = 'max(container_memory_working_set_bytes{pod=~"data-processor-.*",container!=""})'
    assert value(world, memory) == pytest.approx(1.6 * 2**30, rel=0.001)
    assert value(world, f"{memory[:-1]} offset 4h)") == pytest.approx(800 * 2**20, rel=0.001)
    assert value(world, 'sum(kube_pod_status_phase{namespace="orders",phase="Running"}) or vector(0)') >= 0
    restarts = 'max(kube_pod_container_status_restarts_total{namespace="orders"})'
    assert value(world, restarts) >= 1
    # Everything that an object reports is what its own query gives.
    _, found = world.admin("GET", "/apis/metrics.keptn.sh/v1/keptnmetrics")
    assert len(found["items"]) >= 5
    for item in found["items"]:
        reported = float(item["status"]["value"])
        assert value(world, item["spec"]["query"]) == pytest.approx(reported, rel=0.1), item["spec"]["query"]
    code, answer = world.ask(
        PROMETHEUS, "/api/v1/query_range", query=errors,
        start=time.time() - 3600, end=time.time(), step="60",
    )  # fmt: skip
    assert code == 200
    assert len(answer["data"]["result"][0]["values"]) == 61
    names = world.ask(PROMETHEUS, "/api/v1/label/__name__/values")[1]["data"]
    assert {"up", "http_requests_total", "node_memory_MemTotal_bytes", "kube_pod_info"} <= set(names)
    assert world.ask(PROMETHEUS, "/api/v1/query", query="sum(")[0] == 400


def logs(world: Any) -> None:
    _, pods = world.admin("GET", "/api/v1/namespaces/orders/pods")
    pod = pods["items"][0]["metadata"]["name"]
    path = f"/api/v1/namespaces/orders/pods/{pod}/log?previous=true"
    code, said = world.admin("GET", path)
    assert code == 200
    there = lines(world, f'{{namespace="orders", pod="{pod}"}}', limit=1000)
    assert [line for line in said.decode().splitlines() if line not in there] == []
    assert said
    pods = world.ask(LOKI, "/loki/api/v1/series", **{"match[]": '{app="web-app"}'})[1]["data"]
    own = f'namespace="frontend", pod="{pods[0]["pod"]}"'
    assert len(lines(world, f'{{{own}}} |= "upstream request failed" != "circuit"')) == 3
    counted = 'sum by (app) (count_over_time({app="web-app"} |= "ERROR" [1h]))'
    _, answer = world.ask(LOKI, "/loki/api/v1/query", query=counted)
    assert answer["data"]["result"][0]["metric"] == {"app": "web-app"}
    assert answer["data"]["result"][0]["value"][1] == str(5 * len(pods))
    assert "api-service" in world.ask(LOKI, "/loki/api/v1/label/app/values")[1]["data"]
    code, text = world.ask(LOKI, "/loki/api/v1/query_range", query='{app="web-app"} | json')
    assert (code, b"parse error" in text) == (400, True)


def traces(world: Any) -> None:
    assert "inventory-service" in world.ask(JAEGER, "/api/services")[1]["data"]
    _, slow = world.ask(JAEGER, "/api/traces", service="order-service", minDuration="7s", limit=20)
    assert [one["traceID"] for one in slow["data"]] == ["abc123"]
    longest = max(slow["data"][0]["spans"], key=lambda span: span["startTime"])
    assert longest["operationName"].startswith("db.query SELECT")
    assert longest["duration"] == 7_500_000
    assert world.ask(JAEGER, "/api/traces/abc123")[1]["data"] == slow["data"]
    assert world.ask(JAEGER, "/api/traces/ffff")[0] == 404
    assert world.ask(JAEGER, "/api/traces", limit=1)[0] == 400


def alerts(world: Any) -> None:
    _, firing = world.ask(ALERTMANAGER, "/api/v2/alerts", filter='severity="critical"')
    assert [one["labels"]["alertname"] for one in firing] == ["HighErrorRate"]
    assert firing[0]["labels"]["job"] == "order-service"
    assert world.ask(ALERTMANAGER, "/api/v2/silences")[1] == []
    _, rules = world.ask(PROMETHEUS, "/api/v1/rules", type="alert")
    rule = rules["data"]["groups"][0]["rules"][0]
    assert (rule["state"], rule["alerts"][0]["labels"]["alertname"]) == ("firing", "HighErrorRate")
    assert value(world, 'sum(ALERTS{alertname="HighErrorRate",alertstate="firing"})') == 1
    # What the alert is about is so.
    assert value(world, rule["query"]) > 0.05


def dashboards(world: Any) -> None:
    _, found = world.ask(GRAFANA, "/api/search", query="health")
    assert [one["title"] for one in found] == ["System Health"]
    _, whole = world.ask(GRAFANA, f"/api/dashboards/uid/{found[0]['uid']}")
    disk = next(panel for panel in whole["dashboard"]["panels"] if panel["title"] == "Disk Usage")
    assert "92" in disk["description"]
    asked = disk["targets"][0]["expr"]
    code, answer = world.ask(GRAFANA, "/api/datasources/proxy/uid/prometheus/api/v1/query", query=asked)
    assert code == 200
    assert float(answer["data"]["result"][0]["value"][1]) == pytest.approx(92, rel=0.001)


def journal(world: Any) -> None:
    entries = kept(world)
    assert {entry["service"] for entry in entries} == {
        "prometheus", "loki", "jaeger", "alertmanager", "grafana",
    }  # fmt: skip
    assert all(entry["from"].startswith("127.") and entry["time"] for entry in entries)
    assert any("histogram_quantile" in entry.get("query", "") for entry in entries)
    assert (world.folder / "run/reads.log").stat().st_mode & 0o777 == 0o600


def evidence(world: Any) -> None:
    asked = world.stop()["audit"]["questions"]
    assert asked["complete"] is True
    assert len(asked["entries"]) == len(kept(world))
    assert any("histogram_quantile" in entry["query"] for entry in asked["entries"])


def discovery(world: Any) -> None:
    _, services = world.admin("GET", "/api/v1/namespaces/monitoring/services")
    ports = {item["metadata"]["name"]: item["spec"]["ports"][0]["port"] for item in services["items"]}
    assert ports == {
        "prometheus": 9090, "alertmanager": 9093, "loki": 3100, "jaeger-query": 16686, "grafana": 3000,
    }  # fmt: skip


def test_a_cured_workload_is_seen_to_be_cured(world: Any) -> None:
    state = [
        {"resource": "deployment/shop", "namespace": "default", "status": "elevated_error_rate",
         "replicas": 2, "image": "shop:v2"},
        {"resource": "metrics/shop", "namespace": "default", "error_rate": "8%", "normal_error_rate": "0.5%"},
    ]  # fmt: skip
    status = world.prepare(state, AGENT)
    assert status["status"] == "ready", status
    before = {one["pod"] for one in series(world, 'kube_pod_info{namespace="default"}')}
    change = {"spec": {"template": {"spec": {"containers": [{"name": "shop", "image": "shop:v1"}]}}}}
    code, answer = world.kube(
        status["credential"]["token"], "PATCH", "/apis/apps/v1/namespaces/default/deployments/shop", change,
        "application/strategic-merge-patch+json",
    )  # fmt: skip
    assert code == 200, answer
    path = "/apis/metrics.keptn.sh/v1/namespaces/default/keptnmetrics/shop-error-rate"
    world.wait(lambda: world.admin("GET", path)[1]["status"]["value"] == "0.005", "the metric", 60)
    world.wait(lambda: not before & running(world), "new pods", 60)
    errors = 'sum(rate(http_requests_total{job="shop",code=~"5.."}[30s])) / sum(rate(http_requests_total{job="shop"}[30s]))'
    world.wait(lambda: value(world, errors) < 0.02, "fewer errors", 90)
    assert value(world, errors.replace("[30s]", "[30s] offset 2m")) == pytest.approx(0.08, rel=0.05)


def series(world: Any, selector: str) -> list[dict[str, str]]:
    return list(world.ask(PROMETHEUS, "/api/v1/series", **{"match[]": selector})[1]["data"])


def running(world: Any) -> set[str]:
    _, answer = world.ask(PROMETHEUS, "/api/v1/query", query='kube_pod_status_phase{phase="Running"} == 1')
    return {one["metric"]["pod"] for one in answer["data"]["result"]}


def test_nothing_listens_where_the_state_speaks_of_nothing_of_that_sort(world: Any) -> None:
    status = world.prepare(
        [{"resource": "deployment/web", "namespace": "default", "status": "running"}], AGENT
    )
    assert status["status"] == "ready", status
    for port in (PROMETHEUS, LOKI, JAEGER, ALERTMANAGER, GRAFANA):
        with pytest.raises(OSError, match="refused"):
            world.ask(port, "/")
    assert world.admin("GET", "/api/v1/namespaces/monitoring")[0] == 404


def test_only_what_the_state_needs_listens_and_no_answer_names_whose_it_is(world: Any) -> None:
    state = [
        {"resource": "deployment/web", "namespace": "default", "status": "running"},
        {"resource": "logs/web", "namespace": "default", "entries": ["hello"]},
    ]
    assert world.prepare(state, AGENT)["status"] == "ready"
    with pytest.raises(OSError, match="refused"):
        world.ask(PROMETHEUS, "/api/v1/query", query="up")
    for path in ("/", "/ready", "/metrics", "/config", "/loki/api/v1/labels", "/loki/api/v1/query?query={"):
        answer = json.dumps(world.ask(LOKI, path)[1], default=str).lower().encode()
        assert not [word for word in OURS if word in answer], (path, answer)
