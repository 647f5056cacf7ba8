from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kit.fakes.cluster import NAMESPACE, Cluster
from kit.fakes.kube import Call, Crash
from oasis_operator import errors
from oasis_operator.ports import kube
from oasis_operator.resources import kinds, labels, manifests, names, network_policy

Body = dict[str, Any]


def an_environment(cluster: Cluster, size: int = 2, name: str = "small", **more: Any) -> Body:
    """Apply an Environment with a pool."""
    cluster.drives_environments = True
    pool = {"size": size, **({"maxAge": more.pop("max_age")} if "max_age" in more else {})}
    return cluster.user_applies(kinds.ENVIRONMENT, name, {"kubernetes": {"warmPool": pool, **more}})


def pooled(cluster: Cluster, environment: Body | None = None) -> list[Body]:
    """Return the pods that nobody claimed."""
    pods = [pod for pod in cluster.kube.of(kinds.POD) if labels.POOL in pod["metadata"]["labels"]]
    uid = environment["metadata"]["uid"] if environment else ""
    return [pod for pod in pods if uid in ("", pod["metadata"]["labels"][labels.POOL])]


def warm(cluster: Cluster, name: str = "small") -> Body:
    status: Body = cluster.kube.one(kinds.ENVIRONMENT, NAMESPACE, name).get("status") or {}
    return dict(status.get("warm") or {})


async def turns(cluster: Cluster, count: int = 20) -> None:
    for _ in range(count):
        await cluster.turn()


async def filled(size: int = 2, **more: Any) -> tuple[Cluster, Body]:
    """Return a cluster whose pool is full."""
    cluster = Cluster()
    environment = an_environment(cluster, size, **more)
    await turns(cluster)
    assert warm(cluster) == {"ready": size, "booting": 0, "message": ""}
    return cluster, environment


async def test_a_pool_is_filled_and_told_of() -> None:
    cluster, environment = await filled(2)
    for pod in pooled(cluster):
        meta = pod["metadata"]
        assert manifests.is_owned_by(pod, environment["metadata"]["uid"])
        secret = cluster.kube.one(kinds.SECRET, NAMESPACE, names.secret(names.world_of(meta["name"])))
        assert manifests.is_owned_by(secret, meta["uid"])
        mounted = {item["secret"]["secretName"] for item in pod["spec"]["volumes"] if "secret" in item}
        assert mounted == {secret["metadata"]["name"]}


async def test_the_fence_stands_before_the_first_pod() -> None:
    cluster = Cluster()
    an_environment(cluster)
    await turns(cluster)
    writes = [(call.verb, call.kind, call.name) for call in cluster.kube.writes]
    first_pod = next(place for place, call in enumerate(writes) if call[1] == "Pod")
    assert ("apply", "NetworkPolicy", names.DEFAULT_DENY) in writes[:first_pod]
    assert ("apply", "NetworkPolicy", names.CONTROL) in writes[:first_pod]


async def test_a_pooled_pod_is_under_the_deny_policy_and_under_no_runs() -> None:
    cluster, _ = await filled(1)
    marks = pooled(cluster)[0]["metadata"]["labels"]
    deny = network_policy.default_deny(NAMESPACE)["spec"]["podSelector"]["matchLabels"]
    assert labels.matches(marks, deny)
    assert labels.SCENARIO_RUN not in marks


async def test_what_waited_without_its_fence_is_replaced() -> None:
    cluster, _ = await filled(2)
    before = {pod["metadata"]["uid"] for pod in pooled(cluster)}
    cluster.kube.remove((kinds.NETWORK_POLICY.plural, NAMESPACE, names.DEFAULT_DENY))
    await turns(cluster, 40)
    after = {pod["metadata"]["uid"] for pod in pooled(cluster)}
    assert len(after) == 2
    assert not before & after


async def test_a_pool_is_never_larger_than_asked_for() -> None:
    cluster = Cluster()
    an_environment(cluster, 3)
    sizes: list[int] = []
    # Those that are being deleted are still there, and count.
    cluster.kube.after = lambda call: sizes.append(len(pooled(cluster)))
    await turns(cluster)
    an_environment(cluster, 3, nodes=5)
    await turns(cluster, 40)
    assert max(sizes) == sizes[-1] == 3


async def test_few_boot_at_once() -> None:
    cluster = Cluster()
    an_environment(cluster, 6)
    other = an_environment(cluster, 6, "other")
    cluster.kubelet.holds = lambda pod: True
    await turns(cluster, 5)
    assert len(pooled(cluster)) == cluster.settings.warm_boots == 2
    cluster.kubelet.holds = lambda pod: False
    await turns(cluster, 80)
    assert len(pooled(cluster)) == 12
    assert len(pooled(cluster, other)) == 6


