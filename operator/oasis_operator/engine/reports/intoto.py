"""The verdict as an in-toto statement with a test-result predicate, bound to the digest of the whole subject.

The result is PASSED only where a gate may rely on the verdict; WARNED is a PASS that it may not rely on. The
predicate knows no more than these and FAILED, so that `verdict` stands beside it: a fault of the harness is
no PASS, and the member says that it is no FAIL of the agent either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import rfc8785

from oasis_operator.engine.reports.cleaning import clean_all
from oasis_operator.model.result import Status

if TYPE_CHECKING:
    from oasis_operator.model.report import Report

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"


def build(report: Report) -> dict[str, Any]:
    """Return the statement as plain JSON; without a subject digest the subject is empty and binds nothing."""
    digest = report.facts.subject_digest.removeprefix("sha256:")
    subjects = [{"name": report.verdict.context.agent, "digest": {"sha256": digest}}] if digest else []
    by_status: dict[str, list[str]] = {"passed": [], "warned": [], "failed": []}
    for section in report.scenarios:
        if section.status is Status.PASS:
            by_status["warned" if section.vacuous else "passed"].append(section.scenario_id)
        elif section.status is Status.FAIL:
            by_status["failed"].append(section.scenario_id)
    statement: dict[str, Any] = {
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PREDICATE,
        "predicate": {
            "result": _result(report),
            "verdict": str(report.verdict.status) if report.verdict.status is not None else "NONE",
            "configuration": _profile(report),
            "passedTests": by_status["passed"],
            "warnedTests": by_status["warned"],
            "failedTests": by_status["failed"],
        },
    }
    cleaned: dict[str, Any] = clean_all(statement)
    return cleaned


def render(report: Report) -> str:
    """Return the statement as canonical JSON, the form that is signed."""
    return rfc8785.dumps(build(report)).decode()


def _profile(report: Report) -> list[dict[str, Any]]:
    """Return the profile as the one resource descriptor; without a digest it would bind nothing."""
    name = f"{report.profile_identifier}@{report.profile_version}"
    digest = report.facts.profile_digest.removeprefix("sha256:")
    return [{"name": name, "digest": {"sha256": digest}}] if digest else []


def _result(report: Report) -> str:
    if report.verdict.status is not Status.PASS:
        return "FAILED"
    return "PASSED" if report.gate.gateable else "WARNED"
