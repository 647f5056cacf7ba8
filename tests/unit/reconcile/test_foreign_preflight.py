"""What a foreign provider declares: asked once per attempt, refused with every gap, shown on the Environment."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from kit.fakes.cluster import NAMESPACE, Cluster
from kit.fakes.judge import a_complete_profile, a_profile, a_scenario
from oasis_operator import errors
from oasis_operator.api.v1alpha1.foreign_provider import ForeignProvider
from oasis_operator.model.profile import Profile, ProviderRequirement
from oasis_operator.reconcile import foreign
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from kit.provider import Answer, SmallProvider

FOREIGN: dict[str, Any] = {"provider": {"url": "https://provider.example"}}
WANTED = (
    ProviderRequirement("audit_policy_installation", "boolean", True, True, "Install an audit policy."),
    ProviderRequirement("network_policy_enforcement", "boolean", True, True, "Use a CNI that enforces."),
)


def a_wanting_profile() -> Profile:
    return replace(a_complete_profile(a_scenario("s-1")), requirements=WANTED)


def answering(cluster: Cluster, **changes: Any) -> None:
    """Let the provider answer for the profile of the tests."""
    profile = cluster.profile

    def hook(_provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
        return 200, {
            **_provider._conformance("oasis-profile-software-infrastructure")[1],
            "profile": profile.identifier,
            "profile_version": profile.version,
            **changes,
        }

    cluster.provider.hooks["/conformance"] = hook
    cluster.provider.hooks["any-profile"] = hook


def a_cluster(profile: Profile | None = None, **changes: Any) -> Cluster:
    cluster = Cluster(profile=profile or a_wanting_profile())
    cluster.provider.clock = cluster.clock.now
    answering(cluster, **changes)
    cluster.user_applies(kinds.ENVIRONMENT, "small", FOREIGN)
    return cluster


async def test_an_evaluation_at_a_provider_that_meets_the_profile_passes() -> None:
    cluster = a_cluster()
    cluster.user_evaluates()
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"
    assert cluster.condition("ProviderConformant")["status"] == "True"
    assert sum(path == "/conformance" for path, _ in cluster.provider.calls) == 1
    assert cluster.provider.alive == []


async def test_the_report_names_the_provider_and_its_tier_as_declared() -> None:
    cluster = a_cluster()
    cluster.user_evaluates()
    await cluster.settle()
    told = b"".join(cluster.artifacts.documents.values()).decode()
    assert "small 1.0.0 declares tier 1; not measured" in told


async def test_gaps_are_refused_all_at_once_before_anything_is_provisioned() -> None:
    lacking = {"audit_policy_installation": False, "network_policy_enforcement": False}
    unmet = [{"requirement": name, "reason": f"no {name} here"} for name in lacking]
    cluster = a_cluster(
        requirements=lacking, supported=False, unmet_requirements=unmet, profile_version="9.9.9"
    )
    cluster.user_evaluates()
    await cluster.settle()
    assert "verdict" not in cluster.status()
    condition = cluster.condition("ProviderConformant")
    assert condition["reason"] == "PreflightGap"
    gaps = cluster.status()["conformanceGaps"]
    assert {one["requirement"] for one in gaps} == {*lacking, "profile_version"}
    assert all(one["remedy"] for one in gaps)
    assert "no audit_policy_installation here" in condition["message"]
    assert not any(path == "/provision" for path, _ in cluster.provider.calls)
    assert cluster.kube.of(kinds.SCENARIO_RUN) == []


@pytest.mark.parametrize(
    ("status", "body", "told", "remedy"),
    [
        (503, {"error": "not today"}, "not today", "oasis conformance"),
        (401, {"error": "who are you"}, "who are you", "tokenRef"),
        (302, b"", "302", "redirect"),
        (201, {}, "201", "oasis conformance"),
        (200, b"<html>", "not JSON", "oasis conformance"),
    ],
)
async def test_a_provider_without_an_answer_is_a_gap_with_its_cause_and_remedy(
    status: int, body: Any, told: str, remedy: str
) -> None:
    cluster = a_cluster()
    cluster.provider.hooks["/conformance"] = lambda _p, _b, _a: (status, body)
    cluster.user_evaluates()
    await cluster.settle()
    assert "verdict" not in cluster.status()
    gap = cluster.status()["conformanceGaps"][0]
    assert gap["requirement"] == "conformance_endpoint"
    assert told in gap["actual"]
    assert remedy in gap["remedy"]


async def test_an_unreachable_provider_is_refused() -> None:
    cluster = a_cluster()

    def refuse(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused")

    cluster.provider.serve = refuse  # type: ignore[method-assign, assignment]
    cluster.restart()
    cluster.user_evaluates()
    await cluster.settle()
    assert "verdict" not in cluster.status()
    assert "connection refused" in cluster.status()["conformanceGaps"][0]["actual"]


async def test_a_new_attempt_asks_again() -> None:
    cluster = a_cluster(supported=False)
    cluster.user_evaluates()
    await cluster.settle()
    assert "verdict" not in cluster.status()
    answering(cluster)
    cluster.kube.edit(kinds.EVALUATION, NAMESPACE, "check", lambda one: one["spec"].update(runToken="again"))
    await cluster.turn()
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"


async def test_a_restart_in_mid_run_does_not_ask_again() -> None:
    cluster = a_cluster()
    cluster.user_evaluates()
    while not cluster.kube.of(kinds.SCENARIO_RUN):
        await cluster.turn()
    cluster.restart()
    cluster.provider.hooks["/conformance"] = lambda _p, _b, _a: (500, {"error": "gone"})
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"


async def test_a_tier_beyond_the_environments_own_claim_is_a_gap() -> None:
    cluster = a_cluster()
    cluster.user_evaluates(tier=2)
    await cluster.settle()
    assert "complexity_tier_supported" in {one["requirement"] for one in cluster.status()["conformanceGaps"]}


async def test_what_only_the_operators_own_worlds_cannot_be_is_left_to_the_provider() -> None:
    odd = a_scenario("s-1")
    state = ({"resource": "mainframe/z", "status": "humming"}, *odd.preconditions.environment.state)
    environment = replace(odd.preconditions.environment, state=state)
    profile = replace(
        a_complete_profile(replace(odd, preconditions=replace(odd.preconditions, environment=environment))),
        requirements=WANTED,
    )
    cluster = a_cluster(profile)
    cluster.user_evaluates()
    await cluster.settle()
    assert cluster.status()["verdict"] == "PASS"


def environment(cluster: Cluster) -> dict[str, Any]:
    return dict(cluster.kube.one(kinds.ENVIRONMENT, NAMESPACE, "small").get("status") or {})


def ready(cluster: Cluster) -> dict[str, Any]:
    return next(one for one in environment(cluster)["conditions"] if one["type"] == "Ready")


async def look(cluster: Cluster) -> float | None:
    return (await cluster.environments.reconcile(NAMESPACE, "small")).after_seconds


async def test_an_environment_that_nobody_uses_is_not_asked() -> None:
    cluster = a_cluster()
    assert await look(cluster) is None
    assert ready(cluster)["status"] == "Unknown"
    assert cluster.provider.calls == []


async def test_an_environment_shows_what_its_provider_lacks_for_each_profile() -> None:
    cluster = a_cluster(requirements={"audit_policy_installation": True}, supported=False)
    cluster.user_evaluates()
    assert await look(cluster) is not None
    shown = environment(cluster)["conformance"]
    assert [(one["profile"], one["conformant"]) for one in shown] == [(cluster.profile.identifier, False)]
    assert "network_policy_enforcement" in {gap["requirement"] for gap in shown[0]["gaps"]}
    assert ready(cluster)["status"] == "True"
    assert "meets 0 of 1 profiles" in ready(cluster)["message"]


async def test_an_answer_is_good_for_a_while_and_no_answer_is_not() -> None:
    cluster = a_cluster()
    cluster.user_evaluates()
    await look(cluster)
    before = cluster.kube.one(kinds.ENVIRONMENT, NAMESPACE, "small")
    await look(cluster)
    assert len(cluster.provider.calls) == 1
    assert cluster.kube.one(kinds.ENVIRONMENT, NAMESPACE, "small") == before
    cluster.clock.advance(301)
    cluster.provider.hooks["/conformance"] = lambda _p, _b, _a: (500, {"error": "gone"})
    await look(cluster)
    assert ready(cluster)["status"] == "False"
    assert ready(cluster)["reason"] == "ProviderFailed"
    answering(cluster)
    await look(cluster)
    assert ready(cluster)["status"] == "True"


async def test_a_changed_spec_is_asked_about_at_once() -> None:
    cluster = a_cluster()
    cluster.user_evaluates()
    await look(cluster)
    cluster.user_applies(kinds.ENVIRONMENT, "small", {"provider": {"url": "https://other.example"}})
    await look(cluster)
    assert len(cluster.provider.calls) == 2


def secret(cluster: Cluster, kind: kinds.Kind = kinds.SECRET, **data: str) -> None:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    body = {
        "metadata": {"name": "creds", "namespace": NAMESPACE},
        "data": encoded if kind == kinds.SECRET else data,
    }
    cluster.kube.seed(kind, body)


async def reached(cluster: Cluster, **spec: Any) -> Any:
    provider = ForeignProvider.model_validate({"url": "https://provider.example", **spec})
    return await foreign.reach(cluster.deps.kube, NAMESPACE, provider)


async def test_token_and_certificates_come_from_the_objects_that_the_spec_names() -> None:
    cluster = Cluster()
    secret(cluster, token="t0ken\n", other="x")
    secret(cluster, kinds.CONFIG_MAP, **{"ca.crt": "PEM"})
    found = await reached(
        cluster,
        tokenRef={"name": "creds"},
        caRef={"configMap": {"name": "creds"}},
        provisionTimeout="2m",
        requestTimeout="5s",
    )
    assert (found.token, found.ca, found.provision_seconds, found.request_seconds) == (
        "t0ken",
        b"PEM",
        120,
        5,
    )
    assert (await reached(cluster, caRef={"secret": {"name": "creds", "key": "other"}})).ca == b"x"
    assert (await reached(cluster)).token == ""


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ({"tokenRef": {"name": "absent"}}, "Secret shop/absent with key token"),
        ({"tokenRef": {"name": "creds", "key": "nope"}}, "Secret shop/creds with key nope"),
        ({"caRef": {"secret": {"name": "creds"}}}, "Secret shop/creds with key ca.crt"),
        (
            {"caRef": {"configMap": {"name": "absent", "key": "a.pem"}}},
            "ConfigMap shop/absent with key a.pem",
        ),
        ({"tokenRef": {"name": "creds", "key": "two"}}, "Secret shop/creds: two is no token of one line"),
    ],
)
async def test_what_is_missing_is_named_with_its_key(spec: dict[str, Any], named: str) -> None:
    cluster = Cluster()
    secret(cluster, token="t", two="a\nb")
    with pytest.raises(errors.NotReady, match=named):
        await reached(cluster, **spec)


def test_the_profile_of_these_tests_has_one_scenario() -> None:
    assert len(a_profile(a_scenario("s-1")).scenarios) == 1
