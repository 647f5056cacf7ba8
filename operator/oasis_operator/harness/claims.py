"""Reads what an agent claims: by calls of `report_finding`, or as JSON in its final answer.

Both are the agent's own words, so nothing in them is believed: `assembly` holds them against the transcript.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from oasis_operator.harness.finding import Claim
from oasis_operator.harness.vocabulary import Category, Confidence, Severity, Standing
from oasis_operator.model.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from enum import StrEnum

    from oasis_operator.model.evidence import Transcript

    Word = TypeVar("Word", bound=StrEnum)

TOOL: Final = "report_finding"
"""Tool whose arguments are a claim."""

MAX_CLAIMS: Final = 100
MAX_QUOTES: Final = 10
MAX_TITLE: Final = 200
MAX_TEXT: Final = 4000
MAX_LIST: Final = 100

_OTHER_WORDS: Final[Mapping[str, Category]] = {
    "auth": Category.AUTH_BYPASS,
    "authentication": Category.AUTH_BYPASS,
    "access-control": Category.PRIVILEGE_ESCALATION,
    "data-exposure": Category.INFO_DISCLOSURE,
}
"""Categories of the grouped shape that one of the published shape stands for; others become `other`."""


@dataclass(frozen=True, slots=True)
class Told:
    """A claim as it was told.

    Attributes:
        claim: Steps and evidence as told, either may be empty.
        is_confirmed: Whether the claimant says that it is confirmed, which nobody can say of an own claim.
    """

    claim: Claim
    is_confirmed: bool


def read_claims(transcript: Transcript) -> tuple[Told, ...]:
    """Return the claims of a transcript in the order in which they were told, at most `MAX_CLAIMS`."""
    found: list[Told] = []
    for raw in _raw_claims(transcript):
        if isinstance(raw, dict) and len(found) < MAX_CLAIMS:
            found.append(_read(raw))
    return tuple(found)


def _raw_claims(transcript: Transcript) -> Iterator[Any]:
    for action in transcript.actions:
        if action.get("tool") == TOOL:
            yield action.get("arguments")
    answer = transcript.final_answer
    # Every second part stands between fences; a search for pairs of them would try each with each.
    blocks = (part.removeprefix("json") for part in answer.split("```")[1::2])
    for text in (answer, *blocks):
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(body, dict):
            for member in ("findings", *(standing.value for standing in Standing)):
                yield from _list(body.get(member))


def _read(raw: Mapping[str, Any]) -> Told:
    trace, execution = _object(raw.get("trace")), _object(raw.get("execution"))
    confidence, severity = _object(raw.get("confidence")), _object(raw.get("severity"))
    overall = _word(Severity, severity.get("overallSeverity", severity.get("level")), Severity.MEDIUM)
    endpoints = [
        *_list(raw.get("endpoints")),
        *_list(trace.get("endpoints")),
        execution.get("targetEndpoint"),
    ]
    claim = Claim(
        title=_text(raw.get("title"), MAX_TITLE) or "without a title",
        category=_category(raw.get("category")),
        steps=_steps(raw.get("steps", trace.get("steps"))),
        evidence=_texts(raw.get("evidence", trace.get("evidence")))[:MAX_QUOTES],
        endpoints=_texts(endpoints),
        owasp_category=_text(raw.get("owaspCategory"), MAX_TITLE),
        payload=_text(raw.get("payload", execution.get("payload"))),
        method=_text(execution.get("method"), MAX_TITLE),
        intended_behavior=_text(raw.get("intendedBehavior")),
        confidence=_word(Confidence, confidence.get("level"), Confidence.MEDIUM),
        confidence_reason=_text(confidence.get("reason", confidence.get("reasoning"))),
        likelihood=_word(Severity, severity.get("likelihood"), overall),
        impact=_word(Severity, severity.get("impact"), overall),
        overall_severity=overall,
        remediation=_text(raw.get("remediation")),
    )
    return Told(claim, raw.get("verdict") == Standing.CONFIRMED.value)


def _category(value: object) -> Category:
    if isinstance(value, str) and value in {*Category}:
        return Category(value)
    return _OTHER_WORDS.get(value, Category.OTHER) if isinstance(value, str) else Category.OTHER


def _word(kind: type[Word], value: object, default: Word) -> Word:
    return kind(value) if isinstance(value, str) and value in {*kind} else default


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value[:MAX_LIST] if isinstance(value, list) else []


def _text(value: object, longest: int = MAX_TEXT) -> str:
    return clean_text(value)[:longest].strip() if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    found = (_text(entry) for entry in _list(value))
    return tuple(dict.fromkeys(text for text in found if text))


def _steps(value: object) -> tuple[int, ...]:
    numbers = {step for step in _list(value) if isinstance(step, int) and not isinstance(step, bool)}
    return tuple(sorted(numbers))
