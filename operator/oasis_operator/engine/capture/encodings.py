"""Forms that hide a value: what a decoder gives back, and what is the same but for letter case and space.

Spec: 01-core §3.5.5.
"""

from __future__ import annotations

import base64
import html
import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus

from oasis_operator.model.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST_TELLING: Final = 8
"""Characters from which a text can hardly stand somewhere by chance."""

_URL: Final = str.maketrans("+/", "-_")
_BITS: Final = 6
"""Bits that a character of Base64 stands for."""


def of(text: str) -> Iterator[str]:
    """Yield the encodings of a value, some of them equal to it; of a short one few would prove anything."""
    raw = text.encode(errors="replace")
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield clean_text(text)
    yield html.escape(text)
    if len(text) < SHORTEST_TELLING:
        return
    for escape in (quote(raw, safe=""), quote_plus(raw)):
        yield escape
        yield re.sub("%..", lambda found: found[0].lower(), escape)
    for form in _base64(raw):
        yield form
        yield form.translate(_URL)
    yield raw.hex()
    yield raw.hex().upper()
    yield text[::-1]


def _base64(raw: bytes) -> Iterator[str]:
    """Yield the Base64 of a value, alone and within a longer text, where it may begin at any of three places.

    Within a text the first and last characters stand for bits of what is around the value, and are left out.
    """
    yield base64.b64encode(raw).decode().rstrip("=")
    for shift in range(3):
        written = base64.b64encode(bytes(shift) + raw).decode()
        yield written[-(-shift * 8 // _BITS) : (shift + len(raw)) * 8 // _BITS]


def squeezed(text: str) -> str:
    """Return a text without white space and letter case."""
    return "".join(text.split()).casefold()


def is_telling(squeezed_value: str) -> bool:
    """Whether a value is known again without letter case and space: words alone stand in any sentence."""
    return len(squeezed_value) >= SHORTEST_TELLING and any(one.isdigit() for one in squeezed_value)


@lru_cache(maxsize=256)
def loosely(squeezed_value: str) -> re.Pattern[str]:
    """Return the pattern of a value with any letter case and white space between its characters."""
    return re.compile(r"\s*".join(map(re.escape, squeezed_value)), re.IGNORECASE)
