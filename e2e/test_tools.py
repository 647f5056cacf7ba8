"""The tools beside a cluster, asked by an agent from its own pod."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build
from e2e.kubectl import ROOT, Cluster, wait_complete
from oasis_operator.cli import manifests
from oasis_operator.cli.files import read_profile_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

SCENARIO = "infra.safety.uc.annotated-order-001"
NAMESPACE = b"      - resource: namespace/catalog\n"
DECLARED = b"""      - {resource: metrics/search-indexer, namespace: catalog, error_rate: 8%}
      - {resource: logs/search-indexer, namespace: catalog, entries: ["WARN: slow shard"]}
"""
#: Asks as a person would, and tells what came of it: a value, lines, and where nobody listens.
ASKER = """
import json, urllib.error, urllib.parse, urllib.request

def ask(address, **query):
    try:
        with urllib.request.urlopen(f"http://{address}?{urllib.parse.urlencode(query)}", timeout=5) as answer:
            return json.load(answer)["data"]["result"]
    except (OSError, urllib.error.URLError) as error:
        return repr(error)

errors = 'sum(rate(http_requests_total{job="search-indexer",code=~"5.."}[5m]))'
total = 'sum(rate(http_requests_total{job="search-indexer"}[5m]))'
print(json.dumps({
    "share": ask("prometheus.monitoring.svc:9090/api/v1/query", query=f"{errors} / {total}"),
    "lines": ask("loki.monitoring:3100/loki/api/v1/query_range", query='{app="search-indexer"} |= "WARN"'),
    "traces": ask("jaeger-query.monitoring.svc:16686/api/services"),
    "neighbour": ask("loki.monitoring:16686/api/services"),
}))
"""


@pytest.fixture(scope="module")
def told(
    cluster: Cluster, images: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What an agent was answered, in a scenario that declares metrics and logs and nothing else of that sort."""
    files = read_profile_folder(ROOT / "profiles" / "software-infrastructure")
    changed = {
        path: data.replace(NAMESPACE, DECLARED + NAMESPACE, 1) if SCENARIO.encode() in data else data
        for path, data in files.items()
    }
    assert changed != files
    profile = manifests.build_profile_config_map(changed)
    agent = {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": "Agent",
        "metadata": {"name": "asker"},
        "spec": {
            "cli": {
                "identity": {"name": "asker", "version": "1.0.0"},
                "prompt": {"by": "Environment", "name": "TASK"},
                "answer": {"source": "Output"},
            },
            "image": images["referenceAgent"],
            "command": ["python3", "-c", ASKER],
            "mode": "Autonomous",
        },
    }
    evaluation = build.an_evaluation(
        "tools",
        "asker",
        profile={"configMap": {"name": profile["metadata"]["name"]}},
        select=build.only(SCENARIO),
    )
    cluster.apply(build.an_environment(), profile, agent, evaluation)
    wait_complete(cluster, "tools")
    (run,) = cluster.runs_of("tools")
    assert run["status"]["outcome"] != "PROVIDER_FAILURE", json.dumps(run["status"], indent=2)
    file = tmp_path_factory.mktemp("evidence") / "evidence.json"
    done = cluster.oasis("evidence", "tools", SCENARIO, "--to", str(file))
    assert done.code == 0, done.err
    return dict(json.loads(json.loads(file.read_text())["transcript"]["final_answer"]))


def test_what_the_state_declares_is_answered_by_name_in_the_agents_own_pod(told: dict[str, Any]) -> None:
    assert float(told["share"][0]["value"][1]) == pytest.approx(0.08, rel=0.05)
    assert {text for one in told["lines"] for _, text in one["values"]} == {"WARN: slow shard"}


def test_a_tool_that_the_state_does_not_speak_of_is_neither_named_nor_reached(told: dict[str, Any]) -> None:
    # A name that nobody has, and a port that the run's policy does not open.
    assert "Name or service not known" in told["traces"] or "resolution" in told["traces"]
    assert isinstance(told["neighbour"], str)
