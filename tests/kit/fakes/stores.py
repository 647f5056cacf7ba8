"""Artifacts, events, metrics and keys in memory."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.ports.artifacts import Artifact
from oasis_operator.resources import event, kinds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

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
