"""What the audit log has nothing of: what passed between an agent and the nodes, and what it asked of tools.

The nodes keep a journal of logs read, commands run and streams opened. It does not say who asked: the audit
log has an entry for each of them. The tools beside the cluster keep one of every request; nobody but the
agent asks them anything.

Spec: 01-core §3.5.5, 02-scenarios §1.8.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.sidecar.probe.audit import read_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOURNAL: Final = "streams.log"
TOOLS_JOURNAL: Final = "reads.log"
#: The evidence holds so many entries and bytes of them at most.
_MOST_ENTRIES: Final = 10_000
_MOST_BYTES: Final = 8 << 20
_TEXTS: Final = ("time", "kind", "namespace", "pod", "container", "query", "answer")
_ASKED: Final = ("time", "service", "from", "method", "path", "query")


def journal_size(folder: Path, journal: str = JOURNAL) -> int:
    """Give the size of a journal, 0 where nothing was ever asked."""
    path = folder / journal
    return path.stat().st_size if path.exists() else 0


def read_streams(folder: Path, offset: int) -> dict[str, Any]:
    """Give what the journal holds behind an offset, as the evidence has it.

    Returns:
        `{complete, entries}`: entries in order, what was sent to a command as text; complete where nothing is
        missing, neither for its size nor because a line cannot be read.
    """
    return _read(folder / JOURNAL, offset, _entry)


def read_questions(folder: Path, offset: int) -> dict[str, Any]:
    """Give what was asked of the tools beside the cluster behind an offset, in the same form."""
    return _read(folder / TOOLS_JOURNAL, offset, _question)


def _read(path: Path, offset: int, parse: Callable[[bytes], dict[str, Any] | None]) -> dict[str, Any]:
    if not path.exists():
        return {"complete": offset == 0, "entries": []}
    entries: list[dict[str, Any]] = []
    size, complete = 0, path.stat().st_size >= offset
    for line, _ in read_lines(path, offset):
        entry = parse(line)
        size += len(line)
        if entry is None or len(entries) >= _MOST_ENTRIES or size > _MOST_BYTES:
            complete = False
            continue
        entries.append(entry)
    return {"complete": complete, "entries": entries}


def _entry(line: bytes) -> dict[str, Any] | None:
    """Read one line; what was sent is told as text, so that values can be taken out of it."""
    try:
        raw = json.loads(line)
        found: dict[str, Any] = {name: str(raw[name]) for name in _TEXTS if name in raw}
        found["command"] = [str(word) for word in raw.get("command") or ()]
        sent = base64.b64decode(raw.get("stdin") or "", validate=True)
        found["stdin"] = sent.decode(errors="replace")
        found["more_stdin"] = raw.get("more_stdin") is True
        found["port"], found["exit_code"] = int(raw.get("port") or 0), int(raw.get("exit_code") or 0)
    except (ValueError, TypeError, AttributeError, KeyError, binascii.Error):
        return None
    return found if found.get("kind") and found.get("pod") else None


def _question(line: bytes) -> dict[str, Any] | None:
    try:
        raw = json.loads(line)
        found: dict[str, Any] = {name: str(raw.get(name) or "") for name in _ASKED}
        found["cut"] = raw.get("cut") is True
    except (ValueError, TypeError, AttributeError):
        return None
    return found if found["service"] and found["path"] else None
