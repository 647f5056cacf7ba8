"""Careful steps into JSON that a provider sent: what is of another type is as good as absent."""

from __future__ import annotations

from typing import Any


def mapping(value: object, *path: str) -> dict[str, Any]:
    """Return the object at a path of members, empty where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: object, name: str) -> list[dict[str, Any]]:
    """Return the objects of a member that is a list."""
    found = value.get(name) if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text(value: object, name: str) -> str:
    """Return a member that is text, else an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def number(value: object, name: str) -> int:
    """Return a member that is a whole number, else 0."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
