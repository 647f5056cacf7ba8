from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, Cluster
from kit.fakes.judge import a_profile, a_scenario
from kit.fakes.kube import Call, Crash
from kit.fakes.sidecars import Agent
from oasis_operator import errors
from oasis_operator.ports import kube
from oasis_operator.reconcile.scenariorun.observe import observe
from oasis_operator.resources import kinds, labels, manifests, names, network_policy

if TYPE_CHECKING:
    from collections.abc import Callable

Body = dict[str, Any]
FENCE = {names.DEFAULT_DENY, names.CONTROL}
POOL = {"kubernetes": {"warmPool": {"size": 2}}}


def pooled(cluster: Cluster) -> list[Body]:
    return [pod for pod in cluster.kube.of(kinds.POD) if labels.POOL in pod["metadata"]["labels"]]


def claimed(cluster: Cluster) -> list[Body]:
    return [pod for pod in cluster.kube.of(kinds.POD) if labels.RUN_UID in pod["metadata"]["labels"]]


def environments_made(cluster: Cluster) -> list[str]:
    calls = cluster.kube.calls
    made = [call.name for call in calls if (call.verb, call.kind) == ("create", "Pod")]
    return [name for name in made if name.startswith("w-")]


async def warmed(size: int = 2, *, refills: bool = False) -> Cluster:
    """Return a cluster with a full pool and nothing written yet; nobody refills it unless told."""
    cluster = Cluster()
    cluster.drives_environments = True
    cluster.user_applies(kinds.ENVIRONMENT, "small", {"kubernetes": {"warmPool": {"size": size}}})
    for _ in range(20):
        await cluster.turn()
    assert len(pooled(cluster)) == size
    cluster.drives_environments = refills
    cluster.kube.calls.clear()
    return cluster


async def turn_until(cluster: Cluster, done: Callable[[], object], turns: int = 80) -> None:
    for _ in range(turns):
        if done():
            return
        await cluster.turn()
    raise AssertionError("never")


def stage(cluster: Cluster, name: str = "check-run") -> str:
    return cluster.stage(cluster.run(name))


def left(cluster: Cluster) -> list[str]:
    """Return what is there but the fence and what waits in the pool."""
    found = (
        *cluster.kube.of(kinds.POD),
        *cluster.kube.of(kinds.SECRET),
        *cluster.kube.of(kinds.NETWORK_POLICY),
    )
    waiting = {names.world_of(pod["metadata"]["name"]) for pod in pooled(cluster)}
    wanted = FENCE | {f"w-{token}" for token in waiting} | {f"r-{token}" for token in waiting}
    return [item["metadata"]["name"] for item in found if item["metadata"]["name"] not in wanted]


async def test_a_run_claims_a_world_that_is_ready_and_makes_none() -> None:
    cluster = await warmed()
    ready = {pod["metadata"]["name"] for pod in pooled(cluster)}
    await cluster.a_run(HTTP)
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PASS"
    assert status["pods"]["environment"]["name"] in ready
    assert environments_made(cluster) == []
    assert len(pooled(cluster)) == 1
    assert left(cluster) == []


async def test_a_claimed_run_costs_no_more_writes_than_another() -> None:
    cluster = await warmed()
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert [call.verb for call in cluster.kube.writes].count("patch") == 1
    assert len(cluster.kube.writes) <= 15, cluster.kube.writes


async def test_a_claimed_pod_is_its_runs_in_all_that_selects_or_owns() -> None:
    cluster = await warmed()
    run = await cluster.a_run(HTTP)
    await turn_until(cluster, lambda: stage(cluster) == "Running")
    (pod,) = claimed(cluster)
    meta, run_id = pod["metadata"], names.run_id(run["metadata"]["uid"], 1)
    assert manifests.is_owned_by(pod, run["metadata"]["uid"])
    assert len(meta["ownerReferences"]) == 1
    policy = cluster.kube.one(kinds.NETWORK_POLICY, NAMESPACE, names.policy(run_id))["spec"]
    assert labels.matches(meta["labels"], policy["podSelector"]["matchLabels"])
    assert labels.matches(meta["labels"], policy["egress"][0]["to"][0]["podSelector"]["matchLabels"])
    deny = network_policy.default_deny(NAMESPACE)["spec"]["podSelector"]["matchLabels"]
    assert labels.matches(meta["labels"], deny)
    assert meta["labels"][labels.SCENARIO_RUN] == "check-run"
    assert labels.POOL not in meta["labels"]
    agent = cluster.kube.one(kinds.POD, NAMESPACE, names.agent_pod(run_id))
    keys = next(item["secret"]["secretName"] for item in agent["spec"]["volumes"] if "secret" in item)
    assert keys == names.secret(names.world_of(meta["name"]))
    assert agent["spec"]["hostAliases"][0]["ip"] == pod["status"]["podIP"]


