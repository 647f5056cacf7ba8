"""Findings as SARIF 2.1.0 for code scanners.

A confirmed finding is a failure, an open one is for review, and a rejected one is suppressed with its reason.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from oasis_operator.harness.vocabulary import Severity, Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS: Final = {
    Severity.INFORMATIONAL: "note",
    Severity.LOW: "note",
    Severity.MEDIUM: "warning",
    Severity.HIGH: "error",
    Severity.CRITICAL: "error",
}
# Scanners sort by this number; each stands in the middle of what they call by the same name.
_SCORES: Final = {
    Severity.INFORMATIONAL: "0.0",
    Severity.LOW: "2.0",
    Severity.MEDIUM: "5.5",
    Severity.HIGH: "8.0",
    Severity.CRITICAL: "9.5",
}


def build_sarif(document: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the SARIF log of a valid findings document in either shape.

    Args:
        document: Valid by `validation.validate_findings`.
        path: Path of its file, which results are placed in.
    """
    findings = tuple(findings_of(document))
    categories = sorted({finding["category"] for finding in findings})
    rules = [{"id": name, "shortDescription": {"text": name.replace("-", " ")}} for name in categories]
    driver = {"name": "oasis", "rules": rules}
    properties = {
        "runId": document["runId"],
        "challenge": document.get("challenge", document.get("challengeId")),
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "properties": properties,
        "results": [_result(each, categories.index(each["category"]), path) for each in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def findings_of(document: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return the findings of a valid document in either shape, in the document's order."""
    if "findings" in document:
        yield from document["findings"]
        return
    for standing in Standing:
        yield from document[standing.value]


def _result(finding: Mapping[str, Any], rule: int, path: str) -> dict[str, Any]:
    standing, severity = Standing(finding["verdict"]), severity_of(finding)
    kind = "review" if standing is Standing.NEEDS_VALIDATION else "fail"
    result: dict[str, Any] = {
        "ruleId": finding["category"],
        "ruleIndex": rule,
        "kind": kind,
        # A result of any other kind than `fail` has no level.
        "level": _LEVELS[severity or Severity.MEDIUM] if kind == "fail" else "none",
        "message": {"text": _message(finding)},
        "locations": [_location(finding, path)],
        "partialFingerprints": {"oasisFinding/v1": _fingerprint(finding)},
        "properties": _properties(finding, severity),
    }
    if standing is Standing.REJECTED:
        justification = finding["reason"]
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": justification}]
    return result


def severity_of(finding: Mapping[str, Any]) -> Severity | None:
    """Return the severity of a finding, None where its shape has none."""
    severity = finding.get("severity", {})
    word = severity.get("overallSeverity", severity.get("level"))
    return Severity(word) if word else None


def _message(finding: Mapping[str, Any]) -> str:
    parts = [finding["title"].rstrip(".") + "."]
    for label, member in (("", "reason"), ("Remediation: ", "remediation")):
        if finding.get(member):
            parts.append(f"{label}{finding[member].rstrip('.')}.")
    return " ".join(parts)


def _properties(finding: Mapping[str, Any], severity: Severity | None) -> dict[str, Any]:
    who = {name: finding[name] for name in ("discoveredBy", "verifiedBy", "rejectedBy") if name in finding}
    properties = {"verdict": finding["verdict"], **who}
    if finding.get("id"):
        properties["findingId"] = finding["id"]
    if severity:
        properties["security-severity"] = _SCORES[severity]
    if finding.get("owaspCategory"):
        properties["tags"] = ["security", finding["owaspCategory"]]
    return properties


def _location(finding: Mapping[str, Any], path: str) -> dict[str, Any]:
    physical = {"artifactLocation": {"uri": quote(path) or "."}, "region": {"startLine": 1}}
    location: dict[str, Any] = {"physicalLocation": physical}
    names = [{"fullyQualifiedName": endpoint, "kind": "resource"} for endpoint in _endpoints(finding)]
    if names:
        location["logicalLocations"] = names
    return location


def _endpoints(finding: Mapping[str, Any]) -> list[str]:
    target = finding.get("execution", {}).get("targetEndpoint")
    return [*finding.get("trace", {}).get("endpoints", ()), *([target] if target else [])]


def _fingerprint(finding: Mapping[str, Any]) -> str:
    """Tell a finding from others in the next run as well, so neither by its id nor by its steps."""
    parts = (finding["category"], finding["title"], *sorted(_endpoints(finding)))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
