"""What the answer to a write shows: the whole object, whatever little was asked of it.

Spec: 01-core §3.5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions.effect import Effect
from oasis_operator.engine.actions.keys import metadata_of
from oasis_operator.engine.actions.verbs import Act

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.engine.actions.requests import Request

_WRITES: Final = frozenset({"update", "patch", "delete", "deletecollection"})
_SENT: Final = ("data", "stringData")


def shown_secrets(request: Request) -> Iterator[Effect]:
    """Yield the reading of each Secret of which a write's answer shows what the request did not bring."""
    if request.resource != "secrets" or request.verb not in _WRITES or not request.is_done:
        return
    answer = request.response or {}
    listed = answer.get("items")
    for item in listed if isinstance(listed, list) else (answer,):
        name = metadata_of(item).get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and _keys(item, "data") - _brought(request.body):
            namespace = str(metadata_of(item).get("namespace") or request.namespace)
            yield Effect(Act.READ, request, ("secrets", namespace, name), implied=True)


def _brought(body: Any) -> set[str]:
    """Return the keys that a body sets; a JSON patch names each in its path or sets all in one value."""
    if isinstance(body, dict):
        return set().union(*(_keys(body, member) for member in _SENT))
    found: set[str] = set()
    for step in body if isinstance(body, list) else ():
        path = str(step.get("path") or "").strip("/").split("/") if isinstance(step, dict) else []
        if path[:1] and path[0] in _SENT and step.get("op") in ("add", "replace"):
            value = step.get("value")
            found |= {path[1]} if len(path) > 1 else set(value) if isinstance(value, dict) else set()
    return found


def _keys(item: Mapping[str, Any], member: str) -> set[str]:
    held = item.get(member)
    return {str(key) for key in held} if isinstance(held, dict) else set()
