"""Workers that take keys from the queue and hand them to the reconciler of their kind."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from oasis_operator import errors
from oasis_operator.handlers import outcomes
from oasis_operator.reconcile.queue import Key, KeyQueue
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.handlers.watch_age import WatchAge
    from oasis_operator.ports.clock import Clock
    from oasis_operator.ports.kube import Kube
    from oasis_operator.reconcile.active import ActiveRuns
    from oasis_operator.reconcile.outcome import Requeue

_log = structlog.get_logger(__name__)
_LISTED = (kinds.AGENT, kinds.ENVIRONMENT, kinds.EVALUATION)
_JITTER = 0.2


class Reconciler(Protocol):
    """Makes one pass over one object."""

    async def reconcile(self, namespace: str, name: str) -> Requeue:
        """Make the pass and say when to come again."""
        ...


class PassMeter(Protocol):
    """Measures passes."""

    def passed(self, plural: str, result: str, seconds: float) -> None:
        """Count one pass."""
        ...


class Workers:
    """A fixed number of workers over one queue."""

    def __init__(
        self,
        queue: KeyQueue,
        reconcilers: Mapping[str, Reconciler],
        kube: Kube,
        clock: Clock,
        meter: PassMeter,
        count: int,
    ) -> None:
        """Look at keys with the reconciler named by their plural, `count` at a time."""
        self._queue = queue
        self._reconcilers = reconcilers
        self._kube = kube
        self._clock = clock
        self._meter = meter
        self._count = count

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._count):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            await self.one(await self._queue.get())

    async def one(self, key: Key) -> None:
        """Make one pass over a key that the queue handed out."""
        started = self._clock.now()
        try:
            requeue = await self._reconcilers[key.plural].reconcile(key.namespace, key.name)
        except Exception as error:  # noqa: BLE001 - one bad object must never stop the others
            outcome = outcomes.outcome_of(error, key, self._queue.failures(key) + 1)
            if outcome.fact is not None:
                await outcomes.show(self._kube, self._clock, key, outcome)
        else:
            outcome = outcomes.Outcome("success", after_seconds=requeue.after_seconds)
            for namespace, name in requeue.also:
                self._queue.add(Key(kinds.SCENARIO_RUN.plural, namespace, name))
        if outcome.failed:
            self._queue.failed(key)
        else:
            self._queue.done(key, outcome.after_seconds)
        seconds = (self._clock.now() - started).total_seconds()
        self._meter.passed(key.plural, outcome.result, seconds)


class Resync:
    """Looks at every object now and then, so that a lost event costs time and nothing else."""

    def __init__(
        self,
        queue: KeyQueue,
        kube: Kube,
        active: ActiveRuns,
        namespaces: tuple[str, ...],
        *,
        reads_policies: bool = False,
        age: WatchAge | None = None,
    ) -> None:
        """Look at the objects of `namespaces`, all for none, and tell `age` of them.

        With `reads_policies` their kind must be served before anything begins, or no gate could be decided.
        """
        self._queue = queue
        self._kube = kube
        self._active = active
        self._namespaces = namespaces or ("",)
        self._reads_policies = reads_policies
        self._age = age

    async def first(self) -> None:
        """Look at everything once, before any worker starts.

        Raises:
            Transient: When the API server does not answer, or serves one of the kinds not at all.
            NotReady: When rights are missing.
        """
        if self._reads_policies:
            await self._kube.list(kinds.EVALUATION_POLICY, "")
        await self.once()
        for namespace in self._namespaces:
            for body in await self._kube.list(kinds.SCENARIO_RUN, namespace):
                self._active.see(body)
                if (body.get("status") or {}).get("stage") != "Completed":
                    self._queue.add(_key(kinds.SCENARIO_RUN, body))

    async def once(self) -> None:
        """Have every Agent, Environment and Evaluation looked at; their runs are looked at through them."""
        for kind in _LISTED:
            found = [body for place in self._namespaces for body in await self._kube.list(kind, place)]
            for body in found:
                self._queue.add(_key(kind, body))
            if self._age is not None:
                self._age.listed(kind, found)

    async def run(self, seconds: float) -> None:
        """Repeat every so many seconds, more or less, until cancelled."""
        while True:
            spread = 1.0 + _JITTER * (2.0 * random.random() - 1.0)  # noqa: S311 - spreads load only
            await asyncio.sleep(seconds * spread)
            try:
                await self.once()
            except errors.OasisError as error:
                _log.warning("resync failed", reason=error.reason, message=error.message)


def _key(kind: kinds.Kind, body: Mapping[str, Any]) -> Key:
    meta = body["metadata"]
    return Key(kind.plural, meta["namespace"], meta["name"])
