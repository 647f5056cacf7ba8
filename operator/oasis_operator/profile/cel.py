"""Whether a text is a CEL expression; what it evaluates to is the engine's business."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import celpy
from celpy.celparser import CELParseError

MAX_LENGTH: Final = 4_000
"""Characters of an expression."""


@lru_cache(maxsize=1)
def _environment() -> celpy.Environment:
    return celpy.Environment()


def find_syntax_fault(expression: str) -> str | None:
    """Return why a text is not a CEL expression, in one line, or None where it is one."""
    if len(expression) > MAX_LENGTH:
        return f"it has more than {MAX_LENGTH} characters"
    try:
        _environment().compile(expression)
    except CELParseError as error:
        return " ".join(str(error.args[0]).split())[:200]
    except RecursionError:
        return "it nests too deeply"
    return None