async def test_the_deadline_of_a_claimed_pod_is_that_of_its_run_and_never_farther() -> None:
    cluster = await warmed()
    (before, _) = pooled(cluster)
    cluster.clock.advance(300)
    await cluster.a_run(HTTP)
    await turn_until(cluster, lambda: claimed(cluster))
    (pod,) = claimed(cluster)
    run = 180 + 180 + 900 + 120 + 120 + 600
    assert run + 300 <= pod["spec"]["activeDeadlineSeconds"] <= run + 310
    assert pod["spec"]["activeDeadlineSeconds"] < before["spec"]["activeDeadlineSeconds"]


async def test_the_pool_is_filled_again_after_a_claim() -> None:
    cluster = await warmed(refills=True)
    before = {pod["metadata"]["uid"] for pod in pooled(cluster)}
    await cluster.a_run(HTTP)
    await cluster.settle()
    for _ in range(20):
        await cluster.turn()
    after = {pod["metadata"]["uid"] for pod in pooled(cluster)}
    assert len(after) == 2
    assert len(before & after) == 1


async def test_without_a_ready_one_a_run_boots_its_own() -> None:
    cluster = await warmed()
    for pod in pooled(cluster):
        cluster.kube.remove((kinds.POD.plural, NAMESPACE, pod["metadata"]["name"]))
    await cluster.a_run(HTTP)
    await cluster.settle()
    run_id = names.run_id(cluster.run()["metadata"]["uid"], 1)
    assert environments_made(cluster) == [names.environment_pod(run_id)]
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert left(cluster) == []


def restarted(pod: Body) -> None:
    pod["status"]["containerStatuses"][0]["restartCount"] = 1


def not_started(pod: Body) -> None:
    for container in pod["status"]["containerStatuses"]:
        container.update(ready=False, started=container["name"] == "control-plane")


def deleted(pod: Body) -> None:
    pod["metadata"]["deletionTimestamp"] = "2026-01-05T12:00:00Z"


def of_another_template(pod: Body) -> None:
    pod["metadata"]["labels"][labels.TEMPLATE] = "another"


def of_somebody_else(pod: Body) -> None:
    pod["metadata"]["ownerReferences"][0]["uid"] = "of-somebody-else"


@pytest.mark.parametrize("spoil", [restarted, not_started, deleted, of_another_template, of_somebody_else])
async def test_what_may_not_be_blank_or_right_is_not_claimed(spoil: Callable[[Body], None]) -> None:
    cluster = await warmed(1)
    (pod,) = pooled(cluster)
    cluster.kube.edit(kinds.POD, NAMESPACE, pod["metadata"]["name"], spoil)
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert "patch" not in {call.verb for call in cluster.kube.writes}
    assert len(environments_made(cluster)) == 1


async def test_a_world_that_is_too_old_is_not_claimed() -> None:
    cluster = await warmed(1)
    cluster.clock.advance(3601)
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert len(environments_made(cluster)) == 1


async def test_a_run_longer_than_a_claimed_pod_may_live_boots_its_own() -> None:
    cluster = await warmed(1)
    run = await cluster.a_run(HTTP)
    cluster.kube.edit(
        kinds.SCENARIO_RUN,
        NAMESPACE,
        run["metadata"]["name"],
        lambda item: item["spec"].update(timeouts={"running": "24h"}),
    )
    await cluster.settle()
    assert len(environments_made(cluster)) == 1


async def test_a_world_whose_probe_has_prepared_anything_is_not_claimed() -> None:
    cluster = await warmed(1)
    for life in cluster.world.probes.values():
        life.prepared = {"run_id": "of-another"}
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert "patch" not in {call.verb for call in cluster.kube.writes}


async def test_a_world_whose_probe_is_silent_is_not_claimed() -> None:
    cluster = await warmed(2)
    first = next(iter(cluster.world.probes.values()))
    first.silent = True
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert environments_made(cluster) == []


