"""Causes that an agent can correct outside of the pods that fail for them: keys of ConfigMaps and Secrets.

A node reads these keys each time it starts a container. So once the keys that a declared failure lacks are
all there, its stages are taken away, and the next start of the container succeeds.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe import establish
from oasis_operator.sidecar.probe.api import Api, collection_path
from oasis_operator.sidecar.probe.stages import build_stages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from oasis_operator.world.manifests import Expectation, Json, Reference

_KINDS = {"configmap": "ConfigMap", "secret": "Secret"}
_RETRY_SECONDS = 1.0


class Remedies:
    """Watches for the keys that declared failures lack, until the run ends."""

    def __init__(
        self, api: Api, folder: Path, boot_stages: str, failing: Sequence[tuple[Expectation, Sequence[Json]]]
    ) -> None:
        """Know the failures that are in force, each with its containers."""
        self._api = api
        self._folder = folder
        self._boot_stages = boot_stages
        self._failing = list(failing)
        self._present: set[Reference] = set()
        self._changing = asyncio.Lock()

    @property
    def failing(self) -> list[tuple[Expectation, list[Json]]]:
        """The failures that are in force now, each with its containers."""
        return [(expectation, list(containers)) for expectation, containers in self._failing]

    async def watch(self) -> None:
        """Take failures away as their causes are corrected; ends only when cancelled."""
        objects = {
            (ref.kind, ref.namespace, ref.name)
            for expectation, _ in self._failing
            for ref in expectation.missing
        }
        await asyncio.gather(*(self._follow(*item) for item in sorted(objects)))

    async def _follow(self, kind: str, namespace: str, name: str) -> None:
        path = collection_path(_KINDS[kind], namespace)
        while True:
            try:
                async for change in self._api.watch(path, fieldSelector=f"metadata.name={name}"):
                    if change["type"] in ("ADDED", "MODIFIED"):
                        keys = frozenset(change["object"].get("data", {}))
                        await self._seen(kind, namespace, name, keys)
            except ProviderFault:
                # Watches end now and then; were the API server gone for good, the end of the run would tell.
                await asyncio.sleep(_RETRY_SECONDS)

    async def _seen(self, kind: str, namespace: str, name: str, keys: frozenset[str]) -> None:
        async with self._changing:
            wanted = {
                ref
                for expectation, _ in self._failing
                for ref in expectation.missing
                if (ref.kind, ref.namespace, ref.name) == (kind, namespace, name)
            }
            self._present |= {ref for ref in wanted if ref.key in keys}
            kept = [
                item for item in self._failing if not item[0].missing or set(item[0].missing) - self._present
            ]
            if len(kept) < len(self._failing):
                self._failing = kept
                await establish.load_stages(self._folder, build_stages(self._boot_stages, kept))
