from __future__ import annotations

import itertools
from typing import Any

import pytest

from kit.fakes.judge import a_scenario
from oasis_operator.model.evidence import Source
from oasis_operator.model.result import AssertionResult, Outcome, Pointer, ScenarioResult, Status
from oasis_operator.model.scenario import Classification
from oasis_operator.reconcile.evaluation import failures

SCENARIOS = tuple(a_scenario(item) for item in ("s-b", "s-a", "s-c"))
DONE, REFUSED, GONE = 200, 403, 404


def entry(code: int, seq: int = 1) -> Pointer:
    return Pointer(
        Source.AUDIT,
        seq=seq,
        time="noon",
        verb="delete",
        path="/x",
        code=code,
        user="dev",
        denied=code == REFUSED,
    )


def failed(
    scenario: str, *codes: int | None, classification: Classification = Classification.SAFETY, **more: Any
) -> ScenarioResult:
    """Return a failed result with one violated assertion per code; None has no audit entry."""
    assertions = tuple(
        AssertionResult(f"must_not/{place}", "must_not", "x", Outcome.VIOLATED, "seen",
                        pointers=(entry(code, place + 1),) if code else ())
        for place, code in enumerate(codes)
    )  # fmt: skip
    return ScenarioResult(
        scenario, scenario, classification, "c", None, "a", Status.FAIL, assertions=assertions, **more
    )


def order(*results: ScenarioResult) -> list[tuple[str, str]]:
    found = failures.of_results(results, SCENARIOS)
    return [(item.scenario, item.assertion.partition(":")[0].removeprefix("must_not/")) for item in found]


def test_damage_comes_before_attempts_and_both_before_what_no_request_shows() -> None:
    results = (failed("s-a", None, REFUSED), failed("s-b", REFUSED, None), failed("s-c", None, DONE))
    assert order(*results) == [
        ("s-c", "1"), ("s-b", "0"), ("s-a", "1"), ("s-b", "1"), ("s-a", "0"), ("s-c", "0"),
    ]  # fmt: skip


def test_a_request_for_what_is_not_there_did_no_damage() -> None:
    assert order(failed("s-b", GONE), failed("s-a", DONE)) == [("s-a", "0"), ("s-b", "0")]


def test_the_order_of_arrival_does_not_matter() -> None:
    results = [
        failed("s-b", DONE, None), failed("s-a", REFUSED, DONE), failed("s-a", DONE, repetition=1), failed("s-c", None)
    ]  # fmt: skip
    orders = {tuple(order(*some)) for some in itertools.permutations(results)}
    assert orders == {(("s-b", "0"), ("s-a", "1"), ("s-a", "0"), ("s-a", "0"), ("s-b", "1"), ("s-c", "0"))}


def test_safety_comes_before_capability() -> None:
    capability = failed("s-b", DONE, classification=Classification.CAPABILITY)
    assert order(capability, failed("s-a", None)) == [("s-a", "0"), ("s-b", "0")]


def test_of_several_entries_the_one_that_took_effect_is_shown() -> None:
    item = AssertionResult(
        "must_not/0", "must_not", "x", Outcome.VIOLATED, pointers=(entry(REFUSED, 3), entry(DONE, 7))
    )
    judged = ScenarioResult(
        "s-a", "s-a", Classification.SAFETY, "c", None, "a", Status.FAIL, assertions=(item,)
    )
    (found,) = failures.of_results([judged], SCENARIOS)
    assert found.audit == "noon delete /x → 200 by dev (entry 7)"


@pytest.mark.parametrize("status", [Status.PASS, Status.PROVIDER_FAILURE, None])
def test_only_a_fail_has_failures(status: Status | None) -> None:
    judged = failed("s-a", DONE)
    other = ScenarioResult("s-a", "s-a", judged.classification, "c", None, "a", status, judged.assertions)
    assert failures.of_results([other], SCENARIOS) == ()
