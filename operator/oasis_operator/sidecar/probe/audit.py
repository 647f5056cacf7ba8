"""The audit log of the nested API server: its lines, the window of a run, and the proof that it is whole.

A window begins after one request of the administrator and ends with another, each for a name that nobody else
can know. The log is written in the order in which requests end.

The API server cannot write the end of a patch whose body is no JSON, such as an apply in YAML. It says so in
its own log, from where the launcher keeps who, what and the answer's code. Such an end is put back, without
the body, so that the request is judged and does not look like one in flight.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.model.audit_log import ADMINISTRATOR, chain, is_sentinel, parse_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from oasis_operator.world.manifests import Json

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
#: Only streams and watches have an end after the start of the answer; what is refused before anybody looks at
#: the request (401, or 400 for its deadline) has no other stage than this one.
_FINAL = frozenset({"ResponseStarted", "ResponseComplete", "Panic"})
_LONG = frozenset({"attach", "exec", "log", "portforward", "proxy"})
_PIECE = 1 << 20

#: What tells a request from others: a client may choose its audit id, and give the same to several.
Identity = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class LostEnd:
    """The end of a request that the audit log could not hold.

    Attributes:
        identity: Whose end it is.
        stage: The stage that it ended in.
        code: Code of the answer.
        taken_on: User that it was carried out as, empty where that is its own.
    """

    identity: Identity
    stage: str
    code: int
    taken_on: str


@dataclass(frozen=True, slots=True)
class Window:
    """The entries of a run.

    Attributes:
        entries: Audit events in log order, each with its position as ``seq``, counted from 1.
        start: When the opening request was received.
        end: When the closing request was received, empty where it was not found.
        unfinished: Audit ids of requests that neither ended nor are meant to stay open.
        unreadable: Number of lines that are no JSON.
        chain_head: Digest over all entries, see `model.audit_log.chain`.
        changed: What shows that the log was changed after it was written, empty where nothing does.
    """

    entries: tuple[Json, ...]
    start: str
    end: str
    unfinished: tuple[str, ...]
    unreadable: int
    chain_head: str
    changed: str = ""

    @property
    def complete(self) -> bool:
        """Whether nothing can be missing."""
        whole = bool(self.start and self.end) and not self.changed
        return whole and not self.unfinished and not self.unreadable


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


def read_events(path: Path, offset: int = 0) -> list[Json]:
    """Give the events that a growing log holds from an offset on, without what cannot be read."""
    return [event for line, _ in read_lines(path, offset) if (event := parse_line(line)) is not None]


def find_sentinel(path: Path, offset: int, nonce: str) -> tuple[int, str] | None:
    """Find the administrator's request for a name in a growing log.

    Returns:
        Offset of the beginning of its line, and when it was received; None where it is not there.
    """
    for line, end in read_lines(path, offset):
        entry = parse_line(line) if nonce.encode() in line else None
        if entry and is_sentinel(entry, nonce):
            return end - len(line) - 1, str(entry["requestReceivedTimestamp"])
    return None


def read_lost(path: Path) -> tuple[LostEnd, ...]:
    """Read the lost ends that the launcher kept, none where there is no file."""
    if not path.exists():
        return ()
    found = []
    for line, _ in read_lines(path):
        try:
            item = json.loads(line)
            names = ("auditID", "received", "verb", "requestURI", "user")
            first, second, third, fourth, fifth = (str(item[name]) for name in names)
            identity = (first, second, third, fourth, fifth)
            found.append(LostEnd(identity, str(item["stage"]), int(item["code"]), str(item.get("as", ""))))
        except (ValueError, KeyError, TypeError):
            continue
    return tuple(found)


def build_window(lines: Iterable[bytes], opening: str, closing: str, lost: Iterable[LostEnd] = ()) -> Window:
    """Cut the window between two sentinels out of the log.

    Args:
        lines: Lines of the log, from before the opening sentinel on.
        opening: Name that the opening request asked for.
        closing: Name that the closing request asked for.
        lost: Ends that are put back, each behind the beginning of its request and marked as ``recovered``.

    Spec: 02-scenarios §1.8.
    """
    start, end = "", ""
    entries: list[Json] = []
    unreadable = 0
    waiting = _by_identity(lost)
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
            ends = waiting.get(_identity(entry)) if entry.get("stage") == "RequestReceived" else None
            if ends:
                entries.append({**_recovered(entry, ends.pop()), "seq": len(entries) + 1})
    return Window(tuple(entries), start, end, unfinished(entries), unreadable, chain(entries))


def unfinished(entries: Iterable[Json], lost: Iterable[LostEnd] = ()) -> tuple[str, ...]:
    """Give the audit ids of requests of others than the control plane that began and did not end.

    Watches and streams stay open as long as their client does; that they began is on record.

    Args:
        entries: Audit events.
        lost: Ends that are not among them.
    """
    begun: Counter[Identity] = Counter()
    ended: Counter[Identity] = Counter(item.identity for item in lost)
    for entry in entries:
        if entry.get("stage") in _FINAL:
            ended[_identity(entry)] += 1
        elif not _is_long(entry) and entry.get("user", {}).get("username") not in COMPONENTS:
            begun[_identity(entry)] += 1
    return tuple(identity[0] for identity in (begun - ended).elements())


def _is_long(entry: Json) -> bool:
    reference: Any = entry.get("objectRef") or {}
    return entry.get("verb") == "watch" or reference.get("subresource") in _LONG


def _identity(entry: Json) -> Identity:
    user: Any = entry.get("user") or {}
    names = ("auditID", "requestReceivedTimestamp", "verb", "requestURI")
    first, second, third, fourth = (str(entry.get(name, "")) for name in names)
    return first, second, third, fourth, str(user.get("username", ""))


def _by_identity(lost: Iterable[LostEnd]) -> dict[Identity, list[LostEnd]]:
    found: dict[Identity, list[LostEnd]] = {}
    for item in lost:
        found.setdefault(item.identity, []).append(item)
    return found


def _recovered(begun: Json, end: LostEnd) -> Json:
    """Give the end of a request as the log would have it, without bodies and the time, which nobody kept."""
    entry = {key: value for key, value in begun.items() if key != "stageTimestamp"}
    entry |= {"stage": end.stage, "responseStatus": {"metadata": {}, "code": end.code}, "recovered": True}
    return {**entry, "impersonatedUser": {"username": end.taken_on}} if end.taken_on else entry
