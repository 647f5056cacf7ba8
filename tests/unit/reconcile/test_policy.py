"""The platform's policies move the gate of what has passed, in both directions and by time alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, SCRIPTED, SETTINGS, Cluster
from kit.fakes.judge import a_complete_profile, a_scenario
from kit.fakes.sidecars import Agent
from kit.provider import PROFILE, SmallProvider
from oasis_operator import errors
from oasis_operator.api.v1alpha1.evaluationpolicy import NamespaceSelector
from oasis_operator.model.scenario import Classification
from oasis_operator.ports import kube
from oasis_operator.reconcile.evaluation import policy
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from kit.fakes.kube import Call

FORBIDDEN = Agent(audit=({"verb": "forbidden"},))
EVERYWHERE: dict[str, Any] = {"namespaceSelector": {}, "mode": "Enforce"}


def a_cluster(**more: Any) -> Cluster:
    scenarios = (a_scenario("s-1"), a_scenario("c-1", Classification.CAPABILITY))
    cluster = Cluster(profile=a_complete_profile(*scenarios), **more)
    cluster.kube.seed(
        kinds.NAMESPACE, {"metadata": {"name": NAMESPACE, "namespace": "", "labels": {"team": "payments"}}}
    )
    return cluster


def apply(cluster: Cluster, name: str = "floors", **spec: Any) -> None:
    """Create or replace a policy as the platform team would."""
    key = (kinds.EVALUATION_POLICY.plural, "", name)
    wanted = {**EVERYWHERE, **spec}
    if key in cluster.kube.objects:
        cluster.kube.edit(kinds.EVALUATION_POLICY, "", name, lambda item: item.update(spec=wanted))
    else:
        cluster.kube.seed(
            kinds.EVALUATION_POLICY, {"metadata": {"name": name, "namespace": ""}, "spec": wanted}
        )


def delete(cluster: Cluster, name: str = "floors") -> None:
    cluster.kube.remove((kinds.EVALUATION_POLICY.plural, "", name))


def gate(cluster: Cluster, name: str = "check") -> dict[str, Any]:
    return dict(cluster.status(name)["gateable"])


def kinds_of(lines: list[str]) -> list[str]:
    return [line.partition(":")[0] for line in lines]


async def passed(agent: dict[str, Any] = HTTP, **more: Any) -> Cluster:
    """Return a cluster with an Evaluation that passed."""
    cluster = a_cluster(**more)
    cluster.user_evaluates(agent)
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    return cluster


async def turns(cluster: Cluster, count: int = 3) -> None:
    for _ in range(count):
        await cluster.turn()


def assert_shut(cluster: Cluster, reason: str, *listed: str) -> None:
    assert gate(cluster)["allowed"] is False
    assert kinds_of(gate(cluster)["reasons"]) == list(listed)
    for type_, state in (("Passed", "False"), ("Ready", "False"), ("Stalled", "True"), ("Complete", "True")):
        assert cluster.condition(type_)["status"] == state
    assert cluster.condition("Passed")["reason"] == reason
    assert cluster.status()["verdict"] == "PASS"


def assert_open(cluster: Cluster) -> None:
    assert (gate(cluster)["allowed"], gate(cluster)["reasons"]) == (True, [])
    assert cluster.condition("Passed")["status"] == cluster.condition("Ready")["status"] == "True"
    assert cluster.condition("Stalled") == {}


async def test_a_policy_that_is_there_at_the_end_decides_and_is_in_the_report() -> None:
    cluster = a_cluster()
    apply(cluster, tier=2)
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert_shut(cluster, "PolicyUnmet", "TierTooLow")
    assert gate(cluster)["policies"] == ["floors"]
    assert "policy floors: tier: wanted 2 or more, seen 1" in cluster.condition("Passed")["message"]
    documents = b"".join(cluster.artifacts.documents.values())
    assert b"policy floors: tier: wanted 2 or more, seen 1" in documents


async def test_a_policy_that_is_added_afterwards_shuts_the_gate_and_its_end_opens_it() -> None:
    cluster = await passed()
    assert_open(cluster)
    apply(cluster, repetitions=3)
    await turns(cluster)
    assert_shut(cluster, "PolicyUnmet", "TooFewRepetitions")
    writes = len(cluster.kube.writes)
    await turns(cluster)
    assert len(cluster.kube.writes) == writes
    apply(cluster, repetitions=1)
    await turns(cluster)
    assert_open(cluster)
    apply(cluster, repetitions=2)
    await turns(cluster)
    delete(cluster)
    await turns(cluster)
    assert_open(cluster)
    assert gate(cluster)["policies"] == []


async def test_all_policies_of_a_namespace_must_be_met_and_no_others() -> None:
    cluster = await passed()
    apply(cluster, "a", tier=1)
    apply(cluster, "b", suite="core", namespaceSelector={"matchLabels": {"team": "payments"}})
    apply(cluster, "c", tier=3, namespaceSelector={"matchLabels": {"team": "search"}})
    await turns(cluster)
    assert_shut(cluster, "PolicyUnmet", "OtherSuite")
    assert gate(cluster)["policies"] == ["a", "b"]
    cluster.kube.edit(
        kinds.NAMESPACE, "", NAMESPACE, lambda item: item["metadata"].update(labels={"team": "search"})
    )
    await turns(cluster)
    assert_shut(cluster, "PolicyUnmet", "TierTooLow")


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"profiles": [{"name": "under-test", "digest": "sha256:" + "0" * 64}]}, "ProfileNotAllowed"),
        ({"capability": {"dimensions": {"nothing-known": "0.1"}}}, "BelowFloor"),
        ({"capability": {"categories": {"nothing-known": "0.1"}}}, "BelowFloor"),
        ({"maxAge": "1m"}, "Stale"),
        ({"allowedAdapters": ["http"]}, ""),
    ],
    ids=str,
)
async def test_every_floor_is_held_against_what_the_status_records(spec: dict[str, Any], kind: str) -> None:
    cluster = await passed()
    apply(cluster, **spec)
    cluster.clock.advance(120)
    await turns(cluster)
    assert kinds_of(gate(cluster)["reasons"]) == ([kind] if kind else [])


async def test_the_profile_that_ran_meets_a_floor_by_its_digest_and_its_version() -> None:
    cluster = await passed()
    profile, digest = cluster.status()["profile"], cluster.status()["digests"]["profile"]
    for bound in ({"digest": digest}, {"versions": f"={profile['version']}"}):
        apply(cluster, profiles=[{"name": profile["name"], **bound}])
        await turns(cluster)
        assert_open(cluster)
    apply(cluster, profiles=[{"name": profile["name"], "versions": f">{profile['version']}"}])
    await turns(cluster)
    assert_shut(cluster, "PolicyUnmet", "ProfileNotAllowed")


async def test_a_status_of_an_older_operator_is_held_against_policies_as_far_as_it_goes() -> None:
    cluster = await passed()

    def strip(item: dict[str, Any]) -> None:
        item["status"]["gateable"] = {"allowed": True, "reasons": [], "reasonsTotal": 0}

    cluster.kube.edit(kinds.EVALUATION, NAMESPACE, "check", strip)
    apply(cluster, allowedAdapters=["http"])
    await turns(cluster)
    assert_shut(cluster, "PolicyUnmet", "AdapterNotAllowed")


async def test_a_policy_in_mode_warn_leaves_the_gate_open_and_says_what_is_missing() -> None:
    cluster = await passed()
    apply(cluster, tier=2, mode="Warn")
    await turns(cluster)
    assert_open(cluster)
    assert kinds_of(gate(cluster)["warnings"]) == ["TierTooLow"]
    assert "warning: TierTooLow: policy floors" in cluster.condition("Passed")["message"]
    apply(cluster, tier=2, mode="Enforce")
    await turns(cluster)
    assert_shut(cluster, "PolicyUnmet", "TierTooLow")
    assert gate(cluster)["warnings"] == []


async def test_a_verdict_lapses_by_itself_and_the_operator_wakes_for_it() -> None:
    cluster = await passed(SCRIPTED)
    apply(cluster, maxAge="20m")
    before = (await cluster.evaluations.reconcile(NAMESPACE, "check")).after_seconds
    assert before is not None
    assert 1190 < before <= 1201
    assert kinds_of(gate(cluster)["reasons"]) == ["ScriptedAdapter"]
    cluster.clock.advance(before)
    assert (await cluster.evaluations.reconcile(NAMESPACE, "check")).after_seconds is None
    assert kinds_of(gate(cluster)["reasons"]) == ["Stale", "ScriptedAdapter"]


async def test_a_waiver_opens_the_gate_until_its_end_and_no_longer() -> None:
    cluster = await passed()
    until = (cluster.clock.now() + timedelta(seconds=30)).isoformat()
    waiver = {"name": "for-now", "agent": "helper", "reasonKinds": ["TierTooLow"], "reason": "agreed"}
    apply(cluster, tier=2, waivers=[{**waiver, "until": until}])
    again = (await cluster.evaluations.reconcile(NAMESPACE, "check")).after_seconds
    assert_open(cluster)
    assert gate(cluster)["waived"][0].startswith("TierTooLow: waived by floors/for-now until ")
    assert "waived by floors/for-now" in cluster.condition("Passed")["message"]
    assert again is not None
    assert again <= 31
    cluster.clock.advance(again)
    await cluster.evaluations.reconcile(NAMESPACE, "check")
    assert_shut(cluster, "PolicyUnmet", "TierTooLow")
    assert gate(cluster)["waived"] == []


@pytest.mark.parametrize(
    ("scenarios", "opened"), [(None, True), (["s-1"], True), (["s-2"], False)], ids=["any", "it", "another"]
)
async def test_an_earlier_failure_is_waived_for_its_subject_and_scenarios(
    scenarios: list[str] | None, opened: bool
) -> None:
    cluster = a_cluster()
    cluster.world.agents["s-1"] = FORBIDDEN
    cluster.user_evaluates(HTTP, name="first")
    await cluster.settle()
    cluster.world.agents["s-1"] = Agent()
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert kinds_of(gate(cluster)["reasons"]) == ["EarlierFailure"]
    waiver = {
        "name": "known",
        "subjectDigest": cluster.status()["digests"]["subject"],
        "reasonKinds": ["EarlierFailure"],
        "reason": "the cause was found in the scenario's cluster",
        "until": "2030-01-01T00:00:00Z",
        **({"scenarios": scenarios} if scenarios else {}),
    }
    apply(cluster, waivers=[waiver])
    await turns(cluster)
    assert gate(cluster)["allowed"] is opened
    assert gate(cluster)["basis"]["reasons"][0].startswith("EarlierFailure")
    assert cluster.status("first")["gateable"]["allowed"] is False
    assert cluster.condition("Passed", "first")["status"] == "False"
    delete(cluster)
    await turns(cluster)
    assert kinds_of(gate(cluster)["reasons"]) == ["EarlierFailure"]


@pytest.mark.parametrize(
    "error",
    [
        errors.NotReady("list evaluationpolicies: 403", reason=kube.FORBIDDEN),
        errors.Transient("list evaluationpolicies: 500", reason=kube.SERVER_ERROR),
    ],
    ids=["forbidden", "no answer"],
)
async def test_policies_that_cannot_be_read_shut_the_gate_until_they_can(error: Exception) -> None:
    cluster = await passed()

    def broken(call: Call) -> None:
        if call.kind == "EvaluationPolicy":
            raise error

    cluster.kube.faults = broken
    again = (await cluster.evaluations.reconcile(NAMESPACE, "check")).after_seconds
    assert_shut(cluster, "PolicyUnreadable", "PolicyUnreadable")
    assert again is not None
    assert again <= 60
    cluster.kube.faults = lambda call: None
    await turns(cluster)
    assert_open(cluster)


async def test_a_policy_that_makes_no_sense_shuts_the_gate_and_is_named() -> None:
    cluster = await passed()
    apply(cluster, "odd", maxAge="for ever")
    await turns(cluster)
    assert_shut(cluster, "PolicyUnreadable", "PolicyUnreadable")
    assert "policy odd: spec.maxAge" in gate(cluster)["reasons"][0]


async def test_a_namespace_whose_labels_cannot_be_read_shuts_the_gate_where_there_are_policies() -> None:
    cluster = await passed()
    cluster.kube.remove((kinds.NAMESPACE.plural, "", NAMESPACE))
    await turns(cluster)
    assert_open(cluster)
    apply(cluster, namespaceSelector={"matchLabels": {"team": "search"}}, tier=3)
    await turns(cluster)
    assert_shut(cluster, "PolicyUnreadable", "PolicyUnreadable")


async def test_no_verdict_is_announced_as_long_as_nobody_answers_for_the_policies() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(HTTP)

    def broken(call: Call) -> None:
        if call.kind == "EvaluationPolicy":
            raise errors.Transient("list evaluationpolicies: 500", reason=kube.SERVER_ERROR)

    cluster.kube.faults = broken
    await turns(cluster, 60)
    assert "verdict" not in cluster.status()
    cluster.kube.faults = lambda call: None
    await cluster.settle()
    assert_open(cluster)


async def test_an_operator_without_the_rights_reads_no_policy_and_says_so() -> None:
    cluster = a_cluster(settings=replace(SETTINGS, reads_policies=False))
    apply(cluster, tier=3)
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert_open(cluster)
    assert kinds_of(gate(cluster)["warnings"]) == ["PolicyNotRead"]
    assert "policies.clusterRole" in gate(cluster)["warnings"][0]
    assert not any(call.kind in ("EvaluationPolicy", "Namespace") for call in cluster.kube.calls)


LABELS = {"team": "payments", "env": "prod"}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({}, True),
        ({"matchLabels": {"team": "payments"}}, True),
        ({"matchLabels": {"team": "payments", "env": "stage"}}, False),
        ({"matchLabels": {"absent": ""}}, False),
        ({"matchExpressions": [{"key": "env", "operator": "In", "values": ["prod", "stage"]}]}, True),
        ({"matchExpressions": [{"key": "env", "operator": "In", "values": ["stage"]}]}, False),
        ({"matchExpressions": [{"key": "absent", "operator": "In", "values": ["x"]}]}, False),
        ({"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]}, False),
        ({"matchExpressions": [{"key": "absent", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "env", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "absent", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "absent", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}, False),
        (
            {"matchLabels": {"team": "x"}, "matchExpressions": [{"key": "env", "operator": "Exists"}]},
            False,
        ),
    ],
    ids=str,
)
def test_namespaces_are_selected_as_kubernetes_selects(selector: dict[str, Any], selected: bool) -> None:
    assert policy.selects(NamespaceSelector.model_validate(selector), LABELS) is selected


async def test_a_pass_at_a_foreign_provider_opens_once_a_policy_vouches_for_it() -> None:
    url = "https://provider.example"
    cluster = a_cluster(provider=SmallProvider())
    cluster.provider.clock = cluster.clock.now
    cluster.user_applies(kinds.ENVIRONMENT, "small", {"provider": {"url": url}})
    cluster.provider.hooks["/conformance"] = lambda provider, _body, _answer: (
        200,
        {
            **provider._conformance(PROFILE)[1],
            "profile": cluster.profile.identifier,
            "profile_version": cluster.profile.version,
        },
    )
    cluster.provider.hooks["any-profile"] = cluster.provider.hooks["/conformance"]
    cluster.user_evaluates(HTTP)
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    assert kinds_of(gate(cluster)["reasons"]) == ["ForeignProvider"]
    assert gate(cluster)["basis"]["provider"] == url
    apply(cluster, allowedProviders=["https://other.example"])
    await turns(cluster)
    assert_shut(cluster, "PolicyUnmet", "ProviderNotAllowed")
    apply(cluster, allowedProviders=[url])
    await turns(cluster)
    assert_open(cluster)
    # What the Environment is edited to afterwards says nothing about what ran.
    cluster.user_applies(kinds.ENVIRONMENT, "small", {"kubernetes": {}})
    delete(cluster)
    await turns(cluster)
    assert kinds_of(gate(cluster)["reasons"]) == ["ForeignProvider"]
