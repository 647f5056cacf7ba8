from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from oasis_operator import errors
from oasis_operator.errors import InvalidInput
from oasis_operator.provider_api.refusals import Refused
from oasis_operator.provider_api.selftest import SelfTester
from oasis_operator.resources import kinds
from oasis_operator.resources.conformance import NETWORK, SOURCES
from oasis_operator.wire.live import SelfTest
from oasis_operator.wire.observation import ObserveRequest
from oasis_operator.wire.probe import PrepareReason, PrepareState, PrepareStatus
from oasis_operator.wire.provider import InjectRequest, ResourceRef, SnapshotRequest

if TYPE_CHECKING:
    from kit.serving import Provider

WRITTEN: dict[str, Any] = {
    "kind": "ConfigMap",
    "metadata": {"name": "release-notes", "namespace": "orders", "creationTimestamp": "2026-01-05T12:00:00Z"},
    "data": {"note": "release-notes"},
}
SECRET = {
    "kind": "Secret",
    "metadata": {"name": "ledger-db", "namespace": "orders", "creationTimestamp": "2026-01-05T12:00:00Z"},
    "data": {"PASSWORD": "eA=="},
}
CREATED = {
    "auditID": "a",
    "stage": "ResponseComplete",
    "verb": "create",
    "user": {"username": "agent"},
    "requestReceivedTimestamp": "2026-01-05T12:00:00.000000Z",
    "objectRef": {"resource": "configmaps", "namespace": "orders", "name": "release-notes"},
}


async def observed(provider: Provider, wanted: str, /, **parameters: Any) -> Any:
    mine = provider.policies()[0]["metadata"]["annotations"]["oasis-operator.dev/environment-id"]
    return await provider.service.observe(ObserveRequest(mine, wanted, parameters))


async def test_an_observation_echoes_what_was_asked_and_whose_agent_it_is(provider: Provider) -> None:
    mine = await provider.provisioned()
    provider.live.events = (CREATED,)
    answer = (await observed(provider, "audit_log")).to_json()
    assert (answer["environment_id"], answer["observation_type"]) == (mine, "audit_log")
    assert answer["agent_principal"]
    assert answer["evidence_source"] == {"type": "audit_log_file", "status": "available"}
    assert [one["name"] for one in answer["data"]["entries"]] == ["release-notes"]


async def test_a_quiet_log_is_available_and_one_that_is_not_whole_is_not(provider: Provider) -> None:
    await provider.provisioned()
    quiet = await observed(provider, "audit_log")
    assert (quiet.data, quiet.evidence_source.status) == ({"entries": []}, "available")
    provider.live.complete = False
    assert (await observed(provider, "audit_log")).evidence_source.status == "unreachable"


@pytest.mark.parametrize("kind", ["audit_log", "resource_state", "state_diff"])
@pytest.mark.parametrize(
    "broken", ["the probe is silent", "the pod is gone", "the probe was started anew", "no Secret"]
)
async def test_evidence_that_cannot_be_had_is_unreachable_and_never_an_empty_answer(
    provider: Provider, kind: str, broken: str
) -> None:
    await provider.provisioned()
    pod = provider.kube.of(kinds.POD)[0]["metadata"]["name"]

    def silent(call: str) -> None:
        raise errors.Transient("no answer", reason="Network")

    def restarted(item: dict[str, Any]) -> None:
        item["status"]["containerStatuses"][1]["restartCount"] = 1

    match broken:
        case "the probe is silent":
            provider.live.faults = silent
        case "the pod is gone":
            provider.kube.remove((kinds.POD.plural, "shop", pod))
        case "the probe was started anew":
            provider.kube.edit(kinds.POD, "shop", pod, restarted)
        case _:
            provider.kube.remove((kinds.SECRET.plural, "shop", f"r-{pod[2:]}"))
    answer = await observed(provider, kind)
    assert answer.evidence_source.status == "unreachable"
    assert answer.data == {}


async def test_a_state_is_the_object_or_nothing_and_without_parameters_all_there_is(
    provider: Provider,
) -> None:
    await provider.provisioned()
    lease = {"kind": "Lease", "metadata": {"name": "x", "creationTimestamp": "2026-01-05T10:00:00Z"}}
    provider.live.now = (WRITTEN, lease)
    where = {"kind": "configmap", "name": "release-notes", "namespace": "orders"}
    assert (await observed(provider, "resource_state", **where)).data["data"] == {"note": "release-notes"}
    assert (await observed(provider, "resource_state", **{**where, "name": "no"})).data == {}
    every = await observed(provider, "resource_state")
    assert [item["name"] for item in every.data["resources"]] == ["release-notes"]
    diff = await observed(provider, "state_diff", **where)
    assert (diff.data["before"], len(diff.data["changes"])) == ({}, 1)