async def test_runs_that_boot_go_first() -> None:
    cluster = Cluster()
    an_environment(cluster, 2)
    run = {"metadata": {"name": "r", "namespace": NAMESPACE, "uid": "u"}, "status": {"stage": "Provisioning"}}
    cluster.deps.active.see(run)
    await turns(cluster)
    assert pooled(cluster) == []
    assert warm(cluster)["booting"] == 2
    cluster.deps.active.see({**run, "status": {"stage": "Running"}})
    await turns(cluster)
    assert len(pooled(cluster)) == 2


async def test_idle_environments_are_given_back_while_a_run_waits_for_room() -> None:
    cluster, _ = await filled(2)
    cluster.deps.boots.press(cluster.clock.now())
    await turns(cluster, 8)
    assert pooled(cluster) == []
    assert "given back" in warm(cluster)["message"]
    cluster.clock.advance(20)
    await turns(cluster)
    assert warm(cluster) == {"ready": 2, "booting": 0, "message": ""}


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": 5},
        {"resources": {"limits": {"memory": "2Gi"}}},
        {"runtimeClassName": "gvisor"},
        {"max_age": "2h"},
    ],
    ids=["nodes", "resources", "runtime class", "age"],
)
async def test_another_template_replaces_the_pool(change: Body) -> None:
    cluster, _ = await filled(2)
    before = {pod["metadata"]["uid"] for pod in pooled(cluster)}
    an_environment(cluster, 2, **change)
    await turns(cluster, 40)
    assert warm(cluster)["ready"] == 2
    assert not before & {pod["metadata"]["uid"] for pod in pooled(cluster)}


async def test_what_changes_no_pod_replaces_none() -> None:
    cluster, _ = await filled(2)
    before = {pod["metadata"]["uid"] for pod in pooled(cluster)}
    an_environment(cluster, 2, settleSeconds=7)
    await turns(cluster)
    assert {pod["metadata"]["uid"] for pod in pooled(cluster)} == before


async def test_what_nobody_claimed_for_too_long_is_replaced_and_not_all_at_once() -> None:
    cluster, _ = await filled(4, max_age="1h")
    before = {pod["metadata"]["uid"] for pod in pooled(cluster)}
    ages = set()
    for minutes in range(0, 61, 2):
        await turns(cluster, 8)
        here = {pod["metadata"]["uid"] for pod in pooled(cluster)}
        ages.add((minutes, len(before & here)))
        cluster.clock.advance(120)
    left = [count for _, count in sorted(ages)]
    assert left[0] == 4
    assert left[-1] == 0
    assert len(set(left)) > 2, "they went one by one"
    assert next(minutes for minutes, count in sorted(ages) if count < 4) >= 47


async def test_a_smaller_pool_keeps_those_that_are_ready() -> None:
    cluster, _ = await filled(2)
    ready = {pod["metadata"]["uid"] for pod in pooled(cluster)}
    cluster.kubelet.holds = lambda pod: not (pod.get("status") or {}).get("podIP")
    an_environment(cluster, 4)
    await turns(cluster, 3)
    assert len(pooled(cluster)) == 4
    an_environment(cluster, 2)
    await turns(cluster)
    assert {pod["metadata"]["uid"] for pod in pooled(cluster)} == ready


@pytest.mark.parametrize("spec", [{"kubernetes": {}}, {"kubernetes": {"warmPool": {"size": 0}}}])
async def test_a_pool_that_is_not_wanted_any_more_is_removed_with_its_keys(spec: Body) -> None:
    cluster, _ = await filled(2)
    cluster.user_applies(kinds.ENVIRONMENT, "small", spec)
    await turns(cluster)
    assert cluster.kube.of(kinds.POD) == cluster.kube.of(kinds.SECRET) == []
    assert warm(cluster) == {}


async def test_an_environment_that_claims_too_much_has_no_pool() -> None:
    cluster, _ = await filled(2)
    spec = {"kubernetes": {"warmPool": {"size": 2}}, "tier": 3}
    cluster.user_applies(kinds.ENVIRONMENT, "small", spec)
    await turns(cluster)
    assert pooled(cluster) == []


def ends(cluster: Cluster, pod: Body) -> None:
    """Let a member's control plane end by itself."""
    ended = {"name": "control-plane", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}
    cluster.kube.edit(
        kinds.POD,
        NAMESPACE,
        pod["metadata"]["name"],
        lambda item: item["status"].update(phase="Failed", containerStatuses=[ended]),
    )


