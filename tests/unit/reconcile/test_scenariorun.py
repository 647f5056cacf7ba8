from __future__ import annotations

import json
from typing import Any

import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, Cluster
from kit.fakes.sidecars import Agent, ProbeLife
from kit.kubelet import image_missing
from oasis_operator.resources import kinds, labels, names
from oasis_operator.wire.adapter import Outcome

FORBIDDEN = Agent(audit=({"verb": "forbidden"},))


def objects_of_runs(cluster: Cluster) -> list[str]:
    """Return the names of what a run should not leave behind."""
    left = (
        *cluster.kube.of(kinds.POD),
        *cluster.kube.of(kinds.SECRET),
        *cluster.kube.of(kinds.NETWORK_POLICY),
    )
    return [item["metadata"]["name"] for item in left if item["metadata"]["name"] != names.DEFAULT_DENY]


def evidence_of(cluster: Cluster) -> dict[str, Any]:
    digest = cluster.run()["status"]["evidence"]["digest"]
    return json.loads(cluster.artifacts.documents[digest])


@pytest.mark.parametrize("agent", [None, HTTP], ids=["scripted", "http"])
async def test_an_agent_that_does_nothing_wrong_passes_and_leaves_nothing_behind(agent: Any) -> None:
    cluster = Cluster()
    await cluster.a_run(agent)
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PASS"
    assert [item["stage"] for item in status["timings"]] == [
        "Pending", "Provisioning", "Preparing", "Running", "Observing", "Judging", "Completed",
    ]  # fmt: skip
    assert objects_of_runs(cluster) == []
    assert cluster.artifacts.drafts == {}
    assert len(cluster.world.sent) == 1


async def test_a_violation_fails_and_is_named_in_status_and_event() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = FORBIDDEN
    await cluster.a_run()
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "FAIL"
    assert status["assertions"][0]["result"] == "Violated"
    assert [reason for _, reason, _ in cluster.recorder.events] == ["SafetyViolated"]


async def test_a_passing_run_costs_at_most_fifteen_writes() -> None:
    cluster = Cluster()
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert len(cluster.kube.writes) <= 15, cluster.kube.writes


async def test_the_prompt_is_recorded_as_sent_before_it_is_sent() -> None:
    cluster = Cluster()
    await cluster.a_run()
    recorded: list[bool] = []

    def look(call: str) -> None:
        if call == "adapter.start":
            recorded.append("promptSentAt" in cluster.run()["status"])

    cluster.world.faults = look
    await cluster.settle()
    assert recorded == [True]


async def test_evidence_holds_the_agents_address_and_image_and_no_containment_value() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(answer="it is hunter2-hunter2")
    await cluster.a_run(HTTP)
    await cluster.settle()
    document = evidence_of(cluster)
    assert document["subject"]["image_id"] == "img@agent"
    assert document["agent_principal"]["source_ips"]
    assert document["agent_principal"]["username"] == "dev-7"
    assert b"hunter2" not in b"".join(cluster.artifacts.documents.values())


async def test_a_preparation_that_fails_is_tried_once_more_in_a_clean_world() -> None:
    cluster = Cluster()
    lives: list[ProbeLife] = []

    def break_the_first(life: ProbeLife) -> None:
        if not lives:
            life.failure = ("SymptomNotSeen", "pod/web never showed CrashLoopBackOff")
        lives.append(life)

    cluster.world.on_probe = break_the_first
    await cluster.a_run()
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PASS"
    assert "failure" not in status
    assert len(lives) == 2
    assert evidence_of(cluster)["run"]["attempt"] == 1
    assert objects_of_runs(cluster) == []


async def test_two_attempts_never_have_pods_at_the_same_time() -> None:
    cluster = Cluster()
    cluster.world.on_probe = lambda life: setattr(life, "failure", ("EnvironmentFault", "etcd ended"))
    await cluster.a_run()
    for _ in range(120):
        await cluster.turn()
        runs = {pod["metadata"]["labels"][labels.RUN] for pod in cluster.kube.of(kinds.POD)}
        assert len(runs) <= 1
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["message"] == "etcd ended"
    assert objects_of_runs(cluster) == []


async def test_an_impossible_state_is_not_tried_twice() -> None:
    cluster = Cluster()
    seen: list[ProbeLife] = []

    def impossible(life: ProbeLife) -> None:
        life.failure = ("ImpossibleState", "a pod cannot be both Running and Pending")
        seen.append(life)

    cluster.world.on_probe = impossible
    await cluster.a_run()
    await cluster.settle()
    assert cluster.run()["status"]["failure"]["reason"] == "ImpossibleState"
    assert len(seen) == 1


async def test_an_adapter_that_restarts_after_the_prompt_was_recorded_is_a_provider_failure() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    for life in cluster.world.adapters.values():
        life.boot_id = "another-boot"
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["reason"] == "AdapterFault"


async def test_a_violation_stands_though_the_adapter_broke() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(audit=({"verb": "forbidden"},), fault=True)
    await cluster.a_run()
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "FAIL"
    assert status["failure"]["reason"] == "AdapterFault"


async def test_a_broken_adapter_never_passes() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(fault=True)
    await cluster.a_run()
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"


async def test_a_judge_that_dies_never_passes() -> None:
    cluster = Cluster()
    cluster.judge.broken = True
    await cluster.a_run()
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"
    assert cluster.run()["status"]["failure"]["reason"] == "JudgeFault"


async def test_a_target_that_is_reached_is_lost_isolation() -> None:
    cluster = Cluster()
    cluster.world.on_adapter = lambda life: setattr(life, "reaches", ("api-server",))
    await cluster.a_run()
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["reason"] == "IsolationLost"
    assert "api-server" in status["failure"]["message"]
    assert cluster.world.sent == []


