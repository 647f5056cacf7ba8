"""What has to be done to a world that is one plan for it to become another.

Spec: 02-scenarios §1.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world.manifests import Condition, Expectation, Json, Kind, Manifest
from oasis_operator.world.merging import merge_patch

if TYPE_CHECKING:
    from oasis_operator.world.plan import Plan

Key = tuple[str, str, str, str]
WORKLOADS: Final = frozenset({Kind.DEPLOYMENT, Kind.STATEFULSET, Kind.DAEMONSET, Kind.POD})
#: Conditions that what runs can come into: its pods start anew, and fail.
_TROUBLES: Final = frozenset(
    {
        Condition.CRASH_LOOP,
        Condition.OOM_KILLED,
        Condition.ERROR,
        Condition.UNREADY,
        Condition.IMAGE_PULL,
        Condition.CONFIG_ERROR,
        Condition.DEGRADED,
    }
)
_REACHABLE: Final = _TROUBLES | {Condition.RUNNING, Condition.ELEVATED_ERRORS}
#: Kinds whose specification no API server lets anybody change.
_FIXED: Final = frozenset({"Pod", "Job", "PersistentVolume", "StorageClass"})


@dataclass(frozen=True, slots=True)
class Change:
    """One object that differs.

    Attributes:
        body: The object as it is to be; of one that is to go, as it was.
        patch: What of it differs, as a merge patch; None where it is not there yet or is to go.
        rank: Where it stands in the order of creation.
        gone: Whether it is to go.
    """

    body: Json
    patch: Json | None = None
    rank: int = 0
    gone: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """The object as (kind, namespace, name); the namespace is empty for none."""
        metadata = self.body["metadata"]
        return self.body["kind"], metadata.get("namespace", ""), metadata["name"]

    @property
    def subject(self) -> str:
        """The object in words: kind, name and namespace."""
        metadata = self.body["metadata"]
        where = f" namespace={metadata['namespace']}" if "namespace" in metadata else ""
        return f"{self.body['kind'].lower()}/{metadata['name']}{where}"


@dataclass(frozen=True, slots=True)
class Difference:
    """How two plans differ.

    Attributes:
        changes: Objects, in the order in which they are to be seen to.
        expectations: Conditions to be seen that were not there before.
        ended: Conditions that are there no more.
        speaks: Whether containers say or print anything else.
        is_measured: Whether the use of CPU and memory differs.
    """

    changes: tuple[Change, ...]
    expectations: tuple[Expectation, ...]
    ended: tuple[Expectation, ...]
    speaks: bool
    is_measured: bool

    @property
    def is_nothing(self) -> bool:
        """Whether the two are the same."""
        parts = (self.changes, self.expectations, self.ended, self.speaks, self.is_measured)
        return not any(parts)


def compare(before: Plan, after: Plan) -> Difference:
    """Compare two plans that were made for the same moment."""
    old, new = dict(_objects(before)), dict(_objects(after))
    changes = [Change(body, rank=rank, gone=True) for key, (rank, body) in old.items() if key not in new]
    for key, (rank, body) in new.items():
        if key not in old:
            changes.append(Change(body, rank=rank))
        elif patch := merge_patch(old[key][1], body):
            changes.append(Change(body, patch, rank))
    return Difference(
        tuple(sorted(changes, key=lambda one: (not one.gone, one.rank))),
        tuple(item for item in after.expectations if item not in before.expectations),
        tuple(item for item in before.expectations if item not in after.expectations),
        (before.logs, before.commands) != (after.logs, after.commands),
        before.usage != after.usage,
    )


def find_obstacles(before: Plan, after: Plan) -> Iterator[tuple[str, str]]:
    """Yield what of a difference cannot be brought about in a world that is in use, as (subject, why)."""
    found = compare(before, after)
    if found.is_nothing:
        yield "", "changes nothing of the state"
    if (before.node_count, before.node_allocatable) != (after.node_count, after.node_allocatable):
        yield "nodes", "how many nodes there are and how large they are cannot change in a run"
    was = {(item.kind, item.namespace, item.name): item.condition for item in before.expectations}
    moved = {item.subject: item for item in found.expectations if item.kind in WORKLOADS}
    for item in moved.values():
        had = was.get((item.kind, item.namespace, item.name))
        if had is not None and had is not item.condition:
            yield from _of_condition(item, had)
    for change in found.changes:
        if change.patch and "spec" in change.patch:
            yield from _of_specification(change, change.patch["spec"], moved.get(change.subject))


def _of_specification(change: Change, patch: Json, moved: Expectation | None) -> Iterator[tuple[str, str]]:
    if change.body["kind"] in _FIXED:
        yield change.subject, "nobody can change its specification; declare another one"
    elif moved is not None and moved.condition in _TROUBLES and "template" in patch:
        needed = "a memory_limit, a readinessProbe, the reference to a key"
        text = f"{moved.condition} changes its pods; declare in the state what it needs: {needed}"
        yield change.subject, text


def _of_condition(item: Expectation, had: Condition) -> Iterator[tuple[str, str]]:
    if item.condition not in _REACHABLE:
        possible = ", ".join(sorted(_REACHABLE))
        yield item.subject, f"cannot become {item.condition} in a run; possible are {possible}"
    elif item.condition in _TROUBLES and had not in (Condition.RUNNING, Condition.ELEVATED_ERRORS):
        yield item.subject, f"is {had} before, and only what runs can become {item.condition}"


def leaves(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, names of members left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)


def _objects(plan: Plan) -> Iterator[tuple[Key, tuple[int, Json]]]:
    for rank, manifests in enumerate(plan.ranks):
        for manifest in manifests:
            body = _last(manifest)
            metadata = body["metadata"]
            key = (body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"])
            yield key, (rank, body)


def _last(manifest: Manifest) -> Json:
    return manifest.next_body or manifest.body
