"""One operator process over the cluster in memory: intake, queue and workers, stepped by hand.

Unlike `Cluster.turn`, which looks at everything in order, nothing is looked at here unless an event, a requeue
or a resync asked for it. The watch is a list of events that a test delivers, repeats, reorders or loses.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kit.fakes.kube import Crash
from oasis_operator import errors
from oasis_operator.handlers.intake import Intake
from oasis_operator.handlers.workers import Reconciler, Resync, Workers
from oasis_operator.reconcile.queue import KeyQueue
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from kit.fakes.cluster import Cluster

WATCHED = (kinds.AGENT, kinds.ENVIRONMENT, kinds.EVALUATION, kinds.SCENARIO_RUN, kinds.POD)
_DUE_AT_ONCE = 50


class NoMeter:
    """Measures nothing."""

    def passed(self, plural: str, result: str, seconds: float) -> None:
        """Count nothing."""


@dataclass
class Process:
    """The operator between two deaths, and the watch that outlives them.

    Attributes:
        cluster: What it works on.
        events: What the watch has not delivered yet, oldest first.
        deaths: How often it died.
    """

    cluster: Cluster
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    deaths: int = 0

    def __post_init__(self) -> None:
        self.cluster.kube.listeners.append(self._see)
        self._build()

    async def start(self) -> None:
        """Look at everything once, as a process does before its workers run; refused, it looks again."""
        deaths = self.deaths
        while deaths == self.deaths:
            try:
                await self._mortal(self.resync.first())
            except errors.Transient:
                continue
            return

    async def look(self) -> None:
        """Look at everything, as happens now and then."""
        with contextlib.suppress(errors.Transient):
            await self._mortal(self.resync.once())

    async def restart(self) -> None:
        """Die and come back: what was in memory is gone, and a new watch tells what exists."""
        self.cluster.restart()
        self._build()
        self.relist()
        await self.start()

    def relist(self) -> None:
        """Begin the watch anew, as after 410: all that exists is told, and no deletion that was missed."""
        kube = self.cluster.kube
        self.events[:] = [("ADDED", item) for kind in WATCHED for item in kube.of(kind)]

    def deliver(self, number: int, *, keep: bool = False) -> None:
        """Hand one event to the intake, wherever it stands in the line; `keep` has it come again."""
        index = number % len(self.events)
        type_, body = self.events[index] if keep else self.events.pop(index)
        kind = next(kind for kind in WATCHED if kind.name == body["kind"])
        if kind == kinds.EVALUATION:
            self.intake.evaluation(body, type_)
        elif kind == kinds.SCENARIO_RUN:
            self.intake.scenario_run(body, type_)
        elif kind == kinds.POD:
            self.intake.pod(body)
        else:
            self.intake.referenced(kind, body)

    async def work(self, passes: int = _DUE_AT_ONCE) -> None:
        """Make at most so many of the passes that are due."""
        for _ in range(passes):
            if not self.queue.depth:
                return
            await self._mortal(self._one())

    async def settle(self, rounds: int = 400) -> None:
        """Let everything go its way until every Evaluation is over and the queue is at rest.

        Raises:
            AssertionError: It does not come to its end.
        """
        for number in range(rounds):
            while self.events:
                self.deliver(0)
            await self.work()
            self.cluster.kubelet.tick()
            self.cluster.clock.advance(0.5)
            if number % 20 == 0:
                await self.look()
            if self.cluster.is_quiet() and not self.events and not self.queue.depth:
                return
        conditions = [item["status"] for item in self.cluster.kube.of(kinds.EVALUATION)]
        raise AssertionError(f"not settled: {conditions}")

    async def _one(self) -> None:
        await self.workers.one(await self.queue.get())

    async def _mortal(self, work: Any) -> None:
        """Do some work that the process may die of; it then comes back at once."""
        try:
            await work
        except Crash:
            self.deaths += 1
            await self.restart()

    def _build(self) -> None:
        cluster = self.cluster
        self.queue = KeyQueue(lambda: cluster.clock.now().timestamp(), jitter=lambda: 0.0)
        self.intake = Intake(self.queue, cluster.deps.active)
        self.resync = Resync(self.queue, cluster.kube, cluster.deps.active, ())
        reconcilers: dict[str, Reconciler] = {
            kinds.EVALUATION.plural: cluster.evaluations,
            kinds.SCENARIO_RUN.plural: cluster.runs,
            kinds.ENVIRONMENT.plural: cluster.environments,
            kinds.AGENT.plural: cluster.agents,
        }
        self.workers = Workers(self.queue, reconcilers, cluster.kube, cluster.clock, NoMeter(), 1)

    def _see(self, type_: str, body: dict[str, Any]) -> None:
        if body["kind"] in {kind.name for kind in WATCHED}:
            self.events.append((type_, body))
