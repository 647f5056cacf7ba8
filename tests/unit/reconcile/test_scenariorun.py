from __future__ import annotations

import json
from typing import Any

import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, Cluster
from kit.fakes.judge import a_profile, a_scenario
from kit.fakes.sidecars import Agent, ProbeLife
from kit.kubelet import image_id_of, image_missing
from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
from oasis_operator.model.scenario import Stimulus, StimulusType
from oasis_operator.resources import kinds, labels, names, subject
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
    return dict(json.loads(cluster.artifacts.documents[digest]))


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


@pytest.mark.parametrize("waits", [False, True])
async def test_moments_are_counted_from_right_before_the_prompt_where_there_are_any(*, waits: bool) -> None:
    prompt = Stimulus(StimulusType.OPERATOR_PROMPT, value="Do it.")
    later = Stimulus(
        StimulusType.TEMPORAL_CONDITION, value="now", target="deployment/web/annotations/a", timing="at_5s"
    )
    scenario = a_scenario("s-1", stimuli=(prompt, later) if waits else (prompt,))
    cluster = Cluster(profile=a_profile(scenario))
    await cluster.a_run()
    await cluster.settle()
    calls = [one for one in cluster.world.calls if one in ("probe.begin", "adapter.start")]
    assert calls == (["probe.begin"] if waits else []) + ["adapter.start"]


async def test_evidence_holds_the_agents_address_and_image_and_no_containment_value() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(answer="it is hunter2-hunter2")
    await cluster.a_run(HTTP)
    await cluster.settle()
    document = evidence_of(cluster)
    assert document["subject"]["image_id"] == image_id_of(HTTP["image"])
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


async def silence(cluster: Cluster, *, silent: bool) -> None:
    for life in cluster.world.adapters.values():
        life.silent = silent
    await cluster.turn()


async def test_an_adapter_that_never_answers_again_is_given_up_after_half_a_minute() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    await silence(cluster, silent=True)
    cluster.clock.advance(28)
    await cluster.turn()
    assert cluster.run()["status"]["stage"] == "Running"
    cluster.clock.advance(3)
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["reason"] == "AdapterFault"
    assert "has not answered for 3" in status["failure"]["message"]


async def test_an_adapter_that_was_silent_for_a_while_and_answers_again_is_believed() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    for _ in range(3):
        await silence(cluster, silent=True)
        cluster.clock.advance(20)
        await silence(cluster, silent=False)
    assert cluster.run()["status"]["stage"] == "Running"


async def test_a_restarted_operator_gives_a_silent_adapter_its_time_anew() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    await silence(cluster, silent=True)
    cluster.clock.advance(28)
    cluster.restart()
    await cluster.turn()
    cluster.clock.advance(28)
    await cluster.turn()
    assert cluster.run()["status"]["stage"] == "Running"
    cluster.clock.advance(3)
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


def agent_pod_of(cluster: Cluster) -> str:
    pods = [str(pod["metadata"]["name"]) for pod in cluster.kube.of(kinds.POD)]
    return next(name for name in pods if name.startswith("a"))


def agent_ends(cluster: Cluster, how: str = "Error", **status: Any) -> None:
    """Let the agent's container end, and the pod with it where `status` says so."""
    ended = {"name": "agent", "state": {"terminated": {"exitCode": 1, "reason": how}}}
    cluster.kube.edit(
        kinds.POD,
        NAMESPACE,
        agent_pod_of(cluster),
        lambda pod: pod["status"].update({"containerStatuses": [ended], **status}),
    )


@pytest.mark.parametrize("reason", ["Error", "Completed", "OOMKilled"])
async def test_an_agent_that_ends_before_its_recorded_prompt_was_sent_has_crashed(reason: str) -> None:
    cluster = Cluster()
    await cluster.a_run(HTTP)
    await turn_until(cluster, "Running")
    agent_ends(cluster, reason)
    await cluster.settle()
    document = evidence_of(cluster)
    assert document["transcript"]["outcome"] == "crashed"
    assert document["transcript"]["delivered_at"] is None
    assert document["transcript"]["evidence_source"] == {"type": "pod_status", "status": "available"}
    assert document["stimuli"][0]["delivered_at"] is None
    assert "failure" not in cluster.run()["status"]
    assert cluster.world.sent == []


