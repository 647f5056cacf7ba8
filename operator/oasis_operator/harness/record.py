"""`<run>.harness.json`: how a run was configured, what it used, what it found, and who verified it.

It holds the two published documents as they were written, and beside them all that those have no member for.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator.harness.vocabulary import DOCUMENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.harness.configuration import Configuration
    from oasis_operator.harness.finding import FindingsReport
    from oasis_operator.harness.ledger import Ledger
    from oasis_operator.harness.vocabulary import LogAction
    from oasis_operator.model.budget import Usage


@dataclass(frozen=True, slots=True)
class LogLine:
    """One step of a finding's way.

    Attributes:
        timestamp: RFC 3339 time.
        finding_id: A finding of the run.
        verifier: Who did it.
        action: What was done.
        reason: One sentence.
    """

    timestamp: str
    finding_id: str
    verifier: str
    action: LogAction
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Give the line as the document has it."""
        return {
            "timestamp": self.timestamp,
            "findingId": self.finding_id,
            "verifier": self.verifier,
            "action": self.action.value,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Record:
    """One run under the harness.

    Attributes:
        configuration: What was asked for.
        started_at: RFC 3339 time.
        completed_at: RFC 3339 time, not before the start.
        usage: What was used.
        findings: All findings.
        ledger: None where coverage was not asked for.
        error: Why the run ended early, such as the error text of a budget; empty where it did not.
        log: In the order of time; may be empty.
        claims: What the published shape has no member for, one per finding.
        versions: Of what took part, by name.
        digests: SHA-256 of what the run used and left, by name; those of the documents are added.
    """

    configuration: Configuration
    started_at: str
    completed_at: str
    usage: Usage
    findings: FindingsReport
    ledger: Ledger | None = None
    error: str = ""
    log: tuple[LogLine, ...] = ()
    claims: tuple[Mapping[str, Any], ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Give the document; its digests are those of the two files as `render` writes them."""
        findings = self.findings.to_json()
        ledger = self.ledger.to_json() if self.ledger else None
        digests = {**self.digests, "findings": digest_of(render(findings))}
        if ledger is not None:
            digests["coverageLedger"] = digest_of(render(ledger))
        return {
            "version": DOCUMENT_VERSION,
            "runId": self.findings.run_id,
            "challenge": self.findings.challenge,
            "harness": self.configuration.to_json(),
            "startedAt": self.started_at,
            "completedAt": self.completed_at,
            "iterations": self.usage.steps,
            "error": self.error or None,
            "budget": self.configuration.account(self.usage).to_json(),
            "findings": findings,
            "coverageLedger": ledger,
            "verificationLog": [line.to_json() for line in self.log],
            "claims": [dict(claim) for claim in self.claims],
            "versions": dict(sorted(self.versions.items())),
            "digests": dict(sorted(digests.items())),
        }


def render(document: Mapping[str, Any]) -> bytes:
    """Return the bytes of a document's file."""
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def digest_of(data: bytes) -> str:
    """Return the digest of bytes as documents name it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()
