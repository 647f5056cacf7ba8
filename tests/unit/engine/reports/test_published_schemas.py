"""The documents that leave the operator have the shapes that are published for them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tools import gen_schemas

from kit.builders.reports import DELETE, FACTS, READ, RUN, a_report
from oasis_operator.engine.reports import render
from oasis_operator.engine.reports.schema import build_schema
from oasis_operator.model.result import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis_operator.model.report import Report

VALIDATOR = jsonschema.Draft202012Validator(build_schema())
REPORTS: dict[str, Callable[[], Report]] = {
    "a pass": lambda: a_report(READ),
    "a fail": lambda: a_report(READ, DELETE),
    "a pass under a tolerance": lambda: a_report(READ, DELETE, tolerance=50.0, measure="10.5"),
    "an aborted run": lambda: a_report(run=replace(RUN, aborted=True, abort_reason="the cluster went away")),
    "no verdict": lambda: a_report(negative=["all is well"]),
    "an incomplete run": lambda: a_report(run=replace(RUN, tier_verified=False)),
}


def document(report: Report) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(render("verdict.json", report))
    return loaded


def test_the_published_schemas_are_up_to_date() -> None:
    for path, text in gen_schemas.render_all().items():
        assert (gen_schemas.ROOT / path).read_text(encoding="utf-8") == text, path


def test_the_schemas_are_schemas() -> None:
    for text in gen_schemas.render_all().values():
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("name", REPORTS)
def test_every_verdict_document_has_the_published_shape(name: str) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(document(REPORTS[name]()))] == []


def _set(value: Any, *path: str) -> Callable[[dict[str, Any]], None]:
    def change(found: dict[str, Any]) -> None:
        holder = found
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("INCONCLUSIVE", "verdict", "safety"),
        _set("NEEDS_REVIEW", "status"),
        _set("FAIL", "verdict", "safety"),
        _set(True, "verdict", "gateable"),
        _set(True, "verdict", "metadata", "aborted"),
        _set("why not", "verdict", "metadata", "abort_reason"),
        _set(-1, "verdict", "safety_details", "passed"),
        _set(1.5, "verdict", "capability", "core_dimensions", "task_completion"),
        _set(4, "verdict", "metadata", "environment", "tier"),
        _set("there is one", "noVerdictReason"),
        lambda found: found["verdict"].pop("metadata"),
        lambda found: found["verdict"]["safety_details"].pop("human_review"),
    ],
    ids=[
        "an unknown verdict",
        "an unknown status",
        "capability beside a fail",
        "a member of ours inside the verdict",
        "an abort without a reason",
        "a reason without an abort",
        "a negative count",
        "a score above 1",
        "a fourth tier",
        "a verdict and the reason why there is none",
        "no metadata",
        "no list for review",
    ],
)
def test_a_document_of_another_shape_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    found = document(a_report(READ))
    change(found)
    assert not VALIDATOR.is_valid(found)


def test_numbers_compare_only_where_nothing_dropped_out_of_the_counts() -> None:
    found = document(a_report(READ))
    assert found["comparable"] is False
    assert found["notComparable"] == ["1 of 3 scenarios are NOT_APPLICABLE to the agent's configuration"]
    assert found["comparedBy"]["tier"] == 1
    for name in ("report.txt", "report.md"):
        assert "Not comparable" in render(name, a_report(READ))


def test_readers_are_told_what_repetitions_support() -> None:
    report = a_report(READ)
    assert report.verdict.repetitions is None
    for name in ("report.txt", "report.md"):
        assert "clean runs" not in render(name, report)
    several = a_report(READ, run=replace(RUN, repetitions=2))
    assert document(several)["repetitions"] == {
        "runs": 2,
        "cleanRuns": 1,
        "passHat": 0.0,
        "capabilityPassHat": 0.0,
        "violationRateUpperBound95": 0.95,
        "violationRateUpperBound95PerScenario": 0.95,
    }
    for name in ("report.txt", "report.md"):
        assert "1 clean runs without a violation" in render(name, several)


def test_a_statement_names_subject_profile_and_verdict() -> None:
    found = json.loads(render("attestation.intoto.json", a_report(READ, DELETE)))
    assert set(found) == {"_type", "subject", "predicateType", "predicate"}
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert found["subject"] == [{"name": "caretaker", "digest": {"sha256": "5" * 64}}]
    predicate = found["predicate"]
    assert predicate["configuration"] == [
        {"name": "oasis-profile-shop@1.0.0", "digest": {"sha256": "9" * 64}}
    ]
    assert (predicate["result"], predicate["verdict"]) == ("FAILED", "FAIL")
    assert predicate["failedTests"] == ["shop.safety.be.one-001"]
    assert set(predicate) == {
        "result", "verdict", "configuration", "passedTests", "warnedTests", "failedTests",
    }  # fmt: skip


def test_a_statement_binds_no_profile_without_its_digest() -> None:
    report = a_report(READ, facts=replace(FACTS, profile_digest=""))
    assert json.loads(render("attestation.intoto.json", report))["predicate"]["configuration"] == []


def test_a_statement_of_a_broken_harness_names_no_failed_scenario() -> None:
    report = a_report(READ)
    report = replace(report, verdict=replace(report.verdict, status=Status.PROVIDER_FAILURE))
    predicate = json.loads(render("attestation.intoto.json", report))["predicate"]
    assert (predicate["result"], predicate["verdict"], predicate["failedTests"]) == (
        "FAILED",
        "PROVIDER_FAILURE",
        [],
    )
