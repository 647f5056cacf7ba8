"""Attestation of evidence at capture: registered values are matched, the hits kept and the values taken out.

1. Search the agent's output for every form of every value: what it told, the answer as it came, its requests
   as the audit log recorded them, and what it asked of tools beside the cluster.
2. Take the values out of everything that is kept, and the answer as it came whole.
3. Name the channels that were searched whole: in any other a value may stand that nobody saw.
4. Count the parts, so that nothing can vanish later unnoticed.

Spec: 01-core §3.5.5, 08-provider-conformance §3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oasis_operator.engine.capture import questions, told
from oasis_operator.engine.capture.literals import literals_of, registered
from oasis_operator.engine.capture.matching import hits_in
from oasis_operator.engine.capture.redaction import redacted, redaction_of
from oasis_operator.engine.capture.requests import Requests, is_recorded, requests_in, spoken_by
from oasis_operator.engine.capture.spoken import CHANNELS, PARAMETERS
from oasis_operator.engine.capture.streams import Journal
from oasis_operator.engine.capture.words import words_of
from oasis_operator.engine.reading import part_of

if TYPE_CHECKING:
    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.capture.literals import Literal
    from oasis_operator.engine.capture.spoken import Spoken
    from oasis_operator.engine.capture.words import Words


def attest(document: Mapping[str, Any], values: Mapping[str, str | Sequence[str]]) -> dict[str, Any]:
    """Return an evidence document with hits recorded, values taken out and its parts counted.

    Args:
        document: The assembled evidence document; it is not changed.
        values: Value reference to its literal, or to several literals of the same value.
    """
    literals = literals_of(values)
    transcript = part_of(document, "transcript")
    # Most scenarios register nothing; a long log need not be taken apart for them.
    requests = requests_in(document) if literals else Requests()
    agents = requests.agents if requests is not None else ()
    journal = Journal(document, agents)
    words = words_of(_objects(document, "state", "before") if literals else (), agents)
    hits = list(hits_in(_texts(document, agents, words, journal), literals)) if literals else []
    what = redaction_of(literals, words)
    kept = {**document, "transcript": told.without_answer(transcript)}
    clean = {name: redacted(part, what, name) for name, part in kept.items() if name in document}
    containment = {
        **part_of(document, "containment"),
        "evidence_source": {"type": "agent_output", "status": _status(transcript)},
        "registered": registered(values),
        "channels": _searched(document, is_open=_is_open(document, requests, journal, words, literals)),
        "hits": hits,
        "attested": True,
    }
    return {**clean, "containment": containment, "attestation": _counts(clean, hits)}


def _texts(
    document: Mapping[str, Any], requests: Sequence[Request], words: Words, journal: Journal
) -> Iterator[Spoken]:
    """Yield all that the agent put out, one text at a time: together they are as large as the log."""
    yield from told.spoken_in(part_of(document, "transcript"))
    for request in requests:
        yield spoken_by(request, words)
    yield from journal.spoken()
    yield from questions.spoken_in(document)


def _searched(document: Mapping[str, Any], *, is_open: bool) -> list[str]:
    """Return the channels in which all that there is was searched.

    Args:
        document: The evidence document.
        is_open: Whether nobody can tell that the parameters of all tool calls were.
    """
    if not told.is_whole(part_of(document, "transcript")):
        return []
    return [channel for channel in CHANNELS if not (is_open and channel == PARAMETERS)]


def _is_open(
    document: Mapping[str, Any],
    requests: Requests | None,
    journal: Journal,
    words: Words,
    literals: Sequence[Literal],
) -> bool:
    """Whether parameters of tool calls are not on record, or a value stands in a stranger's request."""
    if requests is None or not questions.is_whole(document):
        return True
    if not all(is_recorded(one, journal) for one in requests.agents):
        return True
    theirs = (spoken_by(request, words) for request in requests.strangers)
    return any(True for _ in hits_in(theirs, literals))


def _counts(document: Mapping[str, Any], hits: Sequence[Any]) -> dict[str, int]:
    return {
        "audit_entries": len(set(_places_in_log(document))),
        "state_before": len(_objects(document, "state", "before")),
        "state_after": len(_objects(document, "state", "after")),
        "hits": len(hits),
    }


def _places_in_log(document: Mapping[str, Any]) -> Iterator[int]:
    return (
        entry["seq"] for entry in _objects(document, "audit", "entries") if isinstance(entry.get("seq"), int)
    )


def _objects(document: Mapping[str, Any], part: str, member: str) -> list[Mapping[str, Any]]:
    listed = part_of(document, part).get(member)
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list | tuple) else []


def _status(transcript: Mapping[str, Any]) -> str:
    source = transcript.get("evidence_source")
    status = source.get("status") if isinstance(source, Mapping) else None
    return "available" if status == "available" else "unreachable"
