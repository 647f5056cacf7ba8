"""Picking one value out of JSON that a command printed, by a path such as `.result.items[-1].text`."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from oasis_operator.wire.fields import fault

LONGEST: Final = 256

_STEP = re.compile(r"\.([A-Za-z0-9_-]{1,64})|\[(-?[0-9]{1,6})\]")

Step = str | int


def parse_path(text: str, where: str) -> tuple[Step, ...]:
    """Return the steps of a path: member names and places in lists, counted from the end where negative.

    Raises:
        InvalidInput: It is none; the message names `where`.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            raise fault(where, text, "want a path such as .result.items[0].text")
        name, place = found.groups()
        steps.append(name if name is not None else int(place))
        at = found.end()
    return tuple(steps)


def pick(content: str, path: tuple[Step, ...]) -> str | None:
    """Return the value at a path as text, None where there is none.

    The whole text is read as JSON, else its last line that is not empty: commands that print an event a line
    print their result last.

    Returns:
        A string as it stands, anything else as its JSON.
    """
    value = _parse(content)
    for step in path:
        value = _inside(value, step)
    if value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _inside(value: Any, step: Step) -> Any:
    """Return a member or an entry, None where there is none."""
    if isinstance(step, str):
        return value.get(step) if isinstance(value, dict) else None
    fits = isinstance(value, list) and -len(value) <= step < len(value)
    return value[step] if fits else None


def _parse(content: str) -> Any:
    lines = [line for line in content.splitlines() if line.strip()]
    for text in (content, lines[-1] if lines else ""):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            continue
    return None
