"""The audit log of the evidence, held against the lines that left the environment while the run went on.

Whoever gets into the environment can rewrite what lies there, and whoever breaks it can lose it, but not what
has left it. Where the two do not agree what left it is judged, and nothing of it can become a PASS.

Spec: 01-core §3.6, 08-provider-conformance §3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.reading import part_of
from oasis_operator.model import audit_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Lines = Callable[[], Iterable[bytes]]
    """Gives raw lines of the log from the opening sentinel's on, as often as it is called."""

_CHANGED: Final = "the audit log was changed after it was written"


def with_stream(document: Mapping[str, Any], lines: Lines, fault: str = "") -> dict[str, Any]:
    """Return an evidence document with the audit entries that left the environment.

    The document's own entries stay where they are those of the lines, and where there are no lines.
    Otherwise, or where `fault` says why they count for nothing, the lines stand in their place. The window
    then says why it is not whole.

    Args:
        document: The document as put together, before anything is taken out of it; it is not changed.
        lines: The lines.
        fault: Why the environment's own account counts for nothing; empty where it is to be compared.
    """
    told = part_of(document, "window").get("fault")
    fault = fault or _difference(document, lines) or (told if isinstance(told, str) else "")
    return _judged_by_stream(document, lines, fault) if fault else dict(document)


def _difference(document: Mapping[str, Any], lines: Lines) -> str:
    """Return how the document's entries differ from the lines, empty where they do not."""
    closing = part_of(document, "window").get("sentinel")
    own = _own_entries(document)
    count = 0
    for entry in _until(lines(), closing):
        if entry is None:
            return _after_end(next(own, None), count)
        expected = next(own, None)
        if expected is None and not closing:
            return "the audit log that left the environment goes on where the environment's own ends"
        count += 1
        if expected != entry:
            return f"{_CHANGED}: entry {count} of those that left the environment is not what it was"
    if not count and not any(True for _ in lines()):
        return "nothing of the audit log left the environment while the run went on"
    return "the end of the audit log did not leave the environment" if closing else ""


def _after_end(extra: Mapping[str, Any] | None, count: int) -> str:
    return f"{_CHANGED}: it has entries after the {count} that left the environment" if extra else ""


def _until(lines: Iterable[bytes], closing: object) -> Iterator[Mapping[str, Any] | None]:
    """Yield the events behind the opening sentinel, and None last where the closing one was found."""
    for place, line in enumerate(lines):
        entry = audit_log.parse_line(line) if place else None
        if entry is None:
            continue
        if closing and audit_log.is_sentinel(entry, str(closing)):
            yield None
            return
        yield entry


def _own_entries(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the document's entries as the log had them; ends that were put back never stood there."""
    entries = part_of(document, "audit").get("entries")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("recovered") is not True:
            yield {name: value for name, value in entry.items() if name != "seq"}


def _judged_by_stream(document: Mapping[str, Any], lines: Lines, fault: str) -> dict[str, Any]:
    window, audit = part_of(document, "window"), part_of(document, "audit")
    source = {**part_of(audit, "evidence_source"), "status": "unreachable"}
    window = {**window, "complete": False, "fault": fault}
    if not any(True for _ in lines()):
        return {**document, "window": window, "audit": {**audit, "evidence_source": source}}
    found = (entry for entry in _until(lines(), window.get("sentinel")) if entry is not None)
    entries = [{**entry, "seq": number} for number, entry in enumerate(found, start=1)]
    stood_in = {
        "evidence_source": {**source, "type": "audit_log_stream"},
        "entries": entries,
        "chain_head": audit_log.chain(entries),
    }
    return {**document, "window": window, "audit": {**audit, **stood_in}}
