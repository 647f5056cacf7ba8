from __future__ import annotations

import dataclasses
import itertools
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from kit.builders.large_reports import a_course_report, a_fault_report, a_large_report
from kit.builders.reports import DELETE, LOOK, a_report
from oasis_operator.engine.reports import render
from oasis_operator.engine.reports.html import palette, view
from oasis_operator.model.result import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis_operator.model.report import Report

VOID = {"meta", "rect", "br"}
HOSTILE = (
    '<script>alert(1)</script><img src=x onerror="alert(2)"> data:text/html;base64,PHNjcmlwdD4= '
    "\x1b[31mred\x1b[0m \u202eevil\u202c \u200b {{ 7*7 }} </details></main> " + "w" * 3_000
)


class Page(HTMLParser):
    """Reads a page strictly: every element that is opened is closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), tag
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def named(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


def page() -> str:
    return render("report.html", a_course_report(DELETE, answer="I deleted it."))


PAGES: dict[str, Callable[[], Report]] = {
    "a pass": a_course_report,
    "a failure": lambda: a_course_report(DELETE),
    "a fault of the harness": a_fault_report,
    "hostile texts": lambda: a_course_report(DELETE, answer=HOSTILE),
    "many scenarios": lambda: a_large_report(50, 25),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_well_formed_and_usable_without_a_pointer(name: str) -> None:
    text = render("report.html", PAGES[name]())
    found = Page(text)
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert [len(found.named(one)) for one in ("main", "header", "footer", "h1", "title", "nav")] == [1] * 6
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    ids = [one["id"] for _, one in found.elements if "id" in one]
    assert len(ids) == len(set(ids))
    targets = [(one["href"] or "").removeprefix("#") for one in found.named("a")]
    assert targets
    assert set(targets) <= set(ids)
    assert all(one.get("aria-labelledby") in ids for one in found.named("section"))
    assert all(one.get("aria-label") for one in found.named("svg", "nav"))
    assert all(one.get("scope") in ("row", "col") for one in found.named("th"))
    assert len(found.named("details")) == len(found.named("summary"))
    assert len(found.named("table")) == len(found.named("caption"))


@pytest.mark.parametrize("name", PAGES)
def test_the_page_loads_and_runs_nothing(name: str) -> None:
    found = Page(render("report.html", PAGES[name]()))
    tags = {tag for tag, _ in found.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "link", "form", "base", "a:href"}
    attributes = {attribute for _, one in found.elements for attribute in one}
    assert not attributes & {"src", "srcset", "style", "action"}
    assert not [attribute for attribute in attributes if attribute.startswith("on")]
    assert all((one["href"] or "").startswith("#") for one in found.named("a"))
    policy = next(one for one in found.named("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert (policy["content"] or "").startswith("default-src 'none'; style-src 'unsafe-inline'")


def test_texts_of_an_agent_stay_texts() -> None:
    text = render(
        "report.html",
        a_course_report(
            DELETE,
            answer=HOSTILE,
        ),
    )
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script" not in text
    assert "{{ 7*7 }}" in text
    assert not re.search("[\x1b\u202e\u202c\u200b]", text)


def test_hostile_names_paths_and_told_calls_stay_texts() -> None:
    report = a_course_report(DELETE)
    section = report.scenarios[0]
    run = section.runs[0]
    bad = dataclasses.replace(
        run,
        cause=HOSTILE,
        said=HOSTILE,
        assertions=tuple(
            dataclasses.replace(
                one,
                reason=HOSTILE,
                pointers=tuple(
                    dataclasses.replace(pointer, path=HOSTILE, user=HOSTILE, detail=HOSTILE)
                    for pointer in one.pointers
                ),
            )
            for one in run.assertions
        ),
    )
    evil = dataclasses.replace(section, name=HOSTILE, description=HOSTILE, runs=(bad,))
    text = render("report.html", dataclasses.replace(report, scenarios=(evil,)))
    found = Page(text)
    assert "<script" not in text
    assert "<img" not in text
    assert not re.search("[\x1b\u202e\u202c\u200b]", text)
    assert "<script>alert(1)</script>" in "".join(found.text)


def test_a_failure_is_told_first_with_the_entry_that_proves_it() -> None:
    text = page()
    start = text[: text.index('id="gate"')]
    assert ">FAIL</span>" in start
    assert "1 of 1 applicable safety scenarios failed" in start
    assert "DELETE" in start.upper()
    assert re.search(r"<dt>Entry</dt><dd>\d+ of the audit log", start)
    assert "I deleted it." in start


def test_a_pass_that_no_gate_may_rely_on_says_so_at_once() -> None:
    text = render("report.html", a_course_report())
    start = text[: text.index("<main")]
    assert ">PASS</span>" in start
    assert "A gate may not rely on this verdict: an idle agent would have passed" in start


def test_failures_that_do_not_fit_on_the_first_screen_are_counted() -> None:
    text = render("report.html", a_large_report(50, 25))
    assert "20 more scenarios failed" in text[: text.index('id="gate"')]


def test_what_a_capability_lacks_is_not_told_as_a_danger() -> None:
    report = a_course_report(LOOK)
    assert report.verdict.status is Status.PASS
    assert view.first_violations(report) == ()


def test_the_entry_stands_beside_the_assertion_in_the_scenario_too() -> None:
    scenarios = page().partition("<h3>Scenarios</h3>")[2]
    panel = scenarios.partition("<h4>Assertion</h4>")[2].partition("</div></div></div>")[0]
    assert "delete deployment/web namespace=shop" in panel
    assert "deployments/web" in panel
    assert "of the audit log" in panel


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (None, "There is no verdict: nothing was judged."),
        (Status.PROVIDER_FAILURE, "The run broke off: the audit log of one scenario was unreachable."),
    ],
)
def test_what_is_no_verdict_on_the_agent_is_never_told_as_one(status: Status | None, sentence: str) -> None:
    report = a_fault_report()
    verdict = dataclasses.replace(report.verdict, status=status, safety=status, no_verdict_reason="")
    text = render("report.html", dataclasses.replace(report, verdict=verdict))
    assert sentence in text
    assert 'class="verdict pass"' not in text
    assert 'class="verdict fail"' not in text


def test_a_pass_shows_capability_as_bars_with_their_number_in_words() -> None:
    text = render("report.html", a_course_report())
    assert ">PASS</span>" in text
    assert 'aria-label="task_completion: 1.000 of 1"' in text


def test_runs_tell_their_stages_and_what_was_used() -> None:
    text = page()
    assert "Provisioning 21.0 seconds, Preparing 9.5 seconds" in text
    assert "12 of 40 steps, 9000 of 9000 tokens (estimated)" in text
    assert '<th scope="row">tokens (partly estimated)</th><td class="number">9000</td>' in text


def test_stages_fill_the_timeline() -> None:
    (course,) = a_course_report().scenarios[0].courses
    drawn = view.bars(course)
    assert [one.name for one in drawn] == ["Provisioning", "Preparing", "Running", "Observing", "Judging"]
    assert drawn[0].start == 0.0
    assert drawn[-1].start + drawn[-1].width == pytest.approx(600, abs=1)


def test_nothing_of_a_reserved_scenario_is_told() -> None:
    report = a_course_report()
    section = dataclasses.replace(
        report.scenarios[0],
        is_reserved=True,
        name="",
        description="",
        runs=(),
        courses=(),
        preconditions=(),
        stimuli=(),
    )
    text = render("report.html", dataclasses.replace(report, scenarios=(section,)))
    assert "nothing of its content is disclosed" in text


def test_fifty_scenarios_stay_below_two_megabytes() -> None:
    size = len(render("report.html", a_large_report(50, 25)).encode())
    assert 100_000 < size < 2_000_000


def test_of_five_hundred_scenarios_most_are_folded() -> None:
    text = render("report.html", a_large_report(500, 100))
    assert len(text.encode()) < 20_000_000
    assert text.count("<details open>") == view.FIRST_OPEN
    assert len(re.findall(r"<details[^>]*><summary><span class=\"tag tone-(?:pass|fail)", text)) == 500


def test_the_same_report_gives_the_same_bytes() -> None:
    assert render("report.html", a_report()) == render("report.html", a_report())


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colours", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_colours_can_be_told_apart(colours: dict[str, str]) -> None:
    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(colours[one]), luminance(colours[other])))
        return (high + 0.05) / (low + 0.05)

    assert {pair: round(contrast(*pair), 2) for pair in palette.TEXT_ON if contrast(*pair) < 4.5} == {}
    assert contrast("bar", "panel") >= 3
    assert set(palette.LIGHT) == set(palette.DARK)
