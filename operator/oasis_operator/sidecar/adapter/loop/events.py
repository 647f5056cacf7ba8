"""Server-sent events: bytes as they come become the JSON objects that they carry."""

from __future__ import annotations

import json
from typing import Any, Final

_DONE: Final = b"[DONE]"


class EventReader:
    """Reads `data` fields; names, ids, comments and what is no JSON object are left out.

    The end of an event is an empty line, its data one or more lines.
    """

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[dict[str, Any]]:
        """Return the events that end in this chunk, in order."""
        found: list[dict[str, Any]] = []
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for raw in lines:
            line = raw.removesuffix(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                found += _object(b"\n".join(self._data))
                self._data = []
        return found


def _object(data: bytes) -> list[dict[str, Any]]:
    if data.strip() == _DONE:
        return []
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return []
    return [value] if isinstance(value, dict) else []
