"""The composition root: settings, clients, reconcilers, workers and kopf's watches, in one event loop."""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
import os
import signal
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import kopf
import structlog

from oasis_operator import errors, settings
from oasis_operator.clients import kube
from oasis_operator.clients.adapter_http import HttpAdapter
from oasis_operator.clients.artifact_store import FileArtifacts
from oasis_operator.clients.attempt_store import FileAttempts
from oasis_operator.clients.clock import SystemClock
from oasis_operator.clients.event_recorder import EventRecorder
from oasis_operator.clients.judge_pool import JudgePool
from oasis_operator.clients.live_http import HttpLiveEnvironment
from oasis_operator.clients.metrics import Metrics
from oasis_operator.clients.pki import RunKeys
from oasis_operator.clients.probe_http import HttpProbe
from oasis_operator.clients.profile_files import ClusterProfileFiles
from oasis_operator.clients.provider_http import HttpProvider
from oasis_operator.clients.provider_tls import ServingCertificate
from oasis_operator.clients.provision_store import FileProvisions
from oasis_operator.clients.sidecar_http import Channel
from oasis_operator.clients.stream_store import FileStreams
from oasis_operator.clients.token_review import TokenReviews
from oasis_operator.domains import readings_for
from oasis_operator.gates.publishing import Publisher
from oasis_operator.handlers import logs, probes, watches
from oasis_operator.handlers.intake import Intake
from oasis_operator.handlers.watch_age import WatchAge
from oasis_operator.handlers.workers import Reconciler, Resync, Workers
from oasis_operator.provider_api.provisioning import Tools
from oasis_operator.provider_api.serving import Serving
from oasis_operator.reconcile.active import ActiveRuns
from oasis_operator.reconcile.agent.reconciler import AgentReconciler
from oasis_operator.reconcile.boots import Boots
from oasis_operator.reconcile.deps import Deps
from oasis_operator.reconcile.environment.reconciler import EnvironmentReconciler
from oasis_operator.reconcile.evaluation.reconciler import EvaluationReconciler
from oasis_operator.reconcile.foreign import Foreign
from oasis_operator.reconcile.profiles import ProfileShelf
from oasis_operator.reconcile.queue import KeyQueue
from oasis_operator.reconcile.results import ResultShelf
from oasis_operator.reconcile.scenariorun import foreign_sweep, streaming
from oasis_operator.reconcile.scenariorun.reconciler import ScenarioRunReconciler
from oasis_operator.resources import kinds

_log = structlog.get_logger(__name__)
_WORKERS = 8
_OLD_DRAFT_SECONDS = 24 * 3600
_RESYNCS_MISSED = 2
_START_ATTEMPTS = 30
_START_PAUSE_SECONDS = 2.0


def main() -> int:
    """Run the operator until it is told to stop; returns its exit code."""
    try:
        chosen = settings.from_mapping(os.environ)
    except errors.InvalidSpec as error:
        sys.stderr.write(f"settings: {error.message}\n")
        return 2
    logs.configure(chosen.log_level)
    try:
        asyncio.run(run(chosen, os.environ.get("KUBECONFIG", "")))
    except errors.OasisError as error:
        _log.error("cannot run", reason=error.reason, message=error.message)
        return 1
    return 0


@dataclass(frozen=True, slots=True)
class Parts:
    """What the operator is made of.

    Attributes:
        deps: Ports and settings.
        queue: Keys to look at.
        metrics: Metrics.
        health: What the kubelet is told.
        age: How far the watches are behind.
        publisher: What keeps the admission list.
        serving: The provider contract for other evaluators, with its certificate; None where it is off.
    """

    deps: Deps
    queue: KeyQueue
    metrics: Metrics
    health: probes.Health
    age: WatchAge
    publisher: Publisher
    serving: tuple[Serving, ServingCertificate] | None


