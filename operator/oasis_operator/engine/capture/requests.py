"""What an agent put out in its requests, as the environment's audit log recorded them.

The parameters of a tool call are what reached the environment, whatever the agent tells of them: the path and
query of a request, as sent and decoded, its body, and what else of a request its sender chooses. Names that
the environment gave are not the agent's words, nor is what it writes back to where it stood.

Spec: 01-core §3.5.5, 01-core §3.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, unquote_plus

from oasis_operator.engine.actions.kinds import plural_of
from oasis_operator.engine.actions.requests import (
    CONNECT,
    Request,
    agent_requests,
    merged,
    strangers_requests,
)
from oasis_operator.engine.capture.literals import decoded
from oasis_operator.engine.capture.spoken import APART, PARAMETERS, Spoken, strings
from oasis_operator.engine.capture.words import TEXTUAL, Path, Words, is_naming, leaves_of
from oasis_operator.engine.reading import is_event
from oasis_operator.model.evidence import Principal

if TYPE_CHECKING:
    from oasis_operator.engine.actions.requests import Event
    from oasis_operator.engine.capture.streams import Journal

_OWN_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The audit identifier of a request whose sender gave it none."""

_ROOTS: Final = frozenset({"api", "apis", "namespaces", "watch", "proxy"})
_TYPES: Final = frozenset({"kind", "apiVersion"})
_BODIES: Final = frozenset({"create", "update", "patch"})


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a log that are, or may be, the agent's.

    Attributes:
        agents: Those of the agent and of identities that it obtained.
        strangers: Those of which no address tells whether they are the agent's.
    """

    agents: tuple[Request, ...] = ()
    strangers: tuple[Request, ...] = ()


def requests_in(document: Mapping[str, Any]) -> Requests | None:
    """Return the requests of an evidence document, None for a malformed log."""
    events, principal = _events(document), _principal(document)
    if events is None:
        return None
    return Requests(agent_requests(events, principal), strangers_requests(events, principal))


def _events(document: Mapping[str, Any]) -> list[Event] | None:
    audit = document.get("audit")
    listed = audit.get("entries") if isinstance(audit, Mapping) else None
    events: list[Event] = [one for one in _listed(listed) if isinstance(one, dict)]
    if len(events) != len(_listed(listed)) or not all(map(is_event, events)):
        return None
    return merged(events)


def _principal(document: Mapping[str, Any]) -> Principal:
    principal = document.get("agent_principal")
    whose = principal if isinstance(principal, Mapping) else {}
    return Principal(
        str(whose.get("username") or ""),
        frozenset(map(str, _listed(whose.get("credential_ids")))),
        frozenset(map(str, _listed(whose.get("source_ips")))),
    )


def is_recorded(request: Request, journal: Journal) -> bool:
    """Whether all that a request carried into the environment is on record.

    What the API server refused never came to be anywhere, so its body matters to nobody.

    Args:
        request: The request.
        journal: What the nodes tell of streams.
    """
    if request.code and not request.is_done:
        return True
    if request.event.get("recovered"):
        return False
    if request.subresource in CONNECT:
        spoke = {"true", "1"}.intersection(request.query.get("stdin", ()))
        return (request.subresource == "exec" and not spoke) or journal.holds(request)
    return request.verb not in _BODIES or request.body is not None


def spoken_by(request: Request, words: Words) -> Spoken:
    """Return what a request put out."""
    pieces = [*_of_uri(request, words), *_of_body(request, words), *_of_sender(request)]
    places = (request.namespace,) if request.namespace else ()
    return Spoken(PARAMETERS, APART.join(pieces), entry=request.seq, namespaces=places)


def _of_uri(request: Request, words: Words) -> Iterator[str]:
    """Yield path and query, as sent and decoded, without the parts of the path that the environment gave."""
    path, _, query = request.uri.partition("?")
    given = _ROOTS | _resource(request)
    own = [APART if _is_known(unquote(part), given, words) else part for part in path.split("/")]
    yield "/".join(own)
    yield unquote("/".join(own))
    yield query
    yield unquote(query)
    yield unquote_plus(query)


def _is_known(part: str, given: frozenset[str], words: Words) -> bool:
    return part in given or words.is_name(part)


def _resource(request: Request) -> frozenset[str]:
    """Return what a path says of the resource, where there is such a resource."""
    target = request.event.get("objectRef") or {}
    if not (request.is_done or plural_of(request.resource)):
        return frozenset()
    names = ("resource", "subresource", "apiGroup", "apiVersion")
    return frozenset(str(target.get(one) or "") for one in names)


def _of_body(request: Request, words: Words) -> Iterator[str]:
    place = (request.resource, "" if request.resource == "namespaces" else request.namespace, request.name)
    stood = words.leaves.get(place, frozenset())
    for path, text in leaves_of(request.body):
        if (path, text) in stood or _is_given(path, text, words):
            continue
        yield text
        plain = decoded(text) if request.resource == "secrets" or "binaryData" in path else None
        if plain is not None:
            yield plain


def _is_given(path: Path, text: str, words: Words) -> bool:
    """Whether the API or the environment gave a text in a body its form."""
    member = path[-1]
    if TEXTUAL.intersection(path[:-1]):
        return False
    return (
        (text == member and member in words.members)
        or member in _TYPES
        or (is_naming(member) and words.is_name(text))
    )


def _of_sender(request: Request) -> Iterator[str]:
    """Yield what the sender of a request chooses beside path and body."""
    event = request.event
    yield str(event.get("userAgent") or "")
    yield from strings(event.get("impersonatedUser"))
    identifier = str(event.get("auditID") or "")
    if not _OWN_ID.fullmatch(identifier):
        yield identifier


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
