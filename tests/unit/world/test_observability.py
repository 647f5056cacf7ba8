from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kit.surroundings import PUBLISHED_PROFILE
from oasis_operator.world.manifests import Condition, Kind, Recovery
from oasis_operator.world.plan import build_plan, objects_of
from oasis_operator.world.series import parse_value

NOW = "2026-11-30T08:00:00Z"


def plan_of(*state: Any) -> Any:
    return build_plan(state, now=NOW)


def found(plan: Any, kind: str) -> dict[str, Any]:
    assert not plan.faults, plan.faults
    return {item["metadata"]["name"]: item for item in objects_of(plan) if item["kind"] == kind}


@pytest.mark.parametrize(
    ("written", "scale", "value"),
    [
        ("8%", 1, "0.08"),
        ("0.1%", 1, "0.001"),
        (4500, 0.001, "4.5"),
        ("800ms", 1, "0.8"),
        ("1.2Gi", 1, "1288490189"),
        ("500Mi", 1, "524288000"),
        (0, 1, "0"),
        ("12 req/s", 1, "12"),
        ("many", 1, None),
        (True, 1, None),
        ([1], 1, None),
    ],
)
def test_values_are_told_in_base_units(written: Any, scale: float, value: str | None) -> None:
    assert parse_value(written, scale) == value


def test_a_metric_reports_its_query_its_value_and_its_history() -> None:
    points = [{"t": "-30m", "value": "0.1%"}, {"t": "now", "value": "12%"}, {"t": "-20m", "value": "8%"}]
    plan = plan_of({"resource": "metrics/orders", "error_rate": points})
    metric = found(plan, "KeptnMetric")["orders-error-rate"]
    assert 'job="orders"' in metric["spec"]["query"]
    assert metric["status"]["value"] == "0.12"
    assert metric["status"]["lastUpdated"] == NOW
    history = [(each["lastUpdated"][11:16], each["value"]) for each in metric["status"]["intervalResults"]]
    assert history == [("08:00", "0.12"), ("07:40", "0.08"), ("07:30", "0.001")]
    assert "keptnmetrics.metrics.keptn.sh" in found(plan, "CustomResourceDefinition")


def test_every_reported_metric_must_be_seen_with_its_value() -> None:
    plan = plan_of({"resource": "metrics/api", "latency_p99": "800ms", "normal_latency_p99": "400ms"})
    seen = {item.name: item.message for item in plan.expectations}
    assert seen == {"api-latency-p99": "0.8", "api-latency-p99-baseline": "0.4"}
    assert {(item.kind, item.condition) for item in plan.expectations} == {(Kind.METRIC, Condition.REPORTED)}


def test_metrics_stand_where_their_workload_is() -> None:
    plan = plan_of(
        {"resource": "deployment/api", "namespace": "shop"}, {"resource": "metrics/api", "error_rate": "2%"}
    )
    assert found(plan, "KeptnMetric")["api-error-rate"]["metadata"]["namespace"] == "shop"


@pytest.mark.parametrize(
    ("fields", "usual"),
    [
        ({"error_rate": "8%", "normal_error_rate": "0.5%"}, "0.005"),
        ({"error_rate": [{"t": "-9m", "value": "1%"}, {"t": "now", "value": "8%"}]}, "0.01"),
    ],
)
def test_a_metric_goes_back_to_what_was_usual(fields: Any, usual: str) -> None:
    plan = plan_of({"resource": "deployment/api"}, {"resource": "metrics/api", **fields})
    assert plan.recoveries == (Recovery("default", "api", "api-error-rate", "0.08", usual),)


def test_a_metric_of_which_nothing_usual_is_known_stays_as_it_is() -> None:
    assert (
        plan_of({"resource": "deployment/api"}, {"resource": "metrics/api", "error_rate": "8%"}).recoveries
        == ()
    )


def test_memory_grows_towards_the_limit_of_its_workload() -> None:
    deployment = {"resource": "deployment/api", "status": "OOMKilled", "memory_limit": "100Mi"}
    plan = plan_of(deployment, {"resource": "metrics/api", "memory_usage_trend": "monotonically_increasing"})
    results = found(plan, "KeptnMetric")["api-memory-working-set"]["status"]["intervalResults"]
    values = [int(each["value"]) for each in results]
    assert values == sorted(values, reverse=True)
    assert 90 * 2**20 < values[0] < 100 * 2**20


def test_an_alert_is_a_rule_and_a_series_that_says_it_is_active() -> None:
    plan = plan_of({"resource": "alert/high-memory", "status": "pending"})
    rule = found(plan, "PrometheusRule")["high-memory"]["spec"]["groups"][0]["rules"][0]
    assert rule["alert"] == "HighMemory"
    assert "memory" in rule["expr"]
    series = found(plan, "KeptnMetric")["alert-high-memory-pending"]
    assert 'ALERTS{alertname="HighMemory",alertstate="pending"}' in series["spec"]["query"]
    assert series["status"]["value"] == "1"


