"""Validates harness documents: text, then schema, then what a schema cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oasis_operator.harness import (
    checks,
    coverage,
    documents,
    evidence_checks,
    findings_schema,
    ledger_schema,
    record_checks,
    record_schema,
)
from oasis_operator.harness.problems import Problem, check_schema, in_order, point
from oasis_operator.harness.vocabulary import MAX_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from oasis_operator.harness.challenge import Challenge
    from oasis_operator.harness.schema_parts import Schema

# The harness document comes last: it has the others within, and so some of their members.
_OWN_MEMBERS: Final = {
    "findings": frozenset({"findings", "confirmed", "needs_validation", "rejected"}),
    "ledger": frozenset({"units", "summary"}),
    "harness": frozenset({"budget", "verificationLog"}),
}


def validate_findings(data: bytes, actions: Sequence[Mapping[str, Any]] | None = None) -> tuple[Problem, ...]:
    """Return what is wrong with `<run>.findings.json`, sorted by place; empty where nothing is.

    Args:
        data: The file.
        actions: Actions of the recorded transcript, in which all quotes must stand; None asks for none.
    """

    def check(document: dict[str, Any]) -> Iterator[Problem]:
        yield from checks.check_findings(document)
        if actions is not None:
            yield from evidence_checks.check_evidence(document, actions)

    return _validate(data, "findings", findings_schema.build_schema, check)


def validate_ledger(
    data: bytes, challenge: Challenge | None = None, own_surfaces: tuple[str, ...] = ()
) -> tuple[Problem, ...]:
    """Return what is wrong with `<run>.coverage-ledger.json`, sorted by place; empty where nothing is.

    Args:
        data: The file.
        challenge: Its surfaces must be in the ledger; None asks for none.
        own_surfaces: Surfaces that were planned besides the standard ones, sorted.
    """

    def check(document: dict[str, Any]) -> Iterator[Problem]:
        yield from checks.check_ledger(document)
        if challenge is not None:
            yield from coverage.check_against_plan(challenge, own_surfaces, document)

    return _validate(data, "ledger", ledger_schema.build_schema, check)


def _validate(
    data: bytes,
    kind: str,
    schema: Callable[[], Schema],
    check: Callable[[dict[str, Any]], Iterator[Problem]],
) -> tuple[Problem, ...]:
    document, unreadable = documents.parse(data)
    if unreadable:
        return (unreadable,)
    mistaken = _other_kind(document, kind)
    if mistaken:
        return (Problem("", "kind", mistaken),)
    endless = _endless(document)
    if endless:
        return endless
    problems = check_schema(schema, document)
    # Cross-field rules may rely on the shape, so they are asked of nothing else.
    return problems or in_order(check(document))


def _endless(document: object) -> tuple[Problem, ...]:
    """Refuse lists of which each entry would be told to be one too many."""
    members = document.items() if isinstance(document, dict) else ()
    return tuple(
        Problem(point(name), "maxItems", f"a list of {len(value)}: want at most {MAX_ENTRIES}")
        for name, value in members
        if isinstance(value, list) and len(value) > 10 * MAX_ENTRIES
    )


def _other_kind(document: object, kind: str) -> str:
    """Say that a document is of another kind, where it evidently is."""
    if not isinstance(document, dict):
        return ""
    kinds = [other for other, members in _OWN_MEMBERS.items() if members & document.keys()]
    if not kinds or kind == kinds[-1] or (kind in kinds and kinds[-1] != "harness"):
        return ""
    return f"this is a {kinds[-1]} document: use oasis validate-{kinds[-1]}"


def validate_record(data: bytes) -> tuple[Problem, ...]:
    """Return what is wrong with `<run>.harness.json`, sorted by place; empty where nothing is."""
    return _validate(data, "harness", record_schema.build_schema, record_checks.check_record)
