"""The state machine behind the probe's routes: blank, prepared for one run, stopped."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from oasis_operator.errors import NotReady, ProviderFault
from oasis_operator.sidecar.probe import adding, live, moments, runs, selftest
from oasis_operator.sidecar.probe.api import Api, ApiError
from oasis_operator.sidecar.probe.cluster import are_nodes_ready, boot_world
from oasis_operator.sidecar.probe.record import Boot, Record
from oasis_operator.wire.probe import Info, PrepareState, PrepareStatus, StopState, StopStatus
from oasis_operator.world.check import compile_world

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from oasis_operator.sidecar.probe.settings import ProbeSettings
    from oasis_operator.wire.audit_log import AuditPiece
    from oasis_operator.wire.live import LiveLog, LiveState, SelfTest, SelfTestRequest
    from oasis_operator.wire.probe import Witness
    from oasis_operator.wire.probe_request import CheckRequest, PrepareRequest, StateFault
    from oasis_operator.world.injection import Injection


class Conflict(Exception):  # noqa: N818  # an answer of the contract, not a failure
    """The environment is taken by another run, or asked for something out of order."""


class Probe:
    """One environment: boots its world, prepares it once, ends it once."""

    def __init__(self, settings: ProbeSettings) -> None:
        """Know where the cluster is; nothing is started yet."""
        self.settings = settings
        self.api = Api(settings.server, settings.cluster / "admin")
        self._boot_id = secrets.token_hex(16)
        self._started_at = moments.now()
        self._boot: Boot | None = None
        self._trouble = "booting"
        self._preparation: runs.Preparation | None = None
        self._stop = StopStatus(StopState.NONE)
        self._evidence = b""
        self._beginning = b""
        self._watching: asyncio.Task[None] | None = None
        self._awaiting: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking = asyncio.Lock()

    def start(self) -> None:
        """Boot the world in the background."""
        self._spawn(self._boot_world())

    async def close(self) -> None:
        """End whatever is going on."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.api.close()

    async def health(self) -> str | None:
        """Give what is not well, None where all is: the API server answers and the nodes are ready."""
        if self._boot is None:
            return self._trouble
        try:
            ready = await are_nodes_ready(self.api, 1)
        except (ApiError, ProviderFault) as error:
            return str(error)
        return None if ready else "no node is ready"

    def info(self) -> Info:
        """Tell what the environment is.

        Raises:
            NotReady: It is still booting.
        """
        boot = self._booted()
        authority = (self.settings.cluster / "admin" / "ca.crt").read_text()
        return Info(
            self._boot_id,
            boot.version,
            authority,
            boot.nodes,
            self._started_at,
            blank=self._preparation is None,
        )

    def check(self, request: CheckRequest) -> tuple[StateFault, ...]:
        """Name the static faults of a state; nothing is changed."""
        return compile_world(request, moments.this_second())[1]

    def prepare(self, request: PrepareRequest) -> PrepareStatus:
        """Begin the preparation, once.

        Raises:
            Conflict: The environment was prepared for another run.
            NotReady: It is still booting.
        """
        if self._preparation is None:
            self._preparation = runs.Preparation(self.api, self.settings.cluster, self._booted(), request)
            self._spawn(self._prepare(self._preparation))
        elif self._preparation.request.run_id != request.run_id:
            raise Conflict(f"run_id: this environment belongs to run {self._preparation.request.run_id}")
        return self._preparation.status

    def preparation(self) -> PrepareStatus:
        """Tell how far the preparation is."""
        return self._preparation.status if self._preparation else PrepareStatus(PrepareState.NONE)

    def stop(self, run_id: str) -> StopStatus:
        """Begin the end of the run, once.

        Raises:
            Conflict: The run is another one, or was never ready.
        """
        preparation = self._preparation
        if preparation is None or preparation.request.run_id != run_id:
            raise Conflict(f"run_id: {run_id}: this environment was not prepared for it")
        if preparation.record is None:
            raise Conflict(f"run_id: {run_id}: its preparation is {preparation.status.status}")
        if self._stop.status is StopState.NONE:
            self._stop = StopStatus(StopState.STOPPING)
            for task in (self._watching, self._awaiting):
                if task is not None:
                    task.cancel()
            self._spawn(self._end(preparation.record))
        return self._stop

    def begin(self, run_id: str) -> str:
        """Let the moments of temporal conditions be counted from now on, once; give from when they are.

        Raises:
            Conflict: The run is another one, was never ready, or is over.
        """
        preparation = self._preparation
        if preparation is None or preparation.request.run_id != run_id or preparation.record is None:
            raise Conflict(f"run_id: {run_id}: this environment was not prepared for it")
        if self._stop.status is not StopState.NONE:
            raise Conflict(f"run_id: {run_id}: the run is over")
        waiting = preparation.record.waiting
        return waiting.begin() if waiting is not None else moments.now()

    def stopping(self) -> StopStatus:
        """Tell how far the end of the run is."""
        return self._stop

    def evidence(self) -> bytes:
        """Give the evidence part.

        Raises:
            NotReady: The run has not been stopped.
        """
        if self._stop.status is not StopState.STOPPED:
            raise NotReady(f"evidence: the run is not stopped: {self._stop.status}")
        return self._evidence

    def beginning(self) -> bytes:
        """Give the evidence part as far as it is known when the agent is let in.

        Raises:
            NotReady: The run has not begun.
        """
        if not self._beginning:
            self._beginning = runs.beginning(self._booted(), self._begun())
        return self._beginning

    async def audit(self, offset: int, limit: int) -> AuditPiece:
        """Give whole lines of the audit log, counted in bytes from the opening sentinel's line on.

        Raises:
            NotReady: The run has not begun.
            LogChanged: The log does not go on from what it was.
        """
        follower = self._begun().follower
        if follower is None:
            raise NotReady("audit: nobody follows the log")
        return await follower.piece(offset, limit)

    async def live_log(self) -> LiveLog:
        """Give the audit log from the end of the preparation up to now.

        Raises:
            NotReady: The run has not begun.
            ApiError: The API server refused.
            ProviderFault: It did not answer, or the log does not hold both ends of the window.
        """
        record = self._begun()
        async with self._looking:
            return await live.read_log(self.api, self.settings.cluster, record)

    async def live_state(self) -> LiveState:
        """Give the world as it was at the end of the preparation, and as it is.

        Raises:
            NotReady: The run has not begun.
            ApiError: The API server refused.
            ProviderFault: It did not answer.
        """
        record = self._begun()
        async with self._looking:
            return await live.read_state(self.api, record)

    async def inject(self, state: Sequence[Mapping[str, Any]]) -> PrepareStatus:
        """Put further state into the world; one injection after the other.

        Raises:
            NotReady: The run has not begun.
            Conflict: The run is over.
        """
        self._begun()
        async with self._looking:
            preparation = self._preparation
            if preparation is None or self._stop.status is not StopState.NONE:
                raise Conflict("state: the run is over")
            if self._watching is not None:
                self._watching.cancel()
                await asyncio.gather(self._watching, return_exceptions=True)
            try:
                return await adding.inject(preparation, state)
            finally:
                if self._stop.status is StopState.NONE:
                    self._watching = self._spawn(preparation.follow())

    async def _bring_about(self, injection: Injection) -> Witness:
        """Bring about what a stimulus places once its moment has come, and give its witness.

        Raises:
            Gone: What it changes does not exist any more.
            NotEstablished: It could not be brought about, or is not to be seen.
            ApiError: The API server refused.
            ProviderFault: It did not answer.
        """
        preparation = self._preparation
        assert preparation is not None  # noqa: S101  # whoever waits was prepared
        async with self._looking:
            if self._watching is not None:
                self._watching.cancel()
                await asyncio.gather(self._watching, return_exceptions=True)
            try:
                return await adding.bring_about(preparation, injection)
            finally:
                if self._stop.status is StopState.NONE:
                    self._watching = self._spawn(preparation.follow())

    async def self_test(self, request: SelfTestRequest) -> SelfTest:
        """Try what only the inside can; the environment must exist for this alone.

        Raises:
            NotReady: The run has not begun.
            ApiError: The API server refused.
            ProviderFault: It did not answer.
        """
        token, settings = self._begun().issued.token, self.settings
        return await selftest.run(self.api, settings.server, settings.cluster / "admin", token, request)

    def containment(self) -> Mapping[str, str]:
        """Give the containment literals by reference.

        Spec: 08-provider-conformance §3.2.
        """
        return self._preparation.values if self._preparation else {}

    def _booted(self) -> Boot:
        if self._boot is None:
            raise NotReady(f"environment: {self._trouble}")
        return self._boot

    def _begun(self) -> Record:
        if self._preparation is None or self._preparation.record is None:
            raise NotReady("audit: the run has not begun")
        return self._preparation.record

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _prepare(self, preparation: runs.Preparation) -> None:
        await preparation.run()
        if preparation.record is not None:
            self._watching = self._spawn(preparation.follow())
            if preparation.record.follower is not None:
                self._spawn(preparation.record.follower.watch())
            if preparation.record.waiting is not None:
                self._awaiting = self._spawn(preparation.record.waiting.watch(self._bring_about))

    async def _boot_world(self) -> None:
        folder = self.settings.cluster
        try:
            version, nodes = await boot_world(self.api, folder, self.settings.nodes)
            stages = (folder / "kwok" / "kwok.yaml").read_text()
            anonymous = await self.api.serves_anyone()
            self._boot = Boot(self._boot_id, version, nodes, stages, anonymous)
        except Exception as error:  # noqa: BLE001  # told by the health route, whatever it is
            self._trouble = f"boot failed: {error}"

    async def _end(self, record: Record) -> None:
        try:
            data = await runs.end_run(self.api, self.settings.cluster, self._booted(), record)
        except Exception as error:  # noqa: BLE001  # whatever breaks here is a fault of the world, and told
            await self._salvage(record, _told(error))
            return
        self._stopped(data)

    async def _salvage(self, record: Record, why: str) -> None:
        """Keep what a broken world left; where that is nothing, the stop has failed."""
        try:
            data = await runs.salvage(self.settings.cluster, self._booted(), record)
        except Exception:  # noqa: BLE001  # the first fault says more
            self._stop = StopStatus(StopState.FAILED, why)
            return
        self._stopped(data, why)

    def _stopped(self, data: bytes, message: str = "") -> None:
        self._evidence = data
        self._stop = StopStatus(StopState.STOPPED, message, len(data), runs.digest(data))


def _told(error: BaseException) -> str:
    """Give an error's name and words; of several at once those of the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
