from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from kit.kubelet import image_missing
from kit.serving import a_request
from oasis_operator import errors
from oasis_operator.provider_api.refusals import Refused
from oasis_operator.resources import kinds, labels, network_policy
from oasis_operator.wire.observation import ObserveRequest
from oasis_operator.wire.provider import (
    InjectRequest,
    SnapshotRequest,
    TeardownRequest,
)

if TYPE_CHECKING:
    from kit.fakes.kube import Call
    from kit.serving import Provider


async def made(provider: Provider, count: int) -> None:
    """Wait until so many environments have a pod, however busy the machine is."""
    for _ in range(1_000):
        if len(provider.kube.of(kinds.POD)) >= count:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"no {count} pods after ten seconds")


async def refusal(work: Any) -> tuple[int, str, str]:
    with pytest.raises(Refused) as caught:
        await work
    return caught.value.status, caught.value.reason.value, caught.value.message


async def test_an_environment_is_ready_once_its_state_was_seen_and_only_then_lets_the_agent_in(
    provider: Provider,
) -> None:
    seen: list[bool] = []
    turn = provider.clock.turn

    def watch() -> None:
        seen.extend(bool(item["spec"].get("ingress")) for item in provider.policies())
        turn()

    provider.clock.turn = watch
    made = await provider.service.provision(a_request())
    assert made.status == "ready"
    assert made.agent_endpoint == f"https://{provider.kube.of(kinds.POD)[0]['status']['podIP']}:443"
    assert {"kubeconfig", "token", "certificate_authority", "namespace", "username"} <= {
        *made.agent_credentials
    }
    assert seen
    assert not any(seen)
    ingress = provider.policies()[0]["spec"]["ingress"]
    assert ingress == [{"from": [{"podSelector": {}}], "ports": [{"protocol": "TCP", "port": 443}]}]


async def test_the_pod_is_fenced_before_it_exists_and_ends_by_itself(provider: Provider) -> None:
    await provider.provisioned()
    order = [(call.kind, call.name) for call in provider.kube.writes]
    pod = next(index for index, (kind, _) in enumerate(order) if kind == "Pod")
    fences = [index for index, (kind, name) in enumerate(order) if kind == "NetworkPolicy" and "deny" in name]
    assert fences
    assert max(fences) < pod
    body = provider.kube.of(kinds.POD)[0]
    assert network_policy.default_deny("shop")["spec"]["podSelector"]["matchLabels"].items() <= (
        body["metadata"]["labels"].items()
    )
    assert labels.SCENARIO_RUN not in body["metadata"]["labels"]
    assert body["spec"]["activeDeadlineSeconds"] >= provider.chosen.max_age_seconds


async def test_a_repeated_request_is_answered_by_the_same_environment(provider: Provider) -> None:
    first = await provider.service.provision(a_request(environment_id="mine"))
    writes = len(provider.kube.writes)
    provider.restart()
    again = await provider.service.provision(a_request(environment_id="mine"))
    assert again == first
    assert len(provider.policies()) == 1
    assert all(call.verb != "delete" for call in provider.kube.writes[writes:])


async def test_two_requests_at_once_with_one_identifier_are_one_provision(provider: Provider) -> None:
    wanted = a_request(environment_id="mine")
    first, second = await asyncio.gather(
        provider.service.provision(wanted), provider.service.provision(wanted)
    )
    assert first == second
    assert len(provider.kube.of(kinds.POD)) == 1


@pytest.mark.parametrize("goes_on", [False, True], ids=["afterwards", "while it goes on"])
async def test_an_identifier_in_use_is_refused_for_another_request(provider: Provider, goes_on: bool) -> None:
    first = asyncio.create_task(provider.service.provision(a_request(environment_id="mine")))
    if goes_on:
        provider.kubelet.holds, provider.clock.pace = lambda pod: True, 0
        await made(provider, 1)
    else:
        await first
    other = a_request(environment_id="mine", scenario_id="s-2")
    # It does not wait for the first one, which does not end.
    async with asyncio.timeout(10):
        assert (await refusal(provider.service.provision(other)))[:2] == (409, "Conflict")
    provider.kubelet.holds = lambda pod: False
    assert (await first).status == "ready"


async def test_without_an_identifier_each_request_is_an_environment_of_its_own(provider: Provider) -> None:
    assert await provider.provisioned() != await provider.provisioned()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"environment": {"state": [{"resource": "teapot/x"}]}}, "teapot/x"),
        ({"environment": {"type": "mainframe", "state": []}}, "mainframe"),
        ({"tier": 3}, "tier: 3"),
        ({"agent": {"mode": "autonomous", "scope": {"namespaces": 7}}}, "namespaces"),
    ],
    ids=["a kind that is none", "another type", "a tier out of reach", "an agent's part that is none"],
)
async def test_what_no_environment_can_be_is_refused_before_anything_is_made(
    provider: Provider, changes: dict[str, Any], named: str
) -> None:
    status, reason, message = await refusal(provider.service.provision(a_request(**changes)))
    assert (status, reason) == (422, "ImpossibleState")
    assert named in message
    assert provider.kube.writes == []


async def test_more_provisions_than_may_go_on_are_asked_to_come_again(provider: Provider) -> None:
    provider.kubelet.holds, provider.clock.pace = lambda pod: True, 0
    going = [asyncio.create_task(provider.service.provision(a_request())) for _ in range(2)]
    await made(provider, 2)
    with pytest.raises(Refused) as caught:
        await provider.service.provision(a_request())
    assert caught.value.status == 429
    assert int(caught.value.headers["Retry-After"]) > 0
    provider.kubelet.holds = lambda pod: False
    await asyncio.gather(*going, return_exceptions=True)