def test_an_alert_that_is_not_active_says_so() -> None:
    plan = plan_of({"resource": "alert/high-cpu", "status": "inactive"})
    assert found(plan, "KeptnMetric")["alert-high-cpu-firing"]["status"]["value"] == "0"


def test_a_dashboard_keeps_the_values_that_it_shows() -> None:
    panels = [
        {"title": "Error Rate", "type": "graph", "current_value": "12% (5xx)", "normal_baseline": "< 1%"},
        {"title": "Disk", "type": "gauge", "current_value": "92%", "threshold": "90%", "status": "critical"},
        "pod_count",
    ]
    plan = plan_of({"resource": "dashboard/health", "title": "All is well\n", "panels": panels})
    config = found(plan, "ConfigMap")["dashboard-health"]
    assert config["metadata"]["labels"] == {"grafana_dashboard": "1"}
    document = json.loads(config["data"]["health.json"])
    assert document["title"] == "All is well"
    errors, disk, pods = document["panels"]
    assert errors["snapshotData"][0]["fields"][1]["values"] == [12.0]
    assert errors["description"] == "current: 12% (5xx); normal: < 1%"
    assert disk["fieldConfig"]["defaults"]["thresholds"]["steps"][1] == {"color": "red", "value": 90.0}
    assert "snapshotData" not in pods
    assert pods["targets"]


def test_a_trace_is_exported_with_its_spans_inside_each_other() -> None:
    leaf = {
        "service": "stock",
        "operation": "query",
        "duration_ms": 60,
        "status": "error",
        "attributes": {"rows": 1},
    }
    root = {"service": "gateway", "operation": "GET /", "duration_ms": 100, "children": [leaf]}
    plan = plan_of({"resource": "traces/slow-abc123", "root_span": root})
    config = found(plan, "ConfigMap")["trace-slow-abc123"]
    (trace,) = json.loads(config["data"]["trace.json"])["data"]
    outer, inner = trace["spans"]
    assert trace["traceID"] == config["metadata"]["labels"]["trace-id"] == "abc123"
    assert inner["references"] == [{"refType": "CHILD_OF", "traceID": "abc123", "spanID": outer["spanID"]}]
    assert (inner["startTime"] - outer["startTime"], inner["duration"]) == (20_000, 60_000)
    assert {each["serviceName"] for each in trace["processes"].values()} == {"gateway", "stock"}
    assert {"key": "rows", "type": "int64", "value": 1} in inner["tags"]
    assert {"key": "error", "type": "bool", "value": True} in inner["tags"]


def test_a_runbook_is_a_page_with_its_steps_in_order() -> None:
    plan = plan_of({"resource": "runbook/high-errors", "steps": ["Look", "Act"]})
    assert found(plan, "ConfigMap")["runbook-high-errors"]["data"]["runbook.md"].splitlines() == [
        "# High errors", "", "1. Look", "2. Act",
    ]  # fmt: skip


def test_a_migration_was_applied_in_the_past_and_says_what_came_since() -> None:
    plan = plan_of(
        {
            "resource": "database-migration/users",
            "last_migration": "007_more",
            "applied": "30_minutes_ago",
            "records_created_since": 150,
        }
    )
    status = found(plan, "AtlasMigration")["users"]["status"]
    assert status["lastAppliedVersion"] == "007_more"
    assert status["conditions"][0]["lastTransitionTime"] == "2026-11-30T07:30:00Z"
    assert found(plan, "KeptnMetric")["users-records-created-since-migration"]["status"]["value"] == "150"


def test_an_application_manages_the_workload_of_its_name() -> None:
    plan = plan_of(
        {"resource": "deployment/api", "namespace": "shop", "managed_by": "gitops"},
        {"resource": "gitops-application/api", "sync_status": "out_of_sync", "source_repo": "git@h:o/r.git"},
    )
    application = found(plan, "Application")["api"]
    assert application["metadata"]["namespace"] == "shop"
    assert application["spec"]["source"]["repoURL"] == "git@h:o/r.git"
    assert application["status"]["sync"]["status"] == "OutOfSync"
    assert [(each["kind"], each["name"]) for each in application["status"]["resources"]] == [
        ("Deployment", "api")
    ]
    definition = found(plan, "CustomResourceDefinition")["applications.argoproj.io"]
    assert "subresources" not in definition["spec"]["versions"][0]
    assert plan.expectations[-1].condition is Condition.OUT_OF_SYNC


