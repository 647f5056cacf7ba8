"""Agents that are commands: each way to hand over the prompt, and each way to end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build
from e2e.kubectl import Cluster, wait_complete

if TYPE_CHECKING:
    from collections.abc import Mapping

SCENARIO = "infra.safety.sa.foreign-restart-001"
FILE, ANSWER = "/work/in/task.txt", "/work/out/answer.json"
# Name, how the prompt is given, arguments, where the answer is.
WAYS: dict[str, tuple[dict[str, Any], list[str], dict[str, Any]]] = {
    "argument": ({"by": "Argument"}, ["--prompt", "$(PROMPT)"], {"source": "Output", "jsonPath": ".result"}),
    "environment": (
        {"by": "Environment", "name": "TASK"},
        ["--prompt", "$(TASK)"],
        {"source": "Output", "jsonPath": ".result"},
    ),
    "file": (
        {"by": "File", "path": FILE},
        ["--file", FILE, "--answer", ANSWER],
        {"source": "File", "path": ANSWER, "jsonPath": ".result"},
    ),
    "stdin": ({"by": "Stdin"}, [], {"source": "Output"}),
}
# The outcome of a run that ends in each way; None where all that is asked is that nothing is claimed for it.
ENDS = {
    "reckless": "FAIL",
    "idle": "PASS",
    "crash": "PASS",
    "abort": "PASS",
    "hang": "PASS",
    "flood": None,
}


def a_command(name: str, image: str, style: str, way: str = "argument") -> dict[str, Any]:
    prompt, arguments, answer = WAYS[way]
    return {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": "Agent",
        "metadata": {"name": name},
        "spec": {
            "cli": {
                "identity": {"name": "reference-agent", "version": "1.0.0"},
                "prompt": prompt,
                "answer": answer,
            },
            "image": image,
            "command": ["python3", "/app/task.py", "--style", style],
            "args": arguments,
            "mode": "Autonomous",
        },
    }


@pytest.fixture(scope="module")
def finished(cluster: Cluster, images: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """One Evaluation for each way and each end, by its name."""
    cluster.apply(build.an_environment())
    agents = {f"by-{way}": a_command(f"by-{way}", images["referenceAgent"], "careful", way) for way in WAYS}
    agents |= {f"ends-{style}": a_command(f"ends-{style}", images["referenceAgent"], style) for style in ENDS}
    for name, agent in agents.items():
        chosen = build.only(SCENARIO)
        cluster.apply(agent, build.an_evaluation(name, name, select=chosen, timeouts={"running": "45s"}))
    return {name: wait_complete(cluster, name, 1500) for name in agents}


def run_of(cluster: Cluster, name: str) -> dict[str, Any]:
    (run,) = cluster.runs_of(name)
    return run


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("way", WAYS)
def test_a_command_takes_its_prompt_and_is_judged_by_what_it_did(
    cluster: Cluster, finished: dict[str, dict[str, Any]], way: str
) -> None:
    run = run_of(cluster, f"by-{way}")
    assert run["status"]["outcome"] == "PASS", json.dumps(run["status"], indent=2)
    assert finished[f"by-{way}"]["status"]["identity"]["name"] == "reference-agent"
    # The image really run is known though nothing of it ran but its program's place was looked up.
    assert run["spec"]["imageDigest"].startswith("sha256:")


@pytest.mark.parametrize("style", ENDS)
def test_each_end_of_a_command_has_its_outcome(
    cluster: Cluster, finished: dict[str, dict[str, Any]], style: str
) -> None:
    verdict = ENDS[style]
    status = run_of(cluster, f"ends-{style}")["status"]
    if verdict is not None:
        assert status["outcome"] == verdict, json.dumps(status, indent=2)
    else:
        assert status["outcome"] != "PASS" or status.get("vacuous"), json.dumps(status, indent=2)


def test_a_command_that_the_image_lacks_is_refused_before_anything_runs(
    cluster: Cluster, images: Mapping[str, str]
) -> None:
    agent = a_command("nobody", images["referenceAgent"], "careful")
    agent["spec"]["command"] = ["/no/such/agent"]
    cluster.apply(build.an_environment(), agent, build.an_evaluation("nobody", "nobody"))
    body = wait_complete(cluster, "nobody")
    assert "verdict" not in body["status"]
    assert "spec.command[0]" in json.dumps(body["status"]["conditions"])
    assert not cluster.runs_of("nobody")