async def test_more_environments_than_there_may_be_are_refused_until_one_is_torn_down(
    small: Provider,
) -> None:
    first = await small.provisioned()
    assert (await refusal(small.service.provision(a_request())))[0] == 429
    await small.service.teardown(TeardownRequest(first))
    small.kubelet.tick()
    assert await small.provisioned()


@pytest.mark.parametrize(
    ("breaks", "status", "said"),
    [
        (lambda pod: image_missing("probe"), 503, "ErrImagePull"),
        (lambda pod: {"phase": "Failed", "reason": "Evicted"}, 500, "Evicted"),
    ],
    ids=["an image that cannot be had", "a pod that is taken away"],
)
async def test_an_environment_that_does_not_come_up_is_told_with_its_cause_and_leaves_nothing(
    provider: Provider, breaks: Any, status: int, said: str
) -> None:
    provider.kubelet.breaks = breaks
    told = await refusal(provider.service.provision(a_request(environment_id="mine")))
    assert told[0] == status
    assert said in told[2]
    assert provider.left() == []
    provider.kubelet.breaks = lambda pod: None
    assert (await provider.service.provision(a_request(environment_id="mine"))).status == "ready"


@pytest.mark.parametrize(
    ("failure", "status"),
    [(("ImpossibleState", "no"), 422), (("SymptomNotSeen", "deployment/api: not seen"), 500)],
)
async def test_a_state_that_is_not_established_is_told_and_leaves_nothing(
    provider: Provider, failure: tuple[str, str], status: int
) -> None:
    provider.world.on_probe = lambda life: setattr(life, "failure", failure)
    told = await refusal(provider.service.provision(a_request()))
    assert told[0] == status
    assert failure[1] in told[2]
    assert provider.left() == []


async def test_a_caller_that_goes_away_does_not_end_the_provision(provider: Provider) -> None:
    asked = asyncio.create_task(provider.service.provision(a_request(environment_id="mine")))
    await asyncio.sleep(0.01)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    made = await provider.service.provision(a_request(environment_id="mine"))
    assert made.status == "ready"
    assert len(provider.kube.of(kinds.POD)) == 1


async def test_a_teardown_ends_a_provision_that_goes_on(provider: Provider) -> None:
    provider.kubelet.holds, provider.clock.pace = lambda pod: True, 0
    asked = asyncio.create_task(provider.service.provision(a_request(environment_id="mine")))
    await made(provider, 1)
    observed = provider.service.observe(ObserveRequest("mine", "audit_log"))
    assert (await refusal(observed))[:2] == (409, "NotReady")
    assert (await provider.service.teardown(TeardownRequest("mine"))).status == "destroyed"
    assert (await refusal(asked))[1] == "EnvironmentDestroyed"
    assert provider.left() == []


async def test_a_teardown_may_be_repeated_and_one_of_nobody_is_refused(provider: Provider) -> None:
    mine = await provider.provisioned()
    for _ in range(2):
        assert (await provider.service.teardown(TeardownRequest(mine))).status == "destroyed"
    assert provider.left() == []
    nobody = provider.service.teardown(TeardownRequest("nobody"))
    assert (await refusal(nobody))[:2] == (404, "UnknownEnvironment")


@pytest.mark.parametrize("kind", ["observe", "snapshot", "inject"])
async def test_after_its_end_and_without_one_an_environment_tells_nothing(
    provider: Provider, kind: str
) -> None:
    requests: dict[str, Any] = {
        "observe": lambda name: provider.service.observe(ObserveRequest(name, "audit_log")),
        "snapshot": lambda name: provider.service.snapshot(SnapshotRequest(name)),
        "inject": lambda name: provider.service.inject(InjectRequest(name, ())),
    }
    mine = await provider.provisioned()
    await provider.service.teardown(TeardownRequest(mine))
    assert (await refusal(requests[kind](mine)))[:2] == (410, "EnvironmentDestroyed")
    assert (await refusal(requests[kind]("nobody")))[:2] == (404, "UnknownEnvironment")


async def test_what_is_too_old_or_was_left_half_made_is_removed_and_the_rest_stays(
    provider: Provider,
) -> None:
    old = await provider.provisioned()
    provider.clock.advance(3000)
    young = await provider.provisioned()
    provider.clock.advance(1000)
    assert (await refusal(provider.service.observe(ObserveRequest(old, "audit_log"))))[0] == 410
    assert await provider.environments.sweep() == (old,)
    provider.kubelet.holds, provider.clock.pace = lambda pod: True, 0
    half = asyncio.create_task(provider.service.provision(a_request(environment_id="half")))
    await made(provider, 2)
    assert await provider.environments.sweep() == ()
    half.cancel()
    await provider.provisioner.close()
    provider.restart()
    assert await provider.environments.sweep() == ("half",)
    assert (await provider.service.observe(ObserveRequest(young, "audit_log"))).environment_id == young


@pytest.mark.parametrize("number", range(16))
async def test_an_operator_that_dies_at_any_write_leaves_nothing_that_the_next_one_does_not_remove(
    provider: Provider, number: int
) -> None:
    def die(call: Call) -> None:
        if call.verb in ("create", "apply", "delete") and len(provider.kube.writes) == number:
            raise errors.Transient("the connection broke", reason="Network")

    provider.kube.after = die
    try:
        made = await provider.service.provision(a_request(environment_id="mine"))
    except Refused:
        made = None
    provider.kube.after = lambda call: None
    provider.restart()
    await provider.environments.sweep()
    if made is None:
        assert provider.left() == []
    else:
        assert len(provider.policies()) == 1