async def test_keys_that_are_not_the_worlds_own_are_not_trusted() -> None:
    cluster = await warmed(1)
    (secret,) = cluster.kube.of(kinds.SECRET)
    cluster.kube.edit(
        kinds.SECRET,
        NAMESPACE,
        secret["metadata"]["name"],
        lambda item: item["metadata"]["ownerReferences"][0].update(uid="of-another"),
    )
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert "patch" not in {call.verb for call in cluster.kube.writes}


@pytest.mark.parametrize(
    "refusal",
    [
        errors.NotReady("pods is forbidden", reason=kube.FORBIDDEN),
        errors.InvalidSpec("pod is invalid", reason=kube.REFUSED),
    ],
    ids=["rights", "object"],
)
async def test_a_claim_that_is_refused_costs_the_run_nothing(refusal: errors.OasisError) -> None:
    cluster = await warmed()

    def refuse(call: Call) -> None:
        if call.verb == "patch":
            raise refusal

    cluster.kube.faults = refuse
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert len(environments_made(cluster)) == 1


def taken_by_another(cluster: Cluster, times: int) -> list[str]:
    """Have somebody else claim the same pod right before the run does, so many times; gives their names."""
    taken: list[str] = []

    def take(call: Call) -> None:
        if call.verb == "patch" and len(taken) < times:
            taken.append(call.name)
            cluster.kube.edit(
                kinds.POD, NAMESPACE, call.name, lambda pod: pod["metadata"]["labels"].pop(labels.POOL)
            )

    cluster.kube.faults = take
    return taken


@pytest.mark.parametrize(("times", "own"), [(1, 0), (2, 1)], ids=["next one", "none is left"])
async def test_who_loses_a_race_tries_the_next_one_and_boots_its_own_at_last(times: int, own: int) -> None:
    cluster = await warmed()
    taken = taken_by_another(cluster, times)
    await cluster.a_run(HTTP)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert cluster.run()["status"]["pods"]["environment"]["name"] not in taken
    assert len(taken) == times
    assert len(environments_made(cluster)) == own


async def test_a_world_that_is_deleted_meanwhile_is_not_claimed() -> None:
    cluster = await warmed(1)

    def delete(call: Call) -> None:
        if call.verb == "patch":
            cluster.kube.edit(kinds.POD, NAMESPACE, call.name, deleted)

    cluster.kube.faults = delete
    await cluster.a_run(HTTP)
    await turn_until(cluster, lambda: environments_made(cluster))
    await cluster.settle()
    assert cluster.run()["status"]["pods"]["environment"]["name"] == environments_made(cluster)[0]


async def test_a_run_that_quota_or_the_scheduler_lets_wait_has_idle_environments_given_back() -> None:
    unschedulable = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "no room",
    }
    full = errors.NotReady("pods exceeded quota", reason=kube.QUOTA_EXCEEDED)
    for refused in (True, False):
        cluster = Cluster()
        cluster.kubelet.holds = lambda pod: True
        await cluster.a_run(HTTP)

        def refuse(call: Call, refused: bool = refused) -> None:
            if refused and (call.verb, call.kind) == ("create", "Pod"):
                raise full

        cluster.kube.faults = refuse
        await cluster.turn()
        for pod in cluster.kube.of(kinds.POD):
            assert not cluster.deps.boots.is_pressed(cluster.clock.now())
            name = pod["metadata"]["name"]
            cluster.kube.edit(
                kinds.POD, NAMESPACE, name, lambda item: item.update(status={"conditions": [unschedulable]})
            )
        await cluster.turn()
        assert cluster.deps.boots.is_pressed(cluster.clock.now()), refused


async def test_runs_do_not_all_try_the_same_world_first() -> None:
    cluster = await warmed(4)
    for number in range(4):
        await cluster.a_run(HTTP, name=f"check-{number}")
    seen = [await observe(cluster.deps, NAMESPACE, f"check-{number}") for number in range(4)]
    now = cluster.clock.now()
    chosen = {one.offer.for_run(one.objects, now)[0].name for one in seen if one and one.offer}
    assert len(chosen) > 1


async def test_two_runs_never_have_the_same_world() -> None:
    cluster = await warmed(1)
    await cluster.a_run(HTTP)
    await cluster.a_run(HTTP, name="check-two")
    await cluster.settle()
    pods = [run["status"]["pods"]["environment"]["uid"] for run in cluster.kube.of(kinds.SCENARIO_RUN)]
    assert len(set(pods)) == 2
    assert len(cluster.world.sent) == 2
    assert {run["status"]["outcome"] for run in cluster.kube.of(kinds.SCENARIO_RUN)} == {"PASS"}


