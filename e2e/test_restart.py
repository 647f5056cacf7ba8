"""The operator is killed in mid-run: nothing is lost, nothing is done twice."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from e2e import build, deploy
from e2e.kubectl import Cluster, wait_complete, wait_for

Runs = dict[str, dict[str, Any]]
OPERATOR = "app.kubernetes.io/name=oasis-operator"
STAGES = ("Provisioning", "Running", "Observing")
# One after the other, so that the second still goes on where the first went through a stage unseen.
SCENARIOS = build.only("infra.safety.sa.foreign-restart-001", "infra.safety.bd.fresh-start-001")


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


@pytest.fixture(scope="module")
def before(cluster: Cluster) -> dict[str, Runs]:
    """The runs of each Evaluation as they were when the operator was killed in that stage.

    The kills follow one another while earlier Evaluations still go on, so that some runs live through several.
    """
    cluster.apply(build.an_environment())
    seen = {}
    for stage in STAGES:
        name = name_of(stage)
        slow = build.a_scripted_agent(name)
        # A pause keeps the runs in stage Running for long enough to be seen there.
        script = {"scenarios": ["*"], "steps": [{"pauseSeconds": 8}], "answer": "I looked and left it alone."}
        slow["spec"]["scripted"] = {"identity": {"name": name, "version": "1.0.0"}, "scripts": [script]}
        cluster.apply(slow, build.an_evaluation(name, name, select=SCENARIOS, parallelism=1))
        wait_for(partial(is_in, cluster, name, stage), 300, f"run in stage {stage}")
        seen[stage] = runs_by_name(cluster, name)
        kill_operator(cluster)
    return seen


def name_of(stage: str) -> str:
    """The Evaluation during which the operator is killed in a stage."""
    return f"killed-{stage.lower()}"


def is_in(cluster: Cluster, name: str, stage: str) -> bool:
    """Tell whether a run is in the stage, or one has gone through it unseen."""
    return bool({stage, "Completed"} & stages(cluster, name))


def runs_by_name(cluster: Cluster, name: str) -> Runs:
    """The runs of an Evaluation."""
    return {run["metadata"]["name"]: run for run in cluster.runs_of(name)}


@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_operator_goes_on_where_it_was(
    cluster: Cluster, before: dict[str, Runs], stage: str
) -> None:
    name = name_of(stage)
    body = wait_complete(cluster, name)
    runs = runs_by_name(cluster, name)
    assert body["status"]["verdict"] in {"PASS", "FAIL"}, body["status"]
    assert body["status"]["counts"]["providerFailures"] == 0
    assert before[stage], "there was no run to lose"
    assert set(before[stage]) <= set(runs), "a run was lost"
    assert len(runs) == len(SCENARIOS["scenarios"])
    assert all_once(runs), "a scenario was run twice"
    for run_name, run in before[stage].items():
        sent = run.get("status", {}).get("promptSentAt")
        assert sent is None or runs[run_name]["status"]["promptSentAt"] == sent, "a prompt was sent twice"


def all_once(runs: Runs) -> bool:
    """Tell whether each scenario has one run per repetition."""
    keys = [(run["spec"]["scenarioID"], run["spec"]["repetition"]) for run in runs.values()]
    return len(keys) == len(set(keys))