async def test_a_malformed_parameter_is_refused_and_not_taken_for_a_fault(provider: Provider) -> None:
    await provider.provisioned()
    for kind, parameters in (("audit_log", {"time_to": "soon"}), ("resource_state", {"kind": 7})):
        with pytest.raises(InvalidInput, match=next(iter(parameters))):
            await observed(provider, kind, **parameters)


async def test_an_object_of_which_there_are_several_is_not_guessed(provider: Provider) -> None:
    await provider.provisioned()
    provider.live.now = (WRITTEN, {**WRITTEN, "metadata": {**WRITTEN["metadata"], "namespace": "shop"}})
    with pytest.raises(InvalidInput, match=r"namespace.*orders, shop"):
        await observed(provider, "resource_state", kind="ConfigMap", name="release-notes")


async def test_a_snapshot_holds_what_is_named_or_everything(provider: Provider) -> None:
    mine = await provider.provisioned()
    provider.live.now = (WRITTEN, SECRET)
    whole = await provider.service.snapshot(SnapshotRequest(mine))
    assert [item["name"] for item in whole.resources] == ["release-notes", "ledger-db"]
    one = await provider.service.snapshot(SnapshotRequest(mine, (ResourceRef("secrets"),)))
    assert [item["name"] for item in one.resources] == ["ledger-db"]


@pytest.mark.parametrize(
    ("reason", "status"), [(PrepareReason.IMPOSSIBLE_STATE, 422), (PrepareReason.SYMPTOM_NOT_SEEN, 500)]
)
async def test_what_cannot_be_injected_is_told_with_its_cause(
    provider: Provider, reason: PrepareReason, status: int
) -> None:
    mine = await provider.provisioned()
    provider.live.status = PrepareStatus(PrepareState.FAILED, reason=reason, message="because of this")
    with pytest.raises(Refused, match="because of this") as caught:
        await provider.service.inject(InjectRequest(mine, ({"resource": "configmap/x"},)))
    assert caught.value.status == status


async def tested(provider: Provider) -> Any:
    return await SelfTester(provider.service, provider.environments, provider.live).run()


def well(provider: Provider) -> None:
    provider.live.events, provider.live.now = (CREATED,), (WRITTEN, SECRET)


async def test_a_self_test_that_sees_everything_leaves_nothing_unproven_and_nothing_behind(
    provider: Provider,
) -> None:
    well(provider)
    assert await tested(provider) == {}
    statuses = {entry.get("status") for entry in provider.live.injected}
    assert statuses == {
        "CrashLoopBackOff",
        "degraded",
        "OOMKilled",
        "pending",
        "error",
        "elevated_error_rate",
    }
    assert provider.left() == []


@pytest.mark.parametrize(
    ("spoil", "unproven"),
    [
        (lambda live: setattr(live, "tested", SelfTest(201, 127, 127)), {NETWORK}),
        (lambda live: setattr(live, "tested", SelfTest(201, 0, 0)), {NETWORK}),
        (lambda live: setattr(live, "events", ()), {"audit_policy_installation", f"{SOURCES}/audit_log"}),
        (lambda live: setattr(live, "complete", False),
         {"audit_policy_installation", f"{SOURCES}/audit_log", NETWORK}),
        (lambda live: setattr(live, "now", ()),
         {f"{SOURCES}/resource_state", f"{SOURCES}/state_diff", f"{SOURCES}/value_containment",
          "value_containment_support"}),
        (lambda live: setattr(live, "before", live.now), {f"{SOURCES}/state_diff"}),
        (lambda live: setattr(live, "status", PrepareStatus(PrepareState.FAILED, message="no")),
         {"state_injection"}),
    ],
    ids=["no traffic", "traffic in spite of a policy", "a log that does not hold the write", "a log in pieces",
         "no state", "no difference", "a status that cannot be had"],
)  # fmt: skip
async def test_what_a_self_test_does_not_show_is_named(
    provider: Provider, spoil: Any, unproven: set[str]
) -> None:
    well(provider)
    spoil(provider.live)
    found = await tested(provider)
    assert {*found} == unproven
    assert all(found.values())
    assert provider.left() == []
