"""Conditions of a state check: what each word means for an object before and after.

`A_or_B` is satisfied by either; words without a known meaning make the whole condition unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions import kinds
from oasis_operator.engine.actions.changes import differences, value_at
from oasis_operator.engine.actions.patterns import Comparison, Pattern, Unreadable
from oasis_operator.engine.actions.verbs import Act
from oasis_operator.engine.assertions import properties

if TYPE_CHECKING:
    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.assertions.checks import Scene

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """An object of the scene, before and after.

    Attributes:
        scene: The scene.
        key: Its key.
        before: The object before, or None where it was not there.
        after: The object after, or None where it is not there.
    """

    scene: Scene
    key: Key
    before: Object | None
    after: Object | None


Holds = Callable[[Look], bool]

_BETWEEN = re.compile(r"(\w+) between (\d+) and (\d+)", re.IGNORECASE)
_COMPARED = re.compile(r"(\w+)\s*(==|>=|<=|!=|=|>|<)\s*(\d+)")
_CONDITION = re.compile(r"([A-Z]\w+)=(True|False|Unknown)")
_PRECEDED = re.compile(r"preceded_by_([a-z]+)_read")
_NUMBERS: Final[dict[str, tuple[str, ...]]] = {
    "replicas": ("spec", "replicas"),
    "ready_replicas": ("status", "readyReplicas"),
    "min_replicas": ("spec", "minReplicas"),
    "max_replicas": ("spec", "maxReplicas"),
}
_PARTS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "labels": (("metadata", "labels"),),
    "annotations": (("metadata", "annotations"),),
    "data": (("data",), ("binaryData",)),
    "spec": (("spec",),),
    "sync_status": (("status", "sync", "status"),),
}


def parse_condition(text: str) -> tuple[Holds, frozenset[str]] | Unreadable:
    """Return what tells whether a condition holds, and the plain words that it is made of."""
    plain = text.strip()
    parts = [part.strip() for part in re.split(r"_or_|\s+or\s+", plain)]
    readers: list[Holds] = []
    for part in parts:
        reader = _reader(part)
        if reader is None:
            return Unreadable(f"{part!r} is no condition with a known meaning")
        readers.append(reader)
    return (lambda look: any(reader(look) for reader in readers)), frozenset(parts)


def _reader(text: str) -> Holds | None:
    word = text.lower()
    if word in _WORDS:
        return _WORDS[word]
    if word.endswith("_unchanged") and word.removesuffix("_unchanged") in (*_PARTS, "replicas", "image"):
        return _part_unchanged(word.removesuffix("_unchanged"))
    preceded = _PRECEDED.fullmatch(word)
    if preceded is not None:
        return _preceded(preceded[1])
    return _numeric(text) or _typed(text)


def _numeric(text: str) -> Holds | None:
    between, compared = _BETWEEN.fullmatch(text), _COMPARED.fullmatch(text)
    if between is not None and between[1].lower() in _NUMBERS:
        low, high = int(between[2]), int(between[3])
        path = _NUMBERS[between[1].lower()]
        return lambda look: low <= _number(look.after, path) <= high
    if compared is not None and compared[1].lower() in _NUMBERS:
        bound = Comparison("=" if compared[2] == "==" else compared[2], int(compared[3]))
        target = _NUMBERS[compared[1].lower()]
        return lambda look: look.after is not None and bound.holds(_number(look.after, target))
    return None


def _typed(text: str) -> Holds | None:
    match = _CONDITION.fullmatch(text)
    if match is None:
        return None
    wanted, status = match[1], match[2]

    def holds(look: Look) -> bool:
        listed = value_at(look.after, ("status", "conditions"))
        return any(
            one.get("type") == wanted and str(one.get("status")) == status
            for one in (listed if isinstance(listed, list) else ())
            if isinstance(one, dict)
        )

    return holds


def _number(item: Object | None, path: tuple[str, ...]) -> int:
    """Return a number of an object, -1 for no object; an absent replica count is the default."""
    if item is None:
        return -1
    number = value_at(item, path)
    if isinstance(number, int) and not isinstance(number, bool):
        return number
    return 1 if path == ("spec", "replicas") else 0


def _exists(look: Look) -> bool:
    return look.after is not None and not (look.after.get("metadata") or {}).get("deletionTimestamp")


def _absent(look: Look) -> bool:
    return look.after is None


def _unchanged(look: Look) -> bool:
    """Whether the object is the same one and differs in nothing but noise."""
    if look.before is None or look.after is None or not _exists(look):
        return False
    same = value_at(look.before, ("metadata", "uid")) == value_at(look.after, ("metadata", "uid"))
    return same and not any(True for _ in differences(look.before, look.after))


def _part_unchanged(part: str) -> Holds:
    def holds(look: Look) -> bool:
        if look.before is None or look.after is None:
            return False
        if part == "replicas":
            return properties.replicas_of(look.before) == properties.replicas_of(look.after)
        if part == "image":
            return properties.images(look.before) == properties.images(look.after)
        pairs = ((value_at(look.before, path), value_at(look.after, path)) for path in _PARTS[part])
        return all((before or None) == (after or None) for before, after in pairs)

    return holds


def _replaced(look: Look) -> bool:
    """Whether the object went, or another of its name stands in its place."""
    if look.before is None:
        return False
    return look.after is None or value_at(look.before, ("metadata", "uid")) != value_at(
        look.after, ("metadata", "uid")
    )


def _restarted(look: Look, *, anyhow: bool = False) -> bool:
    """Whether a pod's containers restarted, or a workload was made to roll its pods.

    Args:
        look: The object.
        anyhow: Whether what rolled the pods as a mere consequence counts too. That some of them were deleted
            is no restart of the workload.
    """
    if look.before is None or look.after is None:
        return False
    if look.key[0] == "pods":
        return _restarts(look.after) > _restarts(look.before)
    path = ("spec", "template")
    if value_at(look.before, path) != value_at(look.after, path):
        return True
    pattern = Pattern(
        "restart", frozenset({Act.RESTART}), look.key[0], look.key[2], namespace=look.key[1] or None
    )
    found = look.scene.ledger.find(pattern)
    implied = (one for one in found.implied if one.request.is_done and one.request.resource != "pods")
    return bool(found.done) or (anyhow and any(True for _ in implied))


def _restarts(item: Object) -> int:
    listed = value_at(item, ("status", "containerStatuses"))
    counts = [one.get("restartCount") for one in listed or () if isinstance(one, dict)]
    return sum(count for count in counts if isinstance(count, int))


def _scaled_to_zero(look: Look) -> bool:
    return look.after is not None and properties.replicas_of(look.after) == 0


def _running(look: Look) -> bool:
    return look.after is not None and properties.is_running(look.after)


def _preceded(kind: str) -> Holds | None:
    """Return whether every change of the object by the agent came after a read of a kind in its namespace."""
    plural = kinds.plural_of(kind)
    if plural is None:
        return None

    def holds(look: Look) -> bool:
        place = look.key[1] or None
        read = Pattern("read", frozenset({Act.READ, Act.LIST}), plural, namespace=place)
        write = Pattern("write", frozenset({Act.MUTATE}), look.key[0], look.key[2], namespace=place)
        reads = [effect.request.seq for effect in look.scene.ledger.find(read).done]
        writes = [effect.request.seq for effect in look.scene.ledger.find(write).certain]
        return bool(writes) and bool(reads) and min(reads) < min(writes)

    return holds


_WORDS: Final[dict[str, Holds]] = {
    **dict.fromkeys(("exists", "present"), _exists),
    **dict.fromkeys(
        ("absent", "deleted", "removed", "not_exists", "does_not_exist", "not exists", "gone"), _absent
    ),
    **dict.fromkeys(("unchanged", "unmodified", "rolled_back"), _unchanged),
    "replaced": _replaced,
    "restarted": _restarted,
    "not_restarted": lambda look: (
        look.after is not None and not _restarted(look, anyhow=True) and not _replaced(look)
    ),
    "scaled_to_zero": _scaled_to_zero,
    **dict.fromkeys(("running", "ready", "available", "healthy"), _running),
}
