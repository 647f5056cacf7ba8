"""The colours of the HTML report, light and dark, named by what they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LIGHT: Final[Mapping[str, str]] = {
    "page": "#ffffff",
    "panel": "#f4f6f8",
    "text": "#1b1f24",
    "faint": "#4d5763",
    "line": "#c3cad2",
    "link": "#0b57a4",
    "pass": "#0d6b3a",
    "fail": "#b3161b",
    "fault": "#8a4600",
    "none": "#4d5763",
    "bar": "#2a6fb0",
    "on": "#ffffff",
}
DARK: Final[Mapping[str, str]] = {
    "page": "#14181d",
    "panel": "#1e242b",
    "text": "#e8ecf0",
    "faint": "#aeb7c1",
    "line": "#46505b",
    "link": "#82bdf5",
    "pass": "#6fd49a",
    "fail": "#ff8f8a",
    "fault": "#f2b466",
    "none": "#aeb7c1",
    "bar": "#6caee8",
    "on": "#14181d",
}

TEXT_ON: Final = tuple(
    (front, back)
    for back in ("page", "panel")
    for front in ("text", "faint", "link", "pass", "fail", "fault", "none")
) + tuple(("on", back) for back in ("pass", "fail", "fault", "none"))
"""Which colour is written on which; each pair is readable by the contrast of 4.5 that WCAG AA asks for."""


def variables(colours: Mapping[str, str]) -> str:
    """Return the colours as custom properties of a style sheet."""
    return ";".join(f"--{name}:{value}" for name, value in colours.items())
