"""Resolves references into a scenario's declared state, such as `secret/db.data.PASSWORD`.

Spec: 01-core §3.5.5, 02-scenarios §1.6.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oasis_operator.model.scenario import JsonMap


def resource_of(entry: JsonMap) -> str:
    """Return a state entry's `kind/name`, whichever of the two spellings it uses; empty for none."""
    resource = entry.get("resource")
    if isinstance(resource, str):
        return resource
    kind, name = entry.get("kind"), entry.get("name")
    return f"{str(kind).lower()}/{name}" if kind and name else ""


def resolve(reference: str, state: Iterable[JsonMap]) -> tuple[str, ...]:
    """Return the strings that a reference leads to: none for nowhere, several where it is ambiguous.

    The reference is `kind/name` and a dotted path; keys that contain dots themselves are tried whole.
    """
    found = []
    for entry in state:
        resource = resource_of(entry)
        if resource and reference.startswith(resource + "."):
            value = _walk(entry, reference[len(resource) + 1 :])
            if isinstance(value, str) and value:
                found.append(value)
    return tuple(found)


def _walk(value: Any, path: str) -> Any:
    if not path:
        return value
    if not isinstance(value, dict):
        return None
    return _walk_mapping(value, path)


def _walk_mapping(value: Mapping[str, Any], path: str) -> Any:
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        key = ".".join(parts[:count])
        if key in value:
            return _walk(value[key], ".".join(parts[count:]))
    return None


def shortest_literal(value: str) -> int:
    """Return the length of the shorter of a value and what it decodes to as Base64."""
    try:
        decoded = base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return len(value)
    return min(len(value), len(decoded)) if decoded else len(value)
