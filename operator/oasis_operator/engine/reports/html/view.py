"""What the HTML report shows, put together from the report; every text is still as it came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oasis_operator.engine.reports.first_screen import violations
from oasis_operator.model.result import Outcome, Status
from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oasis_operator.engine.reports.first_screen import Violation
    from oasis_operator.model.report import Course, Report, ScenarioSection, Spending
    from oasis_operator.model.result import AssertionResult, ScenarioResult

FIRST_VIOLATIONS: Final = 5
"""Violations that are shown in full before anything else; the others stand with their scenarios."""

FIRST_OPEN: Final = 20
"""Failed scenarios that are open when the report is; more would bury the rest."""

_WIDTH: Final = 600.0
_LEAST: Final = 1.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One stage as a part of a timeline.

    Attributes:
        name: Name of the stage.
        number: Its place in the run, from 0.
        seconds: How long it lasted; None where it never ended.
        start: Left edge, 0-600.
        width: 0-600; nothing is narrower than one unit.
    """

    name: str
    number: int
    seconds: float | None
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Total:
    """What all runs used of one resource.

    Attributes:
        resource: `steps`, `seconds` or `tokens`.
        used: How much, all runs together.
        most: How much in the run that used most.
        reached: Runs that used all that was allowed.
        is_estimated: Whether a part of it was estimated.
    """

    resource: str
    used: int
    most: int
    reached: int
    is_estimated: bool


def tone(status: str | None) -> str:
    """Return the name of the colour of a verdict."""
    return {"PASS": "pass", "FAIL": "fail", "PROVIDER_FAILURE": "fault"}.get(str(status), "none")


def words(status: str | None, otherwise: str = "not judged") -> str:
    """Return a verdict as it is written for people."""
    return otherwise if status is None else str(status).replace("_", " ")


def why(report: Report) -> str:
    """Say in one sentence where the verdict comes from."""
    verdict = report.verdict
    of = f"of {verdict.applicable} applicable safety scenarios"
    if verdict.status is None:
        return f"There is no verdict: {verdict.no_verdict_reason or 'nothing was judged'}."
    if verdict.status is Status.FAIL:
        return f"{verdict.failed} {of} failed; {verdict.passed} passed."
    if verdict.status is Status.PROVIDER_FAILURE:
        unverified = verdict.provider_failure
        if not unverified:
            return f"The run broke off: {verdict.abort_reason or 'a fault of the harness'}."
        return f"{unverified} {of} could not be verified; this says nothing about the agent."
    return f"{verdict.passed} {of} passed; none failed."


def first_violations(report: Report) -> tuple[Violation, ...]:
    """Return the violations of safety for the first screen; what a capability lacks is no danger."""
    return tuple(_safety_violations(report))[:FIRST_VIOLATIONS]


def more_failed(report: Report) -> int:
    """Return how many failed safety scenarios the first screen does not show."""
    failed = {one.section.scenario_id for one in _safety_violations(report)}
    return len(failed - {one.section.scenario_id for one in first_violations(report)})


def _safety_violations(report: Report) -> Iterator[Violation]:
    return (one for one in violations(report) if one.section.classification is Classification.SAFETY)


def of_class(report: Report, classification: str) -> tuple[ScenarioSection, ...]:
    """Return the scenarios of a class, those that went wrong first."""
    rank = {Status.FAIL: 0, Status.PROVIDER_FAILURE: 1, None: 2, Status.PASS: 3}
    wanted = Classification(classification)
    found = (one for one in report.scenarios if one.classification is wanted)
    return tuple(sorted(found, key=lambda one: rank[one.status]))


def result(section: ScenarioSection) -> str:
    """Return what came of a scenario: its verdict, or its score."""
    if section.classification is Classification.SAFETY:
        return words(section.status)
    return "not scored" if section.score is None else f"score {section.score:.3f}"


def by_gravity(run: ScenarioResult) -> list[AssertionResult]:
    """Return the assertions of a run, violated ones first."""
    rank = {Outcome.VIOLATED: 0, Outcome.UNASSESSABLE: 1, Outcome.SATISFIED: 2}
    return sorted(run.assertions, key=lambda one: rank[one.outcome])


def course_of(section: ScenarioSection, run: ScenarioResult) -> Course | None:
    """Return how a run went, or None where that is not known."""
    return next((one for one in section.courses if one.repetition == run.repetition), None)


def bars(course: Course) -> tuple[Bar, ...]:
    """Return the stages of a run side by side; empty where none lasted."""
    lasted = [(number, one) for number, one in enumerate(course.stages) if one.seconds]
    total = sum(one.seconds or 0.0 for _, one in lasted)
    drawn: list[Bar] = []
    start = 0.0
    for number, one in lasted:
        width = max(_LEAST, (one.seconds or 0.0) / total * _WIDTH)
        drawn.append(Bar(one.name, number, one.seconds, round(start, 1), round(width, 1)))
        start += width
    return tuple(drawn)


def totals(report: Report) -> tuple[Total, ...]:
    """Return what all shown runs used, resource by resource; empty where nothing is known."""
    found = tuple(_spending(report.scenarios))
    names = dict.fromkeys(one.resource for one in found)
    result = []
    for name in names:
        ours = [one for one in found if one.resource == name]
        reached = sum(one.limit is not None and one.used >= one.limit for one in ours)
        used = [one.used for one in ours]
        result.append(Total(name, sum(used), max(used), reached, any(one.is_estimated for one in ours)))
    return tuple(result)


def _spending(sections: Sequence[ScenarioSection]) -> Iterator[Spending]:
    for section in sections:
        for course in section.courses:
            yield from course.spending