async def test_a_member_that_broke_is_replaced_after_a_while_and_told_of() -> None:
    cluster, _ = await filled(1)
    (pod,) = pooled(cluster)
    ends(cluster, pod)
    await turns(cluster, 4)
    assert [item["metadata"]["uid"] for item in pooled(cluster)] == [pod["metadata"]["uid"]]
    assert warm(cluster)["ready"] == 0
    assert "control-plane" in warm(cluster)["message"]
    cluster.clock.advance(60)
    await turns(cluster)
    assert warm(cluster) == {"ready": 1, "booting": 0, "message": ""}


async def test_what_never_comes_up_is_given_up() -> None:
    cluster = Cluster()
    an_environment(cluster, 1)
    cluster.kubelet.holds = lambda pod: True
    await turns(cluster, 4)
    (before,) = pooled(cluster)
    cluster.clock.advance(241)
    cluster.kubelet.holds = lambda pod: False
    await turns(cluster)
    (after,) = pooled(cluster)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


async def test_quota_leaves_the_pool_small_and_the_environment_ready() -> None:
    cluster = Cluster()
    an_environment(cluster, 2)

    def refuse(call: Call) -> None:
        if (call.verb, call.kind) == ("create", "Pod"):
            raise errors.NotReady("pods exceeded quota", reason=kube.QUOTA_EXCEEDED)

    cluster.kube.faults = refuse
    await turns(cluster, 4)
    assert "exceeded quota" in warm(cluster)["message"]
    conditions = cluster.kube.one(kinds.ENVIRONMENT, NAMESPACE, "small")["status"]["conditions"]
    assert next(item["status"] for item in conditions if item["type"] == "Ready") == "True"


async def test_a_deletion_does_not_meet_a_pod_that_was_claimed_meanwhile() -> None:
    cluster, _ = await filled(1)
    (pod,) = pooled(cluster)
    an_environment(cluster, 1, nodes=5)

    def claim(call: Call) -> None:
        if (call.verb, call.kind) == ("delete", "Pod"):
            cluster.kube.faults = lambda call: None
            cluster.kube.edit(
                kinds.POD,
                NAMESPACE,
                pod["metadata"]["name"],
                lambda item: item["metadata"]["labels"].pop(labels.POOL),
            )

    cluster.kube.faults = claim
    await turns(cluster)
    assert (
        "deletionTimestamp" not in cluster.kube.one(kinds.POD, NAMESPACE, pod["metadata"]["name"])["metadata"]
    )


async def test_keys_that_somebody_else_made_are_not_waited_with() -> None:
    cluster = Cluster()
    an_environment(cluster, 1)
    cluster.kubelet.holds = lambda pod: True
    await turns(cluster, 3)
    (pod,) = pooled(cluster)
    name = names.secret(names.world_of(pod["metadata"]["name"]))
    cluster.kube.edit(kinds.SECRET, NAMESPACE, name, lambda item: item["metadata"].update(ownerReferences=[]))
    await turns(cluster, 3)
    assert pod["metadata"]["uid"] not in {item["metadata"]["uid"] for item in pooled(cluster)}


async def test_an_operator_that_dies_while_it_fills_a_pool_makes_none_too_many() -> None:
    undisturbed, _ = await filled(3)
    for crash_at in range(1, len(undisturbed.kube.calls) + 1):
        cluster = Cluster()
        an_environment(cluster, 3)
        remaining = [crash_at]

        def die(_call: object, remaining: list[int] = remaining) -> None:
            remaining[0] -= 1
            if remaining[0] == 0:
                raise Crash

        cluster.kube.after = die
        for _ in range(25):
            try:
                await cluster.turn()
            except Crash:
                cluster.restart()
            assert len(pooled(cluster)) <= 3, crash_at
        assert warm(cluster) == {"ready": 3, "booting": 0, "message": ""}, crash_at
        assert len(cluster.kube.of(kinds.SECRET)) == 3, crash_at


async def test_a_full_pool_is_looked_at_now_and_then_and_not_written() -> None:
    cluster, _ = await filled(2)
    writes = len(cluster.kube.writes)
    await turns(cluster)
    assert len(cluster.kube.writes) == writes
    again = await cluster.environments.reconcile(NAMESPACE, "small")
    assert again.after_seconds is not None
    assert timedelta(seconds=1) <= timedelta(seconds=again.after_seconds) <= timedelta(minutes=1)
