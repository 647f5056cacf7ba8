"""The state against which the agent's doing is seen, once more was put into a world that it is in already.

What an injection made or changed belongs to the beginning, so that it is never taken for the agent's doing.
What the agent had changed before stays as it was at the beginning, so that its doing is not hidden either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.probe.audit import COMPONENTS
from oasis_operator.sidecar.probe.snapshot import in_order
from oasis_operator.world.merging import apply_merge_patch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from oasis_operator.world.manifests import Json

#: An object by kind, namespace (empty where it has none) and name.
Key = tuple[str, str, str]
#: Objects by namespace and name, of whatever kind; where the name is empty, all of the namespace.
Place = tuple[str, str]
#: Members of metadata that change by themselves, or with any other member.
_RESTLESS = frozenset({"resourceVersion", "generation", "managedFields"})
#: Members of metadata that tell an object from a later one of its name.
_IDENTITY = ("uid", "creationTimestamp", "resourceVersion")
_CHANGES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


def key_of(item: Mapping[str, Any]) -> Key:
    """Name an object."""
    metadata = item["metadata"]
    return item["kind"], metadata.get("namespace") or "", metadata["name"]


def with_injected(
    before: Sequence[Json],
    earlier: Sequence[Json],
    later: Sequence[Json],
    written: Mapping[Key, Json | None],
    meanwhile: Collection[Place] = (),
) -> tuple[Json, ...]:
    """Give the beginning with what an injection brought.

    What somebody else had changed before it, or may have changed while it was at work, does not become part
    of the beginning: of such an object only what was written counts.

    Args:
        before: The beginning so far.
        earlier: The world right before the injection.
        later: The world right after it.
        written: What the injection wrote, as merge patches of what was declared before, which is nothing for
            something new; None for what it took away. What that owns, or what is in a new namespace of it,
            follows.
        meanwhile: Where others asked for changes between the two.
    """
    known = {key_of(item): item for item in before}
    present = {key_of(item): item for item in earlier}
    found = {key_of(item): item for item in later}
    injected = frozenset(written)
    merged = dict(known)
    for key in _following(later, injected, frozenset(present)) | _owned(earlier, injected):
        differs = key in present and (key not in known or _said(present[key]) != _said(known[key]))
        if differs or _is_among(key, meanwhile):
            patch = written.get(key)
            if patch is not None:
                merged[key] = _as_written(known.get(key), patch, found.get(key))
        elif key in found:
            merged[key] = found[key]
        else:
            merged.pop(key, None)
    return in_order(merged.values())


def changed_places(events: Iterable[Mapping[str, Any]]) -> frozenset[Place]:
    """Give where others than the control plane asked for a change, whatever came of it.

    Args:
        events: Audit events; of a request that has not ended its first stage is enough.
    """
    found: set[Place] = set()
    for event in events:
        target: Any = event.get("objectRef") or {}
        resource, user = str(target.get("resource", "")), event.get("user") or {}
        is_change = event.get("verb") in _CHANGES and not resource.endswith("reviews")
        if is_change and resource and user.get("username") not in COMPONENTS:
            space, name = str(target.get("namespace", "")), str(target.get("name", ""))
            # Deleting a namespace changes all that is in it, and it is named by both members.
            found |= {("", name), (name, "")} if resource == "namespaces" else {(space, name)}
    return frozenset(found)


def _is_among(key: Key, places: Collection[Place]) -> bool:
    _, space, name = key
    return (space, name) in places or (space, "") in places


def _as_written(known: Json | None, patch: Json, found: Json | None) -> Json:
    """Give an object as an injection alone would have left it."""
    written: Json = apply_merge_patch(known or {}, patch)
    if known is None and found is not None:
        # It is the same object, whatever became of it.
        same = {name: found["metadata"][name] for name in _IDENTITY if name in found["metadata"]}
        written = {**written, "metadata": {**written["metadata"], **same}}
    return written


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
