"""One run: a prompt delivered once at most, ended in one of a few ways, and told in a transcript."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from typing import TYPE_CHECKING

from oasis_operator.errors import AgentFault
from oasis_operator.sidecar.adapter.faults import GatewayError, outcome_of
from oasis_operator.sidecar.adapter.record import Record
from oasis_operator.wire.adapter import CancelRequest, Outcome, RunState, RunStatus

if TYPE_CHECKING:
    from oasis_operator.sidecar.adapter.task import Kind, Task
    from oasis_operator.wire.adapter import Transcript

_log = logging.getLogger(__name__)

# A kind gives up its connections within this time after it was stopped.
_STOP_SECONDS = 5.0


class Run:
    """A run from its request to its transcript, which never changes once it stands.

    Attributes:
        run_id: As requested.
        transcript: The transcript's JSON, empty while running.
        digest: ``sha256:`` of the transcript, empty while running.
        fetched: Set once the last piece of the transcript was handed out.
    """

    def __init__(self, kind: Kind, task: Task) -> None:
        """Start driving the agent; needs a running event loop."""
        self.run_id = task.request.run_id
        self.transcript = b""
        self.digest = ""
        self.fetched = asyncio.Event()
        self._record = Record()
        self._told: Transcript | None = None
        self._stop: CancelRequest | None = None
        self._fault = ""
        self._cause = ""
        self._driver = asyncio.create_task(self._drive(kind, task))
        self._driver.add_done_callback(lambda _: self._close_unbegun())

    @property
    def state(self) -> RunState:
        """How far the run has come."""
        told = self._told
        return RunState(
            run_id=self.run_id,
            status=RunStatus.FINISHED if told else RunStatus.RUNNING,
            outcome=told.outcome if told else None,
            detail=told.detail if told else "",
            delivered_at=self._record.delivered_at,
            finished_at=told.finished_at if told else None,
            steps=len(self._record.actions),
            fault=bool(told and not told.available),
            cause=self._cause if told and not told.available else "",
        )

    def piece(self, offset: int, limit: int) -> bytes:
        """Give a part of the transcript, empty at its end."""
        part = self.transcript[offset : offset + limit]
        if self.transcript and offset + len(part) == len(self.transcript):
            self.fetched.set()
        return part

    async def cancel(self, request: CancelRequest) -> None:
        """End the run as asked and wait until its connections are closed; a finished run stays as it is."""
        if self._told is None:
            self.stop(request)
            await asyncio.wait({self._driver}, timeout=_STOP_SECONDS)

    def stop(self, request: CancelRequest) -> None:
        """End the run as asked, without waiting; a finished run stays as it is."""
        if self._told is None:
            self._stop = self._stop or request
            self._driver.cancel()

    def fail(self, fault: GatewayError) -> None:
        """End the run by a fault of the gateway; a finished run stays as it is."""
        if self._told is None:
            self._fault, self._cause = self._fault or fault.message, fault.reason
            self._driver.cancel()

    async def _drive(self, kind: Kind, task: Task) -> None:
        limit = asyncio.timeout(task.request.timeout_seconds)
        try:
            async with limit:
                await self._conduct(kind, task)
        except asyncio.CancelledError:
            self._finish_stopped()
        except AgentFault as fault:
            self._finish(outcome_of(fault), fault.message)
        except GatewayError as fault:
            self._cause = fault.reason
            self._finish(Outcome.CANCELLED, fault.message, available=False)
        except Exception as error:  # noqa: BLE001 -- whatever else ends here is a fault of ours
            if isinstance(error, TimeoutError) and limit.expired():
                self._finish_late(task.request.timeout_seconds)
                return
            _log.exception("run %s: the adapter broke", self.run_id)
            detail = f"the adapter broke: {type(error).__name__}"
            self._finish(Outcome.CANCELLED, detail, available=False)
        else:
            self._finish(Outcome.ANSWERED, "")

    def _close_unbegun(self) -> None:
        """End a run that was stopped before its first step, which nothing inside it could notice."""
        if self._told is None:
            self._finish_stopped()

    def _finish_stopped(self) -> None:
        stop = self._stop or CancelRequest(detail=self._fault or "the adapter was stopped")
        self._finish(stop.outcome, stop.detail, available=not self._fault)

    async def _conduct(self, kind: Kind, task: Task) -> None:
        """Drive the agent and, however that ends, take down what its model took."""
        try:
            await kind.run(task, self._record)
        finally:
            if task.passage is not None:
                self._record.usage = await asyncio.shield(task.passage.usage())
                self._record.steps = task.passage.answered

    def _finish_late(self, seconds: float) -> None:
        if self._record.delivered_at is None:
            self._finish(Outcome.NOT_DELIVERED, f"the agent does not listen after {seconds:g} s")
        else:
            self._finish(Outcome.TIMEOUT, f"no whole answer within {seconds:g} s")

    def _finish(self, outcome: Outcome, detail: str, *, available: bool = True) -> None:
        told = self._record.close(outcome, detail, available=available)
        body = json.dumps(told.to_json(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        self.transcript = body.encode()
        self.digest = f"sha256:{hashlib.sha256(self.transcript).hexdigest()}"
        self._told = told
        _log.info("run %s finished: %s", self.run_id, outcome)
