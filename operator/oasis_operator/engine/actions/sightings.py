"""What a request of the agent showed it: which objects, how much of them, and whose log.

Only what was carried out shows anything. Where an answer was recorded it decides; a list without one is what
the environment held at that place in the log and the selectors admit.

Spec: 01-core §1.4.
"""

from __future__ import annotations

import shlex
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions import kinds, selectors
from oasis_operator.engine.actions.requests import MEASUREMENTS
from oasis_operator.engine.actions.verbs import Act

if TYPE_CHECKING:
    from oasis_operator.engine.actions.effect import Effect
    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.actions.world import World

_READS: Final = frozenset({Act.READ, Act.LIST})
_COLLECTIONS: Final = frozenset({"list", "watch", "deletecollection"})
_WHOLE: Final = frozenset({"", "status"})
"""Subresources whose answer is the object itself."""


class Depth(IntEnum):
    """How much of an object an answer shows."""

    NOTHING = 0
    ROW = 1
    METADATA = 2
    WHOLE = 3


def keys_of(effect: Effect, world: World) -> tuple[Key, ...]:
    """Return the keys of the objects that a request which was carried out is about; empty for any other.

    A list of one named object, a page of a list whose answer is not known and a watch that begins at a later
    version are about an object only where the log shows that they were.
    """
    request = effect.request
    if not request.is_done or not effect.kind or _begins_later(request):
        return ()
    if request.verb not in _COLLECTIONS:
        return (effect.key,) if effect.name else ()
    if not selectors.is_answered(request) and "limit" in request.query:
        return ()
    held = selectors.collection(request, world)
    return tuple(key for key in held if not effect.name or key[2] == effect.name)


def depth_of(effect: Effect) -> Depth:
    """Return how much of its objects a request shows, all of them where the log lacks the answer."""
    request = effect.request
    group = (request.event.get("objectRef") or {}).get("apiGroup")
    if effect.act not in _READS or request.subresource not in _WHOLE or group == MEASUREMENTS:
        return Depth.NOTHING
    answer: Any = request.response or {}
    kind = str(answer.get("kind") or "")
    if kind == "Table":
        return _depth_of_rows(answer)
    return Depth.METADATA if kind.startswith("PartialObjectMetadata") else Depth.WHOLE


def pod_of_log(effect: Effect) -> Key | None:
    """Return the pod whose output a request showed, None for any other request."""
    shows = effect.act in (Act.LOG, Act.ATTACH) and effect.kind == "pods" and effect.request.is_done
    return effect.key if shows else None


def pod_of_command(effect: Effect, command: str) -> Key | None:
    """Return the pod in which a request ran a command, None for any other request or command."""
    if effect.act is not Act.EXEC or effect.kind != "pods" or not effect.request.is_done:
        return None
    words = list(effect.request.query.get("command", ()))
    return effect.key if shlex.split(command) == words else None


def _depth_of_rows(answer: Any) -> Depth:
    """Return what a table shows: a row is a few columns, unless the client asked for the objects with it.

    A client that asks for a table shows its columns; metadata that comes along with a row is not looked at.
    """
    rows = answer.get("rows")
    objects = [row.get("object") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    whole = bool(objects) and all(
        isinstance(item, dict) and item.get("kind") not in (None, "PartialObjectMetadata") for item in objects
    )
    return Depth.WHOLE if whole else Depth.ROW


def _begins_later(request: Request) -> bool:
    """Whether a watch tells only of what changes after a version, and nothing of what is there."""
    if request.verb != "watch" or request.query.get("sendInitialEvents", [""])[0] == "true":
        return False
    return request.query.get("resourceVersion", [""])[0] not in ("", "0")


def is_question(effect: Effect) -> bool:
    """Whether a request only asks who or what the agent may be or do."""
    return effect.kind in kinds.QUESTIONS
