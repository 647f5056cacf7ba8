"""Artifacts, events, metrics and keys in memory."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.ports.artifacts import Artifact
from oasis_operator.resources import event, kinds
from oasis_operator.wire.audit_log import LineChain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime, timedelta

    from oasis_operator.model.attempt import Attempt
    from oasis_operator.ports.kube import Kube


@dataclass
class FakeArtifacts:
    """Implements `ports.artifacts.Artifacts`."""

    documents: dict[str, bytes] = field(default_factory=dict)
    drafts: dict[str, bytes] = field(default_factory=dict)

    async def put(self, content: bytes) -> Artifact:
        artifact = Artifact(f"sha256:{hashlib.sha256(content).hexdigest()}", len(content))
        self.documents[artifact.digest] = content
        return artifact

    async def get(self, digest: str) -> bytes:
        if digest not in self.documents:
            raise errors.ProviderFault(f"{digest} is not in the store", reason="ArtifactMissing")
        return self.documents[digest]

    async def keep_draft(self, key: str, content: bytes) -> None:
        self.drafts[key] = content

    async def draft(self, key: str) -> bytes | None:
        return self.drafts.get(key)

    async def discard_draft(self, key: str) -> None:
        self.drafts.pop(key, None)


@dataclass
class FakeAttempts:
    """Implements `ports.attempts.Attempts`; `trouble` is why nothing of it can be read or joined."""

    attempts: dict[tuple[str, str, str, int], Attempt] = field(default_factory=dict)
    trouble: str = ""

    async def note(self, facts: Attempt) -> None:
        self._check()
        key = (facts.namespace, facts.subject, *facts.key)
        before = self.attempts.get(key)
        self.attempts[key] = before.joined(facts) if before else facts

    async def get(self, namespace: str, subject: str, evaluation_uid: str, number: int) -> Attempt | None:
        self._check()
        return self.attempts.get((namespace, subject, evaluation_uid, number))

    async def of_subject(self, namespace: str, subject: str) -> tuple[Attempt, ...]:
        self._check()
        found = [item for key, item in self.attempts.items() if key[:2] == (namespace, subject)]
        return tuple(sorted(found, key=lambda item: (item.began_at, item.evaluation, item.number)))

    def _check(self) -> None:
        if self.trouble:
            raise errors.ProviderFault(self.trouble, reason="RecordUnreadable")


@dataclass
class FakeStreams:
    """Implements `ports.streams.Streams`; the path of a log is its content, so that a judge finds it."""

    logs: dict[str, bytes] = field(default_factory=dict)
    beginnings: dict[str, bytes] = field(default_factory=dict)
    limit_bytes: int = 1 << 20

    async def begin(self, key: str, beginning: bytes) -> None:
        self.beginnings[key] = beginning

    async def has_begun(self, key: str) -> bool:
        return key in self.beginnings

    async def beginning(self, key: str) -> bytes | None:
        return self.beginnings.get(key)

    async def size(self, key: str) -> int:
        return len(self.logs.get(key, b""))

    async def append(self, key: str, offset: int, content: bytes, head: str) -> None:
        before = self.logs.get(key, b"")
        chain = LineChain()
        chain.add(before + content)
        if len(before) != offset or chain.head != head or offset + len(content) > self.limit_bytes:
            raise errors.ProviderFault("the log does not go on from what is kept", reason="LogChanged")
        self.logs[key] = before + content

    def path(self, key: str) -> str:
        return base64.b64encode(self.logs.get(key, b"")).decode()

    @staticmethod
    def lines(path: str) -> list[bytes]:
        """Return the whole lines of a log by its path."""
        return base64.b64decode(path).split(b"\n")[:-1]

    async def keys(self) -> tuple[str, ...]:
        return tuple(sorted({*self.logs, *self.beginnings}))

    async def discard(self, key: str) -> None:
        self.logs.pop(key, None)
        self.beginnings.pop(key, None)


@dataclass
class FakeRecorder:
    """Implements `ports.recorder.Recorder` on the fake API server, so that Events count as writes."""

    kube: Kube
    now: datetime
    events: list[tuple[str, str, str]] = field(default_factory=list)

    async def event(self, about: Mapping[str, Any], kind: str, reason: str, note: str) -> None:
        self.events.append((about["metadata"]["name"], reason, note))
        try:
            await self.kube.create(
                kinds.EVENT, event.build_event(about, kind, reason, note, self.now, "test")
            )
        except errors.Transient:
            return


@dataclass
class FakeMeter:
    """Implements `ports.recorder.Meter`."""

    counted: list[tuple[str, ...]] = field(default_factory=list)

    def verdict(self, namespace: str, verdict: str) -> None:
        self.counted.append(("verdict", namespace, verdict))

    def scenario(self, outcome: str) -> None:
        self.counted.append(("scenario", outcome))

    def stage(self, stage: str, seconds: float) -> None:
        self.counted.append(("stage", stage))

    def fault(self, cause: str) -> None:
        self.counted.append(("fault", cause))


class FakeKeys:
    """Implements `ports.keys.Keys` with texts that name what they stand for."""

    def run_secret_data(self, now: datetime, lifetime: timedelta) -> dict[str, str]:
        names = (
            "ca.crt",
            "probe.crt",
            "probe.key",
            "probe-token",
            "adapter.crt",
            "adapter.key",
            "adapter-token",
            "cluster-ca.crt",
            "cluster-ca.key",
        )
        return {name: base64.b64encode(name.encode()).decode() for name in names}


@dataclass
class FakeProvisions:
    """Implements `ports.provisions.Provisions`; it outlives a restart of the operator.

    Attributes:
        after: Called with each change once it was made; may raise.
    """

    kept: dict[str, bytes] = field(default_factory=dict)
    after: Callable[[], None] = lambda: None

    async def keep(self, key: str, content: bytes) -> None:
        self.kept[key] = content
        self.after()

    async def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    async def keys(self) -> tuple[str, ...]:
        return tuple(sorted(self.kept))

    async def discard(self, key: str) -> None:
        if self.kept.pop(key, None) is not None:
            self.after()
