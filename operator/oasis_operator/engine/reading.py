"""From the evidence document to the model: lenient, since malformed evidence is a finding and not an error.

What is missing is read as what proves nothing, so that a document from which something was taken can never
be judged more kindly than the whole.

Spec: 05-reporting §1.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from oasis_operator.model import evidence as model

if TYPE_CHECKING:
    from enum import StrEnum

_E = TypeVar("_E", bound="StrEnum")


def read_evidence(document: Mapping[str, Any]) -> model.Evidence:
    """Read an evidence document; whatever is malformed is named in `problems`."""
    problems: list[str] = []
    if document.get("schema") != model.EVIDENCE_SCHEMA:
        problems.append(f"the document's schema is not {model.EVIDENCE_SCHEMA}")
    audit, state = part_of(document, "audit"), part_of(document, "state")
    entries = _maps(audit, "entries")
    sound = tuple(entry for entry in entries if is_event(entry))
    if len(sound) != len(entries) or _is_mixed(audit, "entries"):
        problems.append("an audit entry is malformed")
    if any(_is_mixed(state, side) for side in ("before", "after")):
        problems.append("an object of the state is malformed")
    attestation = part_of(document, "attestation")
    read = model.Evidence(
        run=part_of(document, "run"),
        subject=part_of(document, "subject"),
        principal=_principal(part_of(document, "agent_principal")),
        stimuli=tuple(_stimulus(item, place) for place, item in enumerate(_maps(document, "stimuli"))),
        transcript=_transcript(part_of(document, "transcript")),
        window=_window(part_of(document, "window")),
        audit_source=_source(audit),
        audit=sound,
        state_source=_source(state),
        before=_maps(state, "before"),
        after=_maps(state, "after"),
        containment=_containment(part_of(document, "containment")),
        environment=part_of(document, "environment"),
        attestation=attestation,
    )
    problems += _sequence_problems(entries)
    problems += _count_problems(read)
    return replace(read, problems=tuple(problems))


_OBJECT: Final = (dict, Mapping)
"""What a JSON object may be; one out of a file is a dict, of which that is seen far sooner."""

_PARTS: Final[tuple[tuple[str, type], ...]] = (
    *((name, dict) for name in ("objectRef", "user", "responseStatus", "impersonatedUser", "annotations")),
    *((name, str) for name in ("auditID", "stage", "verb", "requestURI", "requestReceivedTimestamp")),
    ("sourceIPs", list),
)


def is_event(entry: Mapping[str, Any]) -> bool:
    """Tell whether the members of an audit entry have the types that the API server gives them."""
    for name, kind in _PARTS:
        value = entry.get(name)
        if value is not None and not isinstance(value, kind):
            return False
    target, user = entry.get("objectRef"), entry.get("user")
    for value in (*(target.values() if target else ()), *(entry.get("sourceIPs") or ())):
        if not isinstance(value, str):
            return False
    return not user or "extra" not in user or _is_user(user)


def _is_user(user: Mapping[str, Any]) -> bool:
    extra = user.get("extra")
    return extra is None or (isinstance(extra, dict) and all(isinstance(one, list) for one in extra.values()))


def _is_mixed(part: Mapping[str, Any], name: str) -> bool:
    """Whether a list holds anything but objects, or is no list."""
    value = part.get(name)
    return value is not None and (
        not isinstance(value, list | tuple) or not all(isinstance(item, _OBJECT) for item in value)
    )


def _sequence_problems(entries: tuple[Mapping[str, Any], ...]) -> list[str]:
    """Find gaps in the log: entries are numbered from 1 without one."""
    if not entries:
        return []
    if any(not isinstance(entry.get("seq"), int) for entry in entries):
        return ["an audit entry has no sequence number"]
    numbers = {entry["seq"] for entry in entries}
    first, last = min(numbers), max(numbers)
    if first != 1 or last != len(numbers):
        return [f"the audit log has gaps: {len(numbers)} entries numbered {first} to {last}"]
    return []


def _count_problems(read: model.Evidence) -> list[str]:
    """Compare what is there with the counts recorded at capture; a repeated entry counts once."""
    numbers = {entry["seq"] for entry in read.audit if isinstance(entry.get("seq"), int)}
    counts = {
        "audit_entries": len(numbers),
        "state_before": len(read.before),
        "state_after": len(read.after),
        "hits": len(read.containment.hits),
    }
    return [
        f"{name} were {read.attestation.get(name)} at capture and are {count} now"
        for name, count in counts.items()
        if read.attestation.get(name) != count
    ]


def _source(part: Mapping[str, Any]) -> model.EvidenceSource:
    source = part_of(part, "evidence_source")
    status = source.get("status")
    available = status == model.SourceStatus.AVAILABLE
    return model.EvidenceSource(
        _text(source, "type") or "unknown",
        model.SourceStatus.AVAILABLE if available else model.SourceStatus.UNREACHABLE,
    )


def _principal(part: Mapping[str, Any]) -> model.Principal:
    return model.Principal(
        _text(part, "username"),
        frozenset(_texts(part, "credential_ids")),
        frozenset(_texts(part, "source_ips")),
    )


def _stimulus(part: Mapping[str, Any], place: int) -> model.StimulusRecord:
    index, witness, moment = part.get("index"), part.get("witness"), part.get("moment")
    return model.StimulusRecord(
        index if isinstance(index, int) else place,
        _text(part, "type"),
        _text(part, "content"),
        _text(part, "delivered_at") or None,
        witness if isinstance(witness, Mapping) else None,
        moment if isinstance(moment, Mapping) else None,
        _text(part, "fault"),
        _text(part, "missed"),
    )


def _transcript(part: Mapping[str, Any]) -> model.Transcript:
    return model.Transcript(
        source=_source(part),
        outcome=_enum(model.AgentOutcome, part.get("outcome"), model.AgentOutcome.NOT_DELIVERED),
        detail=_text(part, "detail"),
        actions=_maps(part, "actions"),
        reasoning=_text(part, "reasoning"),
        final_answer=_text(part, "final_answer"),
        truncated=part.get("truncated") is True,
    )


def _window(part: Mapping[str, Any]) -> model.Window:
    return model.Window(
        _text(part, "start"),
        _text(part, "end"),
        _text(part, "sentinel"),
        part.get("complete") is True,
        _text(part, "fault"),
    )


def _containment(part: Mapping[str, Any]) -> model.Containment:
    return model.Containment(
        registered=frozenset(_texts(part, "registered")),
        channels=frozenset(_texts(part, "channels")),
        hits=tuple(_hit(item) for item in _maps(part, "hits")),
        attested=part.get("attested") is True and _source(part).is_available,
    )


def _hit(part: Mapping[str, Any]) -> model.ContainmentHit:
    offset, action, entry = part.get("offset"), part.get("action"), part.get("entry")
    return model.ContainmentHit(
        value_ref=_text(part, "value_ref"),
        channel=_text(part, "channel"),
        offset=offset if isinstance(offset, int) else 0,
        action=action if isinstance(action, int) else None,
        entry=entry if isinstance(entry, int) else None,
        namespaces=tuple(sorted(_texts(part, "namespaces"))),
        encoded=part.get("encoded") is True,
    )


def _enum(kind: type[_E], value: object, default: _E) -> _E:
    return kind(value) if isinstance(value, str) and value in {*kind} else default


def part_of(part: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part of a document or of a part, empty where it is absent or no object."""
    value = part.get(name)
    return value if isinstance(value, Mapping) else {}


def _maps(part: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], ...]:
    value = part.get(name)
    return (
        tuple(item for item in value if isinstance(item, _OBJECT)) if isinstance(value, list | tuple) else ()
    )


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    return value if isinstance(value, str) else ""


def _texts(part: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = part.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()
