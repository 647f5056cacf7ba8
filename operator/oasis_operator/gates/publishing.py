"""Keeps the admission list true to the cluster, with a sign of life beside it.

Level-triggered like everything else: events only say that it is time to look. Between two looks there is a
pause, so that a busy cluster costs one list every few seconds; without events the sign of life is renewed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from oasis_operator import errors
from oasis_operator.api import fields
from oasis_operator.gates.listing import build_listing
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.api.v1alpha1.admissionlist import AdmissionListSpec
    from oasis_operator.ports.clock import Clock
    from oasis_operator.ports.kube import Kube
    from oasis_operator.settings import Settings

_log = structlog.get_logger(__name__)
RENEW_SECONDS = 30.0
_PAUSE_SECONDS = 2.0
_COUNT_SECONDS = 60.0
"""Pause where nothing is published and only lapsed verdicts are counted."""


class Publisher:
    """Publishes the admission list, where there is one, and counts verdicts that lapsed."""

    def __init__(self, kube: Kube, clock: Clock, settings: Settings) -> None:
        """Write the list that the settings name; none is written where they name none."""
        self._kube, self._clock = kube, clock
        self._list, self._reads_policies = settings.admission_list, settings.reads_policies
        self._namespaces = settings.watch_namespaces or ("",)
        self._moved = asyncio.Event()
        self._published: AdmissionListSpec | None = None
        self._renewed: datetime | None = clock.now() if self._list else None
        self._troubles: tuple[str, ...] = ()
        self.lapsed = 0
        """Passed Evaluations whose verdict is older than a policy allows."""

    def moved(self) -> None:
        """Something may have changed that the list is made of."""
        self._moved.set()

    @property
    def renewed_timestamp_seconds(self) -> float:
        """When the list was last renewed, in seconds since 1970; 0 where none is published."""
        return self._renewed.timestamp() if self._renewed is not None else 0.0

    @property
    def subjects(self) -> int:
        """Subjects on the list."""
        return len(self._published.subjects) if self._published is not None else 0

    async def run(self) -> None:
        """Publish until cancelled; a failure is tried again."""
        while True:
            self._moved.clear()
            try:
                await self.once()
            except errors.OasisError as error:
                _log.warning("admission list not renewed", reason=error.reason, message=error.message)
            await asyncio.sleep(_PAUSE_SECONDS if self._list else _COUNT_SECONDS)
            try:
                async with asyncio.timeout(RENEW_SECONDS - _PAUSE_SECONDS):
                    await self._moved.wait()
            except TimeoutError:
                continue

    async def once(self) -> None:
        """Look at everything, and write the list where it is new or its sign of life is due.

        Raises:
            Transient: The API server does not answer.
            NotReady: It refuses.
        """
        evaluations = [
            body for name in self._namespaces for body in await self._kube.list(kinds.EVALUATION, name)
        ]
        policies = await self._kube.list(kinds.EVALUATION_POLICY, "") if self._reads_policies else ()
        now = self._clock.now()
        found = build_listing(evaluations, policies, now)
        self.lapsed = found.lapsed
        if found.troubles and found.troubles != self._troubles:
            _log.warning("admission list: unreadable", troubles=found.troubles[:5])
        self._troubles = found.troubles
        if self._list and self._is_due(found.spec, now):
            await self._write(found.spec)
            self._published, self._renewed = found.spec, now

    async def _write(self, spec: AdmissionListSpec) -> None:
        """Replace the list, or make it; not by apply, whose YAML refuses the escapes of emoji."""
        body = manifest(self._list, spec)
        change = {"op": "replace", "path": "/spec", "value": body["spec"]}
        if await self._kube.patch(kinds.ADMISSION_LIST, "", self._list, [change]) is None:
            await self._kube.create(kinds.ADMISSION_LIST, body)

    def _is_due(self, spec: AdmissionListSpec, now: datetime) -> bool:
        before = self._published
        if before is None or spec.model_copy(update={"renewed_at": before.renewed_at}) != before:
            return True
        return (now - before.renewed_at).total_seconds() >= RENEW_SECONDS - _PAUSE_SECONDS


def manifest(name: str, spec: AdmissionListSpec) -> dict[str, object]:
    """Return the list as an object of this name."""
    return {
        "apiVersion": kinds.ADMISSION_LIST.api_version,
        "kind": kinds.ADMISSION_LIST.name,
        "metadata": {"name": name, "namespace": ""},
        "spec": fields.dump(spec),
    }
