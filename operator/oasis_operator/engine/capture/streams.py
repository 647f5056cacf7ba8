"""What an agent sent through streams into containers, as the nodes of its world recorded it.

The audit log knows that a stream was opened and with which command, and nothing of what passed through it.
The nodes keep a journal of that, which stands beside the log in the evidence.

Spec: 01-core §3.5.5, 01-core §3.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.capture.spoken import APART, PARAMETERS, Spoken
from oasis_operator.engine.reading import part_of

if TYPE_CHECKING:
    from oasis_operator.engine.actions.requests import Request

    Place = tuple[str, str, str]

RECORDED: Final = frozenset({"exec", "attach", "portforward"})
"""Subresources whose streams the journal tells of; what goes through a proxy is on no record."""


class Journal:
    """The journal of one run's nodes, held against the requests that opened the streams."""

    def __init__(self, document: Mapping[str, Any], requests: Sequence[Request]) -> None:
        """Take the journal out of an evidence document; one without any has told nothing."""
        part = part_of(part_of(document, "audit"), "streams")
        listed = part.get("entries")
        entries = listed if isinstance(listed, list | tuple) else ()
        self._entries = [one for one in entries if isinstance(one, Mapping) and one.get("kind") in RECORDED]
        self._is_whole = part.get("complete") is True and len(entries) == len(
            [one for one in entries if isinstance(one, Mapping)]
        )
        self._requests = [one for one in requests if one.subresource in RECORDED]
        self._asked = Counter(_place_of(one) for one in self._requests if one.is_done)
        self._told = Counter(_place(one) for one in self._entries)
        self._cut = {_place(one) for one in self._entries if one.get("more_stdin") is not False}

    def holds(self, request: Request) -> bool:
        """Whether the journal tells all that a request carried into its stream."""
        place = _place_of(request)
        known = request.subresource in RECORDED and self._told[place] >= self._asked[place]
        return self._is_whole and known and place not in self._cut

    def spoken(self) -> Iterator[Spoken]:
        """Yield what was sent into commands, with the request that opened the stream."""
        for entry in self._entries:
            opened = next((one for one in self._requests if _place_of(one) == _place(entry)), None)
            if opened is None:
                continue
            command = entry.get("command")
            words = [str(word) for word in command] if isinstance(command, list | tuple) else []
            exact = (
                one for one in self._requests if _place_of(one) == _place(entry) and _words(one) == words
            )
            sent = str(entry.get("stdin") or "")
            if sent:
                request = next(exact, opened)
                yield Spoken(
                    PARAMETERS, f"{' '.join(words)}{APART}{sent}",
                    entry=request.seq, namespaces=(request.namespace,),
                )  # fmt: skip


def _place(entry: Mapping[str, Any]) -> Place:
    return str(entry.get("kind")), str(entry.get("namespace")), str(entry.get("pod"))


def _place_of(request: Request) -> Place:
    return request.subresource, request.namespace, request.name


def _words(request: Request) -> list[str]:
    return list(request.query.get("command", ()))