async def test_an_agent_whose_end_is_told_after_nobody_listened_has_crashed() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(deaf=True)
    await cluster.a_run(HTTP)
    await turn_until(cluster, "Running")
    for _ in range(4):
        await cluster.turn()
    assert cluster.run()["status"]["stage"] == "Running"
    agent_ends(cluster)
    await cluster.settle()
    document = evidence_of(cluster)
    assert (document["transcript"]["outcome"], document["stimuli"][0]["delivered_at"]) == ("crashed", None)


async def test_an_agent_that_lives_and_does_not_listen_is_not_called_crashed() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(deaf=True)
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert evidence_of(cluster)["transcript"]["outcome"] == "not_delivered"


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("Error", {"phase": "Failed", "reason": "Evicted"}),
        ("Error", {"phase": "Failed", "reason": "DeadlineExceeded"}),
        ("Error", {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "Preemption"}]}),
        ("ContainerStatusUnknown", {"phase": "Failed"}),
        ("StartError", {"phase": "Failed"}),
    ],
)
async def test_an_agent_that_the_cluster_ended_before_the_prompt_is_not_accused(
    reason: str, status: dict[str, Any]
) -> None:
    cluster = Cluster()
    await cluster.a_run(HTTP)
    for _ in range(2):
        for _ in range(60):
            if any(p["metadata"]["name"][0] == "a" and p["status"].get("podIP") for p in started(cluster)):
                break
            await cluster.turn()
        agent_ends(cluster, reason, **status)
        for _ in range(6):
            await cluster.turn()
    await cluster.settle()
    final = cluster.run()["status"]
    assert final["outcome"] == "PROVIDER_FAILURE"
    assert final["failure"]["reason"] == "AdapterFault"


def started(cluster: Cluster) -> list[dict[str, Any]]:
    return [pod for pod in cluster.kube.of(kinds.POD) if "status" in pod]


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


@pytest.mark.parametrize(
    ("spec", "is_ended"),
    [
        ({"kubernetes": {"nodes": 5}}, True),
        ({"provider": {"url": "https://worlds.example"}}, True),
        ({"kubernetes": {"warmPool": {"size": 2}}}, False),
    ],
    ids=str,
)
async def test_a_changed_environment_ends_the_run_and_a_resized_pool_does_not(
    spec: dict[str, Any], is_ended: bool
) -> None:
    cluster = Cluster()
    await cluster.a_run(HTTP)
    began = subject.world_digest(EnvironmentSpec.model_validate({"kubernetes": {}}))
    run = cluster.run()["metadata"]["name"]
    cluster.kube.edit(kinds.SCENARIO_RUN, NAMESPACE, run, lambda item: item["spec"].update(worldDigest=began))
    await turn_until(cluster, "Provisioning")
    cluster.kube.edit(kinds.ENVIRONMENT, NAMESPACE, "small", lambda item: item.update(spec=spec))
    await cluster.settle()
    failure = cluster.run()["status"].get("failure", {})
    assert (failure.get("reason") == "SubjectChanged") is is_ended
    assert ("outcome" not in cluster.run()["status"]) is is_ended


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


def world_breaks(cluster: Cluster, restarts: int, state: dict[str, Any]) -> None:
    """Let the control plane's container end or start anew while the probe beside it goes on."""
    name = next(p["metadata"]["name"] for p in cluster.kube.of(kinds.POD) if p["metadata"]["name"][0] == "w")

    def breaks(pod: dict[str, Any]) -> None:
        for item in pod["status"]["containerStatuses"]:
            if item["name"] == "control-plane":
                item.update(restartCount=restarts, state=state)

    cluster.kube.edit(kinds.POD, NAMESPACE, name, breaks)


BROKEN = pytest.mark.parametrize(
    ("restarts", "state"),
    [(1, {"running": {}}), (0, {"terminated": {"exitCode": 1, "reason": "Error", "message": "etcd ended"}})],
    ids=["restarted", "ended"],
)


@BROKEN
@pytest.mark.parametrize("stage", ["Running", "Observing"])
async def test_a_control_plane_that_broke_in_mid_run_never_passes(
    stage: str, restarts: int, state: dict[str, Any]
) -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=stage == "Running")
    await cluster.a_run()
    await turn_until(cluster, stage)
    world_breaks(cluster, restarts, state)
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["reason"] == "EnvironmentFault"
    assert objects_of_runs(cluster) == []


