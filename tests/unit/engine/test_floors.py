"""Policies: what each floor asks, what waivers excuse and until when, and what only warns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from kit.builders.verdicts import ABLE, ONE, PLAN, PROFILE, RUN, TWO, F, P, a_result
from oasis_operator.engine import floors, gate
from oasis_operator.engine.verdict import decide
from oasis_operator.model.gate import (
    Basis,
    Gate,
    GatePolicy,
    GateReason,
    Policies,
    ProfileFloor,
    Subject,
    Waiver,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER, EARLIER = NOW + timedelta(days=1), NOW - timedelta(seconds=1)
DIGEST, SUBJECT = "sha256:p", "sha256:s"
BASIS = Basis(
    asked_at=NOW,
    decided_at=NOW - timedelta(hours=1),
    agent="helper",
    subject=SUBJECT,
    adapter="http",
    profile="infra",
    profile_version="1.2.0",
    profile_digest=DIGEST,
    suite="core",
    tier=2,
    repetitions=3,
    dimensions={"reliability": Decimal("0.500"), "task_completion": Decimal("0.800")},
    categories={"operational-execution": Decimal("0.600")},
)


def a_policy(name: str = "p", **floors_: Any) -> GatePolicy:
    return GatePolicy(name, **floors_)


def a_waiver(*kinds: str, **more: Any) -> Waiver:
    told = {"name": "w", "reason": "accepted by the owner", "until": LATER, "agent": "helper", **more}
    return Waiver(kinds=frozenset(kinds), **told)


def held(*policies: GatePolicy, own: tuple[GateReason, ...] = (), basis: Basis = BASIS) -> Gate:
    return gate.again(own, basis, Policies(policies))


def kinds(reasons: tuple[GateReason, ...]) -> list[str]:
    return [one.reason for one in reasons]


FLOORS: list[tuple[dict[str, Any], str]] = [
    ({"profiles": (ProfileFloor("infra", digest=DIGEST),)}, ""),
    ({"profiles": (ProfileFloor("infra", digest="sha256:q"),)}, "ProfileNotAllowed"),
    ({"profiles": (ProfileFloor("other", digest=DIGEST),)}, "ProfileNotAllowed"),
    ({"profiles": (ProfileFloor("infra", versions=(">=1.2.0", "<2.0.0")),)}, ""),
    ({"profiles": (ProfileFloor("infra", versions=("=1.2.0",)),)}, ""),
    ({"profiles": (ProfileFloor("infra", versions=(">=1.2.0", "<1.2.0")),)}, "ProfileNotAllowed"),
    ({"profiles": (ProfileFloor("infra", versions=(">1.2.0",)),)}, "ProfileNotAllowed"),
    ({"profiles": (ProfileFloor("infra", DIGEST, (">1.2.0",)),)}, "ProfileNotAllowed"),
    ({"profiles": (ProfileFloor("other", digest=DIGEST), ProfileFloor("infra", digest=DIGEST))}, ""),
    ({"suite": "core"}, ""),
    ({"suite": "all"}, "OtherSuite"),
    ({"tier": 2}, ""),
    ({"tier": 3}, "TierTooLow"),
    ({"repetitions": 3}, ""),
    ({"repetitions": 4}, "TooFewRepetitions"),
    ({"adapters": ("cli", "http")}, ""),
    ({"adapters": ("cli",)}, "AdapterNotAllowed"),
    ({"providers": ("https://worlds.example",)}, ""),
    ({"overall": Decimal("0.5")}, ""),
    ({"overall": Decimal("0.501")}, "BelowFloor"),
    ({"dimensions": {"task_completion": Decimal("0.8")}}, ""),
    ({"dimensions": {"task_completion": Decimal("0.801")}}, "BelowFloor"),
    ({"dimensions": {"auditability": Decimal(0)}}, "BelowFloor"),
    ({"dimensions": {"operational-execution": Decimal("0.1")}}, "BelowFloor"),
    ({"categories": {"operational-execution": Decimal("0.6")}}, ""),
    ({"categories": {"operational-execution": Decimal("0.601")}}, "BelowFloor"),
    ({"largest_age_seconds": 3600.0}, ""),
    ({"largest_age_seconds": 3599.0}, "Stale"),
]


@pytest.mark.parametrize(("asked", "kind"), FLOORS, ids=str)
def test_a_floor_is_met_or_shuts_the_gate(asked: dict[str, Any], kind: str) -> None:
    found = held(a_policy(**asked))
    assert kinds(found.reasons) == ([kind] if kind else [])
    assert found.gateable is not bool(kind)
    assert (found.warnings, found.waived, found.policies) == ((), (), ("p",))


@pytest.mark.parametrize(("asked", "kind"), [one for one in FLOORS if one[1]], ids=str)
def test_what_would_shut_it_is_a_warning_where_the_policy_only_warns(
    asked: dict[str, Any], kind: str
) -> None:
    found = held(a_policy(enforced=False, **asked))
    assert found.gateable
    assert (found.reasons, kinds(found.warnings)) == ((), [kind])


@pytest.mark.parametrize(("asked", "kind"), [one for one in FLOORS if one[1]], ids=str)
def test_every_floor_can_be_waived_until_the_end_of_the_waiver(asked: dict[str, Any], kind: str) -> None:
    for until, opened in ((LATER, True), (NOW, False), (EARLIER, False)):
        found = held(a_policy(waivers=(a_waiver(kind, until=until),), **asked))
        assert found.gateable is opened
        assert kinds(found.waived if opened else found.reasons) == [kind]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"tier": 3}, "policy p: tier: wanted 3 or more, seen 2; evaluate at that tier"),
        ({"suite": "all"}, "policy p: suite: wanted all, seen core; evaluate with select.suite"),
        (
            {"repetitions": 5},
            "policy p: repetitions: wanted 5 or more, seen 3; evaluate with more repetitions",
        ),
        (
            {"overall": Decimal("0.6")},
            (
                "policy p: capability.overall: wanted 0.6 or more, seen reliability 0.500; "
                "an agent that can do more, or another selection"
            ),
        ),
        (
            {"dimensions": {"x": Decimal("0.1")}},
            (
                "policy p: capability.dimensions.x: wanted 0.1 or more, seen not scored; "
                "an agent that can do more, or another selection"
            ),
        ),
        (
            {"largest_age_seconds": 60.0},
            (
                "policy p: maxAge: wanted a verdict of at most 60 s, seen of 2026-11-30T11:00:00Z, which lapsed at "
                "2026-11-30T11:01:00Z; evaluate again: change spec.runToken"
            ),
        ),
        (
            {"profiles": (ProfileFloor("infra", versions=(">=2.0.0",)),)},
            "policy p: profiles: wanted infra >=2.0.0, seen infra 1.2.0 sha256:p; evaluate with such a profile",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_reason_names_policy_field_wanted_seen_and_remedy(asked: dict[str, Any], message: str) -> None:
    assert [one.message for one in held(a_policy(**asked)).reasons] == [message]


def test_nothing_that_is_unknown_meets_a_floor() -> None:
    bare = Basis(asked_at=NOW, decided_at=NOW, tier=0, repetitions=0)
    strict = a_policy(
        profiles=(ProfileFloor("infra", versions=(">=0.0.1",)),),
        suite="core",
        tier=1,
        repetitions=1,
        overall=Decimal(0),
        adapters=("http",),
    )
    assert kinds(held(strict, basis=bare).reasons) == [
        "BelowFloor", "ProfileNotAllowed", "AdapterNotAllowed", "TierTooLow", "TooFewRepetitions", "OtherSuite",
    ]  # fmt: skip


def test_of_several_policies_all_must_be_met() -> None:
    found = held(a_policy("lax", tier=1), a_policy("strict", tier=3), a_policy("wide", suite="core"))
    assert [one.message.partition(":")[0] for one in found.reasons] == ["policy strict"]
    assert found.policies == ("lax", "strict", "wide")


def test_a_waiver_reaches_no_floor_of_another_policy() -> None:
    waiver = a_waiver("TierTooLow")
    found = held(a_policy("a", tier=3, waivers=(waiver,)), a_policy("b", tier=3))
    assert [one.message.partition(":")[0] for one in found.reasons] == ["policy b"]
    assert kinds(found.waived) == ["TierTooLow"]


@pytest.mark.parametrize(
    ("waiver", "excused"),
    [
        (a_waiver("Incomplete"), True),
        (a_waiver("Incomplete", agent="", subject=SUBJECT), True),
        (a_waiver("Incomplete", agent="", subject="sha256:other"), False),
        (a_waiver("Incomplete", agent="other"), False),
        (a_waiver("Incomplete", agent=""), False),
        (a_waiver("CustomSelection"), False),
        (a_waiver("Incomplete", until=NOW), False),
        (a_waiver("Incomplete", reason=""), False),
    ],
    ids=["agent", "subject", "other subject", "other agent", "nobody", "other kind", "ended", "no reason"],
)
def test_a_waiver_is_for_one_subject_or_agent_and_some_kinds(waiver: Waiver, excused: bool) -> None:
    own = (GateReason("Incomplete", "too little"),)
    found = held(a_policy(waivers=(waiver,)), own=own)
    assert found.gateable is excused
    assert found.own == own
    if excused:
        assert found.waived == (
            GateReason("Incomplete", "waived by p/w until 2026-12-01T12:00:00Z: too little"),
        )


@pytest.mark.parametrize(
    "kind",
    [
        "NoVerdict", "SafetyViolated", "ProviderFault", "Vacuous", "RecordUnreadable", "PolicyUnreadable",
        "Unassessable", "Aborted", "Resumed", "UnknownSubject", "UnknownImage", "ScriptedAdapter",
    ],
)  # fmt: skip
def test_what_makes_a_verdict_worthless_is_never_waived(kind: str) -> None:
    found = held(a_policy(waivers=(a_waiver(kind),)), own=(GateReason(kind, "so it is"),))
    assert not found.gateable


def test_a_fail_is_never_waived() -> None:
    results = [a_result(ONE, F), a_result(TWO, P), a_result(ABLE, P, score=0.5)]
    policies = Policies((a_policy(waivers=(a_waiver(*floors.WAIVABLE),)),))
    verdict = decide(PROFILE, PLAN, results, RUN)
    found = gate.decide(verdict, PLAN, results, Subject(SUBJECT, "http"), BASIS, policies)
    assert not found.gateable
    assert kinds(found.reasons) == ["SafetyViolated"]


def test_an_incomplete_run_is_not_waived_where_no_capability_was_shown() -> None:
    own, policy = (
        (GateReason("Incomplete", "no capability was scored"),),
        a_policy(waivers=(a_waiver("Incomplete"),)),
    )
    for scores in ({}, {"task_completion": Decimal(0)}):
        assert not held(policy, own=own, basis=replace(BASIS, dimensions=scores, categories={})).gateable
    assert held(policy, own=own, basis=replace(BASIS, dimensions={})).gateable


@pytest.mark.parametrize(
    ("failed", "named", "excused"),
    [
        ({"s.one"}, (), True),
        ({"s.one"}, ("s.one",), True),
        ({"s.one"}, ("s.one", "s.two"), True),
        ({"s.one", "s.two"}, ("s.one",), False),
        (None, ("s.one",), False),
        (None, (), True),
    ],
    ids=["any", "it", "it and another", "one of two", "unknown", "any, unknown"],
)
def test_scenarios_narrow_a_waiver_of_earlier_failures(
    failed: set[str] | None, named: tuple[str, ...], excused: bool
) -> None:
    reason = gate.earlier_failure("Evaluation a")
    basis = replace(BASIS, earlier={reason.message: frozenset(failed)} if failed else {})
    policy = a_policy(waivers=(a_waiver("EarlierFailure", scenarios=frozenset(named)),))
    assert held(policy, own=(reason,), basis=basis).gateable is excused


def test_a_policy_that_only_warns_neither_shuts_nor_opens() -> None:
    own = (GateReason("Incomplete", "too little"),)
    policy = a_policy(enforced=False, tier=3, waivers=(a_waiver("Incomplete", "TierTooLow"),))
    found = held(policy, own=own)
    assert (found.reasons, found.warnings, kinds(found.waived)) == (own, (), ["TierTooLow"])


def test_policies_that_cannot_be_read_shut_the_gate_and_ones_that_are_not_read_are_told_of() -> None:
    shut = gate.again((), BASIS, Policies(trouble="forbidden"))
    assert (shut.gateable, shut.reasons) == (False, (GateReason("PolicyUnreadable", "forbidden"),))
    told = gate.again((), BASIS, Policies(ignored="no rights"))
    assert (told.gateable, told.warnings) == (True, (GateReason("PolicyNotRead", "no rights"),))


def test_reasons_of_policies_stand_between_the_grave_and_the_light_ones() -> None:
    light = tuple(GateReason(kind, "x") for kind in ("ScriptedAdapter", "Incomplete", "CustomSelection"))
    strict = a_policy(suite="all", tier=3, overall=Decimal(1), largest_age_seconds=1.0)
    own = (*light, GateReason("UnknownImage", "x"), GateReason("EarlierFailure", "x"))
    found = gate.again(own, BASIS, Policies((strict,), trouble="forbidden"))
    assert kinds(found.reasons) == [
        "EarlierFailure", "PolicyUnreadable", "BelowFloor", "Stale", "UnknownImage", "TierTooLow", "OtherSuite",
        "CustomSelection", "Incomplete", "ScriptedAdapter",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("policies", "seconds"),
    [
        ((), None),
        ((a_policy(tier=1),), None),
        ((a_policy(largest_age_seconds=7200.0),), 3600.0),
        ((a_policy(largest_age_seconds=60.0),), None),
        ((a_policy(waivers=(a_waiver("Stale", until=LATER),)),), 86400.0),
        ((a_policy(waivers=(a_waiver("Stale", until=EARLIER),)),), None),
        ((a_policy(waivers=(a_waiver("Stale", agent="other"),)),), None),
        ((a_policy(largest_age_seconds=7200.0), a_policy(waivers=(a_waiver("Stale"),))), 3600.0),
        ((a_policy(enforced=False, largest_age_seconds=7200.0),), 3600.0),
    ],
)
def test_the_next_moment_at_which_time_moves_the_gate(
    policies: tuple[GatePolicy, ...], seconds: float | None
) -> None:
    assert floors.seconds_to_change(BASIS, Policies(policies)) == seconds


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (0.6, "0.600"),
        (0.5999999999999999, "0.600"),
        (0.5996, "0.599"),
        (2 / 3, "0.666"),
        (1.0, "1.000"),
        (0.0, "0.000"),
    ],
)
def test_a_score_is_rounded_down_so_that_it_meets_no_floor_that_it_misses(score: float, text: str) -> None:
    assert str(floors.thousandths(score)) == text


@pytest.mark.parametrize(
    ("version", "range_", "within"),
    [
        ("1.2.0", (">=1.2.0",), True),
        ("2.0.0-rc.1", ("<2.0.0",), True),
        ("1.10.0", (">1.9.0",), True),
        ("1.2", (">=0.0.1",), False),
        ("", (">=0.0.1",), False),
        ("1.2.0", (">=1.2.0-01",), False),
    ],
)
def test_versions_compare_as_semantic_ones(version: str, range_: tuple[str, ...], within: bool) -> None:
    assert floors.is_within(version, range_) is within


FOREIGN = replace(BASIS, provider="https://worlds.example")
VOUCHED: dict[str, Any] = {"providers": ("https://other.example", "https://worlds.example")}


def test_evidence_of_a_foreign_provider_opens_nothing_where_nobody_vouches_for_it() -> None:
    for policies in ((), (a_policy(enforced=False, **VOUCHED),)):
        found = held(*policies, basis=FOREIGN)
        assert (found.gateable, kinds(found.reasons)) == (False, ["ForeignProvider"])
        assert "https://worlds.example" in found.reasons[0].message


def test_every_policy_must_name_a_foreign_provider() -> None:
    assert held(a_policy(**VOUCHED), basis=FOREIGN).gateable
    both = held(a_policy(**VOUCHED), a_policy("q"), basis=FOREIGN)
    assert kinds(both.reasons) == ["ProviderNotAllowed"]
    assert "policy q: allowedProviders" in both.reasons[0].message
    near = held(a_policy(providers=("https://worlds.example/",)), basis=FOREIGN)
    assert kinds(near.reasons) == ["ProviderNotAllowed"]


def test_that_nobody_vouches_for_a_provider_cannot_be_waived() -> None:
    waiver = a_waiver("ForeignProvider", "ProviderNotAllowed")
    warns = a_policy(enforced=False, waivers=(waiver,))
    assert kinds(held(warns, basis=FOREIGN).reasons) == ["ForeignProvider"]
    assert held(a_policy(waivers=(waiver,)), basis=FOREIGN).gateable
