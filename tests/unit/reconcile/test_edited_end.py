"""What may be edited after the end changes nothing of it, and no tool waits for a generation that nobody observes."""

from __future__ import annotations

from typing import Any

import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, Cluster
from kit.fakes.sidecars import Agent
from oasis_operator.resources import kinds

AGENTS = {"PASS": Agent(), "FAIL": Agent(audit=({"verb": "forbidden"},))}


async def ended(verdict: str) -> Cluster:
    cluster = Cluster()
    cluster.world.agents["s-1"] = AGENTS[verdict]
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert cluster.status()["verdict"] == verdict
    return cluster


def edit(cluster: Cluster, **spec: Any) -> None:
    cluster.kube.edit(kinds.EVALUATION, NAMESPACE, "check", lambda item: item["spec"].update(spec))


@pytest.mark.parametrize("verdict", sorted(AGENTS))
@pytest.mark.parametrize("spec", [{"parallelism": 7}, {"state": "Cancel"}, {"retention": {}}], ids=str)
async def test_an_edit_after_the_end_is_observed_and_leaves_the_end_alone(
    verdict: str, spec: dict[str, Any]
) -> None:
    cluster = await ended(verdict)
    before = cluster.status()
    edit(cluster, **spec)
    await cluster.turn()
    after = cluster.status()
    assert after["observedGeneration"] == 2
    assert {item["observedGeneration"] for item in after["conditions"]} == {2}
    told = [(item["type"], item["status"], item["lastTransitionTime"]) for item in before["conditions"]]
    assert [
        (item["type"], item["status"], item["lastTransitionTime"]) for item in after["conditions"]
    ] == told
    assert {**after, "conditions": 0, "observedGeneration": 0} == {
        **before,
        "conditions": 0,
        "observedGeneration": 0,
    }


@pytest.mark.parametrize("verdict", sorted(AGENTS))
async def test_an_end_that_a_trouble_covered_is_told_again(verdict: str) -> None:
    cluster = await ended(verdict)
    before = cluster.status()["conditions"]

    def cover(item: dict[str, Any]) -> None:
        for one in item["status"]["conditions"]:
            if one["type"] == "Ready":
                one.update(status="Unknown", reason="InvalidSpec")
        stalled = {**item["status"]["conditions"][0], "type": "Stalled", "status": "True"}
        kept = [one for one in item["status"]["conditions"] if one["type"] != "Stalled"]
        item["status"]["conditions"] = [*kept, stalled]

    cluster.kube.edit(kinds.EVALUATION, NAMESPACE, "check", cover)
    await cluster.turn()
    after = cluster.status()["conditions"]
    assert {item["type"]: item["status"] for item in after} == {
        item["type"]: item["status"] for item in before
    }
