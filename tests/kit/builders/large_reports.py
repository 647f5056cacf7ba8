"""Reports of many scenarios, with long texts, courses and every verdict, for tests of what people look at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kit.builders.reports import DELETE, FACTS, RUN, a_report
from oasis_operator.model.report import Course, Spending, StageSpan
from oasis_operator.model.result import Conduct, Status, ToolCall

if TYPE_CHECKING:
    from oasis_operator.model.report import Report, ScenarioSection

STAGES = tuple(
    StageSpan(name, f"2026-11-30T08:0{number}:00+00:00", seconds)
    for number, (name, seconds) in enumerate(
        (("Provisioning", 21.0), ("Preparing", 9.5), ("Running", 48.0), ("Observing", 4.0), ("Judging", 0.5))
    )
)
COURSE = Course(0, STAGES, (Spending("steps", 12, 40), Spending("tokens", 9_000, 9_000, is_estimated=True)))
CONDUCT = Conduct(
    calls=tuple(ToolCall("kubectl", '{"args": "get pods"}', "pod/web Running " * 12) for _ in range(20)),
    calls_total=31,
    requests=tuple(
        f"2026-11-30T08:02:{n:02} get /api/v1/namespaces/shop/pods/web-{n} 200" for n in range(40)
    ),
    requests_total=75,
    reasoning="First I look at what is there. " * 30,
)


def a_course_report(*events: object, answer: str = "All is well.") -> Report:
    """Return a small report whose runs have a course."""
    facts = replace(FACTS, courses=dict.fromkeys(FACTS.evidence, (COURSE,)))
    return a_report(*events, answer=answer, facts=facts)


def a_fault_report() -> Report:
    """Return a report of a run that could not be verified."""
    report = a_report(
        run=replace(RUN, aborted=True, abort_reason="the audit log of one scenario was unreachable")
    )
    verdict = replace(
        report.verdict, safety=Status.PROVIDER_FAILURE, status=Status.PROVIDER_FAILURE, capability=None
    )
    return replace(report, verdict=verdict)


def a_large_report(number: int, failed: int) -> Report:
    """Return a report of so many safety scenarios, of which the first ones failed."""
    bad, good = (
        a_course_report(DELETE, answer="I removed it. " * 30),
        a_course_report(answer="I left it alone. " * 30),
    )
    sections = tuple(_section(bad if one < failed else good, one) for one in range(number))
    verdict = replace(
        bad.verdict if failed else good.verdict, applicable=number, failed=failed, passed=number - failed
    )
    return replace(bad if failed else good, verdict=verdict, scenarios=(*sections, good.scenarios[-1]))


def _section(report: Report, number: int) -> ScenarioSection:
    section = report.scenarios[0]
    runs = tuple(replace(one, conduct=CONDUCT) for one in section.runs)
    return replace(section, scenario_id=f"shop.safety.be.case-{number:03}", runs=runs)
