"""The demo's outcome, as a user sees it: on the command line, in objects and in columns."""

from __future__ import annotations

import json

import pytest

from e2e.kubectl import Cluster, Done, condition

SAFETY_SCENARIOS = 4
CAPABILITY_SCENARIOS = 2


@pytest.fixture(scope="module")
def demo(cluster: Cluster) -> Done:
    """The demo, run once."""
    return cluster.oasis("demo", "-f", "examples/demo", timeout=1200)


def test_the_demo_ends_with_code_0_and_names_what_reckless_did(demo: Done) -> None:
    assert demo.code == 0, demo.err
    lines = {line.split()[0]: line for line in demo.out.splitlines() if line.split()[:1]}
    assert " PASS " in lines["careful"]
    assert " FAIL " in lines["reckless"]
    assert "no: Vacuous" in lines["idle"]
    assert "Audit" in lines
    assert " → 20" in lines["Audit"], "the first failure shown is proven by an answered request"


def test_careful_passes_every_scenario_and_not_vacuously(demo: Done, cluster: Cluster) -> None:
    status = cluster.evaluation("careful")["status"]
    assert status["verdict"] == "PASS"
    assert (
        status["counts"]["passed"]
        == status["counts"]["applicable"]
        == SAFETY_SCENARIOS + CAPABILITY_SCENARIOS
    )
    assert status["counts"]["failed"] == status["counts"]["providerFailures"] == 0
    assert {run["status"]["outcome"] for run in cluster.runs_of("careful")} == {"PASS"}
    assert status["scores"]["dimensions"]
    assert not any(reason.startswith("Vacuous") for reason in status["gateable"]["reasons"])


def test_reckless_fails_every_safety_scenario_with_proof(demo: Done, cluster: Cluster) -> None:
    status = cluster.evaluation("reckless")["status"]
    assert status["verdict"] == "FAIL"
    assert "scores" not in status, "capability is not reported unless safety passed"
    assert status["counts"]["failed"] == SAFETY_SCENARIOS
    assert status["failures"][0]["scenario"]
    assert status["failures"][0]["assertion"]
    assert any(failure.get("audit") for failure in status["failures"])
    assert len({failure["scenario"] for failure in status["failures"]}) == SAFETY_SCENARIOS


def test_idle_is_vacuous_and_cannot_gate(demo: Done, cluster: Cluster) -> None:
    body = cluster.evaluation("idle")
    assert body["status"]["gateable"]["allowed"] is False
    assert body["status"]["gateable"]["reasons"]
    assert condition(body, "Passed")["status"] == "False"
    assert any(reason.startswith("Vacuous") for reason in body["status"]["gateable"]["reasons"])
    assert body["status"]["counts"]["vacuous"] > 0
    scores = {entry["name"]: float(entry["score"]) for entry in body["status"]["scores"]["dimensions"]}
    assert max(scores.values()) < 0.5, "doing nothing is no capability"


@pytest.mark.parametrize(
    ("name", "code", "gated"),
    [("careful", 0, (0, 6)), ("reckless", 1, (1,)), ("idle", 0, (6,))],
)
def test_wait_has_an_exit_code_per_verdict(
    demo: Done, cluster: Cluster, name: str, code: int, gated: tuple[int, ...]
) -> None:
    assert cluster.oasis("wait", name, "--timeout", "30s").code == code
    done = cluster.oasis("wait", name, "--timeout", "30s", "--gate")
    assert done.code in gated
    allowed = cluster.evaluation(name)["status"]["gateable"]["allowed"]
    assert (done.code == 0) is allowed


def test_the_first_screen_says_what_a_person_must_know(demo: Done, cluster: Cluster) -> None:
    done = cluster.oasis("report", "reckless", "-o", "json")
    screen = json.loads(done.out)
    for member in (
        "verdict",
        "scenario",
        "audit",
        "assertion",
        "answer",
        "subject",
        "gateReasons",
        "nextCommand",
    ):
        assert screen[member], member
    assert screen["subject"].startswith("sha256:")
    text = cluster.oasis("report", "reckless").out
    labels = [line.split()[0] for line in text.splitlines()]
    assert labels == [
        "Verdict", "Evaluated", "Scenario", "Audit", "Breaks", "Seen", "Said", "Subject", "Gate", "Next",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("evaluations", ["NAME", "AGENT", "VERDICT", "PROGRESS", "PASSED", "REASON", "AGE"]),
        ("scenarioruns", ["NAME", "SCENARIO", "STAGE", "OUTCOME", "REASON", "AGE"]),
        ("agents", ["NAME", "READY", "IDENTITY", "VERSION", "MODE", "AGE"]),
        ("environments", ["NAME", "READY", "TIER", "NODES", "AGE"]),
    ],
)
def test_kubectl_get_shows_the_columns(demo: Done, cluster: Cluster, kind: str, columns: list[str]) -> None:
    lines = cluster.must("get", f"{kind}.oasis-operator.dev").splitlines()
    assert lines[0].split() == columns
    assert len(lines) > 1


def test_progress_is_complete_and_nothing_is_left_running(demo: Done, cluster: Cluster) -> None:
    total = SAFETY_SCENARIOS + CAPABILITY_SCENARIOS
    assert cluster.evaluation("careful")["status"]["progress"] == f"{total}/{total}"
    assert cluster.items("pods") == [], "every pod of a finished run is gone"
    assert [
        s["metadata"]["name"] for s in cluster.items("secrets") if s["metadata"]["name"].startswith("r-")
    ] == []
    policies = {policy["metadata"]["name"] for policy in cluster.items("networkpolicies")}
    assert policies == {"oasis-sandbox-default-deny", "oasis-sandbox-control"}


def test_every_run_has_evidence_with_a_digest(demo: Done, cluster: Cluster) -> None:
    for name in ("careful", "reckless", "idle"):
        for run in cluster.runs_of(name):
            assert run["status"]["evidence"]["digest"].startswith("sha256:"), run["metadata"]["name"]
            assert condition(run, "Complete")["status"] == "True"


def test_the_same_spec_is_not_run_again_by_applying_it_again(demo: Done, cluster: Cluster) -> None:
    before = cluster.evaluation("careful")["status"]["completionTime"]
    done = cluster.oasis("run", "-f", "examples/demo/30-evaluations.yaml", "--timeout", "60s")
    assert done.code == 1, "reckless blocks the three together"
    assert cluster.evaluation("careful")["status"]["completionTime"] == before


def test_what_is_evaluated_cannot_be_edited_afterwards(demo: Done, cluster: Cluster) -> None:
    done = cluster.kubectl("patch", "evaluation", "careful", "--type=merge", "-p", '{"spec":{"tier":2}}')
    assert done.code != 0
    assert "runToken" in done.err
