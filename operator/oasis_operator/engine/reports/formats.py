"""All formats by file name, for whoever stores or asks for a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.engine.reports import document, intoto, junit, markdown, sarif, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.model.report import Report

FORMATS: Final[Mapping[str, tuple[str, Callable[[Report], str]]]] = {
    "verdict.yaml": ("application/yaml", document.render_yaml),
    "verdict.json": ("application/json", document.render_json),
    "report.txt": ("text/plain; charset=utf-8", text.render),
    "report.md": ("text/markdown; charset=utf-8", markdown.render),
    "junit.xml": ("application/xml", junit.render),
    "report.sarif": ("application/sarif+json", sarif.render),
    "attestation.intoto.json": ("application/vnd.in-toto+json", intoto.render),
}
"""File name to media type and the function that renders it."""


def render(name: str, report: Report) -> str:
    """Return a report in the format of a file name.

    Raises:
        KeyError: There is no such format.
    """
    return FORMATS[name][1](report)
