"""Where a text can be planted in a world, so that an agent finds it in what its tools return.

Tools return what the API server answers: objects, events, logs, and what commands print in a container. So a
target is `kind/name` with the part that is to hold the text behind a slash or a dot:

| target | where the text is |
|---|---|
| `kind/name/annotations/KEY`, `…/labels/KEY` | in that annotation or label of the object |
| `configmap/name/data/KEY`, `secret/name/data/KEY` | in that key |
| `kind/name/logs`, `logs/name` | in the log of the workload's containers, line by line |
| `kind/name/events` | in an event about the object; `reason` is the stimulus's, or Failed |
| `kind/name/exec` with `command` | in what that command prints in the workload's containers |
| `dashboard/name` (`/title`, `/description`) | in the document of the dashboard |
| `alert/name` | in the alert's description |
| `runbook/name` | in the page of the runbook |

The object must be declared, and everything else is refused with what is possible.

Spec: 02-scenarios §1.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.wire.fields import shown
from oasis_operator.wire.probe_request import StateFault
from oasis_operator.world.entries import Entry, canonical_kind
from oasis_operator.world.implied import WORKLOADS
from oasis_operator.world.narrative import EVENT_KINDS
from oasis_operator.world.overlay import find
from oasis_operator.world.registry import BUILDERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.wire.probe_request import StimulusPart
    from oasis_operator.world.overlay import Raw

_PARTS: Final = "annotations|labels|data|stringData|logs?|events?|exec|title|description"
_TARGET: Final = re.compile(
    rf"(?P<name>[^/\s]+?)(?:[./](?:metadata[./])?(?P<part>{_PARTS})(?:[./](?P<key>\S+))?)?"
)
_NAMESPACE: Final = re.compile(r"\snamespace=(\S+)")
#: Interfaces by which the specification's library names a place, and the kind that it is here.
_INTERFACES: Final = {"observability-dashboards": "dashboard", "observability-metrics": "alert"}
_USUAL_PART: Final = {"dashboard": "title", "alert": "description", "runbook": "description", "logs": "logs"}
#: Parts of an object that can hold a text, and the kinds that have them; None for every kind.
_HOLDERS: Final[dict[str, frozenset[str] | None]] = {
    "annotations": None,
    "labels": None,
    "data": frozenset({"configmap", "secret"}),
    "stringData": frozenset({"secret"}),
    "events": frozenset(EVENT_KINDS),
    "exec": WORKLOADS,
    "title": frozenset({"dashboard"}),
    "description": frozenset({"dashboard", "alert", "runbook"}),
}
_REASON: Final = re.compile(r"[A-Z][A-Za-z]{0,127}")
POSSIBLE: Final = (
    "possible are kind/name/annotations/KEY, configmap/name/data/KEY, kind/name/logs, kind/name/events, "
    "kind/name/exec with command, dashboard/name/title, alert/name and runbook/name, or entries in state"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a declared object, or of what belongs to it.

    Attributes:
        kind: Canonical kind of the declared entry.
        name: Its name.
        namespace: Where; None where the entry itself says nothing.
        part: What holds the text.
        key: Name of the member, empty for a part that has none.
    """

    kind: str
    name: str
    namespace: str | None
    part: str
    key: str = ""


class Refused(Exception):  # noqa: N818  # an answer to the author, not a failure
    """A text cannot be planted there."""

    def __init__(self, field: str, value: object, message: str) -> None:
        """Keep what stands where and what is possible."""
        super().__init__(message)
        self.field, self.value, self.message = field, value, message

    def of(self, part: StimulusPart) -> StateFault:
        """Give the fault of a stimulus."""
        where = f"stimuli[{part.index}] {part.target}"
        seen = "" if self.value is None else shown(self.value)
        return StateFault(-1, where, self.field, seen, self.message)


def find_place(part: StimulusPart, state: Sequence[Raw]) -> Place:
    """Find out what a target means in a declared state.

    Raises:
        Refused: It is no place that can hold a text, or its object is not declared.
    """
    head = part.target.split()[0] if part.target.strip() else ""
    word, _, rest = head.partition("/")
    kind = canonical_kind(_INTERFACES.get(word.lower(), word), BUILDERS)
    match = _TARGET.fullmatch(rest)
    if kind not in BUILDERS or match is None:
        raise Refused("target", part.target, POSSIBLE)
    given = _NAMESPACE.search(part.target)
    namespace = given[1] if given else _text(part.more, "namespace") or None
    name, holds, key = match["name"], (match["part"] or "").removesuffix("s"), match["key"] or ""
    holds = holds or _USUAL_PART.get(kind, "").removesuffix("s")
    if kind == "logs":
        return Place("logs", *_writer(part, name, namespace, state), "logs")
    if kind == "alert" and word.lower() in _INTERFACES and name == "alerts":
        name = _only_alert(part, state)
    if holds == "log":
        return Place("logs", *_writer(part, name, namespace, state), "logs")
    entry = _declared(part, kind, name, namespace, state)
    if entry.namespace is None and kind not in ("namespace", "node"):
        namespace = namespace or "default"
    return Place(kind, name, entry.namespace or namespace, _possible(part, kind, holds), key)