async def test_an_agent_that_hangs_is_stopped_and_judged() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True, outcome=Outcome.TIMEOUT)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    await cluster.turn()
    cluster.clock.advance(905)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert "adapter.cancel" in cluster.world.calls


async def test_a_prompt_that_could_not_be_sent_in_time_is_never_sent() -> None:
    cluster = Cluster()
    await cluster.a_run()
    await turn_until(cluster, "Running")
    cluster.clock.advance(901)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"
    assert cluster.world.sent == []


async def test_an_adapter_that_never_answers_again_ends_within_the_stage_limit() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    for life in cluster.world.adapters.values():
        life.silent = True
    cluster.clock.advance(931)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"


async def test_an_agent_container_that_crashes_before_the_prompt_is_judged_without_a_prompt() -> None:
    cluster = Cluster()
    await cluster.a_run(HTTP)
    await turn_until(cluster, "Preparing")

    def crash(pod: dict[str, Any]) -> None:
        ended = {"exitCode": 137, "reason": "OOMKilled"}
        pod["status"]["containerStatuses"] = [{"name": "agent", "state": {"terminated": ended}}]

    for _ in range(40):
        if any(
            "status" in pod and pod["status"].get("podIP")
            for pod in cluster.kube.of(kinds.POD)
            if pod["metadata"]["name"].startswith("a-")
        ):
            break
        await cluster.turn()
    agent_pod = next(
        p["metadata"]["name"] for p in cluster.kube.of(kinds.POD) if p["metadata"]["name"][0] == "a"
    )
    cluster.kube.edit(kinds.POD, NAMESPACE, agent_pod, crash)
    await cluster.settle()
    document = evidence_of(cluster)
    assert document["transcript"]["outcome"] == "crashed"
    assert "OOMKilled" in document["transcript"]["detail"]
    assert cluster.world.sent == []
    assert document["stimuli"][0]["delivered_at"] is None


async def test_an_image_that_cannot_be_pulled_is_named_with_its_remedy() -> None:
    cluster = Cluster()
    cluster.kubelet.breaks = lambda pod: image_missing("agent") if pod["metadata"]["name"][0] == "a" else None
    await cluster.a_run(HTTP)
    await turn_until(cluster, "Preparing")
    for _ in range(3):
        await cluster.turn()
    ready = condition(cluster, "Ready")
    assert ready["reason"] == "ErrImagePull"
    for _ in range(2):
        cluster.clock.advance(181)
        for _ in range(20):
            await cluster.turn()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["podReason"] == "ErrImagePull"
    assert "nowhere/agent:1" in status["failure"]["message"]


async def test_a_full_cluster_is_waited_for_apart_from_the_stage_limit() -> None:
    cluster = Cluster()
    cluster.kubelet.holds = lambda pod: True
    await cluster.a_run()
    await turn_until(cluster, "Provisioning")
    cluster.clock.advance(600)
    await cluster.turn()
    assert cluster.run()["status"]["stage"] == "Provisioning"
    cluster.kubelet.holds = lambda pod: False
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"


async def test_no_pod_is_made_before_the_deny_policy_stands() -> None:
    cluster = Cluster()
    await cluster.a_run()
    cluster.kube.remove((kinds.NETWORK_POLICY.plural, NAMESPACE, names.DEFAULT_DENY))
    for _ in range(5):
        await cluster.turn()
    assert cluster.kube.of(kinds.POD) == []


async def test_a_deny_policy_that_is_edited_in_mid_run_never_passes() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    opened = {"podSelector": {}, "policyTypes": ["Ingress"]}
    cluster.kube.edit(
        kinds.NETWORK_POLICY, NAMESPACE, names.DEFAULT_DENY, lambda item: item.update(spec=opened)
    )
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["reason"] == "IsolationLost"


async def test_a_cancelled_evaluation_ends_its_runs_without_outcome() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    cluster.kube.edit(kinds.EVALUATION, NAMESPACE, "check", lambda item: item["spec"].update(state="Cancel"))
    await cluster.settle()
    status = cluster.run()["status"]
    assert "outcome" not in status
    assert status["failure"]["reason"] == "Cancelled"
    assert objects_of_runs(cluster) == []


async def test_a_changed_agent_ends_the_run_without_outcome() -> None:
    cluster = Cluster()
    await cluster.a_run(HTTP)
    await turn_until(cluster, "Provisioning")
    cluster.kube.edit(
        kinds.AGENT, NAMESPACE, "helper", lambda item: item["spec"].update(image="other/agent:2")
    )
    await cluster.settle()
    assert cluster.run()["status"]["failure"]["reason"] == "SubjectChanged"
    assert "outcome" not in cluster.run()["status"]


async def test_lost_worlds_are_provider_failures_with_the_pods_own_reason() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    name = next(p["metadata"]["name"] for p in cluster.kube.of(kinds.POD) if p["metadata"]["name"][0] == "w")
    evicted = {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}
    cluster.kube.edit(kinds.POD, NAMESPACE, name, lambda item: item["status"].update(evicted))
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["podReason"] == "Evicted"


def condition(cluster: Cluster, type_: str) -> dict[str, Any]:
    return next(item for item in cluster.run()["status"]["conditions"] if item["type"] == type_)


async def turn_until(cluster: Cluster, stage: str) -> None:
    for _ in range(100):
        if cluster.stage(cluster.run()) == stage:
            return
        await cluster.turn()
    raise AssertionError(f"never {stage}: {cluster.run()['status']}")
