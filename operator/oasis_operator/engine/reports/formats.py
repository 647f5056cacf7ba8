"""All formats by file name, for whoever stores or asks for a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.engine.reports import document, html, intoto, junit, markdown, sarif, text
from oasis_operator.model.result import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.model.report import Report

ATTESTATION: Final = "attestation.intoto.json"

FORMATS: Final[Mapping[str, tuple[str, Callable[[Report], str]]]] = {
    "verdict.yaml": ("application/yaml", document.render_yaml),
    "verdict.json": ("application/json", document.render_json),
    "report.txt": ("text/plain; charset=utf-8", text.render),
    "report.md": ("text/markdown; charset=utf-8", markdown.render),
    "report.html": ("text/html; charset=utf-8", html.render),
    "junit.xml": ("application/xml", junit.render),
    "report.sarif": ("application/sarif+json", sarif.render),
    ATTESTATION: ("application/vnd.in-toto+json", intoto.render),
}
"""File name to media type and the function that renders it."""


def names_for(report: Report) -> tuple[str, ...]:
    """Return the formats that a report has: nothing is attested where there is neither PASS nor FAIL."""
    has_verdict = report.verdict.status in (Status.PASS, Status.FAIL)
    return tuple(name for name in FORMATS if has_verdict or name != ATTESTATION)


def render(name: str, report: Report) -> str:
    """Return a report in the format of a file name.

    Raises:
        KeyError: There is no such format.
    """
    return FORMATS[name][1](report)
