"""The report as one HTML file for people: no script, no network, nothing beside it.

Every value goes through one place that takes out what steers a terminal or turns text around, and through
the escaping of the template engine after it, so that no text of an agent can become markup.

Spec: 05-reporting §2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import jinja2
from markupsafe import Markup

from oasis_operator.engine.reports.cleaning import clean
from oasis_operator.engine.reports.detail import exposure_line, leak_lines
from oasis_operator.engine.reports.html import palette, view
from oasis_operator.engine.reports.sentences import on_comparison, on_repetitions
from oasis_operator.model.report import NOT_APPLICABLE_STATEMENT, SAME_TIER_STATEMENT

if TYPE_CHECKING:
    from oasis_operator.model.report import Report

LONGEST: Final = 4_000
"""Characters of one text that are shown; the evidence document has it whole."""


def _harmless(value: Any) -> Any:
    """Return what a template may print: our own markup as it is, all else as clean text."""
    return value if isinstance(value, Markup) else clean(str(value), LONGEST)


_ENVIRONMENT: Final = jinja2.Environment(
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    finalize=_harmless,
    trim_blocks=True,
    lstrip_blocks=True,
    loader=jinja2.PackageLoader("oasis_operator.engine.reports.html"),
)
_ENVIRONMENT.globals.update(
    view=view,
    exposure_line=exposure_line,
    on_comparison=on_comparison,
    on_repetitions=on_repetitions,
    light=palette.variables(palette.LIGHT),
    dark=palette.variables(palette.DARK),
    not_applicable_statement=NOT_APPLICABLE_STATEMENT,
    same_tier_statement=SAME_TIER_STATEMENT,
)


def render(report: Report) -> str:
    """Return the report as HTML, with a final newline."""
    page = _ENVIRONMENT.get_template("report.html.j2")
    text = page.render(report=report, verdict=report.verdict, facts=report.facts, leaks=leak_lines(report))
    return text.rstrip() + "\n"
