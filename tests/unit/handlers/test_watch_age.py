from __future__ import annotations

from typing import Any

from kit.fakes.cluster import NAMESPACE
from kit.fakes.kube import FakeKube
from oasis_operator.handlers import probes, watches
from oasis_operator.handlers.intake import Intake
from oasis_operator.handlers.watch_age import WatchAge
from oasis_operator.handlers.workers import Resync
from oasis_operator.reconcile.active import ActiveRuns
from oasis_operator.reconcile.queue import KeyQueue
from oasis_operator.resources import kinds


class Watched:
    """A list and an intake that tell one age, with a clock moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.kube = FakeKube()
        self.age = WatchAge(lambda: self.now)
        queue = KeyQueue(lambda: self.now)
        self.intake = Intake(queue, ActiveRuns(), self.age)
        self.resync = Resync(queue, self.kube, ActiveRuns(), (), age=self.age)

    def agent(self) -> dict[str, Any]:
        return self.kube.seed(kinds.AGENT, {"metadata": {"name": "helper", "namespace": NAMESPACE}})


async def test_a_quiet_cluster_has_no_age() -> None:
    watched = Watched()
    watched.intake.referenced(kinds.AGENT, watched.agent())
    watched.now = 10_000.0
    await watched.resync.once()
    watched.now = 20_000.0
    assert watched.age.seconds == 0.0


async def test_a_change_that_no_event_told_of_grows_old_until_one_does() -> None:
    watched = Watched()
    watched.intake.referenced(kinds.AGENT, watched.agent())
    watched.kube.edit(kinds.AGENT, NAMESPACE, "helper", lambda item: item.update(spec={"mode": "Supervised"}))
    await watched.resync.once()
    watched.now = 250.0
    # What changes on and on is no younger for it.
    watched.kube.edit(kinds.AGENT, NAMESPACE, "helper", lambda item: item.update(spec={"mode": "Autonomous"}))
    await watched.resync.once()
    watched.now = 600.0
    assert watched.age.seconds == 600.0
    health = probes.Health(lambda: 0.0, lambda: watched.age.seconds, 600.0)
    assert health.ailment == "the watches have been silent on a change for 600 s"
    watched.intake.referenced(kinds.AGENT, watched.kube.one(kinds.AGENT, NAMESPACE, "helper"))
    assert watched.age.seconds == 0.0
    assert not health.ailment


async def test_an_object_that_is_gone_is_missed_by_nobody() -> None:
    watched = Watched()
    body = watched.agent()
    await watched.resync.once()
    watched.now = 50.0
    assert watched.age.seconds == 50.0
    watched.kube.remove((kinds.AGENT.plural, NAMESPACE, "helper"))
    await watched.resync.once()
    assert watched.age.seconds == 0.0
    watched.intake.referenced(kinds.AGENT, body, "DELETED")
    assert watched.age.seconds == 0.0


async def test_an_event_that_is_ahead_of_a_slow_list_is_not_behind() -> None:
    watched = Watched()
    old = watched.agent()
    new = {"metadata": {**old["metadata"], "resourceVersion": "1000"}}
    watched.intake.referenced(kinds.AGENT, new)
    watched.age.listed(kinds.AGENT, [old])
    watched.now = 1000.0
    assert watched.age.seconds == 0.0


def test_no_watch_lasts_for_ever_whoever_falls_silent() -> None:
    chosen = watches.build_settings(watches_whole_cluster=True).watching
    # The API server reads no fractions.
    assert isinstance(chosen.server_timeout, int)
    assert chosen.client_timeout is not None
    assert chosen.connect_timeout is not None
    assert chosen.server_timeout < chosen.client_timeout
