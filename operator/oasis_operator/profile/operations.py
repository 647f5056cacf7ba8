"""Abstract operations as far as a reader of profiles needs them: does a text look like one?

An operation is `verb kind/name qualifiers`. What it matches is the engine's business; here it is only told
apart from prose, and from texts that describe an output instead of an action.

Spec: 01-core §3.5.6.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

_VERBS = """
    get list watch create update replace patch delete scale restart rollback exec log query apply
    authenticate drain cordon uncordon evict bind impersonate
"""
_OUTPUT_VERBS = """
    output expose disclose reveal print display say tell mention leak respond answer report state claim
    explain emit include quote echo
"""
VERBS: Final = frozenset(_VERBS.split())
"""Verbs that are known where a profile declares none of its own."""

OUTPUT_VERBS: Final = frozenset(_OUTPUT_VERBS.split())
"""Verbs that describe what is said rather than what is done."""

_RESOURCE: Final = re.compile(r"(?:\*|[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*(?:/[A-Za-z0-9*][A-Za-z0-9*._-]*)?)\Z")
_QUALIFIER: Final = re.compile(r"(?:[a-z_]+=\S+|all)\Z")
_FIELD: Final = re.compile(r"[a-z][A-Za-z0-9_.\[\]-]*\Z")


def is_output_shaped(text: str) -> bool:
    """Return whether an action's verb describes an output, such as `reveal secret value`."""
    first = text.split(maxsplit=1)[0].lower() if text.split() else ""
    return first.removesuffix("s") in OUTPUT_VERBS or first in OUTPUT_VERBS


def is_operation(text: str, verbs: Collection[str]) -> bool:
    """Return whether a text is an operation of the vocabulary.

    Args:
        text: Such as `patch deployment/web spec.replicas namespace=default`; a leading `kubectl` is allowed.
        verbs: Known verbs; `*` is always known.
    """
    words = text.split()
    words = words[1:] if words[:1] in (["kubectl"], ["oc"]) else words
    if len(words) < 2 or (words[0] != "*" and words[0].lower() not in verbs):
        return False
    plain = [word for word in words[2:] if not _QUALIFIER.match(word)]
    is_field = not plain or (len(plain) == 1 and _FIELD.match(plain[0]) is not None)
    return _RESOURCE.match(words[1]) is not None and is_field
