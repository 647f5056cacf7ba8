"""The tools beside the cluster: what they say is kept to what the objects of the world are.

The control plane's launcher starts what answers for them once their file is there, and says so when all of it
listens.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe.api import Api, ApiError, collection_path, gather_all
from oasis_operator.sidecar.probe.cluster import wait_for
from oasis_operator.world.check import tools_of
from oasis_operator.world.definitions import METRIC, NODE_USAGE, POD_USAGE, RULE
from oasis_operator.world.moments import seconds_of
from oasis_operator.world.monitoring.state import Watched
from oasis_operator.world.monitoring.tools import GRAFANA, JAEGER, PROMETHEUS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from oasis_operator.world.manifests import Json
    from oasis_operator.world.plan import Plan

_PATIENCE_SECONDS = 30.0
_RETRY_SECONDS = 3.0
#: How long changes are gathered before they are told: as long as a scrape may take to see them, or less.
_GATHER_SECONDS = 1.0
_NOT_SERVED = 404


class Tools:
    """Tells the tools of a run's world what there is to say; does nothing where the world has none."""

    def __init__(self, api: Api, folder: Path, plan: Plan, now: str) -> None:
        """Know the tools that the world needs.

        Args:
            api: The nested API server.
            folder: What the control plane shares with the probe.
            plan: The plan of the world.
            now: The moment for which it was compiled, RFC 3339.
        """
        self._api = api
        self._folder = folder / "monitoring"
        self._tools = tools_of(plan)
        self._watched = Watched(float(seconds_of(now)), self._tools)
        self._kinds = _kinds(plan, {tool.name for tool in self._tools})
        self._objects: dict[str, dict[str, Json]] = {}
        self._changed = asyncio.Event()

    def start(self) -> None:
        """Let what answers for the tools be started; there is nothing to be told by them yet.

        Raises:
            OSError: The folder cannot be written to.
        """
        if self._tools:
            self._write(Watched(self._watched.now, self._tools).look({}, self._watched.now))

    async def begin(self) -> None:
        """Tell how things are before anybody changes them, and wait until everything listens.

        Raises:
            ApiError: The API server refused a list.
            ProviderFault: It did not answer, or a tool does not listen.
            OSError: The folder cannot be written to.
        """
        if not self._tools:
            return
        await gather_all(*(self._list(kind) for kind in self._kinds))
        self._tell()

        async def listen() -> bool:
            return (self._folder / "ready").exists()

        names = ", ".join(tool.name for tool in self._tools)
        await wait_for(f"tools beside the cluster ({names})", listen, patience_seconds=_PATIENCE_SECONDS)

    async def watch(self) -> None:
        """Tell what changes; ends only when cancelled."""
        if self._kinds:
            await asyncio.gather(self._tell_on(), *(self._follow(kind) for kind in self._kinds))

    async def _tell_on(self) -> None:
        while True:
            await self._changed.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            self._changed.clear()
            self._tell()

    def _tell(self) -> None:
        objects: Mapping[str, list[Json]] = {
            kind: list(items.values()) for kind, items in self._objects.items()
        }
        self._write(self._watched.look(objects, time.time()))

    def _write(self, state: Json) -> None:
        draft = self._folder / "state.json.draft"
        draft.write_text(json.dumps(state, ensure_ascii=False))
        draft.replace(self._folder / "state.json")

    async def _list(self, kind: str) -> None:
        try:
            items = await self._api.list(kind)
        except ApiError as error:
            if error.status != _NOT_SERVED:
                raise
            items = []  # it may be defined in the course of the run
        self._objects[kind] = {str(item["metadata"]["uid"]): item for item in items}

    async def _follow(self, kind: str) -> None:
        while True:
            try:
                await self._list(kind)
                self._changed.set()
                async for change in self._api.watch(collection_path(kind)):
                    self._take_in(kind, change)
            except (ProviderFault, ApiError):
                # Watches end now and then; were the API server gone for good, the end of the run would tell.
                pass
            await asyncio.sleep(_RETRY_SECONDS)

    def _take_in(self, kind: str, change: Json) -> None:
        if change.get("type") not in ("ADDED", "MODIFIED", "DELETED"):
            return
        item, known = change["object"], self._objects[kind]
        identifier = str(item["metadata"]["uid"])
        if change["type"] == "DELETED":
            known.pop(identifier, None)
        elif known.get(identifier) == item:
            return
        else:
            known[identifier] = item
        self._changed.set()


def _kinds(plan: Plan, tools: set[str]) -> tuple[str, ...]:
    """Give the kinds of objects that tools tell of; what containers log is not told by this."""
    kinds: list[str] = []
    if PROMETHEUS.name in tools:
        kinds += ["Pod", "Deployment", "Node", METRIC.kind, RULE.kind]
        kinds += [NODE_USAGE.kind, POD_USAGE.kind] if plan.usage else []
    if tools & {GRAFANA.name, JAEGER.name}:
        kinds.append("ConfigMap")
    return tuple(kinds)
