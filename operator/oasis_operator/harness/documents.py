"""Reads a harness document from bytes that anybody may have written: strictly and within bounds."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from oasis_operator.harness.problems import Problem

MAX_BYTES: Final = 16 * 1024 * 1024
"""Largest document that is read."""


class _DuplicateError(ValueError):
    """A member stands twice in one object; readers do not agree on which one counts."""


def parse(data: bytes, *, most: int = MAX_BYTES) -> tuple[Any, Problem | None]:
    """Parse JSON text of at most so many bytes.

    Returns:
        The value and None, or None and what is wrong with the text: too large, not UTF-8, no JSON, a member
        that stands twice in an object, a number that JSON does not have, or nesting without end.
    """
    if len(data) > most:
        return None, Problem("", "size", f"{len(data)} bytes: want at most {most}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, Problem("", "encoding", f"byte {error.start} is not UTF-8: save the file as UTF-8")
    try:
        return json.loads(text, object_pairs_hook=_members, parse_constant=_refuse, parse_float=_finite), None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        return None, Problem("", "json", f"no JSON at {place}: {error.msg}")
    except RecursionError:
        return None, Problem("", "json", "nested too deeply: no such document is")
    except ValueError as error:
        return None, Problem("", "json", str(error))


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _DuplicateError(f"the member {twice!r} stands twice in one object: remove one")
    return members


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)
