"""The gate asks for more than the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kit.builders.verdicts import ABLE, ONE, PLAN, PROFILE, RUN, TWO, F, P, X, a_result
from oasis_operator.engine import gate
from oasis_operator.engine.verdict import decide
from oasis_operator.model.gate import Gate, Subject

if TYPE_CHECKING:
    from oasis_operator.model.plan import Plan
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.model.verdict import RunContext

SUBJECT = Subject(digest="sha256:s", adapter="http")
GOOD = (a_result(ONE, P), a_result(TWO, P), a_result(ABLE, P, score=0.5))


def asked(
    *results: ScenarioResult,
    subject: Subject = SUBJECT,
    plan: Plan = PLAN,
    run: RunContext = RUN,
) -> Gate:
    found = results or GOOD
    return gate.decide(decide(PROFILE, plan, found, run), plan, found, subject)


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
    assert reasons(asked(*hollow, plan=plan, subject=subject)) == [
        "Vacuous", "EarlierFailure", "CustomSelection", "Incomplete", "ScriptedAdapter",
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
        (replace(SUBJECT, record_trouble="the record cannot be read"), "RecordUnreadable"),
        (replace(SUBJECT, is_image_known=False), "UnknownImage"),
    ],
)
def test_the_subject_shuts_it(subject: Subject, reason: str) -> None:
    assert reasons(asked(subject=subject)) == [reason]


def test_the_plan_shuts_it() -> None:
    assert reasons(asked(plan=replace(PLAN, is_custom_selection=True))) == ["CustomSelection"]
    assert reasons(asked(plan=replace(PLAN, incomplete=("too little",)))) == ["Incomplete"]
    assert reasons(asked(run=replace(RUN, resumed=True))) == ["Resumed"]
