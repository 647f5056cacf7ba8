"""Whatever befalls events, calls and the process itself, the end is that of the undisturbed course."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kit import surroundings
from kit.fakes.cluster import HTTP, NAMESPACE, SETTINGS, Cluster
from kit.fakes.judge import a_profile, a_scenario
from kit.fakes.kube import WRITES, Call, Crash
from kit.fakes.process import Process
from kit.fakes.sidecars import Agent
from kit.invariants import Invariants
from oasis_operator import errors
from oasis_operator.ports import kube
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Callable

AGENTS = {"careful": Agent(), "reckless": Agent(audit=({"verb": "forbidden"},))}
REFUSALS = (kube.CONFLICT, kube.EXPIRED, kube.THROTTLED, kube.SERVER_ERROR, kube.NETWORK)
NAMES = ("first", "second")
SLOTS = 2
TARGETS = (
    ("create", "ScenarioRun"),
    ("create", "Pod"),
    ("create", "Secret"),
    ("write_status", "ScenarioRun"),
    ("write_status", "Evaluation"),
    ("delete", "Pod"),
    ("delete", "Secret"),
)
"""Calls that change what the next pass sees."""
COUNT = st.integers(min_value=1, max_value=12)


def a_cluster(agent: str, parallelism: int) -> Cluster:
    """Return a cluster with two Evaluations of two scenarios, of which the agent meets the first as told."""
    scenarios = a_profile(a_scenario("s-1"), a_scenario("s-2"))
    # Fewer slots than runs, so that one that is lost keeps somebody waiting.
    cluster = Cluster(profile=scenarios, settings=replace(SETTINGS, parallelism=SLOTS))
    cluster.drives_environments = True
    cluster.world.agents["s-1"] = AGENTS[agent]
    for name in NAMES:
        cluster.user_evaluates(HTTP, name=name, parallelism=parallelism)
    return cluster


def ending(cluster: Cluster) -> dict[str, Any]:
    """Return what must not depend on disturbances."""
    shown = ("verdict", "counts", "progress", "failures", "attempt", "scores")
    evaluations = {name: {key: cluster.status(name).get(key) for key in shown} for name in NAMES}
    runs = {
        run["metadata"]["name"].rpartition("-")[0]: (
            run["status"]["outcome"],
            run["status"].get("assertions"),
        )
        for run in cluster.kube.of(kinds.SCENARIO_RUN)
    }
    reasons = {name: cluster.condition("Passed", name).get("reason") for name in NAMES}
    left = (kinds.POD, kinds.SECRET, kinds.NETWORK_POLICY)
    return {
        "evaluations": evaluations,
        "runs": runs,
        "reasons": reasons,
        "left": [item["metadata"]["name"] for kind in left for item in cluster.kube.of(kind)],
        "drafts": dict(cluster.artifacts.drafts),
        "sent": len(cluster.world.sent),
    }


@cache
def undisturbed(agent: str, parallelism: int) -> dict[str, Any]:
    """Return the end of a course that nothing disturbs."""

    async def course() -> dict[str, Any]:
        cluster = a_cluster(agent, parallelism)
        process = Process(cluster)
        await process.start()
        await process.settle()
        return ending(cluster)

    with asyncio.Runner() as runner:
        return runner.run(course())


class Disturbed(RuleBasedStateMachine):
    """One operator process, its watch, its API server and its sidecars, each of which may fail."""

    def __init__(self) -> None:
        """Begin with a loop; the cluster comes with the first rule."""
        super().__init__()
        self.runner = asyncio.Runner()
        self.key = ("careful", 1)

    @initialize(agent=st.sampled_from(sorted(AGENTS)), parallelism=st.integers(1, 2))
    def begin(self, agent: str, parallelism: int) -> None:
        """Start an operator beside two new Evaluations."""
        self.key = (agent, parallelism)
        self.cluster = a_cluster(agent, parallelism)
        self.watch = Invariants(self.cluster)
        self.process = Process(self.cluster)
        self.runner.run(self.process.start())

    def is_watched(self) -> bool:
        """Whether the watch has something to tell."""
        return bool(self.process.events)

    @rule(number=st.integers(0, 1000), count=COUNT)
    @precondition(is_watched)
    def deliver_in_any_order(self, number: int, count: int) -> None:
        """Deliver some events."""
        for _ in range(min(count, len(self.process.events))):
            self.process.deliver(number)

    @rule(number=st.integers(0, 1000))
    @precondition(is_watched)
    def deliver_and_keep(self, number: int) -> None:
        """Deliver an event that will come again, by then out of date."""
        self.process.deliver(number, keep=True)

    @rule(number=st.integers(0, 1000), count=COUNT)
    @precondition(is_watched)
    def lose(self, number: int, count: int) -> None:
        """Lose some events."""
        for _ in range(min(count, len(self.process.events))):
            self.process.events.pop(number % len(self.process.events))

    @rule()
    def expire(self) -> None:
        """End the watch with 410 and begin another."""
        self.process.relist()

    @rule()
    def resync(self) -> None:
        """Let the periodic look at everything happen."""
        self.runner.run(self.process.look())

    @rule(passes=st.integers(1, 30))
    def work(self, passes: int) -> None:
        """Make some of the passes that are due."""
        self.runner.run(self.process.work(passes))

    @rule(seconds=st.sampled_from((0.25, 0.5, 1.0, 3.0)))
    def wait(self, seconds: float) -> None:
        """Let the kubelet work and time pass."""
        self.cluster.kubelet.tick()
        self.cluster.clock.advance(seconds)

    @rule(rounds=st.integers(1, 25))
    def go_on(self, rounds: int) -> None:
        """Let everything go its way for a while, so that late stages are met as well."""
        self.runner.run(self._go_on(rounds))

    @rule(call=COUNT, reason=st.sampled_from(REFUSALS))
    def refuse(self, call: int, reason: str) -> None:
        """Have the n-th call from now refused."""
        self.cluster.kube.faults = at(call, errors.Transient("refused for now", reason=reason))

    @rule(call=COUNT)
    def lose_an_answer(self, call: int) -> None:
        """Have the n-th write from now carried out, and its answer time out."""
        lost = errors.Transient("timed out", reason=kube.NETWORK)
        self.cluster.kube.after = at(call, lost, only=WRITES)

    @rule(sort=st.sampled_from(TARGETS), how=st.sampled_from(("refuse", "lose", "die")))
    def aim(self, sort: tuple[str, str], how: str) -> None:
        """Refuse the next call of one sort, lose its answer, or die of it."""
        error = Crash() if how == "die" else errors.Transient("disturbed", reason=kube.NETWORK)

        def hook(call: Call) -> None:
            if (call.verb, call.kind) == sort:
                self._calm()
                raise error

        if how == "lose":
            self.cluster.kube.after = hook
        else:
            self.cluster.kube.faults = hook

    @rule(call=COUNT, before=st.booleans())
    def die(self, call: int, before: bool) -> None:
        """Die right before or right after the n-th call from now."""
        if before:
            self.cluster.kube.faults = at(call, Crash())
        else:
            self.cluster.kube.after = at(call, Crash())

    @rule(call=COUNT, dies=st.booleans())
    def break_a_question(self, call: int, dies: bool) -> None:
        """Have the n-th question to a sidecar from now fail, or be the last of this process."""
        error = Crash() if dies else errors.Transient("no answer", reason=kube.NETWORK)
        self.cluster.world.faults = at(call, error)

    @rule(call=COUNT, number=st.integers(0, 100))
    def meddle(self, call: int, number: int) -> None:
        """Have somebody annotate an object of ours in the middle of a pass: its status write meets a conflict."""

        def annotate() -> None:
            owned = [*self.cluster.kube.of(kinds.EVALUATION), *self.cluster.kube.of(kinds.SCENARIO_RUN)]
            meta = owned[number % len(owned)]["metadata"]
            kind = kinds.EVALUATION if meta["name"] in NAMES else kinds.SCENARIO_RUN
            self.cluster.kube.edit(kind, NAMESPACE, meta["name"], _annotate)

        self.cluster.kube.faults = at(call, annotate)

    @invariant()
    def nothing_is_broken(self) -> None:
        """Hold after every step, for every change made in it."""
        if hasattr(self, "watch"):
            self.watch.check()

    def teardown(self) -> None:
        """Stop disturbing; the end must be the undisturbed one."""
        try:
            if hasattr(self, "watch"):
                self._calm()
                self.runner.run(self.process.settle())
                self.watch.check()
                assert ending(self.cluster) == undisturbed(*self.key)
        finally:
            self.runner.close()

    def _calm(self) -> None:
        self.cluster.kube.faults = self.cluster.kube.after = lambda call: None
        self.cluster.world.faults = lambda call: None

    async def _go_on(self, rounds: int) -> None:
        for _ in range(rounds):
            while self.process.events:
                self.process.deliver(0)
            await self.process.work()
            self.cluster.kubelet.tick()
            self.cluster.clock.advance(0.5)


def at(number: int, what: BaseException | Callable[[], None], only: frozenset[str] | None = None) -> Any:
    """Return a hook that does something at the n-th call, and at no other."""
    left = [number]

    def hook(call: Call | str) -> None:
        if only is not None and isinstance(call, Call) and call.verb not in only:
            return
        left[0] -= 1
        if left[0] == 0:
            if isinstance(what, BaseException):
                raise what
            what()

    return hook


def _annotate(item: dict[str, Any]) -> None:
    notes = item["metadata"].setdefault("annotations", {})
    notes["example.com/seen"] = str(int(notes.get("example.com/seen", "0")) + 1)


TestDisturbed = Disturbed.TestCase
TestDisturbed.settings = settings(max_examples=surroundings.examples(25), stateful_step_count=40)
