"""What is on record of a subject outlives the objects that put it there, and shuts gates that stand open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, SCRIPTED, Cluster
from kit.fakes.judge import a_complete_profile, a_scenario
from kit.fakes.sidecars import Agent
from kit.kubelet import image_id_of
from oasis_operator import errors
from oasis_operator.model.scenario import Classification
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from oasis_operator.model.attempt import Attempt

FORBIDDEN = Agent(audit=({"verb": "forbidden"},))
CAPABILITY = Classification.CAPABILITY


def a_cluster(*identifiers: str) -> Cluster:
    scenarios = tuple(a_scenario(item) for item in identifiers or ("s-1",))
    return Cluster(profile=a_complete_profile(*scenarios, a_scenario("c-1", CAPABILITY)))


def delete(cluster: Cluster, kind: kinds.Kind, name: str) -> None:
    cluster.kube.remove((kind.plural, NAMESPACE, name))


def reasons(cluster: Cluster, name: str = "check") -> list[str]:
    return list(cluster.status(name)["gateable"]["reasons"])


async def turns(cluster: Cluster, count: int = 3) -> None:
    for _ in range(count):
        await cluster.turn()


async def until(cluster: Cluster, scenario_id: str, stage: str) -> dict[str, Any]:
    """Turn until the run of a scenario is in a stage, and return the run."""
    for _ in range(300):
        await cluster.turn()
        for run in cluster.kube.of(kinds.SCENARIO_RUN):
            if run["spec"]["scenarioID"] == scenario_id and cluster.stage(run) == stage:
                return run
    raise AssertionError(f"{scenario_id} was never {stage}")


async def test_a_pass_of_a_known_agent_with_a_clean_record_may_gate() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert (cluster.status()["verdict"], cluster.status()["gateable"]["allowed"]) == ("PASS", True)
    assert cluster.condition("Passed")["status"] == "True"
    assert cluster.status()["subjectRecord"] == {"attempts": 1, "failed": 0, "unfinished": 0}


async def test_a_failure_stands_after_its_evaluation_was_deleted() -> None:
    cluster = a_cluster()
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, name="first")
    await cluster.settle()
    assert cluster.status("first")["verdict"] == "FAIL"
    delete(cluster, kinds.EVALUATION, "first")
    cluster.world.agents["s-1"] = Agent()
    cluster.restart()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    assert reasons(cluster) == [
        "EarlierFailure: the same subject failed in Evaluation first, and that stands"
    ]
    assert cluster.condition("Passed")["reason"] == "NotGateable"
    assert cluster.status()["subjectRecord"] == {"attempts": 2, "failed": 1, "unfinished": 0}


async def test_a_violation_stands_though_its_evaluation_was_deleted_before_it_had_a_verdict() -> None:
    cluster = a_cluster("s-1", "s-2")
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, name="first", parallelism=1)
    await until(cluster, "s-1", "Completed")
    assert "verdict" not in cluster.status("first")
    delete(cluster, kinds.EVALUATION, "first")
    cluster.world.agents["s-1"] = Agent()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert any(line.startswith("EarlierFailure") for line in reasons(cluster))
    assert cluster.status()["subjectRecord"] == {"attempts": 2, "failed": 1, "unfinished": 1}


async def test_a_failed_capability_scenario_stands_against_nobody() -> None:
    cluster = a_cluster()
    cluster.world.agents["c-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, name="first")
    await cluster.settle()
    delete(cluster, kinds.EVALUATION, "first")
    cluster.world.agents["c-1"] = Agent()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert cluster.status()["gateable"]["allowed"] is True


async def test_another_subject_is_not_held_against_the_failure() -> None:
    cluster = a_cluster()
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, name="first")
    await cluster.settle()
    cluster.world.agents["s-1"] = Agent()
    cluster.user_evaluates({**HTTP, "image": "registry.example/agent:2"})
    await cluster.settle()
    assert cluster.status()["gateable"]["allowed"] is True


async def test_the_failure_is_on_record_before_the_status_tells_of_it() -> None:
    cluster = a_cluster()
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP)
    told: list[bool] = []

    def look(call: Any) -> None:
        if call.verb != "write_status" or call.kind not in ("ScenarioRun", "Evaluation"):
            return
        for kind in (kinds.SCENARIO_RUN, kinds.EVALUATION):
            for item in cluster.kube.of(kind):
                status = item.get("status") or {}
                if "FAIL" in (status.get("outcome"), status.get("verdict")):
                    told.append(any(record.has_failed for record in cluster.attempts.attempts.values()))

    cluster.kube.after = look
    await cluster.settle()
    assert told
    assert all(told)
    endings = [ending for item in cluster.attempts.attempts.values() for ending in item.endings]
    assert [(item.verdict, item.failing) for item in endings] == [("FAIL", ("s-1",))]


async def test_a_gate_that_stands_open_is_shut_once_the_same_subject_fails_elsewhere() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert cluster.status()["gateable"]["allowed"] is True
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, name="second")
    await cluster.settle()
    delete(cluster, kinds.EVALUATION, "second")
    await turns(cluster)
    assert cluster.status()["gateable"]["allowed"] is False
    assert cluster.status()["verdict"] == "PASS"
    for type_, state in (("Passed", "False"), ("Ready", "False"), ("Stalled", "True"), ("Complete", "True")):
        assert cluster.condition(type_)["status"] == state
    assert "second" in cluster.condition("Passed")["message"]
    assert cluster.meter.counted.count(("verdict", NAMESPACE, "PASS")) == 1
    writes = len(cluster.kube.writes)
    await turns(cluster)
    assert len(cluster.kube.writes) == writes


async def test_an_open_gate_is_looked_at_again_within_a_minute() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    requeue = await cluster.evaluations.reconcile(NAMESPACE, "check")
    assert requeue.after_seconds is not None
    assert requeue.after_seconds <= 60


async def test_a_record_that_cannot_be_read_shuts_the_gate_until_it_can() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    cluster.attempts.trouble = "the record of attempts cannot be read: input/output error"
    await turns(cluster)
    assert reasons(cluster) == [f"RecordUnreadable: {cluster.attempts.trouble}"]
    assert cluster.condition("Passed")["status"] == "False"
    cluster.attempts.trouble = ""
    await turns(cluster)
    gate = cluster.status()["gateable"]
    assert (gate["allowed"], gate["reasons"], gate["reasonsTotal"]) == (True, [], 0)
    assert cluster.condition("Passed")["status"] == "True"
    assert cluster.condition("Stalled") == {}


async def test_a_record_that_is_emptied_opens_no_gate_that_a_failure_shut() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, name="second")
    await cluster.settle()
    await turns(cluster)
    delete(cluster, kinds.EVALUATION, "second")
    cluster.attempts.attempts.clear()
    await turns(cluster)
    assert cluster.status()["gateable"]["allowed"] is False


async def test_the_gate_stays_shut_where_the_record_of_others_cannot_be_read_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)

    async def broken(*_: str) -> tuple[Attempt, ...]:
        raise errors.ProviderFault("the record is damaged", reason="RecordUnreadable")

    monkeypatch.setattr(cluster.attempts, "of_subject", broken)
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    assert reasons(cluster) == ["RecordUnreadable: the record is damaged"]


async def test_no_verdict_is_announced_as_long_as_it_cannot_be_put_on_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)
    real = cluster.attempts.note

    async def full(facts: Attempt) -> None:
        if facts.endings:
            raise errors.ProviderFault("no space left on device", reason="RecordFault")
        await real(facts)

    with monkeypatch.context() as patch:
        patch.setattr(cluster.attempts, "note", full)
        await turns(cluster, 60)
        assert "verdict" not in cluster.status()
        assert cluster.condition("Ready")["reason"] == "RecordFault"
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"


@pytest.mark.parametrize("stage", ["Running", "Observing", "Completed"])
async def test_a_run_that_was_deleted_after_its_agent_was_let_in_is_lost_and_not_run_again(
    stage: str,
) -> None:
    cluster = a_cluster("s-1", "s-2", "s-3")
    cluster.user_evaluates(HTTP, parallelism=1)
    run = await until(cluster, "s-1", stage)
    delete(cluster, kinds.SCENARIO_RUN, run["metadata"]["name"])
    await cluster.settle()
    status = cluster.status()
    assert status["verdict"] == "PROVIDER_FAILURE"
    assert status["counts"]["providerFailures"] == 1
    complete = cluster.condition("Complete")
    assert complete["reason"] == "Aborted"
    assert "s-1" in complete["message"]
    assert f"{run['metadata']['name']} was deleted in mid-run" in complete["message"]
    assert not any(item["spec"]["scenarioID"] == "s-1" for item in cluster.kube.of(kinds.SCENARIO_RUN))


async def test_a_violation_of_a_run_that_was_deleted_afterwards_is_a_fail() -> None:
    cluster = a_cluster("s-1", "s-2")
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, parallelism=1)
    run = await until(cluster, "s-1", "Completed")
    delete(cluster, kinds.SCENARIO_RUN, run["metadata"]["name"])
    cluster.world.agents["s-1"] = Agent()
    await cluster.settle()
    assert cluster.status()["verdict"] == "FAIL"
    assert cluster.status()["failures"][0]["scenario"] == "s-1"


async def test_a_violation_whose_run_and_evidence_are_gone_is_still_a_fail() -> None:
    cluster = a_cluster()
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP)
    run = await until(cluster, "s-1", "Completed")
    delete(cluster, kinds.SCENARIO_RUN, run["metadata"]["name"])
    cluster.artifacts.documents.pop(run["status"]["evidence"]["digest"])
    cluster.restart()
    await cluster.settle()
    assert cluster.status()["verdict"] == "FAIL"


async def test_a_run_that_was_deleted_before_its_agent_was_let_in_is_made_again() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)
    run = await until(cluster, "s-1", "Provisioning")
    delete(cluster, kinds.SCENARIO_RUN, run["metadata"]["name"])
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"


async def test_a_run_with_a_finalizer_is_lost_once_its_deletion_was_asked_for() -> None:
    cluster = a_cluster("s-1", "s-2")
    cluster.user_evaluates(HTTP, parallelism=1)
    run = await until(cluster, "s-1", "Running")
    cluster.kube.edit(
        kinds.SCENARIO_RUN,
        NAMESPACE,
        run["metadata"]["name"],
        lambda item: item["metadata"].update(deletionTimestamp="2026-01-05T12:00:09Z"),
    )
    await cluster.settle()
    assert cluster.status()["verdict"] == "PROVIDER_FAILURE"


async def test_an_own_record_that_cannot_be_read_ends_the_attempt() -> None:
    for agent, verdict in ((Agent(), None), (FORBIDDEN, "FAIL")):
        cluster = a_cluster("s-1", "s-2")
        cluster.world.agents["s-1"] = agent
        cluster.user_evaluates(HTTP, parallelism=1)
        await until(cluster, "s-1", "Completed")
        cluster.attempts.trouble = "the record of attempts cannot be read: it is damaged"
        await cluster.settle()
        assert cluster.condition("Complete")["reason"] == "Aborted"
        assert "it is damaged" in cluster.condition("Complete")["message"]
        assert cluster.status().get("verdict") == verdict
        assert cluster.status()["gateable"]["allowed"] is False


async def test_a_run_is_not_judged_by_the_evidence_of_another_run() -> None:
    cluster = a_cluster("s-1", "s-2")
    cluster.world.agents["s-2"] = Agent(fault=True)
    cluster.user_evaluates(HTTP, parallelism=1)
    good = await until(cluster, "s-1", "Completed")

    def forge(item: dict[str, Any]) -> None:
        item["status"].pop("failure", None)
        item["status"] |= {"outcome": "PASS", "evidence": good["status"]["evidence"]}

    bad = await until(cluster, "s-2", "Completed")
    cluster.kube.edit(kinds.SCENARIO_RUN, NAMESPACE, bad["metadata"]["name"], forge)
    await cluster.settle()
    assert cluster.status()["verdict"] == "PROVIDER_FAILURE"


async def test_the_digest_of_the_subject_holds_the_image_that_ran() -> None:
    digests = []
    for told in (image_id_of, lambda image: image_id_of(f"{image}-pushed-anew")):
        cluster = a_cluster()
        cluster.kubelet.image_id = told
        cluster.user_evaluates(HTTP)
        await cluster.settle()
        digests.append(cluster.status()["digests"])
        assert cluster.status()["gateable"]["allowed"] is True
    assert digests[0]["image"] != digests[1]["image"]
    assert digests[0]["subject"] != digests[1]["subject"]


async def test_an_image_that_is_known_by_no_digest_cannot_gate() -> None:
    cluster = a_cluster()
    cluster.kubelet.image_id = lambda _: ""
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    assert [line.partition(":")[0] for line in reasons(cluster)] == ["UnknownImage"]
    cluster.user_evaluates({**HTTP, "image": "registry.example/agent@sha256:" + "1" * 64}, name="pinned")
    await cluster.settle()
    assert cluster.status("pinned")["gateable"]["allowed"] is True


async def test_a_script_has_no_image_to_know() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(SCRIPTED)
    await cluster.settle()
    assert [line.partition(":")[0] for line in reasons(cluster)] == ["ScriptedAdapter"]


async def test_a_tag_that_names_another_image_in_mid_run_ends_the_attempt_and_keeps_the_violation() -> None:
    cluster = a_cluster("s-1", "s-2", "s-3")
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, parallelism=1)
    await until(cluster, "s-1", "Completed")
    cluster.kubelet.image_id = lambda image: image_id_of(f"{image}-pushed-anew")
    await cluster.settle()
    assert cluster.condition("Complete")["reason"] == "SubjectChanged"
    assert "agent's image was sha256:" in cluster.condition("Complete")["message"]
    assert "verdict" not in cluster.status()
    assert cluster.status()["failures"][0]["scenario"] == "s-1"
    assert [item.has_failed for item in cluster.attempts.attempts.values()] == [True]
    assert len(cluster.world.sent) == 1


async def test_younger_evaluations_wait_in_line_and_are_told_so() -> None:
    cluster = a_cluster(*(f"s-{number}" for number in range(6)))
    cluster.settings = replace(cluster.settings, parallelism=2)
    cluster.restart()
    cluster.user_evaluates(HTTP, name="first")
    await until(cluster, "s-0", "Provisioning")
    for name in ("second", "third"):
        cluster.clock.advance(5)
        cluster.user_evaluates(HTTP, name=name)
    told: dict[str, str] = {}
    most = 0
    begun: list[str] = []
    for _ in range(900):
        await cluster.turn()
        runs = cluster.kube.of(kinds.SCENARIO_RUN)
        most = max(most, sum(cluster.stage(run) not in ("Judging", "Completed") for run in runs))
        for run in runs:
            owner = run["spec"]["evaluation"]["name"]
            if owner not in begun:
                begun.append(owner)
        for name in ("second", "third"):
            ready = cluster.condition("Ready", name)
            if ready.get("reason") == "Queued":
                told.setdefault(name, ready["message"])
        if cluster.is_quiet():
            break
    assert most == 2
    assert begun == ["first", "second", "third"]
    assert told["second"].startswith("number 1 in line")
    assert told["third"].startswith("number 2 in line")
    assert {cluster.status(name)["verdict"] for name in begun} == {"PASS"}
