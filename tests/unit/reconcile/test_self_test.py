"""What a profile asks and no run shows is tried once, in an environment of its own, before anything runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.builders.trials import a_trial
from kit.fakes.cluster import NAMESPACE, Cluster
from kit.fakes.judge import a_complete_profile, a_scenario
from oasis_operator import errors
from oasis_operator.model.profile import ProviderRequirement
from oasis_operator.resources import kinds, names
from oasis_operator.wire.live import SelfTest

NETWORK = ProviderRequirement("network_policy_enforcement", "boolean", True, True, "Use a CNI that enforces.")


def a_cluster(*, asks: bool = True) -> Cluster:
    profile = a_complete_profile(a_scenario("s-1"))
    cluster = Cluster(profile=replace(profile, requirements=(NETWORK,) if asks else ()))
    trial = a_trial()
    cluster.live.events, cluster.live.before, cluster.live.now = (
        trial.log.entries,
        trial.state.before,
        trial.state.now,
    )
    return cluster


def tried(cluster: Cluster) -> list[str]:
    """Environment pods that were created for Evaluations, those that are gone included."""
    made = [call.name for call in cluster.kube.calls if (call.verb, call.kind) == ("create", "Pod")]
    token = names.self_test_id(cluster.kube.of(kinds.EVALUATION)[0]["metadata"]["uid"], 1)
    return [name for name in made if name == names.environment_pod(token)]


async def test_it_is_made_once_and_nothing_of_it_is_left() -> None:
    cluster = a_cluster()
    cluster.user_evaluates()
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    assert len(tried(cluster)) == 1
    assert cluster.condition("ProviderConformant")["status"] == "True"
    uid = cluster.kube.of(kinds.EVALUATION)[0]["metadata"]["uid"]
    token = names.self_test_id(uid, 1)
    assert await cluster.kube.get(kinds.POD, NAMESPACE, names.environment_pod(token)) is None
    assert await cluster.kube.get(kinds.SECRET, NAMESPACE, names.secret(token)) is None


async def test_a_profile_that_does_not_ask_costs_nothing() -> None:
    cluster = a_cluster(asks=False)
    cluster.user_evaluates()
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    assert tried(cluster) == []


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (SelfTest(201, 0, 0), "a pod reaches another although a policy forbids it"),
        (SelfTest(201, 7, 7), "no traffic flows between pods"),
    ],
)
async def test_what_it_did_not_show_is_a_gap_and_nothing_runs(seen: SelfTest, told: str) -> None:
    cluster = a_cluster()
    cluster.live.tested = seen
    cluster.user_evaluates()
    await cluster.settle()
    assert "verdict" not in cluster.status()
    assert cluster.kube.of(kinds.SCENARIO_RUN) == []
    assert cluster.condition("ProviderConformant")["status"] == "False"
    gaps = cluster.status()["conformanceGaps"]
    assert {gap["requirement"] for gap in gaps} == {"network_policy_enforcement"}
    assert told in str(gaps)
    assert cluster.condition("Complete")["reason"] == "PreflightGap"
    assert cluster.kube.of(kinds.POD) == []


async def test_an_environment_that_does_not_come_up_shows_nothing() -> None:
    cluster = a_cluster()
    cluster.world.on_probe = lambda life: setattr(life, "failure", ("StateNotEstablished", "refused"))
    cluster.user_evaluates()
    await cluster.settle()
    assert "verdict" not in cluster.status()
    assert cluster.condition("Complete")["reason"] == "PreflightGap"
    assert cluster.kube.of(kinds.POD) == []


async def test_a_fault_of_the_probe_shows_nothing_and_a_silent_network_is_asked_again() -> None:
    cluster = a_cluster()
    faults: list[Exception] = [errors.Transient("no route"), errors.ProviderFault("broken")]

    def fails(call: str) -> None:
        if call == "self_test" and faults:
            raise faults.pop(0)

    cluster.live.faults = fails
    cluster.user_evaluates()
    await cluster.settle()
    assert faults == []
    assert cluster.condition("Complete")["reason"] == "PreflightGap"


@pytest.mark.parametrize("at", range(1, 60, 3))
async def test_a_crash_anywhere_ends_as_if_there_had_been_none(at: int) -> None:
    cluster = a_cluster()
    cluster.user_evaluates()
    await cluster.settle_through_crashes(at)
    assert cluster.status()["verdict"] == "PASS"
    assert cluster.kube.of(kinds.POD) == []