async def run(chosen: settings.Settings, kubeconfig: str = "") -> None:
    """Run until SIGTERM or SIGINT, or until a part of it ends.

    Raises:
        Transient: The API server does not answer, or does not serve our kinds.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        parts = await build(chosen, kubeconfig, stack)
        app = probes.build_app(parts.health, parts.metrics.render)
        await probes.serve(stack, app, chosen.health_port, chosen.reachability_port)
        if parts.serving is not None:
            serving, certificate = parts.serving
            await serving.start(stack, certificate)
        await _run_tasks(parts, stop)


async def build(chosen: settings.Settings, kubeconfig: str, stack: AsyncExitStack) -> Parts:
    """Make the clients and what works with them; the stack closes them."""
    clock, version = SystemClock(), importlib.metadata.version("oasis-operator")
    client = await kube.connect(kubeconfig)
    stack.push_async_callback(client.close)
    judge = JudgePool(readings_for)
    stack.callback(judge.close)
    artifacts = FileArtifacts(Path(chosen.artifacts_dir))
    await asyncio.to_thread(artifacts.discard_old_drafts, time.time() - _OLD_DRAFT_SECONDS)
    metrics = Metrics(version)
    channel = Channel()
    deps = Deps(
        kube=client,
        probe=HttpProbe(channel),
        live=HttpLiveEnvironment(channel),
        adapter=HttpAdapter(channel),
        artifacts=artifacts,
        attempts=FileAttempts(Path(chosen.artifacts_dir) / "attempts"),
        streams=FileStreams(Path(chosen.artifacts_dir) / "streams"),
        judge=judge,
        keys=RunKeys(),
        profiles=ProfileShelf(ClusterProfileFiles(client), judge),
        results=ResultShelf(artifacts, judge),
        active=ActiveRuns(),
        boots=Boots(),
        foreign=Foreign(HttpProvider(), FileProvisions(Path(chosen.artifacts_dir) / "provisions")),
        clock=clock,
        recorder=EventRecorder(client, clock, os.environ.get("HOSTNAME", "")),
        meter=metrics,
        settings=chosen,
        version=version,
    )
    loop = asyncio.get_running_loop()
    serving = _serving(deps, TokenReviews(client))
    age = WatchAge(loop.time)
    health = probes.Health(loop.time, lambda: age.seconds, _RESYNCS_MISSED * chosen.resync_seconds)
    publisher = Publisher(client, clock, chosen)
    parts = Parts(deps, KeyQueue(loop.time), metrics, health, age, publisher, serving)
    _measure(parts)
    return parts


def _serving(deps: Deps, tokens: TokenReviews) -> tuple[Serving, ServingCertificate] | None:
    """Make what serves environments to other evaluators, where that is switched on."""
    chosen = deps.settings.provider_api
    if chosen is None:
        return None
    tools = Tools(deps.kube, deps.probe, deps.live, deps.keys, deps.clock, deps.settings, chosen)
    serving = Serving(tools, deps.profiles, tokens, deps.version)
    return serving, ServingCertificate(deps.kube, deps.clock, deps.settings)


async def _run_tasks(parts: Parts, stop: asyncio.Event) -> None:
    """Look at everything once, then run workers and watches until one of them ends or `stop` is set."""
    chosen, deps, queue = parts.deps.settings, parts.deps, parts.queue
    resync = Resync(
        queue,
        deps.kube,
        deps.active,
        chosen.watch_namespaces,
        reads_policies=chosen.reads_policies,
        age=parts.age,
    )
    await _first_look(resync, stop)
    await streaming.sweep(deps)
    workers = Workers(queue, _reconcilers(deps), deps.kube, deps.clock, parts.metrics, _WORKERS)
    stopped = asyncio.create_task(stop.wait())
    ours = [
        asyncio.create_task(task)
        for task in (workers.run(), resync.run(chosen.resync_seconds), parts.health.tick())
    ]
    ours += [asyncio.create_task(_sweep(deps)), asyncio.create_task(parts.publisher.run())]
    if parts.serving is not None:
        serving, certificate = parts.serving
        ours.append(asyncio.create_task(serving.tend(certificate)))
    # Kopf leaves those tasks alone that existed before it, so it comes last.
    watching = asyncio.create_task(_watch(parts))
    parts.health.is_ready = True
    done, pending = await asyncio.wait({stopped, watching, *ours}, return_when=asyncio.FIRST_COMPLETED)
    parts.health.is_ready = False
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()
    # Kopf takes the signals for itself, so that its end is how a wish to stop arrives as well.
    if not done & {stopped, watching}:
        raise errors.Transient("a part of the operator ended by itself")


async def _sweep(deps: Deps) -> None:
    """Tear down what is left at foreign providers, as long as the operator runs."""
    while True:
        try:
            await foreign_sweep.sweep(deps)
        except errors.OasisError as error:
            _log.warning("sweep failed", reason=error.reason, message=error.message)
        await asyncio.sleep(foreign_sweep.PAUSE_SECONDS)


async def _first_look(resync: Resync, stop: asyncio.Event) -> None:
    """List everything; an API server that is not there yet, or serves our kinds later, is waited for."""
    for attempt in range(1, _START_ATTEMPTS + 1):
        try:
            await resync.first()
        except errors.OasisError as error:
            if attempt == _START_ATTEMPTS or stop.is_set():
                raise
            _log.warning("waiting for the API server", reason=error.reason, message=error.message)
            await asyncio.sleep(_START_PAUSE_SECONDS)
        else:
            return


async def _watch(parts: Parts) -> None:
    """Run kopf."""
    namespaces, reads = parts.deps.settings.watch_namespaces, parts.deps.settings.reads_policies
    intake = Intake(parts.queue, parts.deps.active, parts.age, parts.publisher.moved)
    recorder = parts.deps.recorder if parts.deps.settings.admission_list else None
    await kopf.operator(
        registry=watches.build_registry(intake, reads_policies=reads, recorder=recorder),
        settings=watches.build_settings(watches_whole_cluster=not namespaces),
        # Left to itself kopf asks for the user's name, which the numeric user of the image does not have.
        identity=os.environ.get("HOSTNAME", "oasis-operator"),  # type: ignore[arg-type]  # a NewType kept private
        standalone=True,
        clusterwide=not namespaces,
        namespaces=namespaces,
    )


def _reconcilers(deps: Deps) -> dict[str, Reconciler]:
    """Return the reconciler of each kind."""
    return {
        kinds.AGENT.plural: AgentReconciler(deps),
        kinds.ENVIRONMENT.plural: EnvironmentReconciler(deps),
        kinds.EVALUATION.plural: EvaluationReconciler(deps),
        kinds.SCENARIO_RUN.plural: ScenarioRunReconciler(deps),
    }


def _measure(parts: Parts) -> None:
    """Register the gauges that are read when they are asked for."""
    queue, health, active, publisher = parts.queue, parts.health, parts.deps.active, parts.publisher
    sources = {
        "oasis_workqueue_depth": lambda: float(queue.depth),
        "oasis_workqueue_failing": lambda: float(queue.failing),
        "oasis_workqueue_longest_running_seconds": lambda: queue.longest_running_seconds,
        "oasis_scenario_runs_active": lambda: float(active.total),
        "oasis_event_loop_lag_seconds": lambda: health.lag_seconds,
        "oasis_watch_behind_seconds": lambda: parts.age.seconds,
        "oasis_evaluations_lapsed": lambda: float(publisher.lapsed),
        "oasis_admission_list_renewed_timestamp_seconds": lambda: publisher.renewed_timestamp_seconds,
        "oasis_admission_list_subjects": lambda: float(publisher.subjects),
    }
    parts.metrics.gauges(sources)


if __name__ == "__main__":
    logging.captureWarnings(capture=True)
    sys.exit(main())
