"""Alerts, dashboard and what is scraped: of metrics that exist, evaluated by Prometheus' own engine."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
import urllib.parse
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from chart.conftest import CHART, ROOT, Manifest, Rendered
from oasis_operator.clients.metrics import GAUGES, Metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Render = Callable[..., Rendered]

RULES: list[Manifest] = yaml.safe_load((CHART / "files/alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((CHART / "files/dashboard.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
NAME = re.compile(r"\boasis_[a-z_]+")
SUFFIX = re.compile(r"_(bucket|sum|count|created)$")
PAGES = ROOT / "docs/runbooks"


def existing() -> set[str]:
    metrics = Metrics("1.0.0")
    metrics.gauges(dict.fromkeys(GAUGES, lambda: 0.0))
    lines = metrics.render().decode().splitlines()
    return {line.split(" ")[2] for line in lines if line.startswith("# HELP ")}


def test_each_metric_that_is_named_anywhere_exists() -> None:
    pages = [path.read_text() for path in (ROOT / "docs").rglob("*.md")]
    named = {
        SUFFIX.sub("", name)
        for text in (*(rule["expr"] for rule in RULES), *QUERIES, *pages)
        for name in NAME.findall(text)
        if not name.startswith(("oasis_operator", "oasis_core"))
    }
    assert len(named) > 8
    assert named <= existing() | {"oasis_conformance"}


def test_each_alert_says_what_to_do() -> None:
    for rule in RULES:
        assert rule["labels"]["severity"] in ("critical", "warning", "info"), rule["alert"]
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]
        assert rule["annotations"]["runbook_url"] == f"RUNBOOKS/{rule['alert']}.md"
        page = (PAGES / f"{rule['alert']}.md").read_text()
        assert page.startswith(f"# {rule['alert']}\n")
        assert f"({rule['alert']}.md)" in (PAGES / "README.md").read_text()
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", *(rule["alert"] for rule in RULES)}


def test_nothing_of_it_is_installed_unasked(render: Render) -> None:
    kinds = {item["kind"] for item in render().manifests}
    assert not kinds & {"ServiceMonitor", "PrometheusRule"}
    assert [item for item in render().of("ConfigMap") if "dashboard" in item["metadata"]["name"]] == []


def test_what_is_asked_for_is_installed(render: Render) -> None:
    found = render(
        metrics={
            "serviceMonitor": {"enabled": True, "labels": {"release": "prom"}, "interval": "15s"},
            "prometheusRule": {"enabled": True, "runbookURL": "https://docs.example/runbooks/"},
            "dashboard": {"enabled": True},
        }
    )
    monitor, rule = found.one("ServiceMonitor"), found.one("PrometheusRule")
    assert monitor["metadata"]["labels"]["release"] == "prom"
    (endpoint,) = monitor["spec"]["endpoints"]
    service = next(item for item in found.of("Service") if item["metadata"]["name"].endswith("-metrics"))
    assert endpoint == {"port": service["spec"]["ports"][0]["name"], "path": "/metrics", "interval": "15s"}
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert [one["alert"] for one in rule["spec"]["groups"][0]["rules"]] == [one["alert"] for one in RULES]
    first = rule["spec"]["groups"][0]["rules"][0]
    assert first["annotations"]["runbook_url"] == "https://docs.example/runbooks/OasisOperatorDown.md"
    (board,) = [item for item in found.of("ConfigMap") if item["metadata"]["name"].endswith("-dashboard")]
    assert board["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(board["data"]["oasis-operator.json"]) == DASHBOARD


class OverSocket(HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=10)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


# The engine lets no series go beyond the present.
NOW = float(int(time.time())) - 20.0
HOUR = 3_600.0


def count(name: str, *rates: tuple[float, float], **labels: str) -> Manifest:
    """A counter with rates a second from moments on, seconds before now."""
    points = [[NOW - ago, rate] for ago, rate in rates]
    return {
        "labels": {"__name__": name, **labels},
        "shape": "count",
        "from": NOW - 6 * HOUR,
        "points": points,
    }


def gauge(name: str, value: float, **labels: str) -> Manifest:
    points = [[NOW - 6 * HOUR, value]]
    return {"labels": {"__name__": name, **labels}, "shape": "step", "from": NOW - 6 * HOUR, "points": points}


NOTHING = (6 * HOUR, 0.0)
LATELY = ((6 * HOUR, 0.0), (600.0, 0.0), (600.0, 0.02))
#: What is there when all is well: every series at zero, as the operator makes them.
WELL = [
    gauge("oasis_build_info", 1, version="1.0.0"),
    count("oasis_evaluations_total", NOTHING, verdict="PASS"),
    *(count("oasis_evaluations_total", NOTHING, verdict=verdict) for verdict in ("FAIL", "PROVIDER_FAILURE", "none")),
    count("oasis_scenario_runs_total", (6 * HOUR, 0.01), outcome="PASS"),
    count("oasis_provider_faults_total", NOTHING, cause="other"),
    count("oasis_reconcile_total", (6 * HOUR, 1.0), controller="evaluations", result="success"),
    count("oasis_reconcile_total", NOTHING, controller="evaluations", result="error"),
    gauge("oasis_workqueue_longest_running_seconds", 0.2),
    gauge("oasis_event_loop_lag_seconds", 0.01),
    gauge("oasis_scenario_runs_active", 3),
    gauge("oasis_evaluations_lapsed", 0),
    gauge("oasis_admission_list_renewed_timestamp_seconds", NOW - 30),
]  # fmt: skip
#: What is otherwise where an alert is due; None takes the series away.
AMISS: dict[str, list[Manifest] | None] = {
    "OasisOperatorDown": None,
    "OasisSafetyFailure": [count("oasis_evaluations_total", *LATELY, verdict="FAIL")],
    "OasisProviderFaults": [count("oasis_provider_faults_total", *LATELY, cause="other")],
    "OasisReconcileErrors": [
        count("oasis_reconcile_total", *LATELY, controller="evaluations", result="error")
    ],
    "OasisQueueStuck": [gauge("oasis_workqueue_longest_running_seconds", 301)],
    "OasisEventLoopLag": [gauge("oasis_event_loop_lag_seconds", 6)],
    "OasisRunsStuck": [count("oasis_scenario_runs_total", NOTHING, outcome="PASS")],
    "OasisVerdictLapsed": [gauge("oasis_evaluations_lapsed", 2)],
    "OasisAdmissionListStale": [gauge("oasis_admission_list_renewed_timestamp_seconds", NOW - 300)],
    "OasisNoVerdict": [count("oasis_evaluations_total", *LATELY, verdict="none")],
}


@pytest.fixture
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[list[Manifest], str], list[Any]]]:
    """Evaluate queries over series with the engine that worlds have."""
    program = ROOT / "dist/bin/prometheus"
    if not program.exists():
        pytest.skip("the engine was not found: make binaries")
    running: list[subprocess.Popen[bytes]] = []

    def query(series: list[Manifest], text: str) -> list[Any]:
        folder: Path = tmp_path_factory.mktemp("p")
        (folder / "state.json").write_text(
            json.dumps(
                {
                    "now": NOW,
                    "listen": {},
                    "prometheus": {"series": series, "metadata": {}, "targets": [], "groups": []},
                }
            )
        )
        path = folder / "s"
        running.append(subprocess.Popen([program, f"--state={folder}/state.json", f"--socket={path}"]))
        deadline = time.monotonic() + 10
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        connection = OverSocket(str(path))
        connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": text, "time": NOW}))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        assert answer["status"] == "success", answer
        return list(answer["data"]["result"])

    yield query
    for process in running:
        process.kill()
        process.wait()


def replaced(amiss: list[Manifest] | None) -> list[Manifest]:
    if amiss is None:
        return [one for one in WELL if one["labels"]["__name__"] != "oasis_build_info"]
    changed = [one["labels"] for one in amiss]
    return [*(one for one in WELL if one["labels"] not in changed), *amiss]


@pytest.mark.parametrize("name", [rule["alert"] for rule in RULES])
def test_an_alert_is_due_when_it_should_and_not_when_all_is_well(ask: Any, name: str) -> None:
    (rule,) = [one for one in RULES if one["alert"] == name]
    assert ask(WELL, rule["expr"]) == []
    assert len(ask(replaced(AMISS[name]), rule["expr"])) == 1


@pytest.mark.parametrize("text", QUERIES)
def test_each_query_of_the_dashboard_is_one(ask: Any, text: str) -> None:
    ask(WELL, text)
