"""The query of a scripted request: text, or values by name, beside the path or in it.

It is kept as the text that goes over the wire, so that what a script gives encoded is sent as it was given.
"""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING

from oasis_operator.wire.fields import fault

if TYPE_CHECKING:
    from oasis_operator.wire.fields import Fields

_LONGEST = 8192
# What may stand in a query as it is: all but what would end it, and escapes stay escapes.
_KEPT = "%!$&'()*+,;=:@/?-._~[]"


def split_target(request: Fields) -> tuple[str, str]:
    """Read the members `path` and `query` of a request.

    The query is text such as `limit=1&labelSelector=app%3Dweb`, or an object whose values are strings, whole
    numbers, booleans or lists of these; or it stands in the path behind a question mark.

    Returns:
        The path, and the query without its question mark; empty where there is none.

    Raises:
        InvalidInput: A member is of another form, or there is a query in both.
    """
    target = request.text("path", longest=_LONGEST)
    path, mark, inline = target.partition("?")
    if not path.startswith("/") or "#" in target:
        raise fault(request.at("path"), target, "want a path from / without a fragment")
    if mark and request.has("query"):
        raise fault(
            request.at("path"),
            target,
            f"has a query, and so has {request.at('query')}; give it in one of them",
        )
    return path, _escaped(inline) if mark else _given(request)


def values_of(query: str) -> dict[str, str | list[str]]:
    """Give the decoded values of a query by name, in order; a name that is repeated has a list."""
    found: dict[str, str | list[str]] = {}
    for name, values in urllib.parse.parse_qs(query, keep_blank_values=True).items():
        found[name] = values[0] if len(values) == 1 else values
    return found


def _given(request: Fields) -> str:
    """Read the member `query`."""
    if isinstance(request.body.get("query"), str):
        return _escaped(request.text("query", longest=_LONGEST).removeprefix("?"))
    pairs = [
        (name, _text(request, name, item))
        for name, value in request.mapping("query").items()
        for item in (value if isinstance(value, list) and value else [value])
    ]
    return urllib.parse.urlencode(pairs)


def _escaped(text: str) -> str:
    """Escape what cannot stand in a query, such as spaces; what is escaped already stays as it is."""
    return urllib.parse.quote(text, safe=_KEPT)


def _text(request: Fields, name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int):
        raise fault(
            f"{request.at('query')}.{name}",
            value,
            "want a string, a whole number or a boolean, or a list of them",
        )
    return str(value)