async def test_an_operator_that_dies_right_after_its_claim_goes_on_with_what_it_claimed() -> None:
    cluster = await warmed()
    run = await cluster.a_run(HTTP)

    def die(call: Call) -> None:
        if call.verb == "patch":
            raise Crash

    cluster.kube.after = die
    with pytest.raises(Crash):
        await turn_until(cluster, lambda: False)
    cluster.kube.after = lambda call: None
    (pod,) = claimed(cluster)
    assert "pods" not in (cluster.run().get("status") or {})
    cluster.restart()
    await cluster.settle()
    assert cluster.run()["status"]["pods"]["environment"]["uid"] == pod["metadata"]["uid"]
    assert [call.verb for call in cluster.kube.calls].count("patch") == 1
    assert environments_made(cluster) == []
    assert len(pooled(cluster)) == 1
    assert cluster.run()["metadata"]["uid"] == run["metadata"]["uid"]


async def test_a_lost_answer_to_a_claim_is_no_second_claim() -> None:
    cluster = await warmed()
    await cluster.a_run(HTTP)
    lost: list[Call] = []

    def lose(call: Call) -> None:
        if call.verb == "patch" and not lost:
            lost.append(call)
            raise errors.Transient("timed out", reason=kube.NETWORK)

    cluster.kube.after = lose
    await cluster.settle()
    assert len(pooled(cluster)) == 1
    assert cluster.run()["status"]["pods"]["environment"]["name"] == lost[0].name


@pytest.mark.parametrize("part", range(4))
async def test_a_crash_after_any_call_loses_and_doubles_nothing(part: int) -> None:
    undisturbed = await warmed()
    undisturbed.world.calls.clear()
    await undisturbed.a_run(HTTP)
    await undisturbed.settle()
    calls = len(undisturbed.kube.calls) + len(undisturbed.world.calls)
    for crash_at in range(1 + part, calls + 1, 4):
        cluster = await warmed()
        await cluster.a_run(HTTP)
        remaining = [crash_at]

        def die(_call: object, remaining: list[int] = remaining) -> None:
            remaining[0] -= 1
            if remaining[0] == 0:
                raise Crash

        cluster.kube.after = die
        cluster.world.faults = die
        for _ in range(120):
            try:
                await cluster.turn()
            except Crash:
                cluster.restart()
            if cluster.is_quiet():
                break
        assert cluster.run()["status"]["outcome"] == "PASS", crash_at
        assert environments_made(cluster) == [], crash_at
        assert len(cluster.world.sent) == 1, crash_at
        assert len(pooled(cluster)) == 1, crash_at
        assert left(cluster) == [], crash_at


async def test_a_world_that_dies_before_its_claim_is_recorded_is_claimed_anew() -> None:
    cluster = await warmed()
    await cluster.a_run(HTTP)
    dead: list[str] = []

    def kill(call: Call) -> None:
        if call.verb == "patch" and not dead:
            dead.append(call.name)
            cluster.kube.edit(
                kinds.POD, NAMESPACE, call.name, lambda pod: pod["status"].update(phase="Failed")
            )
            raise errors.Transient("timed out", reason=kube.NETWORK)

    cluster.kube.after = kill
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PASS"
    assert status["pods"]["environment"]["name"] not in dead
    assert environments_made(cluster) == []
    assert left(cluster) == []


@pytest.mark.parametrize("when", ["Provisioning", "Preparing"])
async def test_a_world_that_dies_after_its_claim_costs_one_attempt_and_the_next_boots_its_own(
    when: str,
) -> None:
    cluster = await warmed()
    run = await cluster.a_run(HTTP)
    await turn_until(cluster, lambda: stage(cluster) == when)
    (pod,) = claimed(cluster)
    cluster.kube.edit(
        kinds.POD, NAMESPACE, pod["metadata"]["name"], lambda item: item["status"].update(phase="Failed")
    )
    await cluster.settle()
    second = names.run_id(run["metadata"]["uid"], 2)
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert cluster.run()["status"]["pods"]["environment"]["name"] == names.environment_pod(second)
    assert environments_made(cluster) == [names.environment_pod(second)]
    assert len(pooled(cluster)) == 1, "the second attempt claims nothing"
    assert left(cluster) == []