def plant(place: Place, part: StimulusPart) -> Raw:
    """Give the entry that plants a text once it is laid over the state.

    Raises:
        Refused: A member that the place needs is missing, or is none.
    """
    if place.part == "events":
        return _event(place, part)
    entry: dict[str, Any] = {"resource": f"{place.kind}/{place.name}"}
    if place.namespace:
        entry["namespace"] = place.namespace
    return {**entry, **_member(place, part)}


def _member(place: Place, part: StimulusPart) -> Raw:
    match place.part:
        case "logs":
            return {"entries": part.text.splitlines()}
        case "exec":
            command = _text(part.more, "command")
            if not command:
                raise Refused("command", None, "want the command line that prints the text")
            return {"exec": {command: part.text}}
        case "description" if place.kind == "alert":
            return {"annotations": {"description": part.text}}
        case "title" | "description":
            return {place.part: part.text}
        case _:
            pass
    if not place.key:
        wanted = f"{place.kind}/{place.name}/{place.part}/KEY"
        raise Refused("target", part.target, f"want the key behind it: {wanted}")
    member = "string_data" if (place.kind, place.part) == ("secret", "data") else place.part
    return {member: {place.key: part.text}}


def _possible(part: StimulusPart, kind: str, holds: str) -> str:
    """Give the part of an object of a kind that a target means, where it can hold a text."""
    for name, kinds in _HOLDERS.items():
        if name.removesuffix("s") == holds and (kinds is None or kind in kinds):
            return "data" if name == "stringData" else name
    raise Refused("target", part.target, POSSIBLE)


def _event(place: Place, part: StimulusPart) -> Raw:
    reason = _text(part.more, "reason") or "Failed"
    if not _REASON.fullmatch(reason):
        raise Refused("reason", reason, "want one word in capitals such as FailedMount")
    told = {"type": "Warning", "reason": reason, "object": f"{place.kind}/{place.name}", "message": part.text}
    return {"resource": f"events/{place.namespace or 'default'}", "recent": [{**told, "age": "0s"}]}


def _declared(part: StimulusPart, kind: str, name: str, namespace: str | None, state: Sequence[Raw]) -> Entry:
    wanted = Entry(-1, "", kind, name, namespace, {})
    place = find(state, wanted)
    if place is None:
        where = f"{kind}/{name}" + (f" in namespace {namespace}" if namespace else "")
        raise Refused("target", part.target, f"the state declares no {where}, or more than one; declare it")
    raw = state[place]
    return Entry(place, "", kind, name, raw.get("namespace"), {})


def _writer(
    part: StimulusPart, name: str, namespace: str | None, state: Sequence[Raw]
) -> tuple[str, str | None]:
    """Give who writes a log: a declared workload of that name, or whose pod may have such a name."""
    candidates = [name[:end] for end in range(len(name), 0, -1) if end == len(name) or name[end] == "-"]
    for candidate in candidates:
        for kind in sorted(WORKLOADS):
            place = find(state, Entry(-1, "", kind, candidate, namespace, {}))
            if place is not None:
                return candidate, str(state[place].get("namespace") or "default")
        if find(state, Entry(-1, "", "logs", candidate, namespace, {})) is not None:
            return candidate, namespace
    raise Refused("target", part.target, f"the state declares no workload {name} that could write the text")


def _only_alert(part: StimulusPart, state: Sequence[Raw]) -> str:
    names = [str(raw.get("resource", "")).partition("/") for raw in state]
    alerts = [name for word, _, name in names if canonical_kind(word, BUILDERS) == "alert"]
    if len(alerts) != 1:
        raise Refused("target", part.target, f"the state declares {len(alerts)} alerts; want alert/name")
    return alerts[0]


def _text(more: Raw, name: str) -> str:
    value = more.get(name)
    return value if isinstance(value, str) else ""
