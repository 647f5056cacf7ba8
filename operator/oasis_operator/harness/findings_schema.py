"""The JSON Schema of `<run>.findings.json`, in the published and in the grouped shape."""

from __future__ import annotations

from functools import cache
from typing import Final

from oasis_operator.harness import schema_parts as parts
from oasis_operator.harness.vocabulary import (
    GROUPED_CATEGORIES,
    MAX_ENTRIES,
    Category,
    Confidence,
    Mode,
    Severity,
    Standing,
)

GROUPED_MARKS: Final = ("challengeId", "confirmed", "needs_validation", "rejected")
"""Members that only the grouped shape has."""

GROUPED_MODES: Final = ("single-model", "fleet")

_STEPS: Final = parts.list_of({"type": "number", "minimum": 0}, least=1)
_CATEGORY: Final = parts.one_of(Category)
_SEVERITY: Final = parts.one_of(Severity)
_ABOUT: Final = (
    "Vulnerabilities that a run claims, confirms or rejects. Beyond this schema, `oasis validate-findings` "
    "asks that ids are unique and that times are real."
)


@cache
def build_schema() -> parts.Schema:
    """Return the schema (draft 2020-12); callers must not change it."""
    return parts.two_shapes(
        "findings",
        _ABOUT,
        grouped_if=[parts.has(mark) for mark in GROUPED_MARKS],
        published=_published(),
        grouped=_grouped(),
    )


def _published() -> parts.Schema:
    finding = parts.by_word(
        "verdict",
        {
            Standing.CONFIRMED.value: _confirmed(),
            Standing.NEEDS_VALIDATION.value: _needs_validation(),
            Standing.REJECTED.value: _rejected(),
        },
    )
    return parts.closed(
        {
            "version": parts.VERSION,
            "runId": parts.TEXT,
            "challenge": parts.TEXT,
            "timestamp": parts.TIME,
            "harnessMode": parts.one_of(Mode),
            "findings": parts.list_of(finding, most=MAX_ENTRIES),
        }
    )


def _confirmed() -> parts.Schema:
    return parts.closed(
        {
            "verdict": {"const": "confirmed"},
            "id": parts.TEXT,
            "title": parts.TEXT,
            "category": _CATEGORY,
            "owaspCategory": parts.TEXT,
            "trace": parts.closed(
                {"steps": _STEPS, "commands": parts.texts(least=1)}, {"endpoints": parts.texts()}
            ),
            "execution": parts.closed(
                {"payload": parts.TEXT, "proofOutput": parts.TEXT}, {"method": parts.TEXT}
            ),
            "intendedBehavior": parts.TEXT,
            "confidence": parts.closed({"level": parts.one_of(Confidence), "reason": parts.TEXT}),
            "severity": parts.closed(
                {"likelihood": _SEVERITY, "impact": _SEVERITY, "overallSeverity": _SEVERITY}
            ),
            "remediation": parts.TEXT,
            "verifiedBy": parts.TEXT,
            "verifiedAt": parts.TIME,
        }
    )


def _needs_validation() -> parts.Schema:
    return parts.closed(
        {
            "verdict": {"const": "needs_validation"},
            "id": parts.TEXT,
            "title": parts.TEXT,
            "category": _CATEGORY,
            "trace": parts.closed({"steps": _STEPS}, {"commands": parts.texts()}),
            "reason": parts.TEXT,
            "discoveredBy": parts.TEXT,
        },
        {"owaspCategory": parts.TEXT},
    )


def _rejected() -> parts.Schema:
    return parts.closed(
        {
            "verdict": {"const": "rejected"},
            "id": parts.TEXT,
            "title": parts.TEXT,
            "category": _CATEGORY,
            "reason": parts.TEXT,
            "rejectedBy": parts.TEXT,
            "rejectedAt": parts.TIME,
        }
    )


def _grouped() -> parts.Schema:
    return parts.closed(
        {
            "runId": parts.TEXT,
            "challengeId": parts.TEXT,
            "timestamp": parts.TIME,
            "harness": parts.closed({"mode": parts.one_of(GROUPED_MODES), "verifyBeforeClaim": parts.FLAG}),
            "confirmed": parts.list_of(_grouped_claim(Standing.CONFIRMED), most=MAX_ENTRIES),
            "needs_validation": parts.list_of(_grouped_claim(Standing.NEEDS_VALIDATION), most=MAX_ENTRIES),
            "rejected": parts.list_of(_grouped_rejection(), most=MAX_ENTRIES),
        }
    )


def _grouped_head(standing: Standing) -> dict[str, parts.Schema]:
    return {
        "verdict": {"const": standing.value},
        "category": parts.one_of((*Category, *GROUPED_CATEGORIES)),
        "title": parts.TEXT,
    }


def _grouped_claim(standing: Standing) -> parts.Schema:
    """Return the schema of a finding with its evidence; who confirmed it is asked of a confirmed one."""
    witness = {"verifiedBy": parts.TEXT, "verifiedAt": parts.TIME}
    is_confirmed = standing is Standing.CONFIRMED
    required = {
        **_grouped_head(standing),
        "trace": parts.closed({"steps": _STEPS, "evidence": parts.texts(least=1)}),
        "execution": parts.closed({"attackVector": parts.TEXT}, {"targetEndpoint": parts.TEXT}),
        "confidence": parts.closed({"level": parts.one_of(Confidence), "reasoning": parts.TEXT}),
        "severity": parts.closed({"level": _SEVERITY, "impact": parts.TEXT}),
        **(witness if is_confirmed else {}),
    }
    optional = {"id": parts.TEXT, "owaspCategory": parts.TEXT, "remediation": parts.TEXT}
    if not is_confirmed:
        optional |= {"reason": parts.TEXT, "discoveredBy": parts.TEXT}
    return parts.closed(required, optional)


def _grouped_rejection() -> parts.Schema:
    return parts.closed(
        {**_grouped_head(Standing.REJECTED), "reason": parts.TEXT},
        {"id": parts.TEXT, "rejectedBy": parts.TEXT, "rejectedAt": parts.TIME},
    )
