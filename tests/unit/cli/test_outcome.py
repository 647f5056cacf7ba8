"""No state of an Evaluation is read as more than it is."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.cli import exit_codes, outcome
from oasis_operator.cli.exit_codes import ExitCode
from unit.cli import fake_cluster as fake


def code(status: dict[str, Any], *, gate: bool = False, generation: int = 1, **spec: Any) -> ExitCode:
    body = fake.an_evaluation(status=status, **spec)
    body["metadata"]["generation"] = generation
    return outcome.exit_code(outcome.read_outcome(Evaluation.parse(body)), gate=gate)


@pytest.mark.parametrize(
    ("status", "plain", "gated"),
    [
        pytest.param(fake.a_pass(), ExitCode.PASS, ExitCode.PASS, id="a pass that may gate"),
        pytest.param(fake.a_vacuous_pass(), ExitCode.PASS, ExitCode.NOT_GATEABLE, id="a vacuous pass"),
        pytest.param(fake.a_fail(), ExitCode.FAIL, ExitCode.FAIL, id="a fail"),
        pytest.param(
            fake.complete("PROVIDER_FAILURE", "ProviderFault"),
            ExitCode.PROVIDER_FAILURE,
            ExitCode.PROVIDER_FAILURE,
            id="a broken harness",
        ),
        pytest.param(
            fake.complete(None, "PreflightGap"), ExitCode.NO_VERDICT, ExitCode.NO_VERDICT, id="a refusal"
        ),
        pytest.param(fake.running(), ExitCode.NO_VERDICT, ExitCode.NO_VERDICT, id="one under way"),
        pytest.param({"observedGeneration": -1}, ExitCode.NO_VERDICT, ExitCode.NO_VERDICT, id="one unseen"),
    ],
)
def test_each_outcome_has_its_code(status: dict[str, Any], plain: ExitCode, gated: ExitCode) -> None:
    assert code(status) is plain
    assert code(status, gate=True) is gated


def test_a_verdict_about_an_older_spec_does_not_count() -> None:
    assert code(fake.a_pass(), generation=2) is ExitCode.NO_VERDICT


def test_a_verdict_of_an_earlier_run_does_not_count() -> None:
    assert code(fake.a_pass(), runToken="again") is ExitCode.NO_VERDICT
    assert code({**fake.a_pass(), "runToken": "again"}, runToken="again") is ExitCode.PASS


def test_a_verdict_before_completion_does_not_count() -> None:
    status = {**fake.a_pass(), "conditions": [fake.fact("Passed", "True", "SafetyPassed")]}
    assert code(status) is ExitCode.NO_VERDICT


@pytest.mark.parametrize("counts", [None, {"passed": 0}, {"passed": 3, "providerFailures": 1}])
def test_a_pass_that_its_own_counts_deny_is_none(counts: dict[str, int] | None) -> None:
    status = {**fake.a_pass(), "counts": counts}
    assert code({key: value for key, value in status.items() if value is not None}) is ExitCode.NO_VERDICT


def test_a_condition_about_an_older_spec_does_not_count() -> None:
    status = fake.a_pass()
    status["conditions"] = [{**fact, "observedGeneration": 0} for fact in status["conditions"]]
    assert code(status) is ExitCode.NO_VERDICT


@pytest.mark.parametrize("passed", ["True", "False", "Unknown", None])
@pytest.mark.parametrize("allowed", [True, False, None])
def test_a_gate_needs_both_the_condition_and_the_permission(passed: str | None, allowed: bool | None) -> None:
    status = fake.a_pass()
    status["conditions"] = [fake.fact("Complete", "True", "Finished")]
    if passed is not None:
        status["conditions"].append(fake.fact("Passed", passed, "SafetyPassed"))
    status["gateable"] = None if allowed is None else {"allowed": allowed, "reasons": []}
    wanted = ExitCode.PASS if passed == "True" and allowed else ExitCode.NOT_GATEABLE
    assert code(status, gate=True) is wanted


def test_the_failed_precondition_is_what_explains_a_refusal() -> None:
    status = fake.stalled("Unassessable", "two assertions")
    status["conditions"].append(
        fake.fact("EgressDenied", "False", "IsolationNotProven", "the node was reached")
    )
    known = outcome.read_outcome(Evaluation.parse(fake.an_evaluation(status=status)))
    assert (known.reason, known.message) == ("IsolationNotProven", "the node was reached")


def test_several_evaluations_pass_only_if_all_pass() -> None:
    verdicts = [c for c in ExitCode if c in outcome_codes()]
    for some in itertools.product(verdicts, repeat=2):
        combined = outcome.combined_exit_code(some)
        assert (combined is ExitCode.PASS) is all(c is ExitCode.PASS for c in some)
    assert outcome.combined_exit_code([]) is ExitCode.NO_VERDICT
    assert outcome.combined_exit_code([ExitCode.PROVIDER_FAILURE, ExitCode.FAIL]) is ExitCode.FAIL


def outcome_codes() -> set[ExitCode]:
    return {
        ExitCode.PASS,
        ExitCode.FAIL,
        ExitCode.PROVIDER_FAILURE,
        ExitCode.NO_VERDICT,
        ExitCode.TIMEOUT,
        ExitCode.NOT_GATEABLE,
    }


def test_every_code_has_a_meaning_and_an_unexpected_error_is_no_verdict() -> None:
    assert set(exit_codes.MEANINGS) == set(ExitCode)
    assert ExitCode.INTERNAL not in {ExitCode.PASS, ExitCode.FAIL}
    assert len(set(exit_codes.MEANINGS.values())) == len(ExitCode)
