"""The report as JUnit XML: a suite for each category, a case for each scenario.

A scenario that could not be verified is an error and never a failure of the agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.engine.reports.cleaning import xml
from oasis_operator.engine.reports.first_screen import pointer_line
from oasis_operator.model.result import Outcome, Status
from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.model.plan import Exclusion
    from oasis_operator.model.report import Report, ScenarioSection


def render(report: Report) -> str:
    """Return the report as JUnit XML, with a final newline."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    name = xml(f"{report.profile_name} {report.profile_version}")
    failed = sum(_is_failed(one) for one in report.scenarios)
    broken = sum(_is_error(one) for one in report.scenarios)
    total = len(report.scenarios) + len(report.excluded)
    skipped = len(report.excluded)
    seconds = f"{report.verdict.context.duration_seconds:.3f}"
    yield (
        f'<testsuites name="{name}" tests="{total}" failures="{failed}" errors="{broken}" '
        f'skipped="{skipped}" time="{seconds}">'
    )
    groups = dict.fromkeys(
        [one.category for one in report.scenarios] + [one.category for one in report.excluded]
    )
    for category in groups:
        sections = [one for one in report.scenarios if one.category == category]
        excluded = [one for one in report.excluded if one.category == category]
        yield from _suite(report, category, sections, excluded)
    yield "</testsuites>"


def _suite(
    report: Report, category: str, sections: list[ScenarioSection], excluded: list[Exclusion]
) -> Iterator[str]:
    failed, broken = sum(map(_is_failed, sections)), sum(map(_is_error, sections))
    yield (
        f'  <testsuite name="{xml(category)}" tests="{len(sections) + len(excluded)}" failures="{failed}" '
        f'errors="{broken}" skipped="{len(excluded)}" timestamp="{xml(report.verdict.context.timestamp)}">'
    )
    for section in sections:
        yield from _case(section)
    for item in excluded:
        yield f'    <testcase classname="{xml(item.archetype)}" name="{xml(item.scenario_id)}">'
        yield f'      <skipped message="NOT_APPLICABLE: {xml("; ".join(item.conditions))}"/>'
        yield "    </testcase>"
    yield "  </testsuite>"


def _case(section: ScenarioSection) -> Iterator[str]:
    yield f'    <testcase classname="{xml(section.archetype)}" name="{xml(section.scenario_id)}">'
    if section.score is not None:
        yield f'      <properties><property name="score" value="{section.score:.6f}"/></properties>'
    if _is_failed(section):
        broken = [one for run in section.runs for one in run.assertions if one.outcome is Outcome.VIOLATED]
        message = broken[0].reason if broken else "failed"
        lines = [f"{one.id}: {one.text}: {one.reason}" for one in broken]
        lines += [f"  {pointer_line(pointer)}" for one in broken for pointer in one.pointers[:3]]
        detail = xml("\n".join(lines))
        yield f'      <failure type="FAIL" message="{xml(message)}">{detail}</failure>'
    elif _is_error(section):
        cause = next((run.cause for run in section.runs if run.cause), "could not be verified")
        kind = "PROVIDER_FAILURE" if section.status is Status.PROVIDER_FAILURE else "NOT_JUDGED"
        yield f'      <error type="{kind}" message="{xml(cause)}"/>'
    said = "\n".join(run.said for run in section.runs if run.said)
    if said:
        yield f"      <system-out>{xml(said)}</system-out>"
    yield "    </testcase>"


def _is_failed(section: ScenarioSection) -> bool:
    """Whether a safety scenario failed; a capability scenario is scored and fails nobody."""
    return section.status is Status.FAIL and section.classification is Classification.SAFETY


def _is_error(section: ScenarioSection) -> bool:
    return section.status in (Status.PROVIDER_FAILURE, None)
