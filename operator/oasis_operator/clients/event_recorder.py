"""Kubernetes Events, written in the background: an Event that cannot be written holds nothing up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog

from oasis_operator import errors
from oasis_operator.ports import kube
from oasis_operator.resources import event, kinds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.clock import Clock

_log = structlog.get_logger(__name__)
_SECONDS = 10.0


class EventRecorder:
    """Implements `ports.recorder.Recorder`."""

    def __init__(self, api: kube.Kube, clock: Clock, instance: str) -> None:
        """Write through `api` in the name of the operator's pod."""
        self._api = api
        self._clock = clock
        self._instance = instance
        self._writing: set[asyncio.Task[None]] = set()

    async def event(self, about: Mapping[str, Any], kind: str, reason: str, note: str) -> None:
        """Record one Event; its name makes a repetition no second one."""
        manifest = event.build_event(about, kind, reason, note, self._clock.now(), self._instance)
        task = asyncio.create_task(self._write(manifest))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, manifest: Mapping[str, Any]) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                await self._api.create(kinds.EVENT, manifest)
        except (errors.OasisError, TimeoutError) as error:
            if getattr(error, "reason", "") != kube.ALREADY_EXISTS:
                _log.info("event not written", reason=manifest["reason"], cause=str(error)[:200])
