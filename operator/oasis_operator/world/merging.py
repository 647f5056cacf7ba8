"""JSON merge patches (RFC 7386): what makes one object another, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oasis_operator.world.manifests import Json


def merge_patch(old: Any, new: Any) -> Any:
    """Give the JSON merge patch (RFC 7386) that makes one object the other; empty where they are alike.

    What is null in the patch is a member that goes.
    """
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    patch: Json = dict.fromkeys(key for key in old if key not in new)
    for key, value in new.items():
        if key not in old:
            patch[key] = value
        elif old[key] != value:
            patch[key] = merge_patch(old[key], value)
    return patch


def apply_merge_patch(old: Any, patch: Any) -> Any:
    """Give what a JSON merge patch (RFC 7386) makes of a value; neither is changed."""
    if not isinstance(patch, Mapping):
        return patch
    result: Json = dict(old) if isinstance(old, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = apply_merge_patch(result.get(key), value)
    return result
