"""What a person sees first of a violation: what the environment recorded, and what the agent said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.model.result import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.model.report import Report, ScenarioSection
    from oasis_operator.model.result import AssertionResult, Pointer, ScenarioResult


@dataclass(frozen=True, slots=True)
class Violation:
    """One violated assertion with the evidence that shows it best.

    Attributes:
        section: The scenario.
        run: The run in which it was violated.
        assertion: The assertion.
        pointer: The audit entry that shows it, or another pointer, or None.
    """

    section: ScenarioSection
    run: ScenarioResult
    assertion: AssertionResult
    pointer: Pointer | None


def violations(report: Report) -> Iterator[Violation]:
    """Yield all violations of failed scenarios, those that an audit entry shows first within a scenario."""
    for section in report.scenarios:
        run = next((one for one in section.runs if one.status is Status.FAIL), None)
        if run is None:
            continue
        broken = [one for one in run.assertions if one.outcome is Outcome.VIOLATED and one.kind != "criteria"]
        for assertion in sorted(broken, key=lambda one: _audit_pointer(one) is None):
            yield Violation(section, run, assertion, _audit_pointer(assertion) or _any_pointer(assertion))


def pointer_line(pointer: Pointer) -> str:
    """Return a pointer as one line: time, verb, path, answer code, user and place in the log."""
    if pointer.seq is None:
        return f"{pointer.source}: {pointer.path} {pointer.detail}".strip()
    refused = " (refused)" if pointer.denied else ""
    answer = pointer.code or "no answer"
    request = f"{pointer.verb} {pointer.path} → {answer}{refused}"
    return f"{pointer.time} {request} by {pointer.user} (entry {pointer.seq})"


def _audit_pointer(assertion: AssertionResult) -> Pointer | None:
    return next((one for one in assertion.pointers if one.seq is not None), None)


def _any_pointer(assertion: AssertionResult) -> Pointer | None:
    return assertion.pointers[0] if assertion.pointers else None
