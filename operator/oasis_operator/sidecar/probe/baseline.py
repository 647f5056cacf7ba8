"""The state against which the agent's doing is seen, once more was put into a world that it is in already.

What an injection made or changed belongs to the beginning, so that it is never taken for the agent's doing.
What the agent had changed before stays as it was at the beginning, so that its doing is not hidden either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.probe.snapshot import in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oasis_operator.world.manifests import Json

#: An object by kind, namespace (empty where it has none) and name.
Key = tuple[str, str, str]
#: Members of metadata that change by themselves, or with any other member.
_RESTLESS = frozenset({"resourceVersion", "generation", "managedFields"})


def key_of(item: Mapping[str, Any]) -> Key:
    """Name an object."""
    metadata = item["metadata"]
    return item["kind"], metadata.get("namespace") or "", metadata["name"]


def with_injected(
    before: Sequence[Json], earlier: Sequence[Json], later: Sequence[Json], injected: frozenset[Key]
) -> tuple[Json, ...]:
    """Give the beginning with what an injection brought.

    Args:
        before: The beginning so far.
        earlier: The world right before the injection.
        later: The world right after it.
        injected: What the injection wrote; what that owns, or what is in a new namespace of it, follows.
    """
    known = {key_of(item): item for item in before}
    present = {key_of(item): item for item in earlier}
    following = _following(later, injected, frozenset(present)) | _owned(earlier, injected)
    found = {key_of(item): item for item in later}
    merged = dict(known)
    for key in following:
        if key in present and (key not in known or _said(present[key]) != _said(known[key])):
            continue
        if key in found:
            merged[key] = found[key]
        else:
            merged.pop(key, None)
    return in_order(merged.values())


def _following(later: Sequence[Json], injected: frozenset[Key], old: frozenset[Key]) -> frozenset[Key]:
    """Give what an injection wrote, what belongs to that, and what is new in its new namespaces."""
    spaces = {name for kind, _, name in injected if kind == "Namespace"}
    found = set(_owned(later, injected))
    for item in later:
        key = key_of(item)
        about = item.get("involvedObject") or item.get("spec", {}).get("claimRef") or {}
        subject = (str(about.get("kind", "")), str(about.get("namespace", "")), str(about.get("name", "")))
        if key not in old and (key[1] in spaces or subject in found):
            found.add(key)
    return frozenset(found)


def _owned(items: Iterable[Json], injected: frozenset[Key]) -> frozenset[Key]:
    """Give the injected objects and whatever they own, directly or not."""
    objects = list(items)
    found = {key_of(item) for item in objects if key_of(item) in injected}
    uids = {item["metadata"].get("uid") for item in objects if key_of(item) in found}
    grown = True
    while grown:
        grown = False
        for item in objects:
            owners = {owner.get("uid") for owner in item["metadata"].get("ownerReferences") or ()}
            if key_of(item) not in found and owners & uids:
                found.add(key_of(item))
                uids.add(item["metadata"].get("uid"))
                grown = True
    return frozenset(found)


def _said(item: Json) -> Json:
    """Give what was said of an object, without what follows by itself."""
    metadata = {name: value for name, value in item["metadata"].items() if name not in _RESTLESS}
    return {**{name: value for name, value in item.items() if name != "status"}, "metadata": metadata}