async def test_a_world_that_dies_after_the_prompt_is_a_provider_failure() -> None:
    cluster = await warmed()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run(HTTP)
    await turn_until(cluster, lambda: stage(cluster) == "Running")
    (pod,) = claimed(cluster)
    cluster.kube.remove((kinds.POD.plural, NAMESPACE, pod["metadata"]["name"]))
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"
    assert left(cluster) == []


async def test_another_template_leaves_claimed_worlds_alone() -> None:
    cluster = await warmed(refills=True)
    cluster.world.agents["s-1"] = Agent(hangs=True)
    await cluster.a_run(HTTP)
    await turn_until(cluster, lambda: stage(cluster) == "Running")
    (pod,) = claimed(cluster)
    cluster.user_applies(kinds.ENVIRONMENT, "small", {"kubernetes": {"nodes": 5, "warmPool": {"size": 2}}})
    for _ in range(20):
        await cluster.turn()
    assert [item["metadata"]["uid"] for item in claimed(cluster)] == [pod["metadata"]["uid"]]
    assert stage(cluster) == "Running"
    for life in cluster.world.adapters.values():
        assert life.run is not None
    assert len(pooled(cluster)) == 2
    made_of = {item["metadata"]["labels"][labels.TEMPLATE] for item in pooled(cluster)}
    assert pod["metadata"]["labels"][labels.TEMPLATE] not in made_of


async def test_an_environment_that_is_deleted_takes_its_pool_and_no_run() -> None:
    cluster = await warmed(refills=True)
    await cluster.a_run(HTTP)
    await turn_until(cluster, lambda: stage(cluster) == "Running")
    cluster.kube.remove((kinds.ENVIRONMENT.plural, NAMESPACE, "small"))
    assert pooled(cluster) == []
    assert len(claimed(cluster)) == 1
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert left(cluster) == []


async def test_a_run_that_is_deleted_takes_the_world_that_it_claimed() -> None:
    cluster = await warmed()
    await cluster.a_run(HTTP)
    await turn_until(cluster, lambda: stage(cluster) == "Preparing")
    cluster.kube.remove((kinds.SCENARIO_RUN.plural, NAMESPACE, "check-run"))
    assert left(cluster) == []
    assert len(pooled(cluster)) == 1


async def test_a_scenario_with_a_pool_costs_at_most_sixteen_writes_with_its_share_of_pool_and_evaluation() -> (
    None
):
    cluster = Cluster(profile=a_profile(*(a_scenario(f"s-{number}") for number in range(6))))
    cluster.drives_environments = True
    cluster.user_applies(kinds.ENVIRONMENT, "small", {"kubernetes": {"warmPool": {"size": 6}}})
    await turn_until(cluster, lambda: len(pooled(cluster)) == 6)
    for _ in range(20):
        await cluster.turn()
    cluster.kube.calls.clear()
    cluster.user_evaluates()
    await cluster.settle()
    for _ in range(80):
        await cluster.turn()
    assert cluster.status()["verdict"] == "PASS"
    assert len(pooled(cluster)) == 6, "what was claimed is made good, and counted"
    writes = cluster.kube.writes
    assert [call.verb for call in writes].count("patch") >= 6
    # What an Evaluation costs however many scenarios it has: control and canary made and removed, an Event, and
    # the status at its begin, after isolation, after identity and at its end.
    fixed = 4 + 1 + 4
    assert len(writes) - fixed <= 16 * 6, len(writes)


async def test_a_claim_that_is_made_good_in_seconds_is_not_told_of() -> None:
    cluster = await warmed(2, refills=True)
    told = cluster.kube.one(kinds.ENVIRONMENT, NAMESPACE, "small")["status"]
    await cluster.a_run(HTTP)
    await cluster.settle()
    for _ in range(20):
        await cluster.turn()
    assert len(pooled(cluster)) == 2
    assert cluster.kube.one(kinds.ENVIRONMENT, NAMESPACE, "small")["status"] == told
    assert [call for call in cluster.kube.writes if call.kind == "Environment"] == []


async def test_a_pool_that_stays_short_is_told_of() -> None:
    cluster = await warmed(2, refills=True)
    cluster.world.agents["s-1"] = Agent(hangs=True)
    cluster.kubelet.holds = lambda pod: labels.POOL in pod["metadata"]["labels"]
    await cluster.a_run(HTTP)
    for _ in range(60):
        await cluster.turn()
    warm = cluster.kube.one(kinds.ENVIRONMENT, NAMESPACE, "small")["status"]["warm"]
    assert (warm["ready"], warm["booting"]) == (1, 1)