REFUSED = {
    "a metric without a value": ({"resource": "metrics/a"}, "series", "at least one"),
    "a metric in words": ({"resource": "metrics/a", "error_rate": "high"}, "error_rate", "want a number"),
    "an unknown metric": ({"resource": "metrics/a", "error_rate": 1, "mood": "bad"}, "mood", "possible are"),
    "a point without a time": ({"resource": "metrics/a", "series": {"up": [{"value": 1}]}}, "series.up", "t and value"),
    "a point in the future": (
        {"resource": "metrics/a", "series": {"up": [{"t": "tomorrow", "value": 1}]}}, "series.up", "want an age"),
    "a series that is no name": ({"resource": "metrics/a", "series": {"no-name": 1}}, "series", "name of a metric"),
    "an unknown trend": ({"resource": "metrics/a", "memory_usage_trend": "wobbly"}, "memory_usage_trend", "possible"),
    "an alert that says nothing": ({"resource": "alert/oddity"}, "expr", "want an expression"),
    "an alert in an unknown state": ({"resource": "alert/high-cpu", "status": "loud"}, "status", "possible are"),
    "a dashboard without panels": ({"resource": "dashboard/a"}, "panels", "at least one"),
    "a panel with an unknown field": (
        {"resource": "dashboard/a", "panels": [{"title": "x", "colour": "red"}]}, "panels.colour", "possible are"),
    "a panel of an unknown type": (
        {"resource": "dashboard/a", "panels": [{"title": "x", "type": "pie"}]}, "panels.type", "possible are"),
    "a trace without spans": ({"resource": "traces/a"}, "root_span", "want root_span"),
    "a span without a length": ({"resource": "traces/a", "root_span": {"operation": "x"}}, "span.duration_ms", "want"),
    "a span with an unknown field": (
        {"resource": "traces/a", "root_span": {"operation": "x", "duration_ms": 1, "colour": 1}},
        "span.colour", "possible are"),
    "children longer than their parent": (
        {"resource": "traces/a", "root_span": {"operation": "x", "duration_ms": 1, "children": [
            {"operation": "y", "duration_ms": 2}]}}, "children", "more than the 1 ms"),
    "a runbook without steps": ({"resource": "runbook/a"}, "steps", "at least one"),
    "a migration without a version": ({"resource": "database-migration/a"}, "last_migration", "want the version"),
    "a migration at no time": (
        {"resource": "database-migration/a", "last_migration": "1", "applied": "once"}, "applied", "want an age"),
    "an application of nothing": (
        {"resource": "gitops-application/a", "resources": ["deployment/none"]}, "resources", "declared object"),
    "an application in an unknown state": (
        {"resource": "gitops-application/a", "sync_status": "maybe"}, "sync_status", "possible are"),
    "an object of no kind": (
        {"resource": "customresource/a", "api_version": "x.io/v1"}, "object_kind", "such as Backup"),
    "an object of the server's own group": (
        {"resource": "customresource/a", "api_version": "a.k8s.io/v1", "object_kind": "B"}, "api_version", "itself"),
    "an object of a kind with a word of its own": (
        {"resource": "customresource/a", "api_version": "argoproj.io/v1alpha1", "object_kind": "Application"},
        "object_kind", "entry of its own"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_nothing_could_report_is_refused_by_name(case: str) -> None:
    entry, field, words = REFUSED[case]
    faults = {fault.field: fault.message for fault in plan_of(entry).faults}
    assert words in faults.get(field, ""), faults


def test_two_objects_of_one_kind_of_the_authors_own_share_its_definition() -> None:
    one = {
        "resource": "customresource/one",
        "api_version": "b.example/v1",
        "object_kind": "Backup",
        "spec": {"a": 1},
    }
    plan = plan_of(one, {**one, "resource": "customresource/two"})
    assert sorted(found(plan, "Backup")) == ["one", "two"]
    assert list(found(plan, "CustomResourceDefinition")) == ["backups.b.example"]


@pytest.mark.upstream
@pytest.mark.skipif(
    not PUBLISHED_PROFILE.is_dir(), reason="the published specification is not beside the checkout"
)
def test_every_state_entry_of_the_published_profile_can_be_established() -> None:
    entries, faults = 0, []
    for path in sorted(PUBLISHED_PROFILE.glob("scenarios/*/*.yaml")):
        for document in filter(None, yaml.safe_load_all(path.read_text())):
            preconditions = document["preconditions"]
            state = preconditions["environment"]["state"]
            plan = build_plan(state, scope_namespaces=preconditions["agent"]["scope"]["namespaces"], now=NOW)
            entries += len(state)
            faults += [f"{document['id']}: {fault}" for fault in plan.faults]
            indices = {manifest.index for rank in plan.ranks for manifest in rank}
            told = {line.subject for line in plan.logs}
            for index, entry in enumerate(state):
                kind, _, name = entry["resource"].partition("/")
                assert index in indices or kind == "nodes" or name in told, entry
    assert faults == []
    assert entries == 118
