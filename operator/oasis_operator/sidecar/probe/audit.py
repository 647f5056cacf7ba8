"""The audit log of the nested API server: its lines, the window of a run, and the proof that it is whole.

A window begins after one request of the administrator and ends with another, each for a name that nobody else
can know. The log is written in the order in which requests end.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator.sidecar.probe import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from oasis_operator.sidecar.probe.state.manifests import Json

ADMINISTRATOR = "kubernetes-admin"
#: Users of the control plane itself; requests of theirs may be open at any time.
COMPONENTS = frozenset(
    {
        ADMINISTRATOR,
        "system:apiserver",
        "system:kube-controller-manager",
        "system:kube-scheduler",
        "system:kubelet",
    }
)
_FINAL = frozenset({"ResponseComplete", "Panic"})
_LONG = frozenset({"attach", "exec", "log", "portforward", "proxy"})
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Window:
    """The entries of a run.

    Attributes:
        entries: Audit events in log order, each with its position as ``seq``, counted from 1.
        start: When the opening request was received.
        end: When the closing request was received, empty where it was not found.
        unfinished: Audit ids of requests that neither ended nor are meant to stay open.
        unreadable: Number of lines that are no JSON.
        chain_head: Digest over all entries, see `chain`.
    """

    entries: tuple[Json, ...]
    start: str
    end: str
    unfinished: tuple[str, ...]
    unreadable: int
    chain_head: str

    @property
    def complete(self) -> bool:
        """Whether nothing can be missing."""
        return bool(self.start and self.end) and not self.unfinished and not self.unreadable


def read_lines(path: Path, offset: int = 0) -> Iterator[tuple[bytes, int]]:
    """Give the complete lines of a growing file, each with the offset behind it, of any length."""
    with path.open("rb") as file:
        file.seek(offset)
        buffer = bytearray()
        while piece := file.read(_PIECE):
            searched = len(buffer)
            buffer += piece
            while (end := buffer.find(b"\n", searched)) >= 0:
                offset += end + 1
                yield bytes(buffer[:end]), offset
                del buffer[: end + 1]
                searched = 0


def is_sentinel(entry: Json, nonce: str) -> bool:
    """Tell whether an entry is the administrator's request for a name."""
    return (
        entry.get("stage") == "ResponseComplete"
        and entry.get("user", {}).get("username") == ADMINISTRATOR
        and str(entry.get("requestURI", "")).endswith(f"/{nonce}")
    )


def parse_line(line: bytes) -> Json | None:
    """Read one line, None where it is no audit event."""
    try:
        entry = jsontext.parse(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and "auditID" in entry else None


def build_window(lines: Iterable[bytes], opening: str, closing: str) -> Window:
    """Cut the window between two sentinels out of the log.

    Args:
        lines: Lines of the log, from before the opening sentinel on.
        opening: Name that the opening request asked for.
        closing: Name that the closing request asked for.

    Spec: 02-scenarios §1.8.
    """
    start, end = "", ""
    entries: list[Json] = []
    unreadable = 0
    for line in lines:
        entry = parse_line(line)
        if entry is None:
            unreadable += bool(start and not end)
        elif is_sentinel(entry, closing):
            end = str(entry["requestReceivedTimestamp"])
            break
        elif is_sentinel(entry, opening):
            start = str(entry["requestReceivedTimestamp"])
        elif start:
            entries.append({**entry, "seq": len(entries) + 1})
    return Window(tuple(entries), start, end, unfinished(entries), unreadable, chain(entries))


def unfinished(entries: Sequence[Json]) -> tuple[str, ...]:
    """Give the requests of others than the control plane that began and did not end, in log order.

    Watches and streams stay open as long as their client does; that they began is on record.
    """
    open_requests: dict[str, None] = {}
    for entry in entries:
        identifier = str(entry["auditID"])
        if entry.get("stage") in _FINAL:
            open_requests.pop(identifier, None)
        elif not _is_long(entry) and entry.get("user", {}).get("username") not in COMPONENTS:
            open_requests[identifier] = None
    return tuple(open_requests)


def chain(entries: Iterable[Json]) -> str:
    """Give the head of the hash chain over entries.

    It begins with 32 zero bytes; each link is the SHA-256 of the one before and the entry in canonical form
    (RFC 8785), so whoever holds the evidence can compute it again.
    """
    head = bytes(32)
    for entry in entries:
        head = hashlib.sha256(head + rfc8785.dumps(entry)).digest()
    return head.hex()


def _is_long(entry: Json) -> bool:
    reference: Any = entry.get("objectRef") or {}
    return entry.get("verb") == "watch" or reference.get("subresource") in _LONG
