"""A whole cluster in memory with the operator's reconcilers in it, stepped by hand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from kit.fakes.clock import FakeClock
from kit.fakes.judge import FakeJudge, FakeProfileFiles, a_profile, a_scenario
from kit.fakes.kube import Crash, FakeKube
from kit.fakes.live import FakeLive
from kit.fakes.sidecars import Agent, FakeAdapter, FakeProbe, World
from kit.fakes.stores import (
    FakeArtifacts,
    FakeAttempts,
    FakeKeys,
    FakeMeter,
    FakeProvisions,
    FakeRecorder,
    FakeStreams,
)
from kit.kubelet import Kubelet
from kit.provider import SmallProvider
from oasis_operator import errors, settings
from oasis_operator.api.v1alpha1.agent import AgentSpec
from oasis_operator.clients.provider_http import HttpProvider
from oasis_operator.profile.reader import ProfileReading
from oasis_operator.reconcile.active import ActiveRuns
from oasis_operator.reconcile.agent.reconciler import AgentReconciler
from oasis_operator.reconcile.boots import Boots
from oasis_operator.reconcile.deps import Deps
from oasis_operator.reconcile.environment.reconciler import EnvironmentReconciler
from oasis_operator.reconcile.evaluation.reconciler import EvaluationReconciler
from oasis_operator.reconcile.foreign import Foreign
from oasis_operator.reconcile.profiles import ProfileShelf
from oasis_operator.reconcile.results import ResultShelf
from oasis_operator.reconcile.scenariorun.reconciler import ScenarioRunReconciler
from oasis_operator.resources import answers, kinds, names, network_policy, subject

NAMESPACE = "shop"
SETTINGS = settings.Settings(
    namespace="oasis-system",
    images=settings.Images(sidecar="registry.example/sidecar:1", sandbox="registry.example/sandbox:1"),
    api_server=settings.Endpoint("10.96.0.1", 443),
    pod_ip="10.1.0.1",
    node_ip="192.0.2.10",
)
SCRIPTED: dict[str, Any] = {
    "scripted": {"identity": {"name": "helper", "version": "1.2.3"}, "answer": "done"},
    "mode": "Autonomous",
}
HTTP: dict[str, Any] = {"http": {"port": 8080}, "image": "registry.example/agent:1", "mode": "Autonomous"}


class Resolved(HttpProvider):
    """Speaks to the provider of the kit, at whatever host."""

    async def addresses(self, host: str) -> tuple[str, ...]:
        return ("203.0.113.7",)


@dataclass
class Cluster:
    """Ports, reconcilers and users of one cluster.

    `turn` makes one pass over everything that wants one, as the queue would; `settle` turns until nothing more
    happens, and time passes between turns.
    """

    profile: Any = None
    clock: FakeClock = field(default_factory=FakeClock)
    world: World = field(default_factory=World)
    artifacts: FakeArtifacts = field(default_factory=FakeArtifacts)
    attempts: FakeAttempts = field(default_factory=FakeAttempts)
    streams: FakeStreams = field(default_factory=FakeStreams)
    files: FakeProfileFiles = field(default_factory=FakeProfileFiles)
    settings: settings.Settings = SETTINGS
    kube: FakeKube = field(init=False)
    kubelet: Kubelet = field(init=False)
    judge: FakeJudge = field(init=False)
    meter: FakeMeter = field(default_factory=FakeMeter)
    drives_evaluations: bool = False
    drives_environments: bool = False
    provider: SmallProvider = field(default_factory=SmallProvider)
    provisions: FakeProvisions = field(default_factory=FakeProvisions)
    live: FakeLive = field(default_factory=FakeLive)

    def __post_init__(self) -> None:
        self.profile = self.profile or a_profile(a_scenario("s-1"))
        self.kube = FakeKube(clock=self.clock.now)
        self.kubelet = Kubelet(self.kube, self.world)
        self.judge = FakeJudge(ProfileReading(self.profile, ()))
        self.world.elsewhere = self._acts_elsewhere
        self.restart()

    def restart(self) -> None:
        """Start the operator anew: everything that it held in memory is gone."""
        self.recorder = FakeRecorder(self.kube, self.clock.now())
        self.deps = Deps(
            kube=self.kube,
            probe=FakeProbe(self.world),
            live=self.live,
            adapter=FakeAdapter(self.world),
            artifacts=self.artifacts,
            attempts=self.attempts,
            streams=self.streams,
            judge=self.judge,
            keys=FakeKeys(),
            profiles=ProfileShelf(self.files, self.judge),
            results=ResultShelf(self.artifacts, self.judge),
            active=ActiveRuns(),
            boots=Boots(),
            foreign=Foreign(Resolved(self.provider.transport()), self.provisions),
            clock=self.clock,
            recorder=self.recorder,
            meter=self.meter,
            settings=self.settings,
            version="0.1.0",
        )
        self.runs = ScenarioRunReconciler(self.deps)
        self.evaluations = EvaluationReconciler(self.deps)
        self.environments = EnvironmentReconciler(self.deps)
        self.agents = AgentReconciler(self.deps)
        for run in self.kube.of(kinds.SCENARIO_RUN):
            self.deps.active.see(run)

    async def turn(self) -> None:
        """Make one pass over each object, as events and requeues would."""
        if self.drives_evaluations:
            for evaluation in self.kube.of(kinds.EVALUATION):
                await self._pass(self.evaluations, evaluation)
        for run in self.kube.of(kinds.SCENARIO_RUN):
            await self._pass(self.runs, run)
        if self.drives_environments:
            for environment in self.kube.of(kinds.ENVIRONMENT):
                await self._pass(self.environments, environment)
        self.kubelet.tick()
        for _ in range(50 if self.deps.foreign.desk.is_busy else 0):
            await asyncio.sleep(0)
        self.clock.advance(0.25)

    async def _pass(self, reconciler: Any, body: dict[str, Any]) -> None:
        try:
            await reconciler.reconcile(body["metadata"]["namespace"], body["metadata"]["name"])
        except errors.Transient:
            return

    async def settle(self, turns: int = 200) -> None:
        """Turn until every run is over; fails where that takes too long."""
        for _ in range(turns):
            await self.turn()
            if self.is_quiet():
                return
        raise AssertionError(f"not settled: {[self.stage(run) for run in self.kube.of(kinds.SCENARIO_RUN)]}")

    async def settle_through_crashes(self, crash_at: int) -> None:
        """Settle, with the operator dying right after its n-th call and starting again."""
        remaining = [crash_at]

        def die(_call: object) -> None:
            remaining[0] -= 1
            if remaining[0] == 0:
                raise Crash

        self.kube.after = die
        for _ in range(200):
            try:
                await self.turn()
            except Crash:
                self.restart()
                continue
            if self.is_quiet():
                return
        raise AssertionError("not settled after a crash")

    def _acts_elsewhere(self, _run_id: str) -> Agent:
        """Let the agent act in the newest environment of the provider."""
        name = self.provider.alive[-1]
        scenario_id = self.provider.environments[name].request["scenario_id"]
        agent = self.world.agents.get(scenario_id, Agent())
        for entry in agent.audit:
            self.provider.acts(name, **{"resource": "pods", **entry})
        return agent

    def is_quiet(self) -> bool:
        """Whether nothing is left to do."""
        if self.drives_evaluations:
            return all(self.is_over(item) for item in self.kube.of(kinds.EVALUATION))
        return all(self.stage(run) == "Completed" for run in self.kube.of(kinds.SCENARIO_RUN))

    def is_over(self, evaluation: dict[str, Any]) -> bool:
        """Whether an Evaluation's condition Complete is true."""
        found = (evaluation.get("status") or {}).get("conditions") or ()
        return any(item["type"] == "Complete" and item["status"] == "True" for item in found)

    def user_evaluates(
        self, agent: dict[str, Any] | None = None, name: str = "check", **spec: Any
    ) -> dict[str, Any]:
        """Apply an Agent, an Environment and an Evaluation of them."""
        self.drives_evaluations = True
        self.user_applies(kinds.AGENT, "helper", agent or SCRIPTED)
        self._has_environment()
        wanted = {
            "agentRef": {"name": "helper"},
            "environmentRef": {"name": "small"},
            "profile": {"bundled": "under-test"},
            "tier": 1,
        }
        return self.user_applies(kinds.EVALUATION, name, {**wanted, **spec})

    def status(self, name: str = "check") -> dict[str, Any]:
        """Return an Evaluation's status."""
        return dict(self.kube.one(kinds.EVALUATION, NAMESPACE, name).get("status") or {})

    def condition(self, type_: str, name: str = "check") -> dict[str, Any]:
        """Return a condition of an Evaluation; empty where it is absent."""
        found = self.status(name).get("conditions") or ()
        return next((item for item in found if item["type"] == type_), {})

    def stage(self, run: dict[str, Any]) -> str:
        """Return the stage of a run."""
        return str((run.get("status") or {}).get("stage"))

    def user_applies(self, kind: kinds.Kind, name: str, spec: dict[str, Any]) -> dict[str, Any]:
        """Create or replace an object's spec as a user would."""
        key = (kind.plural, NAMESPACE, name)
        if key in self.kube.objects:
            self.kube.edit(kind, NAMESPACE, name, lambda item: item.update(spec=spec))
            return self.kube.one(kind, NAMESPACE, name)
        return self.kube.seed(kind, {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec})

    def _has_environment(self) -> None:
        """Apply an Environment where the test has made none."""
        if (kinds.ENVIRONMENT.plural, NAMESPACE, "small") not in self.kube.objects:
            self.user_applies(kinds.ENVIRONMENT, "small", {"kubernetes": {}})

    async def a_run(
        self, agent: dict[str, Any] | None = None, scenario_id: str = "s-1", name: str = "check-run"
    ) -> dict[str, Any]:
        """Seed a ScenarioRun with all that it refers to, as an Evaluation would leave it."""
        spec = agent or SCRIPTED
        self.user_applies(kinds.AGENT, "helper", spec)
        self._has_environment()
        answer = answers.dump(self.world.identity)  # type: ignore[arg-type]
        kept = await self.artifacts.put(answer)
        owner = self.user_applies(
            kinds.EVALUATION,
            "check",
            {
                "agentRef": {"name": "helper"},
                "environmentRef": {"name": "small"},
                "profile": {"bundled": "under-test"},
                "tier": 1,
            },
        )
        identity = {
            "name": answers.NAME,
            "mediaType": answers.MEDIA_TYPE,
            "uri": kept.uri,
            "digest": kept.digest,
            "sizeBytes": kept.size_bytes,
        }
        status = {"attempt": 1, "artifacts": [identity]}
        self.kube.edit(kinds.EVALUATION, NAMESPACE, "check", lambda item: item.update(status=status))
        if (kinds.NETWORK_POLICY.plural, NAMESPACE, names.DEFAULT_DENY) not in self.kube.objects:
            self.kube.seed(kinds.NETWORK_POLICY, network_policy.default_deny(NAMESPACE))
        return self.kube.seed(
            kinds.SCENARIO_RUN,
            {
                "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {
                    "evaluation": {"name": "check", "uid": owner["metadata"]["uid"]},
                    "scenarioID": scenario_id,
                    "scenarioDigest": "sha256:" + "5" * 64,
                    "profile": {
                        "name": "profile-under-test",
                        "version": "0.1.0",
                        "digest": "sha256:" + "7" * 64,
                        "source": {"bundled": "under-test"},
                    },
                    "repetition": 1,
                    "attempt": 1,
                    "agentRef": {"name": "helper"},
                    "environmentRef": {"name": "small"},
                    "subjectDigest": subject.subject_digest(AgentSpec.model_validate(spec)),
                },
            },
        )

    def run(self, name: str = "check-run") -> dict[str, Any]:
        """Return a ScenarioRun."""
        return self.kube.one(kinds.SCENARIO_RUN, NAMESPACE, name)
