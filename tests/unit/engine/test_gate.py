"""The gate asks for more than the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kit.builders.verdicts import ABLE, ONE, PLAN, PROFILE, RUN, TWO, F, P, X, a_result
from oasis_operator.engine import gate
from oasis_operator.engine.verdict import decide
from oasis_operator.model.gate import Gate, GatePolicy, Subject, Waiver

if TYPE_CHECKING:
    from oasis_operator.model.plan import Plan
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.model.verdict import RunContext

SUBJECT = Subject(
    digest="sha256:s", adapter="http", profile_digest="sha256:p", asked_at="2026-11-30T00:00:00Z"
)
GOOD = (a_result(ONE, P), a_result(TWO, P), a_result(ABLE, P, score=0.5))


def asked(
    *results: ScenarioResult,
    subject: Subject = SUBJECT,
    policy: GatePolicy | None = None,
    plan: Plan = PLAN,
    run: RunContext = RUN,
) -> Gate:
    found = results or GOOD
    return gate.decide(decide(PROFILE, plan, found, run), plan, found, subject, policy)


def reasons(found: Gate) -> list[str]:
    return [one.reason for one in found.reasons]


def test_a_complete_pass_of_a_known_agent_may_gate() -> None:
    assert asked() == Gate(gateable=True, reasons=())


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ((a_result(ONE, F), *GOOD[1:]), "SafetyViolated"),
        ((a_result(ONE, X), *GOOD[1:]), "ProviderFault"),
        (GOOD[1:], "NoVerdict"),
        ((a_result(ONE, P, vacuous="idle"), a_result(TWO, P, vacuous="idle"), GOOD[2]), "Vacuous"),
        ((*GOOD[:2], a_result(ABLE, F, score=0.0)), "Vacuous"),
        ((*GOOD[:2], a_result(ABLE, X)), "ProviderFault"),
        ((a_result(ONE, P, counts_as_coverage=False), *GOOD[1:]), "Incomplete"),
    ],
)
def test_results_shut_it(results: tuple[ScenarioResult, ...], reason: str) -> None:
    found = asked(*results)
    assert not found.gateable
    assert reason in reasons(found)


def test_the_gravest_reason_comes_first() -> None:
    hollow = (a_result(ONE, P, vacuous="idle"), a_result(TWO, P, vacuous="idle"), GOOD[2])
    plan = replace(PLAN, incomplete=("too little",), is_custom_selection=True)
    subject = replace(SUBJECT, adapter="scripted", earlier_failures=("Evaluation a",))
    policy = GatePolicy("p", minimum_tier=2)
    assert reasons(asked(*hollow, plan=plan, subject=subject, policy=policy)) == [
        "Vacuous", "EarlierFailure", "TierTooLow", "CustomSelection", "Incomplete", "ScriptedAdapter",
    ]  # fmt: skip
    failed = (a_result(ONE, F), *GOOD[1:])
    assert reasons(asked(*failed, plan=plan, subject=subject))[0] == "SafetyViolated"
    lost = (a_result(ONE, X), *GOOD[1:])
    assert reasons(asked(*lost, plan=plan, subject=subject))[0] == "ProviderFault"


def test_a_plan_without_capability_is_incomplete_and_not_vacuous() -> None:
    plan = replace(PLAN, scenarios=tuple(one for one in PLAN.scenarios if one.id != ABLE.id))
    assert reasons(asked(*GOOD[:2], plan=plan)) == ["Incomplete"]


def test_one_pass_that_is_not_hollow_saves_its_category() -> None:
    assert asked(a_result(ONE, P, vacuous="idle"), *GOOD[1:]).gateable


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (replace(SUBJECT, adapter="scripted"), "ScriptedAdapter"),
        (replace(SUBJECT, digest=""), "UnknownSubject"),
        (replace(SUBJECT, earlier_failures=("Evaluation a",)), "EarlierFailure"),
    ],
)
def test_the_subject_shuts_it(subject: Subject, reason: str) -> None:
    assert reasons(asked(subject=subject)) == [reason]


def test_the_plan_shuts_it() -> None:
    assert reasons(asked(plan=replace(PLAN, is_custom_selection=True))) == ["CustomSelection"]
    assert reasons(asked(plan=replace(PLAN, incomplete=("too little",)))) == ["Incomplete"]
    assert reasons(asked(run=replace(RUN, resumed=True))) == ["Resumed"]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (GatePolicy("p", profiles=("sha256:other",)), "ProfileNotAllowed"),
        (GatePolicy("p", adapters=("cli",)), "AdapterNotAllowed"),
        (GatePolicy("p", minimum_tier=2), "TierTooLow"),
        (GatePolicy("p", minimum_repetitions=3), "TooFewRepetitions"),
        (GatePolicy("p", suite="all"), "OtherSuite"),
        (GatePolicy("p", capability_minima={"task_completion": 0.6}), "BelowFloor"),
        (GatePolicy("p", capability_minima={"auditability": 0.1}), "BelowFloor"),
    ],
)
def test_the_policy_shuts_it(policy: GatePolicy, reason: str) -> None:
    assert reasons(asked(policy=policy)) == [reason]


def test_a_verdict_may_be_too_old() -> None:
    policy = GatePolicy("p", largest_age_seconds=60.0)
    assert asked(policy=policy).gateable
    assert reasons(asked(policy=policy, subject=replace(SUBJECT, age_seconds=61.0))) == ["Stale"]


def test_met_floors_leave_it_open() -> None:
    policy = GatePolicy(
        "p", profiles=("sha256:p",), adapters=("http",), capability_minima={"task_completion": 0.5}
    )
    assert asked(policy=policy).gateable


@pytest.mark.parametrize(
    ("expires", "waived"), [("2027-01-01T00:00:00Z", True), ("2026-01-01T00:00:00Z", False)]
)
def test_a_waiver_excuses_a_failed_scenario_until_it_expires(expires: str, waived: bool) -> None:
    policy = GatePolicy("p", waivers=(Waiver("s.one", "accepted by the owner", expires),))
    found = asked(a_result(ONE, F), *GOOD[1:], policy=policy)
    assert ("SafetyViolated" not in reasons(found)) == waived


def test_a_waiver_without_a_reason_excuses_nothing() -> None:
    policy = GatePolicy("p", waivers=(Waiver("s.one", "", "2027-01-01T00:00:00Z"),))
    assert "SafetyViolated" in reasons(asked(a_result(ONE, F), *GOOD[1:], policy=policy))


def test_without_a_verdict_nothing_is_gateable_even_by_a_waiver() -> None:
    policy = GatePolicy("p", waivers=(Waiver("s.one", "x", "2027-01-01T00:00:00Z"),))
    assert not asked(GOOD[1], policy=policy).gateable
