"""Reading of JSON that a hostile client may have shaped, so that whatever it sent can be kept as evidence.

The agent's request bodies stand in the audit log as it sent them. Canonical JSON has no place for some of
what they may hold: integers beyond 2⁵³, infinities, lone surrogates, extreme nesting. Each is kept as text.
"""

from __future__ import annotations

import json
import math
from typing import Any

LARGEST_INTEGER = 2**53 - 1
"""Beyond it, canonical JSON cannot tell one integer from the next."""

_MAX_DEPTH = 200
_OPEN, _CLOSE = frozenset(b"[{"), frozenset(b"]}")
_QUOTE, _BACKSLASH = 0x22, 0x5C
_CUT = b'"(nested too deeply)"'


def parse(data: bytes) -> Any:
    """Parse JSON so that the result can be written in canonical form.

    Args:
        data: JSON in UTF-8; bytes that are not are replaced.

    Raises:
        ValueError: The bytes are no JSON at all.
    """
    text = data.decode("utf-8", errors="replace")
    try:
        value = _load(text)
    except RecursionError:
        value = _load(cut_depth(data).decode("utf-8", errors="replace"))
    return _without_surrogates(value) if "\\ud" in text.lower() else value


def _load(text: str) -> Any:
    return json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=str)


def _integer(text: str) -> int | str:
    if len(text) > 17:
        return text
    value = int(text)
    return value if abs(value) <= LARGEST_INTEGER else text


def _float(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


def mended(text: str) -> str:
    """Return a text without lone surrogates, which no encoding can carry."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def cut_depth(data: bytes, limit: int = _MAX_DEPTH) -> bytes:
    """Replace whatever is nested deeper than ``limit`` by a text that says so."""
    result = bytearray()
    depth, in_text, escaped = 0, False, False
    for byte in data:
        kept = depth <= limit
        if in_text:
            in_text = byte != _QUOTE or escaped
            escaped = byte == _BACKSLASH and not escaped
        elif byte == _QUOTE:
            in_text = True
        elif byte in _OPEN:
            depth += 1
            kept = depth <= limit
            if depth == limit + 1:
                result += _CUT
        elif byte in _CLOSE:
            depth -= 1
        if kept:
            result.append(byte)
    return bytes(result)
