"""The operator dies right after each of its calls in turn, from the first look at an Evaluation to its verdict."""

from __future__ import annotations

from typing import Any

import pytest

from kit.fakes.cluster import HTTP, Cluster
from kit.fakes.judge import a_profile, a_scenario
from kit.fakes.kube import WRITES, Crash
from kit.fakes.sidecars import Agent
from oasis_operator import errors
from oasis_operator.ports import kube
from oasis_operator.resources import kinds

FORBIDDEN = Agent(audit=({"verb": "forbidden"},))


def a_cluster(agent: Agent) -> Cluster:
    cluster = Cluster(profile=a_profile(a_scenario("s-1"), a_scenario("s-2")))
    cluster.world.agents["s-1"] = agent
    cluster.user_evaluates(HTTP, parallelism=1)
    return cluster


def ending(cluster: Cluster) -> dict[str, Any]:
    """Return what must not depend on crashes."""
    status = cluster.status()
    return {
        "verdict": status["verdict"],
        "counts": status["counts"],
        "progress": status["progress"],
        "failures": status.get("failures"),
        "passed": cluster.condition("Passed")["reason"],
        "pods": cluster.kube.of(kinds.POD),
        "secrets": cluster.kube.of(kinds.SECRET),
        "policies": [item["metadata"]["name"] for item in cluster.kube.of(kinds.NETWORK_POLICY)],
        "runs": [run["status"]["outcome"] for run in cluster.kube.of(kinds.SCENARIO_RUN)],
        "drafts": dict(cluster.artifacts.drafts),
    }


async def settle_through(cluster: Cluster, crash_at: int) -> None:
    """Settle, with the operator dying right after its n-th write and starting again."""
    remaining = [crash_at]

    def die(call: Any) -> None:
        if call.verb in WRITES:
            remaining[0] -= 1
            if remaining[0] == 0:
                raise Crash

    cluster.kube.after = die
    for _ in range(300):
        try:
            await cluster.turn()
        except Crash:
            cluster.restart()
        if cluster.is_quiet():
            break
    for _ in range(3):
        await cluster.turn()


@pytest.mark.parametrize("agent", [Agent(), FORBIDDEN], ids=["passes", "violates"])
@pytest.mark.parametrize("part", range(10))
async def test_a_crash_after_any_write_loses_and_doubles_nothing(agent: Agent, part: int) -> None:
    undisturbed = a_cluster(agent)
    await undisturbed.settle()
    for _ in range(3):
        await undisturbed.turn()
    expected, writes = ending(undisturbed), len(undisturbed.kube.writes)
    for crash_at in range(1 + part, writes + 1, 10):
        cluster = a_cluster(agent)
        await settle_through(cluster, crash_at)
        assert ending(cluster) == expected, f"crash after {cluster.kube.writes[crash_at - 1]}"
        assert len(cluster.world.sent) == 2, f"crash after {cluster.kube.writes[crash_at - 1]}"
        worlds = {c.name for c in cluster.kube.writes if c.verb == "create" and c.name.startswith("w-")}
        assert len(worlds) == 2, f"crash after {cluster.kube.writes[crash_at - 1]}"


async def test_every_call_may_be_refused_once() -> None:
    undisturbed = a_cluster(Agent())
    await undisturbed.settle()
    cluster = a_cluster(Agent())
    met: set[Any] = set()

    def refuse(call: Any) -> None:
        if call not in met:
            met.add(call)
            raise errors.Transient("refused for now", reason=kube.THROTTLED)

    cluster.kube.faults = refuse
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    assert len(cluster.world.sent) == 2
