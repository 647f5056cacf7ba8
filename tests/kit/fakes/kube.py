"""An API server in memory: resource versions, owner references, watches, apply, and faults on demand.

It is a hand-written twin of what `clients/kube.py` promises; the contract suite runs against both.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from kit.fakes import json_patch
from oasis_operator import errors
from oasis_operator.ports import kube
from oasis_operator.resources import labels as label_rules
from oasis_operator.resources.kinds import POD, Kind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

Value = TypeVar("Value")
Key = tuple[str, str, str]
# Named here, since the class has a method `list`.
Items = list[dict[str, Any]]
WRITES = frozenset({"create", "apply", "patch", "write_status", "delete"})
_CUSTOM = "oasis-operator.dev"


class Crash(BaseException):
    """The operator dies between two calls."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request that was made."""

    verb: str
    kind: str
    name: str


@dataclass
class FakeKube:
    """Implements `ports.kube.Kube`.

    Attributes:
        calls: Every request in order, refused ones included.
        faults: Called with each request before it is carried out; may raise.
        after: Called with each request once it was carried out; may raise, as a lost answer does.
        listeners: Called with the type and the object of each change.
    """

    clock: Callable[[], datetime] = lambda: datetime(2026, 1, 5, 12, tzinfo=UTC)
    calls: list[Call] = field(default_factory=list)
    faults: Callable[[Call], None] = lambda call: None
    after: Callable[[Call], None] = lambda call: None
    objects: dict[Key, dict[str, Any]] = field(default_factory=dict)
    listeners: list[Callable[[str, dict[str, Any]], None]] = field(default_factory=list)
    _versions: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _uids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _watchers: list[tuple[str, asyncio.Queue[tuple[str, dict[str, Any]]]]] = field(default_factory=list)

    @property
    def writes(self) -> list[Call]:
        """The requests that change something."""
        return [call for call in self.calls if call.verb in WRITES]

    async def get(self, kind: Kind, namespace: str, name: str) -> kube.Object | None:
        self._begin("get", kind, name)
        found = self.objects.get((kind.plural, namespace, name))
        return self._done("get", kind, name, _copied(found))

    async def list(
        self, kind: Kind, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[kube.Object, ...]:
        self._begin("list", kind, "")
        found = tuple(_copied(item) for item in self._matching(kind, namespace, labels))
        return self._done("list", kind, "", found)

    async def watch(
        self, kind: Kind, namespace: str, labels: Mapping[str, str] | None = None
    ) -> AsyncIterator[tuple[str, kube.Object]]:
        self._begin("watch", kind, "")
        queue: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._watchers.append((kind.plural, queue))
        for item in self._matching(kind, namespace, labels):
            yield "ADDED", _copied(item)
        while True:
            event, item = await queue.get()
            meta = item["metadata"]
            if namespace in ("", meta["namespace"]) and label_rules.matches(
                meta.get("labels") or {}, labels or {}
            ):
                yield event, _copied(item)

    async def create(self, kind: Kind, manifest: kube.Manifest) -> kube.Object:
        meta = manifest["metadata"]
        self._begin("create", kind, meta["name"])
        key = (kind.plural, meta["namespace"], meta["name"])
        if key in self.objects:
            raise errors.Transient(f"{meta['name']} exists", reason=kube.ALREADY_EXISTS)
        created = _copied(dict(manifest))
        created.pop("status", None)
        created["apiVersion"], created["kind"] = kind.api_version, kind.name
        created["metadata"] |= {
            "uid": f"uid-{next(self._uids):06d}",
            "creationTimestamp": _text(self.clock()),
            "generation": 1,
        }
        return self._done("create", kind, meta["name"], self._store("ADDED", key, created))

    async def apply(self, kind: Kind, manifest: kube.Manifest) -> kube.Object:
        meta = manifest["metadata"]
        self._begin("apply", kind, meta["name"])
        key = (kind.plural, meta["namespace"], meta["name"])
        before = self.objects.get(key)
        if before is None:
            self.calls.pop()
            created = await self.create(kind, manifest)
            self.calls[-1] = Call("apply", kind.name, meta["name"])
            return created
        after = _overlay(before, _copied(dict(manifest)))
        after["metadata"] = {**before["metadata"], "labels": dict(meta.get("labels") or {})}
        if after == before:
            return self._done("apply", kind, meta["name"], _copied(before))
        if after.get("spec") != before.get("spec"):
            after["metadata"]["generation"] = before["metadata"]["generation"] + 1
        return self._done("apply", kind, meta["name"], self._store("MODIFIED", key, after))

    async def patch(
        self, kind: Kind, namespace: str, name: str, operations: Sequence[Mapping[str, Any]]
    ) -> kube.Object | None:
        self._begin("patch", kind, name)
        key = (kind.plural, namespace, name)
        before = self.objects.get(key)
        try:
            after = json_patch.apply(before, operations) if before else None
        except json_patch.Misfit:
            after = None
        if after is None:
            return self._done("patch", kind, name, None)
        return self._done("patch", kind, name, self._store("MODIFIED", key, after))

    async def write_status(self, kind: Kind, seen: kube.Manifest, status: Mapping[str, Any]) -> kube.Object:
        meta = seen["metadata"]
        self._begin("write_status", kind, meta["name"])
        key = (kind.plural, meta["namespace"], meta["name"])
        before = self.objects.get(key)
        if before is None or before["metadata"]["resourceVersion"] != meta["resourceVersion"]:
            raise errors.Transient(f"{meta['name']} changed", reason=kube.CONFLICT)
        after = {**_copied(before), "status": _copied(dict(status))}
        return self._done("write_status", kind, meta["name"], self._store("MODIFIED", key, after))

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        version: str = "",
        grace_seconds: int | None = None,
    ) -> bool:
        self._begin("delete", kind, name)
        key = (kind.plural, namespace, name)
        found = self.objects.get(key)
        wanted = {"uid": uid, "resourceVersion": version}
        if found is None or any(value and found["metadata"][part] != value for part, value in wanted.items()):
            return self._done("delete", kind, name, False)
        if kind == POD and grace_seconds != 0 and (found.get("spec") or {}).get("nodeName"):
            # A pod on a node stays until its kubelet has ended it.
            if "deletionTimestamp" not in found["metadata"]:
                found = _copied(found)
                found["metadata"]["deletionTimestamp"] = _text(self.clock())
                self._store("MODIFIED", key, found)
            return self._done("delete", kind, name, True)
        self.remove(key)
        return self._done("delete", kind, name, True)

    def remove(self, key: Key) -> None:
        """Take an object away, and with it everything that it controls."""
        gone = self.objects.pop(key, None)
        if gone is None:
            return
        self._notify("DELETED", key, gone)
        uid = gone["metadata"]["uid"]
        for other, item in list(self.objects.items()):
            owners = item["metadata"].get("ownerReferences") or ()
            if any(owner["uid"] == uid for owner in owners):
                self.remove(other)

    def seed(self, kind: Kind, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Put an object there as a user would, without a recorded call."""
        created = _copied(dict(manifest))
        meta = created["metadata"]
        meta.setdefault("uid", f"uid-{next(self._uids):06d}")
        meta.setdefault("creationTimestamp", _text(self.clock()))
        meta.setdefault("generation", 1)
        created["apiVersion"], created["kind"] = kind.api_version, kind.name
        return self._store("ADDED", (kind.plural, meta["namespace"], meta["name"]), created)

    def edit(self, kind: Kind, namespace: str, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change an object as a user or a kubelet would; a changed spec is a new generation."""
        key = (kind.plural, namespace, name)
        after = _copied(self.objects[key])
        before_spec = _copied(after.get("spec"))
        change(after)
        if after.get("spec") != before_spec and kind.group == _CUSTOM:
            after["metadata"]["generation"] += 1
        self._store("MODIFIED", key, after)

    def of(self, kind: Kind) -> Items:
        """Return all objects of a kind, by name."""
        found = [item for key, item in self.objects.items() if key[0] == kind.plural]
        return sorted(found, key=lambda item: item["metadata"]["name"])

    def one(self, kind: Kind, namespace: str, name: str) -> dict[str, Any]:
        """Return an object that must be there."""
        return _copied(self.objects[kind.plural, namespace, name])

    def _matching(self, kind: Kind, namespace: str, labels: Mapping[str, str] | None) -> Items:
        return [
            item
            for item in self.of(kind)
            if namespace in ("", item["metadata"]["namespace"])
            and label_rules.matches(item["metadata"].get("labels") or {}, labels or {})
        ]

    def _begin(self, verb: str, kind: Kind, name: str) -> None:
        call = Call(verb, kind.name, name)
        self.calls.append(call)
        self.faults(call)

    def _done(self, verb: str, kind: Kind, name: str, value: Value) -> Value:
        self.after(Call(verb, kind.name, name))
        return value

    def _store(self, event: str, key: Key, item: dict[str, Any]) -> dict[str, Any]:
        item["metadata"]["resourceVersion"] = str(next(self._versions))
        self.objects[key] = item
        self._notify(event, key, item)
        return _copied(item)

    def _notify(self, event: str, key: Key, item: dict[str, Any]) -> None:
        for listener in self.listeners:
            listener(event, _copied(item))
        for plural, queue in self._watchers:
            if plural == key[0]:
                queue.put_nowait((event, _copied(item)))


def _overlay(before: Any, wanted: Any) -> Any:
    """Merge maps member by member; everything else is replaced."""
    if isinstance(before, dict) and isinstance(wanted, dict):
        merged = _copied(before)
        for name, value in wanted.items():
            merged[name] = _overlay(merged.get(name), value) if name in merged else value
        return merged
    return wanted


def _copied(value: Value) -> Value:
    """Copy a JSON value; several times faster than `copy.deepcopy`, which has to think of everything."""
    if isinstance(value, dict):
        return type(value)((name, _copied(member)) for name, member in value.items())
    if isinstance(value, list | tuple):
        return type(value)(_copied(member) for member in value)
    return value


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
