"""Findings as values, and `<run>.findings.json` in both shapes.

A finding never decides a verdict. What the published shape has no member for stands in `<run>.harness.json`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.harness.vocabulary import (
    DOCUMENT_VERSION,
    Category,
    Confidence,
    Mode,
    Severity,
    Shape,
    Standing,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody says about a vulnerability, with where the transcript shows it.

    Attributes:
        title: One line.
        category: What kind of vulnerability it is.
        steps: Numbers of the transcript's actions, from 1; at least one.
        evidence: Texts that stand in those actions or their results; at least one.
        commands: What was run in those steps; at least one where confirmed.
        endpoints: What was asked, a path or an address each; may be empty.
        owasp_category: May be empty.
        payload: What was sent; may be empty.
        proof_output: The output that shows the effect; not empty where confirmed.
        method: HTTP method or the like; may be empty.
        intended_behavior: What should have happened instead; may be empty.
        confidence: How sure the claimant is.
        confidence_reason: Why; may be empty.
        likelihood: How easily the vulnerability is used.
        impact: What its use costs.
        overall_severity: Both together.
        remediation: What would mend it; may be empty.
    """

    title: str
    category: Category
    steps: tuple[int, ...]
    evidence: tuple[str, ...]
    commands: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    owasp_category: str = ""
    payload: str = ""
    proof_output: str = ""
    method: str = ""
    intended_behavior: str = ""
    confidence: Confidence = Confidence.MEDIUM
    confidence_reason: str = ""
    likelihood: Severity = Severity.MEDIUM
    impact: Severity = Severity.MEDIUM
    overall_severity: Severity = Severity.MEDIUM
    remediation: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and how it stands.

    Attributes:
        id: Unique within the run.
        claim: What is claimed.
        standing: Confirmed, open or rejected.
        by: Who confirmed, claimed or rejected it, by its standing.
        at: RFC 3339 time of the confirmation or rejection; empty while open.
        reason: Why it is open or rejected; empty where confirmed.
        discovered_by: Who claimed it first.
    """

    id: str
    claim: Claim
    standing: Standing
    by: str
    at: str = ""
    reason: str = ""
    discovered_by: str = ""


@dataclass(frozen=True, slots=True)
class FindingsReport:
    """All findings of a run.

    Attributes:
        run_id: Names the run.
        challenge: Id of the challenge, or of the scenario where there is none.
        timestamp: RFC 3339 time of the report.
        mode: Who hunted.
        findings: In the order in which they were claimed; may be empty.
        verify_before_claim: Whether a finding needs somebody else to be confirmed.
    """

    run_id: str
    challenge: str
    timestamp: str
    mode: Mode
    findings: tuple[Finding, ...] = ()
    verify_before_claim: bool = True

    def to_json(self, shape: Shape = Shape.PUBLISHED) -> dict[str, Any]:
        """Give the document in one of the two shapes."""
        return self._grouped() if shape is Shape.GROUPED else self._published()

    def _published(self) -> dict[str, Any]:
        return {
            "version": DOCUMENT_VERSION,
            "runId": self.run_id,
            "challenge": self.challenge,
            "timestamp": self.timestamp,
            "harnessMode": self.mode.value,
            "findings": [_published(finding) for finding in self.findings],
        }

    def _grouped(self) -> dict[str, Any]:
        mode = "fleet" if self.mode is Mode.FLEET else self.mode.value
        return {
            "runId": self.run_id,
            "challengeId": self.challenge,
            "timestamp": self.timestamp,
            "harness": {"mode": mode, "verifyBeforeClaim": self.verify_before_claim},
            **{
                standing.value: [_grouped(each) for each in self.findings if each.standing is standing]
                for standing in Standing
            },
        }


def _published(finding: Finding) -> dict[str, Any]:
    claim = finding.claim
    head = {
        "verdict": finding.standing.value,
        "id": finding.id,
        "title": claim.title,
        "category": claim.category.value,
    }
    match finding.standing:
        case Standing.CONFIRMED:
            return {**head, **_confirmed(claim), "verifiedBy": finding.by, "verifiedAt": finding.at}
        case Standing.NEEDS_VALIDATION:
            trace = {"steps": list(claim.steps), **_some("commands", claim.commands)}
            open_part = {"trace": trace, "reason": finding.reason, "discoveredBy": finding.by}
            return {**head, **_some("owaspCategory", claim.owasp_category), **open_part}
        case Standing.REJECTED:
            return {**head, "reason": finding.reason, "rejectedBy": finding.by, "rejectedAt": finding.at}


def _confirmed(claim: Claim) -> dict[str, Any]:
    """Give what the published shape asks of a confirmed finding; it has no empty texts."""
    return {
        "owaspCategory": claim.owasp_category or "not classified",
        "trace": {
            "steps": list(claim.steps),
            "commands": list(claim.commands),
            **_some("endpoints", claim.endpoints),
        },
        "execution": {
            "payload": claim.payload or claim.commands[0],
            "proofOutput": claim.proof_output,
            **_some("method", claim.method),
        },
        "intendedBehavior": claim.intended_behavior or "not stated by the claimant",
        "confidence": {
            "level": claim.confidence.value,
            "reason": claim.confidence_reason or "reproduced, and recorded by the environment",
        },
        "severity": {
            "likelihood": claim.likelihood.value,
            "impact": claim.impact.value,
            "overallSeverity": claim.overall_severity.value,
        },
        "remediation": claim.remediation or "not stated by the claimant",
    }


def _grouped(finding: Finding) -> dict[str, Any]:
    claim = finding.claim
    head = {
        "verdict": finding.standing.value,
        "id": finding.id,
        "category": claim.category.value,
        "title": claim.title,
    }
    match finding.standing:
        case Standing.REJECTED:
            return {**head, "reason": finding.reason, "rejectedBy": finding.by, "rejectedAt": finding.at}
        case Standing.CONFIRMED:
            return {**head, **claim_details(claim), "verifiedBy": finding.by, "verifiedAt": finding.at}
        case Standing.NEEDS_VALIDATION:
            return {**head, **claim_details(claim), "reason": finding.reason, "discoveredBy": finding.by}


def claim_details(claim: Claim) -> dict[str, Any]:
    """Give evidence, execution, confidence and severity of a claim as the grouped shape has them."""
    return {
        **_some("owaspCategory", claim.owasp_category),
        "trace": {"steps": list(claim.steps), "evidence": list(claim.evidence)},
        "execution": {
            "attackVector": claim.payload or claim.category.value,
            **_some("targetEndpoint", claim.endpoints[0] if claim.endpoints else ""),
        },
        "confidence": {
            "level": claim.confidence.value,
            "reasoning": claim.confidence_reason or "not stated by the claimant",
        },
        "severity": {
            "level": claim.overall_severity.value,
            "impact": claim.intended_behavior or claim.title,
        },
        **_some("remediation", claim.remediation),
    }


def _some(name: str, value: str | Iterable[str]) -> dict[str, Any]:
    """Give a member, or nothing where its value is empty."""
    if not value:
        return {}
    return {name: value if isinstance(value, str) else list(value)}
