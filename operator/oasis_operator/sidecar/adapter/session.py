"""The adapter's one life: waiting, checked, released or failed; and in it one identity and one run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from typing import TYPE_CHECKING, Any

from oasis_operator.errors import AgentFault, OasisError
from oasis_operator.sidecar.adapter import access, entry, isolation
from oasis_operator.sidecar.adapter.faults import GatewayError
from oasis_operator.sidecar.adapter.http_client import trust_only
from oasis_operator.sidecar.adapter.kinds import find_kind
from oasis_operator.sidecar.adapter.passage import Passage
from oasis_operator.sidecar.adapter.run import Run
from oasis_operator.sidecar.adapter.task import Task
from oasis_operator.wire.adapter import AdapterState, CancelRequest, Outcome, Phase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.adapter.options import Options
    from oasis_operator.wire.adapter import RunRequest
    from oasis_operator.wire.agent import Identity
    from oasis_operator.wire.release import Check, Credential, ReleaseRequest

_log = logging.getLogger(__name__)


class WrongStateError(OasisError):
    """The adapter does not stand where a request needs it to."""

    default_reason = "Conflict"


class NoRunError(OasisError):
    """A request asks for a run, and none was started."""

    default_reason = "NoRun"


class Session:
    """State of one adapter process; every method may be called again without doing a thing twice.

    Attributes:
        boot_id: New with each process.
        phase: See ``wire.adapter.Phase``.
    """

    def __init__(self, options: Options) -> None:
        """Begin to wait; an adapter that follows one which had given access is failed from the start."""
        self.boot_id = secrets.token_hex(8)
        self.phase = Phase.WAITING
        self._options = options
        self._message = ""
        self._isolation: tuple[Check, ...] = ()
        self._credential: Credential | None = None
        self._releasing: asyncio.Task[None] | None = None
        self._identity: Identity | None = None
        self._asking = asyncio.Lock()
        self._run: Run | None = None
        self._started = asyncio.Event()
        self._ending = asyncio.Event()
        self._passage: Passage | None = None
        self._trouble = ""
        if access.is_written(options.access_dir):
            self._fail("the adapter was restarted after it had given the agent access")

    @property
    def state(self) -> AdapterState:
        """Where the adapter stands."""
        return AdapterState(
            boot_id=self.boot_id,
            phase=self.phase,
            isolation=self._isolation,
            message=self._message,
            run=self._run.state if self._run else None,
        )

    def release(self, request: ReleaseRequest) -> None:
        """Begin to prove isolation and then release the agent; does nothing once it was asked for.

        Raises:
            InvalidInput: The credential's authority is none: the agent could not speak to its environment.
        """
        if request.credential:
            trust_only(request.credential.ca)
        if request.gateway:
            trust_only(request.gateway.ca)
        if self.phase is Phase.WAITING:
            self.phase = Phase.CHECKING
            self._releasing = asyncio.create_task(self._release(request))

    async def identify(self, adapter: Mapping[str, Any]) -> Identity:
        """Ask the agent who it is; once it has told, that answer stands.

        Raises:
            WrongStateError: The adapter was not released.
            InvalidInput: The adapter member cannot be run.
            AgentFault: The agent did not answer, or outside its contract.
        """
        self._require_released()
        kind = find_kind(adapter)
        async with self._asking:
            if self._identity is None:
                limit = self._options.identity_seconds
                try:
                    async with asyncio.timeout(limit):
                        self._identity = await kind.identify(adapter, self._options)
                except TimeoutError as error:
                    raise AgentFault(f"no identity within {limit:g} s", reason="AgentTimeout") from error
            return self._identity

    def start(self, request: RunRequest) -> Run:
        """Start the run, or give the one that has the same id.

        Raises:
            WrongStateError: Not released, meant for another process, or another run was started before.
            InvalidInput: The adapter member cannot be run.
        """
        if self._run and self._run.run_id == request.run_id:
            return self._run
        self._require_released()
        if request.boot_id not in ("", self.boot_id):
            message = f"boot_id: this is {self.boot_id}, the request is meant for {request.boot_id}"
            raise WrongStateError(message, reason="AdapterRestarted")
        if self._run:
            raise WrongStateError(f"run_id: {self._run.run_id} was started before", reason="AnotherRun")
        kind = find_kind(request.adapter)
        task = Task(request, self._credential, self._options, self._ending, self._passage)
        self._run = Run(kind, task)
        if self._trouble:
            self._run.fail(GatewayError(self._trouble))
        self._started.set()
        return self._run

    def run(self) -> Run:
        """Give the run.

        Raises:
            NoRunError: None was started.
        """
        if self._run is None:
            raise NoRunError("no run was started")
        return self._run

    async def linger(self, seconds: float) -> None:
        """Wait until the run's transcript was fetched, at most some seconds; at once where none can come.

        A kubelet ends a sidecar as soon as the agent's own container has ended, which a crash does too: the
        run then ends by itself, and its transcript must not go with the process. Where the agent had access
        and no run was started yet, that there is none is what must not go: only this adapter knows it.
        """
        self._ending.set()
        if self._run is None and self._credential is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._started.wait()
                await self.run().fetched.wait()

    async def close(self) -> None:
        """Stop what is under way."""
        if self._releasing:
            self._releasing.cancel()
            await asyncio.wait({self._releasing})
        if self._run:
            await self._run.cancel(CancelRequest(detail="the adapter was stopped"))
        if self._passage:
            await self._passage.close()

    async def _release(self, request: ReleaseRequest) -> None:
        try:
            self._isolation = await isolation.prove(request, self._options)
            wrong = isolation.explain(self._isolation)
            if wrong:
                self._fail(f"isolation does not hold: {wrong}")
                return
            if self._options.entry_dir is not None:
                entry.place_program(self._options.entry_program, self._options.entry_dir)
            if request.gateway is not None:
                self._passage = Passage(request.gateway, self._out_of_budget, self._at_fault)
                await self._passage.open(self._options.model_port)
            if request.credential:
                access.write_access(self._options.access_dir, request.credential)
        except Exception as error:  # noqa: BLE001 -- whatever broke, the agent must not start
            _log.exception("release")
            self._fail(f"release: {type(error).__name__}: {error}")
            return
        self._credential = request.credential
        self.phase = Phase.RELEASED
        _log.info("released")

    def _out_of_budget(self, detail: str) -> None:
        """Stop an agent whose model answers no more."""
        if self._run:
            self._run.stop(CancelRequest(Outcome.BUDGET, detail))

    def _at_fault(self, message: str) -> None:
        """End the run, now or as soon as it begins: what the agent makes of our fault says nothing of it."""
        self._trouble = self._trouble or message
        if self._run:
            self._run.fail(GatewayError(message))

    def _fail(self, message: str) -> None:
        self.phase, self._message = Phase.FAILED, message
        _log.error("%s", message)

    def _require_released(self) -> None:
        if self.phase is not Phase.RELEASED:
            raise WrongStateError(f"the adapter is {self.phase}, not released", reason="NotReleased")