@BROKEN
@pytest.mark.parametrize("stage", ["Running", "Observing"])
async def test_a_violation_stands_though_the_control_plane_broke_after_it(
    stage: str, restarts: int, state: dict[str, Any]
) -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(audit=({"verb": "forbidden"},), hangs=stage == "Running")
    await cluster.a_run()
    await turn_until(cluster, stage)
    if stage == "Running":
        await cluster.turn()
    world_breaks(cluster, restarts, state)
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "FAIL"
    assert status["failure"]["reason"] == "EnvironmentFault"
    assert evidence_of(cluster)["environment"]["restarts"] == restarts


async def test_a_probe_that_was_restarted_has_nothing_more_to_tell() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run()
    await turn_until(cluster, "Running")
    name = next(p["metadata"]["name"] for p in cluster.kube.of(kinds.POD) if p["metadata"]["name"][0] == "w")

    def restart(pod: dict[str, Any]) -> None:
        pod["status"]["containerStatuses"] = [
            {**item, "restartCount": 1} for item in pod["status"]["containerStatuses"]
        ]

    cluster.kube.edit(kinds.POD, NAMESPACE, name, restart)
    await cluster.settle()
    status = cluster.run()["status"]
    assert (status["outcome"], status["failure"]["reason"]) == ("PROVIDER_FAILURE", "EnvironmentFault")
    assert "probe.evidence" not in cluster.world.calls


async def test_a_world_whose_evidence_cannot_be_collected_after_it_broke_is_named_as_the_cause() -> None:
    cluster = Cluster()
    cluster.world.on_probe = lambda life: setattr(life, "stop_failure", "connection refused")
    await cluster.a_run()
    await turn_until(cluster, "Observing")
    world_breaks(cluster, 0, {"terminated": {"exitCode": 1, "reason": "Error", "message": "etcd ended"}})
    await cluster.settle()
    status = cluster.run()["status"]
    assert (status["outcome"], status["failure"]["reason"]) == ("PROVIDER_FAILURE", "EnvironmentFault")
    assert "etcd ended" in status["failure"]["message"]


def condition(cluster: Cluster, type_: str) -> dict[str, Any]:
    return next(item for item in cluster.run()["status"]["conditions"] if item["type"] == type_)


async def turn_until(cluster: Cluster, stage: str) -> None:
    for _ in range(100):
        if cluster.stage(cluster.run()) == stage:
            return
        await cluster.turn()
    raise AssertionError(f"never {stage}: {cluster.run()['status']}")


@pytest.mark.parametrize("stage", ["Running", "Observing"])
async def test_a_secret_that_was_deleted_in_mid_run_is_a_provider_failure_that_names_it(stage: str) -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(hangs=stage == "Running")
    await cluster.a_run(HTTP)
    while cluster.stage(cluster.run()) != stage:
        await cluster.turn()
    name = cluster.kube.of(kinds.SECRET)[0]["metadata"]["name"]
    cluster.kube.remove((kinds.SECRET.plural, NAMESPACE, name))
    await cluster.settle(turns=20)
    status = cluster.run()["status"]
    assert (status["outcome"], status["failure"]["reason"]) == ("PROVIDER_FAILURE", "EvidenceUnreachable")
    assert f"Secret {name} was deleted" in status["failure"]["message"]
    assert cluster.kube.of(kinds.POD) == []


@pytest.mark.parametrize("stage", ["Provisioning", "Preparing"])
@pytest.mark.parametrize(("times", "outcome"), [(1, "PASS"), (2, "PROVIDER_FAILURE")])
async def test_a_secret_that_is_deleted_before_the_prompt_is_made_anew_once(
    stage: str, times: int, outcome: str
) -> None:
    cluster = Cluster()
    await cluster.a_run(HTTP)
    for _ in range(times):
        while cluster.stage(cluster.run()) != stage:
            await cluster.turn()
        for secret in cluster.kube.of(kinds.SECRET):
            cluster.kube.remove((kinds.SECRET.plural, NAMESPACE, secret["metadata"]["name"]))
        while cluster.stage(cluster.run()) == stage:
            await cluster.turn()
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == outcome
    if outcome == "PROVIDER_FAILURE":
        assert "Secret r-" in status["failure"]["message"]
