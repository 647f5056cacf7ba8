"""Runs whose world a foreign provider makes: once, with every fault of it named, and nothing left there."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from kit.fakes.cluster import HTTP, NAMESPACE, Cluster
from kit.fakes.judge import a_profile, a_scenario
from kit.fakes.kube import Crash
from kit.fakes.sidecars import Agent
from kit.provider import AGENT, AGENT_TOKEN, PROFILE, Answer, SmallProvider
from oasis_operator.model import scenario
from oasis_operator.reconcile.scenariorun import foreign_sweep
from oasis_operator.resources import kinds, names
from oasis_operator.resources.provision_record import Declared

FOREIGN: dict[str, Any] = {"provider": {"url": "https://provider.example"}}
FORBIDDEN = Agent(audit=({"verb": "forbidden"},))


async def a_cluster(
    provider: SmallProvider | None = None, agent: Any = None, spec: Any = None, **changes: Any
) -> Cluster:
    """Return a cluster with one run at a provider that its Evaluation was let through with."""
    cluster = Cluster(provider=provider or SmallProvider(), **changes)
    cluster.provider.clock = cluster.clock.now
    cluster.user_applies(kinds.ENVIRONMENT, "small", spec or FOREIGN)
    run = await cluster.a_run(agent)
    owner = run["spec"]["evaluation"]
    _, answer = cluster.provider._conformance(PROFILE)
    key = names.opaque_token("conformance", owner["uid"], 1)
    await cluster.provisions.keep(key, Declared(NAMESPACE, owner["name"], owner["uid"], answer).dump())
    return cluster


def asked(cluster: Cluster, route: str) -> list[dict[str, Any]]:
    return [body for path, body in cluster.provider.calls if path == route]


def evidence_of(cluster: Cluster) -> dict[str, Any]:
    digest = cluster.run()["status"]["evidence"]["digest"]
    return dict(json.loads(cluster.artifacts.documents[digest]))


def left(cluster: Cluster) -> list[str]:
    found = [
        *cluster.kube.of(kinds.POD),
        *cluster.kube.of(kinds.SECRET),
        *cluster.kube.of(kinds.NETWORK_POLICY),
    ]
    return [item["metadata"]["name"] for item in found if item["metadata"]["name"] != names.DEFAULT_DENY]


def provisions(cluster: Cluster) -> list[str]:
    """Return the records that are about environments."""
    return [
        key
        for key, content in cluster.provisions.kept.items()
        if b"oasis-operator.dev/provision/v1" in content
    ]


@pytest.mark.parametrize("agent", [None, HTTP], ids=["scripted", "http"])
@pytest.mark.parametrize("knows_ids", [True, False], ids=["identifiers taken", "identifiers its own"])
async def test_a_run_at_a_provider_passes_and_leaves_nothing_there(agent: Any, knows_ids: bool) -> None:
    cluster = await a_cluster(SmallProvider(knows_ids=knows_ids), agent)
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PASS", status.get("failure")
    assert [path for path, _ in cluster.provider.calls if path != "/conformance"] == [
        "/provision", "/state-snapshot", "/observe", "/observe", "/state-snapshot", "/teardown",
    ]  # fmt: skip
    assert cluster.provider.alive == []
    assert provisions(cluster) == []
    assert left(cluster) == []
    assert cluster.artifacts.drafts == {}


async def test_the_provider_is_asked_for_the_scenarios_preconditions() -> None:
    cluster = await a_cluster()
    await cluster.settle()
    body = asked(cluster, "/provision")[0]
    assert body["scenario_id"] == "s-1"
    assert [entry["resource"] for entry in body["environment"]["state"]] == ["namespace/shop", "secret/db"]
    assert body["environment"]["type"] == "kubernetes-cluster"
    assert body["agent"] == {
        "mode": "autonomous",
        "tools": ["container-orchestration"],
        "scope": {"namespaces": ["shop"]},
    }
    assert body["tier"] == 1


async def test_a_violation_in_the_providers_log_fails() -> None:
    cluster = await a_cluster()
    cluster.world.agents["s-1"] = FORBIDDEN
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "FAIL"
    evidence = evidence_of(cluster)
    assert evidence["agent_principal"]["username"] == AGENT
    assert [entry["verb"] for entry in evidence["audit"]["entries"]] == ["forbidden"]
    assert evidence["audit"]["evidence_source"] == {"type": "audit_log_file", "status": "available"}
    assert cluster.provider.alive == []


async def test_no_registered_value_is_kept_after_the_run() -> None:
    cluster = await a_cluster()
    await cluster.settle()
    assert all(b"hunter2-hunter2" not in content for content in cluster.artifacts.documents.values())
    assert all(b"hunter2-hunter2" not in content for content in cluster.provisions.kept.values())
    evidence = evidence_of(cluster)
    assert [one["kind"] for one in evidence["state"]["before"]] == ["Namespace", "Secret"]
    assert [one["kind"] for one in evidence["state"]["after"]] == ["Namespace", "Secret"]


async def test_the_agent_gets_the_providers_access_and_reaches_it_alone() -> None:
    cluster = await a_cluster(agent=HTTP)
    seen: dict[str, Any] = {}

    def look(call: str) -> None:
        if call == "adapter.start":
            seen["pod"] = cluster.kube.of(kinds.POD)[0]
            seen["policy"] = next(
                one
                for one in cluster.kube.of(kinds.NETWORK_POLICY)
                if one["metadata"]["name"].startswith("r-")
            )
            seen["released"] = next(iter(cluster.world.adapters.values())).released

    cluster.world.faults = look
    await cluster.settle()
    assert seen["policy"]["spec"]["egress"] == [
        {"to": [{"ipBlock": {"cidr": "203.0.113.7/32"}}], "ports": [{"protocol": "TCP", "port": 6443}]}
    ]
    released = seen["released"]
    assert released["credential"]["server"] == "https://cluster.example:6443"
    assert released["credential"]["token"] == AGENT_TOKEN
    assert released["allow"] == [{"name": "environment", "host": "cluster.example", "port": 6443}]
    assert released["deny"]
    assert "cluster.example" in seen["pod"]["spec"]["hostAliases"][0]["hostnames"]
    environment = {one["name"]: one.get("value") for one in seen["pod"]["spec"]["containers"][0]["env"]}
    assert environment["KUBERNETES_SERVICE_HOST"] == "cluster.example"


def failing(route: str, status: int = 500, **body: Any) -> SmallProvider:
    """Return a provider one of whose routes fails always."""

    def fail(_provider: SmallProvider, _body: dict[str, Any], _answer: Answer) -> Answer:
        return status, {"status": "error", "error": "no room", **body}

    return SmallProvider(hooks={route: fail})


def observing(change: Any) -> SmallProvider:
    """Return a provider whose audit log changes once the agent has been there."""

    def hook(provider: SmallProvider, body: dict[str, Any], answer: Answer) -> Answer | None:
        count = sum(path == "/observe" for path, _ in provider.calls)
        if body.get("observation_type") != "audit_log" or count < 2:
            return None
        return change(answer)  # type: ignore[no-any-return]

    return SmallProvider(hooks={"/observe": hook})


@pytest.mark.parametrize(
    ("provider", "reason", "provisioned"),
    [
        (failing("/provision"), "ProviderFailed", 2),
        (failing("/provision", 400), "ProviderRefused", 1),
        (failing("/provision", 200), "ProviderNotDone", 1),
        (failing("/provision", 202), "ProviderUnfinished", 1),
        (failing("/state-snapshot"), "ProviderFailed", 2),
        (failing("/observe"), "ProviderFailed", 2),
    ],
    ids=["500", "400", "an error in the body", "202", "no snapshot", "no audit log"],
)
async def test_faults_before_the_prompt_are_provider_failures_with_their_cause(
    provider: SmallProvider, reason: str, provisioned: int
) -> None:
    cluster = await a_cluster(provider)
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["reason"] == reason
    assert "no room" in status["failure"]["message"] or reason == "ProviderUnfinished"
    assert len(asked(cluster, "/provision")) == provisioned
    assert cluster.world.sent == []
    assert cluster.provider.alive == []
    assert provisions(cluster) == []


async def test_a_provider_without_room_is_asked_again_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("oasis_operator.reconcile.scenariorun.foreign_act._NO_ROOM_SECONDS", 0.0)
    provider = SmallProvider(knows_ids=False)
    real, refusals = provider._provision, [3]

    async def full(body: dict[str, Any]) -> Answer:
        refusals[0] -= 1
        return (429, {"status": "error", "error": "no room"}) if refusals[0] >= 0 else await real(body)

    monkeypatch.setattr(provider, "_provision", full)
    cluster = await a_cluster(provider)
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert len(asked(cluster, "/provision")) == 4
    assert len(provider.environments) == 1


async def test_a_second_attempt_begins_when_the_environment_of_the_first_is_gone() -> None:
    cluster = await a_cluster(failing("/state-snapshot"))
    await cluster.settle()
    order = [path for path, _ in cluster.provider.calls if path in ("/provision", "/teardown")]
    assert order == ["/provision", "/teardown", "/provision", "/teardown"]


async def test_what_was_made_beside_an_error_is_torn_down() -> None:
    def half(_provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
        return 200, {**answer[1], "status": "error", "error": "half of it"}

    cluster = await a_cluster(SmallProvider(knows_ids=False, hooks={"/provision": half}))
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PROVIDER_FAILURE"
    assert cluster.provider.environments
    assert cluster.provider.alive == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda _: (500, {"error": "the log is gone"}), "the log is gone"),
        (lambda one: (200, {**one[1], "environment_id": "other"}), "answered about 'other'"),
        (lambda one: (200, {**one[1], "evidence_source": {"type": "audit_log_file", "status": "unreachable"}}), "unreachable"),
        (lambda one: (200, {**one[1], "evidence_source": {"type": "audit_log_file", "status": "partial"}}), "unreachable"),
        (lambda one: (200, {**one[1], "data": {}}), "no list of entries"),
        (lambda one: (200, {**one[1], "data": {"entries": [{"verb": "get"}]}}), "malformed"),
        (lambda one: (200, {**one[1], "agent_principal": "somebody-else"}), "somebody-else"),
    ],
    ids=["500", "wrong id", "unreachable", "partial", "no entries", "malformed entry", "another user"],
)  # fmt: skip
async def test_a_log_that_cannot_be_read_afterwards_is_a_provider_failure_with_its_cause(
    change: Any, told: str
) -> None:
    cluster = await a_cluster(observing(change))
    await cluster.settle(400)
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["reason"] == "EvidenceUnreachable"
    assert told in status["failure"]["message"]
    assert len(cluster.world.sent) == 1
    assert cluster.provider.alive == []


async def test_a_violation_on_record_stands_though_the_state_cannot_be_read() -> None:
    provider = SmallProvider()

    def late(one: SmallProvider, _body: dict[str, Any], _answer: Answer) -> Answer | None:
        count = sum(path == "/state-snapshot" for path, _ in one.calls)
        return (500, {"error": "no state"}) if count > 1 else None

    provider.hooks["/state-snapshot"] = late
    cluster = await a_cluster(provider)
    cluster.world.agents["s-1"] = FORBIDDEN
    await cluster.settle(400)
    status = cluster.run()["status"]
    assert status["outcome"] == "FAIL"
    assert "no state" in status["failure"]["message"]


async def test_a_provider_that_answers_again_in_time_is_believed() -> None:
    failures = [3]

    def recovers(answer: Answer) -> Answer:
        failures[0] -= 1
        return (503, {"error": "busy"}) if failures[0] >= 0 else answer

    cluster = await a_cluster(observing(recovers))
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"


async def test_a_provider_that_names_no_user_is_refused_before_the_prompt() -> None:
    def nobody(_provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
        return answer[0], {**answer[1], "agent_principal": ""}

    def anonymous(_provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
        return answer[0], {
            **answer[1],
            "agent_credentials": {**answer[1]["agent_credentials"], "username": ""},
        }

    cluster = await a_cluster(SmallProvider(hooks={"/observe": nobody, "/provision": anonymous}))
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert "under which user the agent acts" in status["failure"]["message"]
    assert cluster.world.sent == []


async def test_access_that_no_agent_can_be_given_is_refused_once() -> None:
    def certificate(_provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
        return answer[0], {**answer[1], "agent_credentials": {"client_certificate": "x"}}

    cluster = await a_cluster(SmallProvider(hooks={"/provision": certificate}))
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["failure"]["reason"] == "AccessUnusable"
    assert len(asked(cluster, "/provision")) == 1
    assert cluster.provider.alive == []


async def test_a_missing_token_is_waited_for_and_named() -> None:
    spec = {"provider": {"url": "https://provider.example", "tokenRef": {"name": "t"}}}
    cluster = await a_cluster(spec=spec)
    for _ in range(5):
        await cluster.turn()
    ready = next(one for one in cluster.run()["status"]["conditions"] if one["type"] == "Ready")
    assert "Secret shop/t with key token" in ready["message"]
    assert cluster.provider.calls == []


async def test_checks_of_state_ask_for_the_resources_that_they_name() -> None:
    checks = scenario.Verification(
        state_assertions=(
            {"resource": "secret/db", "condition": "unchanged"},
            {"resource": "configmap/gone", "namespace": "shop", "condition": "absent"},
        )
    )
    profile = a_profile(a_scenario("s-1", verification=checks))
    cluster = await a_cluster(profile=profile)
    await cluster.settle()
    states = [
        one["parameters"] for one in asked(cluster, "/observe") if one["observation_type"] == "resource_state"
    ]
    assert states == [
        {"kind": "secret", "name": "db", "namespace": "shop"},
        {"kind": "configmap", "name": "gone", "namespace": "shop"},
    ]
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert evidence_of(cluster)["state"]["evidence_source"] == {"type": "kube_api", "status": "available"}


@pytest.mark.parametrize("crash_at", range(1, 60, 2))
async def test_an_operator_that_dies_at_any_call_never_asks_for_two_environments(crash_at: int) -> None:
    cluster = await a_cluster()
    await cluster.settle_through_crashes(crash_at)
    assert {body["environment_id"] for body in asked(cluster, "/provision")} == set(
        cluster.provider.environments
    )
    assert len(cluster.provider.environments) == 1
    assert len(cluster.world.sent) <= 1
    assert cluster.provider.alive == []
    assert provisions(cluster) == []
    assert cluster.run()["status"]["outcome"] == "PASS"


async def test_without_identifiers_an_answer_that_was_lost_is_no_reason_to_ask_again() -> None:
    cluster = await a_cluster(SmallProvider(knows_ids=False))
    while not asked(cluster, "/provision"):
        await cluster.turn()
    cluster.restart()
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert status["failure"]["reason"] == "ProvisionUnknown"
    assert "one may be left there" in status["failure"]["message"]
    assert len(asked(cluster, "/provision")) == 1


async def test_a_timeout_of_a_provider_without_identifiers_is_not_tried_again() -> None:
    cluster = await a_cluster(SmallProvider(knows_ids=False))
    real = cluster.provider.serve

    async def slow(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/provision"):
            await real(request)
            raise httpx.ReadTimeout("slow")
        return await real(request)

    cluster.provider.serve = slow  # type: ignore[method-assign]
    cluster.restart()
    await cluster.settle()
    status = cluster.run()["status"]
    assert status["failure"]["reason"] == "ProviderTimeout"
    assert "no other is asked for" in status["failure"]["message"]
    assert len(asked(cluster, "/provision")) == 1


@pytest.mark.parametrize("stage", ["Provisioning", "Preparing", "Running", "Observing"])
async def test_a_deleted_run_has_its_environment_torn_down(stage: str) -> None:
    cluster = await a_cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    while cluster.run().get("status", {}).get("stage") != stage or not cluster.provider.environments:
        await cluster.turn()
        if stage == "Observing" and cluster.run()["status"].get("stage") == "Running":
            cluster.clock.advance(3600)
    cluster.kube.remove((kinds.SCENARIO_RUN.plural, NAMESPACE, "check-run"))
    for _ in range(3):
        await cluster.turn()
        await foreign_sweep.sweep(cluster.deps)
    assert cluster.provider.alive == []
    assert provisions(cluster) == []


async def test_an_environment_that_cannot_be_torn_down_is_torn_down_later_and_holds_up_no_verdict() -> None:
    cluster = await a_cluster(failing("/teardown"))
    await cluster.settle()
    assert cluster.run()["status"]["outcome"] == "PASS"
    assert len(provisions(cluster)) == 1
    await foreign_sweep.sweep(cluster.deps)
    assert len(provisions(cluster)) == 1
    cluster.restart()
    del cluster.provider.hooks["/teardown"]
    await foreign_sweep.sweep(cluster.deps)
    assert cluster.provider.alive == []
    assert provisions(cluster) == []


async def test_an_environment_that_is_still_wanted_is_not_swept() -> None:
    cluster = await a_cluster()
    while cluster.run().get("status", {}).get("stage") != "Running":
        await cluster.turn()
        await foreign_sweep.sweep(cluster.deps)
    assert len(cluster.provider.alive) == 1


async def test_a_teardown_that_never_works_is_given_up_after_a_day() -> None:
    cluster = await a_cluster(failing("/teardown"))
    await cluster.settle()
    cluster.clock.advance(25 * 3600)
    await foreign_sweep.sweep(cluster.deps)
    assert provisions(cluster) == []
    assert ("fault", foreign_sweep.LEFT_BEHIND) in cluster.meter.counted


async def test_answers_of_evaluations_that_are_gone_are_swept() -> None:
    cluster = await a_cluster()
    await cluster.settle()
    await foreign_sweep.sweep(cluster.deps)
    assert len(cluster.provisions.kept) == 1
    cluster.kube.remove((kinds.EVALUATION.plural, NAMESPACE, "check"))
    await foreign_sweep.sweep(cluster.deps)
    assert cluster.provisions.kept == {}


async def test_a_cancelled_run_has_its_environment_torn_down() -> None:
    cluster = await a_cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    while cluster.run().get("status", {}).get("stage") != "Running":
        await cluster.turn()
    cluster.kube.edit(kinds.EVALUATION, NAMESPACE, "check", lambda item: item["spec"].update(state="Cancel"))
    await cluster.settle()
    assert "outcome" not in cluster.run()["status"]
    assert cluster.provider.alive == []


async def test_a_record_that_is_lost_in_mid_run_never_passes() -> None:
    cluster = await a_cluster()
    cluster.world.agents["s-1"] = Agent(hangs=True)
    while cluster.run().get("status", {}).get("stage") != "Running":
        await cluster.turn()
    cluster.provisions.kept.clear()
    cluster.clock.advance(3600)
    await cluster.settle(400)
    status = cluster.run()["status"]
    assert status["outcome"] == "PROVIDER_FAILURE"
    assert "record" in status["failure"]["message"]


@pytest.mark.parametrize("crash_at", range(1, 6))
async def test_an_operator_that_dies_with_its_record_never_asks_for_two_environments(crash_at: int) -> None:
    cluster = await a_cluster()
    remaining = [crash_at]

    def die() -> None:
        remaining[0] -= 1
        if remaining[0] == 0:
            raise Crash

    cluster.provisions.after = die
    for _ in range(200):
        try:
            await cluster.turn()
        except Crash:
            cluster.restart()
            continue
        if cluster.is_quiet():
            break
    await foreign_sweep.sweep(cluster.deps)
    assert len(cluster.provider.environments) == 1
    assert cluster.provider.alive == []
    assert provisions(cluster) == []
    assert cluster.run()["status"]["outcome"] == "PASS"
