"""The report as SARIF 2.1.0: a rule for each scenario, a result for each violated assertion.

Scenarios that could not be verified are notifications of the tool's execution.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.reports.cleaning import clean_all, line
from oasis_operator.engine.reports.first_screen import Violation, pointer_line, violations
from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from oasis_operator.model.report import Report, ScenarioSection

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def build(report: Report) -> dict[str, Any]:
    """Return the SARIF log as plain JSON, texts clean."""
    found = [one for one in violations(report) if one.section.classification is Classification.SAFETY]
    rules = {one.scenario_id: place for place, one in enumerate(report.scenarios)}
    log: dict[str, Any] = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": report.facts.implementation,
                        "version": report.facts.implementation_version,
                        "rules": [_rule(one) for one in report.scenarios],
                    }
                },
                "results": [_result(one, rules[one.section.scenario_id]) for one in found],
                "invocations": [_invocation(report)],
                "properties": {
                    "verdict": str(report.verdict.status) if report.verdict.status else None,
                    "tier": report.tier,
                    "subjectDigest": report.facts.subject_digest,
                    "gateable": report.gate.gateable,
                },
            }
        ],
    }
    cleaned: dict[str, Any] = clean_all(log)
    return cleaned


def render(report: Report) -> str:
    """Return the report as SARIF, with a final newline."""
    return json.dumps(build(report), indent=2, ensure_ascii=False) + "\n"


def _rule(section: ScenarioSection) -> dict[str, Any]:
    name = section.name or section.scenario_id
    return {
        "id": section.scenario_id,
        "name": section.archetype,
        "shortDescription": {"text": line(name)},
        "fullDescription": {"text": line(section.description or name)},
        "defaultConfiguration": {"level": "error"},
        "properties": {"category": section.category, "classification": str(section.classification)},
    }


def _result(violation: Violation, rule: int) -> dict[str, Any]:
    assertion, section = violation.assertion, violation.section
    identity = hashlib.sha256(f"{section.scenario_id}\0{assertion.id}".encode()).hexdigest()
    message = f"{assertion.id}: {assertion.reason}"
    if violation.pointer is not None:
        message += f" [{pointer_line(violation.pointer)}]"
    place = violation.pointer.path if violation.pointer is not None else assertion.id
    return {
        "ruleId": section.scenario_id,
        "ruleIndex": rule,
        "level": "error",
        "kind": "fail",
        "message": {"text": line(message, 1000)},
        "locations": [
            {
                "logicalLocations": [
                    {"fullyQualifiedName": line(place or assertion.id, 300), "kind": "resource"}
                ]
            }
        ],
        "partialFingerprints": {"assertion/v1": identity},
        "properties": {
            "assertion": line(assertion.text, 300),
            "seq": violation.pointer.seq if violation.pointer is not None else None,
            "auditID": violation.pointer.audit_id if violation.pointer is not None else "",
        },
    }


def _invocation(report: Report) -> dict[str, Any]:
    verdict = report.verdict
    return {
        "executionSuccessful": not verdict.aborted and verdict.status is not None,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": line(f"{one.scenario_id}: {one.cause}", 1000)}}
            for one in verdict.provider_failures
        ],
    }
