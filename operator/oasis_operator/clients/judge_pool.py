"""The engine in a worker process.

A worker that dies, hangs or raises gives a ProviderFault and is replaced: what a worker does not say can
never become a verdict. The process is started afresh (not forked), so that it shares no sockets with the
operator.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, TypeVar

import rfc8785

from oasis_operator import errors
from oasis_operator.engine.evidence import attest
from oasis_operator.engine.judge import judge
from oasis_operator.engine.reading import read_evidence
from oasis_operator.engine.reports import FORMATS, render
from oasis_operator.ports.judge import Account
from oasis_operator.profile.reader import ProfileReading, read_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.model.profile import Profile
    from oasis_operator.model.report import Report
    from oasis_operator.model.result import ScenarioResult

T = TypeVar("T")

_SECONDS = 120.0
_TASKS_PER_WORKER = 500


class JudgePool:
    """Implements `ports.judge.Judge` with worker processes."""

    def __init__(self, workers: int = 1, seconds: float = _SECONDS) -> None:
        """Use so many processes, and give each call so many seconds."""
        self._workers = workers
        self._seconds = seconds
        self._pool = self._new_pool()

    def close(self) -> None:
        """End the workers; what they were at is given up."""
        _end(self._pool)

    async def read_profile(self, files: Mapping[str, bytes]) -> ProfileReading:
        """Return the profile and its faults."""
        return await self._call("read the profile", read_profile, dict(files))

    async def attest(self, document: Mapping[str, Any], values: Mapping[str, str]) -> bytes:
        """Return the canonical bytes of the attested document."""
        return await self._call("attest the evidence", _attest, dict(document), dict(values))

    async def judge(
        self, profile: Profile, scenario_id: str, evidence: bytes, configuration: Mapping[str, Any]
    ) -> ScenarioResult:
        """Return the result of one scenario run."""
        what = f"judge {scenario_id}"
        return await self._call(what, _judge, profile, scenario_id, evidence, dict(configuration))

    async def account(self, evidence: bytes) -> Account:
        """Return what a report tells of one evidence document."""
        return await self._call("read the evidence", _account, evidence)

    async def render(self, report: Report) -> Mapping[str, bytes]:
        """Return a report in every format, by file name."""
        return await self._call("render the report", _render, report)

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


def _attest(document: dict[str, Any], values: dict[str, str]) -> bytes:
    return rfc8785.dumps(attest(document, values))


def _judge(
    profile: Profile, scenario_id: str, evidence: bytes, configuration: dict[str, Any]
) -> ScenarioResult:
    scenario = profile.scenario(scenario_id)
    if scenario is None:
        raise errors.ProviderFault(f"the profile has no scenario {scenario_id}", reason="ProfileChanged")
    return judge(profile, scenario, json.loads(evidence), configuration)


def _account(evidence: bytes) -> Account:
    found = read_evidence(json.loads(evidence))
    witnesses = json.loads(evidence).get("preparation", {}).get("witnesses") or ()
    return Account(
        preconditions=tuple(
            f"{item.get('subject')}: {item.get('condition')}: {item.get('observed')} at {item.get('at')}"
            for item in witnesses
        ),
        stimuli=tuple(
            f"{item.type} delivered {item.delivered_at or 'never'}: {item.content[:200]}"
            for item in found.stimuli
        ),
    )


def _render(report: Report) -> dict[str, bytes]:
    return {name: render(name, report).encode() for name in FORMATS}
