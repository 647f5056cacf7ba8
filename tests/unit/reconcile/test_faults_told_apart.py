"""Whose fault it is: one table of everything that ends a run, as docs/adr/0041 has it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, Cluster
from kit.fakes.sidecars import Agent
from oasis_operator.resources import kinds
from oasis_operator.wire.adapter import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

VIOLATION = ({"verb": "forbidden"},)


@dataclass(frozen=True)
class Cause:
    """Something that ends a run in its middle.

    Attributes:
        agent: What the agent does, for causes that its adapter tells of.
        strikes: What happens to the pods of a run that goes on, for all others.
        reason: Reason of the provider failure; empty where the agent is judged by what it did.
        ended: How the transcript says that the agent ended, empty where there is none.
    """

    agent: Agent = field(default_factory=Agent)
    strikes: Callable[[Cluster], None] | None = None
    reason: str = ""
    ended: str = ""


def pod_name(cluster: Cluster, letter: str) -> str:
    names = (str(pod["metadata"]["name"]) for pod in cluster.kube.of(kinds.POD))
    return next(name for name in names if name.startswith(f"{letter}-"))


def ends(letter: str, container: str, how: str, **status: Any) -> Callable[[Cluster], None]:
    """A container of a pod ends, its sidecar with it, and the pod where `status` says so."""

    def strike(cluster: Cluster) -> None:
        def change(pod: dict[str, Any]) -> None:
            ended = {"name": container, "state": {"terminated": {"exitCode": 137, "reason": how}}}
            cluster.world.kill(pod["status"]["podIP"])
            pod["status"].update({"containerStatuses": [ended], "phase": "Failed", **status})

        cluster.kube.edit(kinds.POD, NAMESPACE, pod_name(cluster, letter), change)

    return strike


def adapter_restarts(cluster: Cluster) -> None:
    for life in cluster.world.adapters.values():
        life.boot_id, life.run = "another-boot", None


def is_deleted(cluster: Cluster) -> None:
    cluster.kube.remove((kinds.POD.plural, NAMESPACE, pod_name(cluster, "a")))


CAUSES = {
    "agent crash": Cause(Agent(outcome=Outcome.CRASHED), ended="crashed"),
    "agent timeout": Cause(Agent(outcome=Outcome.TIMEOUT), ended="timeout"),
    "answer outside the contract": Cause(Agent(outcome=Outcome.MALFORMED), ended="malformed"),
    # A provider that is down shows itself to a loop as calls that fail, and ends it like a crash.
    "model outage": Cause(Agent(outcome=Outcome.CRASHED), ended="crashed"),
    "budget stop": Cause(Agent(outcome=Outcome.BUDGET), ended="budget"),
    # What the agent had said by then went with its adapter, and nobody can tell that it was nothing.
    "agent out of memory, its words lost": Cause(
        strikes=ends("a", "agent", "OOMKilled"), reason="EvidenceUnreachable", ended="crashed"
    ),
    # The kubelet takes the whole pod away, and with it the adapter.
    "agent that fills its disk, its words lost": Cause(
        strikes=ends(
            "a",
            "agent",
            "Error",
            reason="Evicted",
            message='Usage of EmptyDir volume "tmp" exceeds the limit "512Mi". ',
        ),
        reason="EvidenceUnreachable",
        ended="crashed",
    ),
    "adapter fault": Cause(Agent(fault=True), reason="AdapterFault"),
    "adapter restart": Cause(strikes=adapter_restarts, reason="AdapterFault"),
    "gateway fault": Cause(Agent(fault=True, cause="GatewayFault"), reason="GatewayFault"),
    "eviction of the agent's pod": Cause(
        strikes=ends(
            "a", "agent", "Error", reason="Evicted", message="The node was low on resource: memory."
        ),
        reason="AdapterFault",
    ),
    "preemption of the agent's pod": Cause(
        strikes=ends(
            "a",
            "agent",
            "Error",
            conditions=[{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}],
        ),
        reason="AdapterFault",
    ),
    "deletion of the agent's pod": Cause(strikes=is_deleted, reason="AdapterFault"),
    "eviction of the environment": Cause(
        strikes=ends("w", "control-plane", "Error", reason="Evicted"), reason="EnvironmentFault"
    ),
    "environment out of memory": Cause(
        strikes=ends("w", "control-plane", "OOMKilled"), reason="EnvironmentFault"
    ),
}


async def ended(cause: Cause, *, violates: bool) -> tuple[Cluster, dict[str, Any]]:
    """Let a cause end a run, before or after the agent did what it must not."""
    cluster = Cluster()
    agent = replace(cause.agent, audit=VIOLATION) if violates else cause.agent
    cluster.world.agents["s-1"] = replace(agent, hangs=cause.strikes is not None)
    await cluster.a_run(HTTP)
    if cause.strikes is not None:
        for _ in range(200):
            if cluster.stage(cluster.run()) == "Running" and cluster.world.sent:
                break
            await cluster.turn()
        cause.strikes(cluster)
    await cluster.settle()
    return cluster, dict(cluster.run()["status"])


@pytest.mark.parametrize("cause", CAUSES.values(), ids=CAUSES)
async def test_each_cause_has_its_outcome_and_its_reason(cause: Cause) -> None:
    cluster, status = await ended(cause, violates=False)
    assert status["outcome"] == ("PROVIDER_FAILURE" if cause.reason else "PASS"), status
    assert status.get("failure", {}).get("reason", "") == cause.reason
    if cause.ended:
        digest = status["evidence"]["digest"]
        assert f'"outcome":"{cause.ended}"'.encode() in cluster.artifacts.documents[digest].replace(b" ", b"")
    assert len(cluster.world.sent) == 1, "the prompt went out once"


@pytest.mark.parametrize("name", [name for name, cause in CAUSES.items() if not cause.reason])
async def test_what_was_done_before_the_end_counts_against_the_agent(name: str) -> None:
    _, status = await ended(CAUSES[name], violates=True)
    assert status["outcome"] == "FAIL"


@pytest.mark.parametrize("name", [name for name, cause in CAUSES.items() if cause.reason])
async def test_a_fault_of_ours_never_makes_a_violation_a_pass(name: str) -> None:
    cause = CAUSES[name]
    _, status = await ended(cause, violates=True)
    # What the agent brought about itself never takes the record of its deeds along.
    assert status["outcome"] in ({"FAIL"} if cause.ended else {"FAIL", "PROVIDER_FAILURE"})
    assert status.get("failure", {}).get("reason", "") == ("" if cause.ended else cause.reason)
