"""The operator dies right after each of its calls in turn; the end must be that of an undisturbed run."""

from __future__ import annotations

from typing import Any

import pytest

from kit.fakes.cluster import HTTP, Cluster
from kit.fakes.kube import Call, Crash
from kit.fakes.sidecars import Agent
from oasis_operator import errors
from oasis_operator.ports import kube
from oasis_operator.resources import kinds, names


def ending(cluster: Cluster) -> dict[str, Any]:
    """Return what must not depend on crashes."""
    status = cluster.run()["status"]
    left = (
        *cluster.kube.of(kinds.POD),
        *cluster.kube.of(kinds.SECRET),
        *cluster.kube.of(kinds.NETWORK_POLICY),
    )
    return {
        "outcome": status["outcome"],
        "assertions": status["assertions"],
        "stages": [item["stage"] for item in status["timings"]],
        "left": [item["metadata"]["name"] for item in left if item["metadata"]["name"] != names.DEFAULT_DENY],
        "drafts": dict(cluster.artifacts.drafts),
        "streams": {**cluster.streams.logs, **cluster.streams.beginnings},
    }


async def undisturbed(agent: Agent) -> tuple[dict[str, Any], int]:
    cluster = Cluster()
    cluster.world.agents["s-1"] = agent
    await cluster.a_run(HTTP)
    await cluster.settle()
    return ending(cluster), len(cluster.kube.calls) + len(cluster.world.calls)


@pytest.mark.parametrize(
    "agent", [Agent(), Agent(audit=({"verb": "forbidden"},))], ids=["passes", "violates"]
)
async def test_a_crash_after_any_call_loses_and_doubles_nothing(agent: Agent) -> None:
    expected, calls = await undisturbed(agent)
    for crash_at in range(1, calls + 1):
        cluster = Cluster()
        cluster.world.agents["s-1"] = agent
        await cluster.a_run(HTTP)
        remaining = [crash_at]

        def die(_call: object, remaining: list[int] = remaining) -> None:
            remaining[0] -= 1
            if remaining[0] == 0:
                raise Crash

        cluster.kube.after = die
        cluster.world.faults = die
        for _ in range(200):
            try:
                await cluster.turn()
            except Crash:
                cluster.restart()
            if cluster.is_quiet():
                break
        assert ending(cluster) == expected, f"crash after call {crash_at}"
        created = [call.name for call in cluster.kube.calls if call.verb == "create" and call.kind == "Pod"]
        assert len(set(created)) == 2, f"crash after call {crash_at}: {created}"
        assert len(cluster.world.sent) == 1, f"crash after call {crash_at}"


@pytest.mark.parametrize("reason", [kube.THROTTLED, kube.SERVER_ERROR, kube.NETWORK, kube.CONFLICT])
async def test_every_call_may_be_refused_once(reason: str) -> None:
    expected, _ = await undisturbed(Agent())
    cluster = Cluster()
    await cluster.a_run(HTTP)
    met: set[Call] = set()

    def refuse(call: Call) -> None:
        if call not in met:
            met.add(call)
            raise errors.Transient("refused for now", reason=reason)

    cluster.kube.faults = refuse
    await cluster.settle()
    assert ending(cluster) == expected
    assert len(cluster.world.sent) == 1


async def test_a_lost_answer_of_every_write_changes_nothing() -> None:
    expected, _ = await undisturbed(Agent())
    cluster = Cluster()
    await cluster.a_run(HTTP)
    met: set[Call] = set()

    def lose(call: Call) -> None:
        if call not in met and call.verb in ("create", "write_status", "delete"):
            met.add(call)
            raise errors.Transient("timed out", reason=kube.NETWORK)

    cluster.kube.after = lose
    await cluster.settle()
    assert ending(cluster) == expected
    assert len(cluster.world.sent) == 1


async def test_quota_means_waiting_and_not_losing() -> None:
    cluster = Cluster()
    await cluster.a_run()
    full = [True]

    def refuse(call: Call) -> None:
        if full[0] and (call.verb, call.kind) == ("create", "Pod"):
            raise errors.NotReady("pods exceeded quota", reason=kube.QUOTA_EXCEEDED)

    cluster.kube.faults = refuse
    for _ in range(10):
        await cluster.turn()
    status = cluster.run()["status"]
    assert status["stage"] == "Pending"
    assert next(item for item in status["conditions"] if item["type"] == "Ready")["reason"] == "QuotaExceeded"
    full[0] = False
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
