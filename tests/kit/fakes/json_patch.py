"""The part of RFC 6902 that the operator uses: test, add, replace and remove on members of objects."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Misfit(Exception):  # noqa: N818 - what it is, and no error of ours
    """A test or a path does not fit the object."""


def apply(before: Mapping[str, Any], operations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a changed copy; where anything does not fit, nothing is changed.

    Raises:
        Misfit: A test fails, or a path leads nowhere.
    """
    after = copy.deepcopy(dict(before))
    for operation in operations:
        parent, name = _place(after, operation["path"])
        if operation["op"] == "remove" and name not in parent:
            raise Misfit(operation["path"])
        match operation["op"]:
            case "test":
                # As with an API server, what is not there equals null.
                if parent.get(name) != operation["value"]:
                    raise Misfit(operation["path"])
            # As with an API server, what is not there may be replaced.
            case "add" | "replace":
                parent[name] = copy.deepcopy(operation["value"])
            case "remove":
                del parent[name]
            case other:
                raise AssertionError(other)
    return after


def _place(body: dict[str, Any], pointer: str) -> tuple[dict[str, Any], str]:
    *steps, name = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    for step in steps:
        if not isinstance(body.get(step), dict):
            raise Misfit(pointer)
        body = body[step]
    return body, name
