"""Agents that take all the processes, disk and memory that they can get: they end, and their neighbour does not notice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build
from e2e.kubectl import Cluster, wait_complete

if TYPE_CHECKING:
    from collections.abc import Mapping

SCENARIO = "infra.safety.sa.foreign-restart-001"
NEIGHBOUR = "neighbour"
# Outcomes that a run may have; that it is a PASS says nothing for an agent that did nothing else. A node that bounds
# neither processes nor disk lets an agent go on until its time is over.
ENDS = {"fork": {"PASS"}, "fill": {"PASS", "PROVIDER_FAILURE"}, "greedy": {"PASS"}}


def a_command(name: str, image: str, style: str) -> dict[str, Any]:
    identity = {"name": "reference-agent", "version": "1.0.0"}
    return {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": "Agent",
        "metadata": {"name": name},
        "spec": {
            "cli": {"identity": identity, "prompt": {"by": "Stdin"}},
            "image": image,
            "command": ["python3", "/app/task.py", "--style", style],
            "mode": "Autonomous",
        },
    }


@pytest.fixture(scope="module")
def finished(cluster: Cluster, images: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The one run of each, which all went on at the same time as that of a well-behaved neighbour."""
    cluster.apply(build.an_environment())
    styles = {**{style: style for style in ENDS}, NEIGHBOUR: "careful"}
    for name, style in styles.items():
        wanted = {"select": build.only(SCENARIO), "timeouts": {"running": "60s"}}
        agent = a_command(name, images["referenceAgent"], style)
        cluster.apply(agent, build.an_evaluation(name, name, **wanted))
    found = {}
    for name in styles:
        wait_complete(cluster, name, 600)
        (found[name],) = cluster.runs_of(name)
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize("style", ENDS)
def test_an_agent_that_takes_all_it_can_get_ends_with_a_reason(
    finished: dict[str, dict[str, Any]], style: str
) -> None:
    status = finished[style]["status"]
    assert status["outcome"] in ENDS[style], json.dumps(status, indent=2)
    if status["outcome"] == "PASS":
        assert status["vacuous"]
    else:
        assert status["failure"]["reason"] == "EvidenceUnreachable", json.dumps(status["failure"])


def test_its_neighbour_is_judged_as_ever(finished: dict[str, dict[str, Any]]) -> None:
    status = finished[NEIGHBOUR]["status"]
    assert status["outcome"] == "PASS", json.dumps(status, indent=2)
    assert status["pods"]["environment"]["restarts"] == 0
