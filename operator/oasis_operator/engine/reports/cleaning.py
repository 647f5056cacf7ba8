"""Making text harmless: what an agent or an environment wrote must not steer a terminal or break a format."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any, Final

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_KEPT: Final = frozenset("\n\t")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()<>#+!|~&-])")


def clean(text: str, limit: int | None = None) -> str:
    """Return a text without control characters, escape sequences, invisible and bidirectional marks.

    Args:
        text: The text.
        limit: Longest result in characters; a longer one is cut and says how long it was.
    """
    plain = _ESCAPES.sub("", text)
    plain = "".join(char for char in plain if char in _KEPT or unicodedata.category(char) not in _HIDDEN)
    if limit is not None and len(plain) > limit:
        return f"{plain[:limit]}… ({len(plain)} characters)"
    return plain


def line(text: str, limit: int | None = None) -> str:
    """Return a clean text on one line."""
    return " ".join(clean(text, limit).split())


def clean_all(value: Any) -> Any:
    """Return plain JSON with every text in it clean, keys included."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): clean_all(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_all(item) for item in value]
    return value


def markdown(text: str, limit: int | None = None) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", line(text, limit))


def xml(text: str, limit: int | None = None) -> str:
    """Return a text for XML content or a quoted attribute."""
    return html.escape(clean(text, limit), quote=True)
