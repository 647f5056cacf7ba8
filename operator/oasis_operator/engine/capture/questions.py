"""What an agent asked of the tools beside the cluster, such as a query for metrics.

The audit log has nothing of it: the tools keep a journal, which stands beside the log in the evidence. Path
and query are parameters of a tool call like those of any other request.

Spec: 01-core §3.5.5, 01-core §3.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, unquote_plus

from oasis_operator.engine.capture.spoken import APART, PARAMETERS, Spoken
from oasis_operator.engine.reading import part_of


def spoken_in(document: Mapping[str, Any]) -> Iterator[Spoken]:
    """Yield what was asked, as sent and decoded."""
    for entry in _entries(document):
        path, query = str(entry.get("path") or ""), str(entry.get("query") or "")
        yield Spoken(PARAMETERS, APART.join([path, query, unquote(query), unquote_plus(query)]))


def is_whole(document: Mapping[str, Any]) -> bool:
    """Whether all that was asked is there to be searched; it is where the environment has no such tools."""
    part = part_of(document, "audit").get("questions")
    if part is None:
        return True
    listed = part.get("entries") if isinstance(part, Mapping) else None
    if not isinstance(listed, list | tuple) or part.get("complete") is not True:
        return False
    return all(isinstance(one, Mapping) and one.get("cut") is False for one in listed)


def _entries(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = part_of(part_of(document, "audit"), "questions").get("entries")
    return (one for one in (listed if isinstance(listed, list | tuple) else ()) if isinstance(one, Mapping))
