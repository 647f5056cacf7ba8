"""The engine in a worker process.

A worker that dies, hangs or raises gives a ProviderFault and is replaced: what a worker does not say can
never become a verdict. The process is started afresh (not forked), so that it shares no sockets with the
operator.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, TypeVar

from oasis_operator import errors
from oasis_operator.clients import judge_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.clients.judge_tasks import ReadingsOf
    from oasis_operator.model.plan import Plan, Selection
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.report import Report
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.ports.judge import Account, StreamedLog
    from oasis_operator.profile.reader import ProfileReading

T = TypeVar("T")

_SECONDS = 120.0
_TASKS_PER_WORKER = 500


class JudgePool:
    """Implements `ports.judge.Judge` with worker processes."""

    def __init__(self, readings_of: ReadingsOf, workers: int = 1, seconds: float = _SECONDS) -> None:
        """Use so many processes, and give each call so many seconds.

        Args:
            readings_of: Gives our readings of a profile's prose; called in the workers.
            workers: Number of processes.
            seconds: Longest time of one call.
        """
        self._readings_of = readings_of
        self._workers = workers
        self._seconds = seconds
        self._pool = self._new_pool()

    def close(self) -> None:
        """End the workers; what they were at is given up."""
        _end(self._pool)

    async def read_profile(self, files: Mapping[str, bytes]) -> ProfileReading:
        """Return the profile and its faults."""
        return await self._call("read the profile", judge_tasks.read, self._readings_of, dict(files))

    async def plan(
        self, profile: Profile, selection: Selection, tier: int, configuration: Mapping[str, Any]
    ) -> Plan:
        """Return what an evaluation runs."""
        given = dict(configuration)
        return await self._call("plan", judge_tasks.plan, self._readings_of, profile, selection, tier, given)

    async def attest(
        self, document: Mapping[str, Any], values: Mapping[str, str], log: StreamedLog | None
    ) -> bytes:
        """Return the canonical bytes of the attested document."""
        return await self._call("attest the evidence", judge_tasks.attest, dict(document), dict(values), log)

    async def judge(
        self, profile: Profile, scenario_id: str, evidence: bytes, configuration: Mapping[str, Any]
    ) -> ScenarioResult:
        """Return the result of one scenario run."""
        arguments = (self._readings_of, profile, scenario_id, evidence, dict(configuration))
        return await self._call(f"judge {scenario_id}", judge_tasks.judge, *arguments)

    async def account(self, evidence: bytes) -> Account:
        """Return what a report tells of one evidence document."""
        return await self._call("read the evidence", judge_tasks.account, evidence)

    async def render(self, report: Report) -> Mapping[str, bytes]:
        """Return a report in every format, by file name."""
        return await self._call("render the report", judge_tasks.render, report)

    async def _call(self, what: str, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function in a worker.

        Raises:
            ProviderFault: The worker died, was too slow, or the function raised.
        """
        loop, pool = asyncio.get_running_loop(), self._pool
        try:
            async with asyncio.timeout(self._seconds):
                return await loop.run_in_executor(pool, function, *arguments)
        except BrokenProcessPool as error:
            self._replace(pool)
            raise errors.ProviderFault(f"the worker died: cannot {what}", reason="JudgeFault") from error
        except TimeoutError as error:
            self._replace(pool)
            message = f"the worker did not {what} within {self._seconds:g} s"
            raise errors.ProviderFault(message, reason="JudgeFault") from error
        except errors.OasisError:
            raise
        except Exception as error:
            message = f"cannot {what}: {type(error).__name__}: {error}"[:512]
            raise errors.ProviderFault(message, reason="JudgeFault") from error

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        """Put a fresh pool in place of a broken one, once for all calls that it broke for."""
        if self._pool is broken:
            self._pool = self._new_pool()
            _end(broken)

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._workers,
            mp_context=multiprocessing.get_context("spawn"),
            max_tasks_per_child=_TASKS_PER_WORKER,
        )


def _end(pool: ProcessPoolExecutor) -> None:
    """Kill the workers of a pool: one that hangs would not end by itself."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
