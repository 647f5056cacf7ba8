"""Everything a reconciler is given; nothing is looked up globally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oasis_operator.ports.adapter import Adapter
    from oasis_operator.ports.artifacts import Artifacts
    from oasis_operator.ports.attempts import Attempts
    from oasis_operator.ports.clock import Clock
    from oasis_operator.ports.judge import Judge
    from oasis_operator.ports.keys import Keys
    from oasis_operator.ports.kube import Kube
    from oasis_operator.ports.live import LiveEnvironment
    from oasis_operator.ports.probe import Probe
    from oasis_operator.ports.recorder import Meter, Recorder
    from oasis_operator.ports.streams import Streams
    from oasis_operator.reconcile.active import ActiveRuns
    from oasis_operator.reconcile.boots import Boots
    from oasis_operator.reconcile.foreign import Foreign
    from oasis_operator.reconcile.profiles import ProfileShelf
    from oasis_operator.reconcile.results import ResultShelf
    from oasis_operator.settings import Settings


@dataclass(frozen=True, slots=True)
class Deps:
    """The ports and settings of one operator process.

    Attributes:
        kube: The cluster.
        probe: Environment pods.
        live: The same, while what they were made for goes on.
        adapter: Agent pods.
        artifacts: Evidence and reports.
        attempts: The record of attempts.
        streams: Logs of runs that go on.
        judge: The engine.
        keys: Fresh keys for a run.
        profiles: Profiles, read and kept.
        results: Results, judged and kept.
        active: Runs that hold a slot.
        boots: Environments that are booted ahead.
        foreign: Providers of others.
        clock: Time.
        recorder: Events.
        meter: Metrics.
        settings: Settings.
        version: Version of the operator.
    """

    kube: Kube
    probe: Probe
    live: LiveEnvironment
    adapter: Adapter
    artifacts: Artifacts
    attempts: Attempts
    streams: Streams
    judge: Judge
    keys: Keys
    profiles: ProfileShelf
    results: ResultShelf
    active: ActiveRuns
    boots: Boots
    foreign: Foreign
    clock: Clock
    recorder: Recorder
    meter: Meter
    settings: Settings
    version: str
