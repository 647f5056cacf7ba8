"""The JSON Schema of `<run>.harness.json`."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from oasis_operator.harness import findings_schema, ledger_schema
from oasis_operator.harness import schema_parts as parts
from oasis_operator.harness.vocabulary import MAX_ENTRIES, Confidence, LogAction, Mode, Severity

_ABOUT: Final = (
    "How a run under the harness was configured, what it used and left, and who verified what. Beyond this "
    "schema, `oasis validate-harness` asks that the budget adds up, that the documents within are valid and "
    "belong together, and that nobody confirmed a finding of their own."
)
_OR_NONE: Final[parts.Schema] = {"type": ["number", "null"], "exclusiveMinimum": 0}
_TEXT_OR_NONE: Final[parts.Schema] = {"type": ["string", "null"], "minLength": 1}
_DIGEST: Final[parts.Schema] = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}


@cache
def build_schema() -> parts.Schema:
    """Return the schema (draft 2020-12); callers must not change it."""
    return {
        "$schema": parts.DIALECT,
        "title": "harness",
        **parts.closed(_members(), about=_ABOUT),
        "$defs": {
            "findings": findings_schema.build_schema()["$defs"]["published"],
            "coverageLedger": ledger_schema.build_schema()["$defs"]["published"],
        },
    }


def _members() -> dict[str, parts.Schema]:
    return {
        "version": parts.VERSION,
        "runId": parts.TEXT,
        "challenge": parts.TEXT,
        "harness": _configuration(),
        "startedAt": parts.TIME,
        "completedAt": parts.TIME,
        "iterations": parts.COUNT,
        "error": _TEXT_OR_NONE,
        "budget": _budget(),
        "findings": {"$ref": "#/$defs/findings"},
        "coverageLedger": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/coverageLedger"}]},
        "verificationLog": parts.list_of(_log_line(), most=10 * MAX_ENTRIES),
        "claims": parts.list_of(_claim(), most=MAX_ENTRIES),
        "versions": {"type": "object", "additionalProperties": parts.TEXT},
        "digests": {"type": "object", "additionalProperties": _DIGEST},
    }


def _configuration() -> parts.Schema:
    return parts.closed(
        {
            "mode": parts.one_of(Mode),
            "maxSteps": _OR_NONE,
            "maxTokens": _OR_NONE,
            "maxTimeSeconds": _OR_NONE,
            "hardStop": parts.FLAG,
            "coverage": parts.FLAG,
            "verifyBeforeClaim": parts.FLAG,
            "verifier": _TEXT_OR_NONE,
            "ownSurfaces": parts.list_of(parts.SURFACE),
        },
        about="A limit that is null is none.",
    )


def _budget() -> parts.Schema:
    line = parts.closed({"used": parts.AMOUNT, "limit": _OR_NONE, "exceeded": parts.FLAG})
    lines: dict[str, Any] = {"steps": line, "tokens": line, "timeSeconds": line}
    return parts.closed({**lines, "overallExceeded": parts.FLAG})


def _log_line() -> parts.Schema:
    return parts.closed(
        {
            "timestamp": parts.TIME,
            "findingId": parts.TEXT,
            "verifier": parts.TEXT,
            "action": parts.one_of(LogAction),
            "reason": parts.TEXT,
        }
    )


def _claim() -> parts.Schema:
    """Return the schema of what the published shape has no member for."""
    severity = parts.one_of(Severity)
    evidence = parts.closed(
        {
            "step": {"type": "integer", "minimum": 1},
            "part": parts.one_of(("arguments", "result")),
            "quote": parts.TEXT,
        }
    )
    return parts.closed(
        {
            "findingId": parts.TEXT,
            "discoveredBy": parts.TEXT,
            "evidence": parts.list_of(evidence),
            "endpoints": parts.texts(),
            "payload": parts.ANY_TEXT,
            "confidence": parts.closed({"level": parts.one_of(Confidence), "reason": parts.ANY_TEXT}),
            "severity": parts.closed(
                {"likelihood": severity, "impact": severity, "overallSeverity": severity}
            ),
            "remediation": parts.ANY_TEXT,
            "flags": parts.texts(),
        }
    )
