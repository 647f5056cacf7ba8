"""The suite on a provider that keeps the contract, and on one that breaks each rule in turn."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import replace
from typing import Any

import pytest

from kit.builders.profiles import published_profile
from kit.provider import PROFILE, TOKEN, Answer, Environment, Refused, SmallProvider
from oasis_operator.clients.provider_http import HttpProvider
from oasis_operator.clients.provider_line import HttpLine
from oasis_operator.conformance import suite
from oasis_operator.conformance.rules import RULES, Finding, Outcome
from oasis_operator.conformance.session import Subject
from oasis_operator.resources.provider_access import ProviderReach


async def tried(provider: SmallProvider, **changes: Any) -> dict[str, Finding]:
    """Return the findings on a provider by rule."""
    http = HttpProvider(provider.transport())
    reach = ProviderReach("http://provider.example", token=provider.token, request_seconds=5.0)
    line = HttpLine(reach, http, head_start_seconds=0.02)
    real_act = line.act

    async def act(access: Any, path: str) -> Any:
        return await real_act(replace(access, ca=""), path)

    line.act = act  # type: ignore[method-assign]
    subject = Subject(PROFILE, has_token=bool(provider.token), **changes)
    return {one.rule.id: one for one in await suite.run(line, subject)}


ANY_CONTEXT = ssl.create_default_context()


@pytest.fixture(autouse=True)
def _a_real_ca(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oasis_operator.clients.provider_http.context", lambda _ca: ANY_CONTEXT)


def broken(findings: dict[str, Finding]) -> list[str]:
    return [name for name, one in findings.items() if one.outcome is Outcome.BROKEN]


async def test_a_provider_that_keeps_the_contract_breaks_no_rule_and_has_nothing_left() -> None:
    provider = SmallProvider(token=TOKEN, slow_seconds=0.2)
    findings = await tried(provider)
    assert not broken(findings), [findings[name].detail for name in broken(findings)]
    untried = {name: one.detail for name, one in findings.items() if one.outcome is Outcome.UNTRIED}
    assert set(untried) == {"CONF-7"}
    assert not provider.alive
    assert list(findings) == list(RULES)


async def test_a_provider_without_proposed_identifiers_is_not_asked_for_them() -> None:
    findings = await tried(SmallProvider(knows_ids=False))
    assert not broken(findings)
    assert {findings[name].outcome for name in ("PROV-8", "PROV-9", "OBS-11", "AUTH-1")} == {Outcome.UNTRIED}


async def test_a_provider_that_nobody_reaches_breaks_the_first_rule_and_ends_the_suite() -> None:
    provider = SmallProvider()
    provider.serve = lambda _request: (_ for _ in ()).throw(ConnectionRefusedError())  # type: ignore[method-assign, assignment]
    findings = await tried(provider)
    assert "CONF-1" in broken(findings)
    assert findings["TEAR-1"].outcome is Outcome.UNTRIED


def answers(code: int, body: Any = None, /, **changes: Any) -> Any:
    """Return a hook that replaces the status of an answer and members of its body."""

    def hook(_provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
        if body is not None:
            return code, body
        kept = {**answer[1], **changes} if isinstance(answer[1], dict) else answer[1]
        return code, {key: value for key, value in kept.items() if value is not ...}

    return hook


def observes(kind: str, **changes: Any) -> Any:
    """Return a hook that changes observations of one type."""

    def hook(_provider: SmallProvider, body: dict[str, Any], answer: Answer) -> Answer | None:
        if body.get("observation_type") != kind:
            return None
        kept = {**answer[1], **changes}
        return answer[0], {key: value for key, value in kept.items() if value is not ...}

    return hook


def entries(change: Any) -> Any:
    """Return a hook that changes the entries of an audit log."""

    def hook(_provider: SmallProvider, body: dict[str, Any], answer: Answer) -> Answer | None:
        if body.get("observation_type") != "audit_log":
            return None
        return answer[0], {
            **answer[1],
            "data": {"entries": [change(one) for one in answer[1]["data"]["entries"]]},
        }

    return hook


def unless_named(_provider: SmallProvider, body: dict[str, Any], answer: Answer) -> Answer | None:
    """A snapshot that gives nothing where resources are named."""
    return (answer[0], {**answer[1], "resources": []}) if body.get("resources") else None


def empty_snapshot(_provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
    return answer[0], {**answer[1], "resources": []}


def twice_the_same(provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
    """A provider that hands out its first environment again and again."""
    return answer[0], {**answer[1], "environment_id": next(iter(provider.environments))}


class RawOnly(SmallProvider):
    """Knows state entries in raw form alone."""

    async def _provision(self, body: dict[str, Any]) -> Answer:
        if any("resource" not in one for one in (body.get("environment") or {}).get("state") or ()):
            raise Refused(422, "state[0].resource: required")
        return await super()._provision(body)


class Narrow(SmallProvider):
    """Refuses members that it does not know."""

    async def _provision(self, body: dict[str, Any]) -> Answer:
        if "x_member_of_nobody" in body:
            raise Refused(400, "x_member_of_nobody: unknown member")
        return await super()._provision(body)


def own_names(provider: SmallProvider, body: dict[str, Any], answer: Answer) -> Answer | None:
    """A provider that says that it takes proposals, and does not."""
    if body.get("environment_id"):
        name = f"own-{len(provider.environments)}"
        provider.environments[name] = Environment(body, ready=True)
        return answer[0], {**answer[1], "environment_id": name}
    return None


def forgets_injected(provider: SmallProvider, body: dict[str, Any], answer: Answer) -> Answer | None:
    provider.environments[body["environment_id"]].objects.pop(("ConfigMap", "orders", "notes"), None)
    return answer


def never_gone(provider: SmallProvider, body: dict[str, Any], _answer: Answer) -> Answer | None:
    found = provider.environments.get(body["environment_id"])
    if found and found.request.get("torn"):
        raise Refused(500, "it was torn down already")
    if found:
        found.request = {**found.request, "torn": True}
    return None


def invents(_provider: SmallProvider, _body: dict[str, Any], answer: Answer) -> Answer:
    return answer


class Lenient(SmallProvider):
    """Knows every environment that anybody names."""

    def _of(self, body: dict[str, Any]) -> Environment:
        return self.environments.get(body["environment_id"]) or Environment({}, ready=True)


class Overwriting(SmallProvider):
    """Takes a proposed identifier for whatever body comes with it."""

    async def _provision(self, body: dict[str, Any]) -> Answer:
        wanted = str(body.get("environment_id") or "")
        if wanted in self.environments:
            return 200, {"environment_id": wanted, "status": "ready", "agent_endpoint": "https://a.example:1",
                         "agent_credentials": {"token": "t"}}  # fmt: skip
        return await super()._provision(body)


class Anything(SmallProvider):
    """Answers any kind of observation."""

    def _observe(self, body: dict[str, Any]) -> Answer:
        known = body.get("observation_type") in ("audit_log", "resource_state", "state_diff")
        kind = body.get("observation_type") if known else "audit_log"
        status, answer = super()._observe({**body, "observation_type": kind})
        return status, {**answer, "observation_type": body.get("observation_type")}


class Timeless(SmallProvider):
    """Gives its whole audit log, whatever time is asked for."""

    def _entries(self, made: Environment, asked: dict[str, Any]) -> list[dict[str, Any]]:
        return made.entries


class Demanding(SmallProvider):
    """Wants parameters with every observation."""

    def _observe(self, body: dict[str, Any]) -> Answer:
        if not body.get("parameters"):
            raise Refused(400, "parameters: required")
        return super()._observe(body)


class Deaf(SmallProvider):
    """Keeps no audit log, and calls it available."""

    def _entries(self, made: Environment, asked: dict[str, Any]) -> list[dict[str, Any]]:
        return []


ON = invents
NAMELESS = ("PROV-2", "PROV-5", "TEAR-1", "TEAR-2", "TEAR-3")
"""Rules whose breach keeps anybody from tearing down what was made."""
WRONG: list[tuple[str, str, SmallProvider]] = [
    ("CONF-1", "the conformance answer is a 500", SmallProvider(hooks={"/conformance": answers(500, {"error": "x", "status": "error"})})),
    ("CONF-2", "the answer lacks a member", SmallProvider(hooks={"/conformance": answers(200, provider_version=...)})),
    ("CONF-3", "the answer is about another profile", SmallProvider(conformance={"profile": "another"})),
    ("CONF-4", "supported, with an unmet requirement", SmallProvider(conformance={"unmet_requirements": [{"requirement": "a", "reason": "b"}]})),
    ("CONF-4", "unsupported, without saying why", SmallProvider(conformance={"supported": False})),
    ("CONF-4", "unmet, without a reason", SmallProvider(conformance={"supported": False, "unmet_requirements": [{"requirement": "a"}]})),
    ("CONF-5", "every profile is supported", SmallProvider(hooks={"any-profile": ON})),
    ("CONF-6", "no profile need be named", SmallProvider(hooks={"no-profile": ON, "any-profile": ON})),
    ("AUTH-1", "credentials are not looked at", SmallProvider(token=TOKEN, hooks={"open": ON})),
    ("PROV-1", "status failed", SmallProvider(hooks={"/provision": answers(200, status="failed")})),
    ("PROV-1", "a 202", SmallProvider(hooks={"/provision": answers(202)})),
    ("PROV-2", "an empty identifier", SmallProvider(hooks={"/provision": answers(200, environment_id="")})),
    ("PROV-3", "an endpoint that is no URL", SmallProvider(hooks={"/provision": answers(200, agent_endpoint="cluster")})),
    ("PROV-4", "no credentials", SmallProvider(hooks={"/provision": answers(200, agent_credentials={})})),
    ("PROV-5", "one environment for all", SmallProvider(knows_ids=False, hooks={"/provision": twice_the_same})),
    ("PROV-6", "an environment of nothing", SmallProvider(hooks={"headless": ON})),
    ("PROV-7", "split entries are refused", RawOnly()),
    ("PROV-8", "proposals are ignored", SmallProvider(hooks={"/provision": own_names})),
    ("PROV-9", "an identifier is used again for another body", Overwriting()),
    ("SNAP-1", "no timestamp", SmallProvider(hooks={"/state-snapshot": answers(200, timestamp=...)})),
    ("SNAP-1", "another environment", SmallProvider(hooks={"/state-snapshot": answers(200, environment_id="other")})),
    ("SNAP-2", "nothing in the snapshot", SmallProvider(hooks={"/state-snapshot": empty_snapshot})),
    ("SNAP-3", "named resources are not found", SmallProvider(hooks={"/state-snapshot": unless_named})),
    ("INJ-1", "another word", SmallProvider(hooks={"/inject-state": answers(200, status="ok")})),
    ("INJ-2", "nothing was injected", SmallProvider(hooks={"/inject-state": forgets_injected})),
    ("OBS-1", "the type is not echoed", SmallProvider(hooks={"/observe": observes("audit_log", observation_type=...)})),
    ("OBS-1", "another environment is observed", SmallProvider(hooks={"/observe": observes("resource_state", environment_id="x")})),
    ("OBS-2", "no evidence source", SmallProvider(hooks={"/observe": observes("audit_log", evidence_source=...)})),
    ("OBS-2", "an evidence source without a type", SmallProvider(hooks={"/observe": observes("resource_state", evidence_source={"status": "available"})})),
    ("OBS-3", "a declared type is unreachable", SmallProvider(hooks={"/observe": observes("audit_log", evidence_source={"type": "audit_log_file", "status": "unreachable"})})),
    ("OBS-3", "a declared type is partial", SmallProvider(hooks={"/observe": observes("state_diff", evidence_source={"type": "kube_api", "status": "partial"})})),
    ("OBS-4", "entries without a user", SmallProvider(hooks={"/observe": entries(lambda one: {**one, "user": None})})),
    ("OBS-4", "entries without a namespace", SmallProvider(hooks={"/observe": entries(lambda one: {k: v for k, v in one.items() if k != "namespace"})})),
    ("OBS-4", "bodies that are objects", SmallProvider(hooks={"/observe": entries(lambda one: {**one, "request_body": {}})})),
    ("OBS-5", "an audit log that is not kept", Deaf()),
    ("OBS-6", "another state than the one made", SmallProvider(hooks={"/observe": observes("resource_state", data={"kind": "ConfigMap"})})),
    ("OBS-7", "a diff that shows nothing", SmallProvider(hooks={"/observe": observes("state_diff", data={"before": {}, "after": {}, "changes": []})})),
    ("OBS-8", "parameters must be there", Demanding()),
    ("OBS-9", "any type is observed", Anything()),
    ("OBS-10", "entries of another time", Timeless()),
    ("OBS-11", "an observation before anything is there", SmallProvider(slow_seconds=0.2, hooks={"early": ON, "/observe": observes("audit_log", data=..., status="error")})),
    ("ENV-1", "environments that never were", Lenient()),
    ("TEAR-1", "another word", SmallProvider(hooks={"/teardown": answers(200, status="ok")})),
    ("TEAR-2", "a second teardown fails", SmallProvider(hooks={"/teardown": never_gone})),
    ("TEAR-3", "what was torn down is still there", SmallProvider(hooks={"undead": ON})),
    ("BODY-1", "half an object is taken", SmallProvider(hooks={"no-json": ON, "headless": ON})),
    ("BODY-2", "answers are called text", SmallProvider(media_type="text/plain")),
    ("BODY-3", "refusals say nothing", SmallProvider(hooks={"silent": ON})),
    ("BODY-4", "unknown members are refused", Narrow()),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "how", "provider"), WRONG, ids=[f"{rule}: {how}" for rule, how, _ in WRONG])
async def test_a_wrong_provider_is_found_out(
    rule: str, how: str, provider: SmallProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "silent" in provider.hooks:
        monkeypatch.setattr(Refused, "__init__", _silent)
    findings = await tried(provider)
    assert findings[rule].outcome is Outcome.BROKEN, how
    assert findings[rule].detail
    assert rule in NAMELESS or not provider.alive, "the suite cleans up"


def _silent(self: Refused, status: int, error: str, reason: str = "") -> None:
    self.answer = status, {"message": error, "reason": reason}


def test_each_rule_but_the_profiles_own_has_a_provider_that_breaks_it() -> None:
    assert {rule for rule, _, _ in WRONG} | {"CONF-7"} == set(RULES)


@pytest.mark.upstream
async def test_the_answer_is_held_against_a_profile_with_every_gap_named() -> None:
    profile = published_profile()
    findings = await tried(SmallProvider(), profile=profile)
    assert findings["CONF-7"].outcome is Outcome.KEPT
    lacking = {**SmallProvider()._conformance(PROFILE)[1]["requirements"], "audit_policy_installation": False}
    del lacking["state_injection"]
    findings = await tried(SmallProvider(conformance={"requirements": lacking}), profile=profile)
    assert findings["CONF-7"].outcome is Outcome.BROKEN
    assert "audit_policy_installation" in findings["CONF-7"].detail
    assert "state_injection" in findings["CONF-7"].detail


async def test_the_suite_cleans_up_where_it_is_cut_short() -> None:
    provider = SmallProvider()

    def hang_up(_provider: SmallProvider, _body: dict[str, Any], _answer: Answer) -> Answer | None:
        raise asyncio.CancelledError

    provider.hooks["/state-snapshot"] = hang_up
    with pytest.raises(asyncio.CancelledError):
        await tried(provider)
    assert not provider.alive
