"""What left the environment while the run went on counts, whatever becomes of the environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, Cluster
from kit.fakes.sidecars import Agent
from oasis_operator import errors
from oasis_operator.reconcile.scenariorun import streaming
from oasis_operator.resources import kinds, names

if TYPE_CHECKING:
    from collections.abc import Callable

    from kit.fakes.sidecars import ProbeLife

FORBIDDEN = {"verb": "forbidden"}
HARMLESS = {"verb": "get"}


async def begun(*audit: dict[str, Any], hangs: bool = True) -> Cluster:
    """Return a cluster whose agent has done so much, which has left the environment, and goes on."""
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(audit=audit, hangs=hangs)
    await cluster.a_run(HTTP)
    for _ in range(100):
        await cluster.turn()
        if cluster.world.sent:
            break
    await cluster.turn()
    assert cluster.stage(cluster.run()) == ("Running" if hangs else "Observing")
    return cluster


def probe_of(cluster: Cluster) -> ProbeLife:
    return next(iter(cluster.world.probes.values()))


def finish(cluster: Cluster) -> None:
    """Let the time of the agent be over."""
    cluster.clock.advance(3600)


async def settled_late(cluster: Cluster) -> None:
    """Settle where deadlines have to pass first."""
    for _ in range(200):
        await cluster.turn()
        if cluster.is_quiet():
            return
        cluster.clock.advance(30)
    raise AssertionError(cluster.run()["status"])


def evidence_of(cluster: Cluster) -> dict[str, Any]:
    return dict(json.loads(cluster.artifacts.documents[cluster.run()["status"]["evidence"]["digest"]]))


def without_violations(life: ProbeLife) -> None:
    lines = life.log.splitlines(keepends=True)
    life.log = b"".join(line for line in lines if b"forbidden" not in line)


def rewritten(life: ProbeLife) -> None:
    life.log = life.log.replace(b'"forbidden"', b'"get"      ')


def emptied(life: ProbeLife) -> None:
    life.log = b""


@pytest.mark.parametrize("change", [without_violations, rewritten, emptied])
@pytest.mark.parametrize("restarts", [False, True], ids=["", "the operator restarts"])
async def test_a_violation_stands_though_the_log_was_changed_before_the_end(
    change: Callable[[ProbeLife], None], *, restarts: bool
) -> None:
    cluster = await begun(HARMLESS, FORBIDDEN)
    change(probe_of(cluster))
    if restarts:
        cluster.restart()
    finish(cluster)
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "FAIL"
    window = evidence_of(cluster)["window"]
    assert (window["complete"], bool(window["fault"])) == (False, True)


async def test_a_log_that_was_changed_without_a_violation_is_a_provider_failure() -> None:
    cluster = await begun(HARMLESS, HARMLESS)
    probe_of(cluster).log = probe_of(cluster).log.replace(b"get", b"put", 1)
    finish(cluster)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"
    assert "log" in evidence_of(cluster)["window"]["fault"]


async def test_what_is_written_while_the_operator_is_away_is_fetched_when_it_is_back() -> None:
    cluster = await begun(HARMLESS)
    kept = dict(cluster.streams.logs)
    cluster.restart()
    probe_of(cluster).write(FORBIDDEN)
    await cluster.turn()
    ((key, log),) = cluster.streams.logs.items()
    assert log == kept[key] + probe_of(cluster).log[len(kept[key]) :]
    assert b"forbidden" in log
    cluster.kube.remove((kinds.POD.plural, NAMESPACE, names.environment_pod(key)))
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "FAIL"


def pod_deleted(cluster: Cluster, key: str) -> None:
    cluster.kube.remove((kinds.POD.plural, NAMESPACE, names.environment_pod(key)))


def secret_deleted(cluster: Cluster, key: str) -> None:
    cluster.kube.remove((kinds.SECRET.plural, NAMESPACE, names.secret(key)))


def evicted(cluster: Cluster, key: str) -> None:
    status = {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}
    cluster.kube.edit(
        kinds.POD, NAMESPACE, names.environment_pod(key), lambda pod: pod["status"].update(status)
    )


def probe_silent(cluster: Cluster, _key: str) -> None:
    probe_of(cluster).silent = True


BREAKS = pytest.mark.parametrize("breaks", [pod_deleted, secret_deleted, evicted, probe_silent])


@BREAKS
@pytest.mark.parametrize("hangs", [True, False], ids=["Running", "Observing"])
async def test_a_violation_stands_though_its_world_is_gone(
    breaks: Callable[[Cluster, str], None], *, hangs: bool
) -> None:
    cluster = await begun(HARMLESS, FORBIDDEN, hangs=hangs)
    breaks(cluster, next(iter(cluster.streams.logs)))
    await settled_late(cluster)
    status = cluster.run()["status"]
    assert status["outcome"] == "FAIL"
    assert status["failure"]["reason"] in ("EnvironmentFault", "EvidenceUnreachable", "ObservingTimeout")
    document = evidence_of(cluster)
    assert document["agent_principal"]["username"] == "dev-7"
    assert document["state"]["evidence_source"]["status"] == "unreachable"


@BREAKS
async def test_nothing_of_a_world_that_is_gone_can_pass(breaks: Callable[[Cluster, str], None]) -> None:
    cluster = await begun(HARMLESS)
    breaks(cluster, next(iter(cluster.streams.logs)))
    await settled_late(cluster)
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"


async def test_a_pull_that_fails_says_nothing_about_the_run() -> None:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(audit=(HARMLESS,))
    failing = [12]

    def refuse(call: str) -> None:
        if call in ("probe.audit", "probe.beginning") and failing[0]:
            failing[0] -= 1
            kinds_of_fault = (errors.Transient("timed out"), errors.ProviderFault("409 LogChanged"))
            raise kinds_of_fault[failing[0] % 2]

    cluster.world.faults = refuse
    await cluster.a_run(HTTP)
    for _ in range(100):
        await cluster.turn()
        if cluster.stage(cluster.run()) == "Observing":
            failing[0] = 0
        if cluster.is_quiet():
            break
    assert cluster.run()["status"]["outcome"] == "PASS"


async def test_a_log_that_can_never_be_fetched_passes_nothing() -> None:
    cluster = Cluster()

    def refuse(call: str) -> None:
        if call == "probe.audit":
            raise errors.ProviderFault("409 LogChanged: it was cut off", reason="SidecarRefused")

    cluster.world.faults = refuse
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"
    assert "cut off" in evidence_of(cluster)["window"]["fault"]


async def test_a_log_beyond_the_limit_is_judged_as_far_as_it_was_kept_and_passes_nothing() -> None:
    cluster = Cluster()
    cluster.streams.limit_bytes = 400
    cluster.world.agents["s-1"] = Agent(audit=(HARMLESS,) * 40)
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"
    assert "larger than 400 bytes" in evidence_of(cluster)["window"]["fault"]


async def test_no_value_is_kept_beyond_the_run_and_none_in_what_stays() -> None:
    cluster = await begun({"verb": "forbidden", "requestObject": "hunter2-hunter2"})
    (key,) = cluster.streams.logs
    assert b"hunter2" in cluster.streams.logs[key]
    pod_deleted(cluster, key)
    await cluster.settle()
    assert (cluster.streams.logs, cluster.streams.beginnings) == ({}, {})
    assert b"hunter2" not in b"".join(cluster.artifacts.documents.values())
    assert cluster.run()["status"]["outcome"] == "FAIL"


async def test_what_was_kept_of_a_run_that_is_deleted_is_removed() -> None:
    cluster = await begun(HARMLESS)
    cluster.kube.remove((kinds.SCENARIO_RUN.plural, NAMESPACE, "check-run"))
    assert cluster.streams.logs
    await cluster.runs.reconcile(NAMESPACE, "check-run")
    assert (cluster.streams.logs, cluster.streams.beginnings) == ({}, {})


async def test_a_start_sweeps_what_is_left_of_runs_that_are_over_and_of_no_other() -> None:
    cluster = await begun(HARMLESS)
    (key,) = cluster.streams.logs
    await cluster.streams.begin("aaaaaaaaaa", b"{}")
    cluster.restart()
    await streaming.sweep(cluster.deps)
    assert await cluster.streams.keys() == (key,)
    cluster.kube.edit(
        kinds.SCENARIO_RUN, NAMESPACE, "check-run", lambda run: run["status"].update(stage="Completed")
    )
    await streaming.sweep(cluster.deps)
    assert await cluster.streams.keys() == ()


async def test_a_volume_that_removes_nothing_costs_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_key: str) -> None:
        raise errors.ProviderFault("cannot remove the log of a run: read-only", reason="ArtifactStoreFault")

    cluster = await begun(FORBIDDEN)
    monkeypatch.setattr(cluster.streams, "discard", refuse)
    finish(cluster)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "FAIL"
    assert ("fault", "ArtifactStoreFault") in cluster.meter.counted
