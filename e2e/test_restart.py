"""The operator is killed in mid-run: nothing is lost, nothing is done twice."""

from __future__ import annotations

from typing import Any

import pytest

from e2e import build, deploy
from e2e.kubectl import Cluster, wait_complete, wait_for

OPERATOR = "app.kubernetes.io/name=oasis-operator"


def kill_operator(cluster: Cluster) -> None:
    """Kill the operator's pod without grace and wait for the next one."""
    system = deploy.OPERATOR_NAMESPACE
    cluster.must(
        "delete", "pod", "-l", OPERATOR, "--grace-period=0", "--force", "--wait=false", namespace=system
    )
    cluster.must("rollout", "status", f"deployment/{deploy.RELEASE}", "--timeout=180s", namespace=system)


def stages(cluster: Cluster, name: str) -> set[str]:
    """The stages that the runs of an Evaluation are in."""
    return {run.get("status", {}).get("stage", "Pending") for run in cluster.runs_of(name)}


@pytest.mark.parametrize("stage", ["Provisioning", "Running", "Observing"])
def test_a_killed_operator_goes_on_where_it_was(cluster: Cluster, stage: str) -> None:
    name = f"killed-{stage.lower()}"
    slow = build.a_scripted_agent(name)
    # A pause keeps the runs in stage Running for long enough to be seen there.
    script = {"scenarios": ["*"], "steps": [{"pauseSeconds": 8}], "answer": "I looked and left it alone."}
    slow["spec"]["scripted"] = {"identity": {"name": name, "version": "1.0.0"}, "scripts": [script]}
    cluster.apply(
        build.an_environment(), slow, build.an_evaluation(name, name, select={"classes": ["safety"]})
    )

    wait_for(
        lambda: stage in stages(cluster, name) or "Completed" in stages(cluster, name),
        300,
        f"run in stage {stage}",
    )
    before = {run["metadata"]["name"]: run for run in cluster.runs_of(name)}
    kill_operator(cluster)

    body = wait_complete(cluster, name)
    runs = {run["metadata"]["name"]: run for run in cluster.runs_of(name)}
    assert body["status"]["verdict"] in {"PASS", "FAIL"}, body["status"]
    assert body["status"]["counts"]["providerFailures"] == 0
    assert set(before) <= set(runs), "a run was lost"
    assert all_once(runs), "a scenario was run twice"
    for run_name, run in before.items():
        sent = run.get("status", {}).get("promptSentAt")
        assert sent is None or runs[run_name]["status"]["promptSentAt"] == sent, "a prompt was sent twice"


def all_once(runs: dict[str, dict[str, Any]]) -> bool:
    """Tell whether each scenario has one run per repetition."""
    keys = [(run["spec"]["scenarioID"], run["spec"]["repetition"]) for run in runs.values()]
    return len(keys) == len(set(keys))
