"""What one pass sees of a ScenarioRun: the cluster, and the two sidecars as far as the stage needs them.

Absence is None. A sidecar that does not answer is no exception here but a sentence, since whether that
matters depends on the stage.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from oasis_operator import errors
from oasis_operator.api.v1alpha1 import agent, environment, evaluation
from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun, Stage
from oasis_operator.reconcile.scenariorun import foreign_seen, worlds
from oasis_operator.reconcile.scenariorun.lifecycle import MAX_ATTEMPTS
from oasis_operator.resources import (
    access,
    agent_pod,
    kinds,
    manifests,
    names,
    network_policy,
    pod_state,
    subject,
    warm_pod,
)
from oasis_operator.resources.run import RunObjects, run_objects
from oasis_operator.resources.timeouts import StageSeconds, stage_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from datetime import datetime

    from oasis_operator.ports import kube
    from oasis_operator.ports.sidecars import Access
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.scenariorun.foreign_seen import ForeignSeen
    from oasis_operator.wire.adapter import AdapterState
    from oasis_operator.wire.probe import PrepareStatus, StopStatus

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sidecars:
    """What the sidecars said; a member is None where it was not asked or did not answer.

    Attributes:
        unhealthy: What the environment still waits for; empty when it is up, None when not known.
        preparation: How far the preparation is.
        stopping: How far the stop protocol is.
        adapter: Where the adapter stands.
        probe_trouble: Why the probe did not answer, or empty.
        adapter_trouble: Why the adapter did not answer, or empty.
    """

    unhealthy: str | None = None
    preparation: PrepareStatus | None = None
    stopping: StopStatus | None = None
    adapter: AdapterState | None = None
    probe_trouble: str = ""
    adapter_trouble: str = ""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A pod that must be gone before the stage can end."""

    name: str
    uid: str
    deleting: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """One ScenarioRun and its surroundings.

    Attributes:
        body: The ScenarioRun as read.
        run: The same, parsed.
        evaluation: The Evaluation that owns it; None where it is gone or another one has its name.
        agent: Spec of the Agent as it is now, or None.
        environment: Spec of the Environment as it is now, or None.
        environment_uid: Its UID, or empty.
        attempt: Attempt of this run, from 1.
        objects: Identity of the objects of this attempt.
        seconds: Longest time of each stage.
        secret: The run's Secret, or None.
        has_policy: Whether the run's NetworkPolicy exists.
        deny_intact: Whether the namespace's deny policy says what it must.
        environment_pod: The environment pod, or None.
        agent_pod: The agent pod, or None.
        leftovers: Pods that must be gone before the stage can end.
        stranger: Name of an object of ours that belongs to somebody else, or empty.
        offer: Worlds that were booted ahead and that this attempt may claim; None where there is no pool.
        sidecars: What the sidecars said.
        silent_since: Since when the adapter of a running agent has not answered; None while it does.
        foreign: The part of a foreign provider; None where the world is the operator's own.
    """

    body: Mapping[str, Any]
    run: ScenarioRun
    evaluation: evaluation.Evaluation | None
    agent: agent.AgentSpec | None
    environment: environment.EnvironmentSpec | None
    attempt: int
    objects: RunObjects
    seconds: StageSeconds
    environment_uid: str = ""
    secret: Mapping[str, Any] | None = None
    has_policy: bool = False
    deny_intact: bool = False
    environment_pod: pod_state.PodState | None = None
    agent_pod: pod_state.PodState | None = None
    leftovers: tuple[Leftover, ...] = ()
    stranger: str = ""
    offer: worlds.Offer | None = None
    sidecars: Sidecars = Sidecars()
    silent_since: datetime | None = None
    foreign: ForeignSeen | None = None

    @property
    def stage(self) -> Stage:
        """The stage that the status records."""
        return self.run.status.stage or Stage.PENDING

    @property
    def is_subject_unchanged(self) -> bool:
        """Whether the Agent is still declared as the one that the run was made for."""
        spec = self.run.spec
        if self.agent is None:
            return False
        return subject.subject_digest(self.agent, spec.image_digest or "") == spec.subject_digest

    @property
    def is_world_unchanged(self) -> bool:
        """Whether worlds are still made as when the attempt began; one that is gone is told elsewhere."""
        wanted = self.run.spec.world_digest
        return not wanted or self.environment is None or subject.world_digest(self.environment) == wanted

    @property
    def other_image(self) -> str:
        """Digest of the image that really runs where it is not the one of the subject; else empty."""
        wanted = self.run.spec.image_digest
        if wanted is None or self.agent is None or self.agent_pod is None:
            return ""
        told = subject.image_digest(self.agent_pod.container(agent_pod.AGENT).image_id, None)
        return told if told != wanted else ""

    def probe_access(self) -> Access | None:
        """Return how the probe is reached, or None where it cannot be yet."""
        return access.of(self.secret, self.environment_pod, "probe-token")

    def adapter_access(self) -> Access | None:
        """Return how the adapter is reached, or None where it cannot be yet."""
        return access.of(self.secret, self.agent_pod, "adapter-token")


async def observe(deps: Deps, namespace: str, name: str) -> Observed | None:
    """Return what is to be seen; None where the run is gone, being deleted or over."""
    body = await deps.kube.get(kinds.SCENARIO_RUN, namespace, name)
    if body is None or body["metadata"].get("deletionTimestamp"):
        return None
    run = ScenarioRun.parse(body)
    if run.status.stage is Stage.COMPLETED:
        return None
    seen = await _surroundings(deps, body, run)
    if run.status.pods is None or run.status.pods.environment is None:
        found = await foreign_seen.look(deps, body["metadata"]["uid"], seen.attempt, seen.environment)
        seen = _with(seen, foreign=found)
    seen = await _objects(deps, seen)
    return _with(seen, sidecars=await _sidecars(deps, seen))


def attempt_of(run: ScenarioRun, uid: str) -> int:
    """Return the attempt of a run, from 1.

    The recorded environment pod tells by its name, and where others make the environment the agent's pod.
    Without either nothing of the attempt is known to exist, and a recorded failure is then that of the
    attempt before.
    """
    pods = run.status.pods
    attempts = range(1, MAX_ATTEMPTS + 1)
    if pods is not None and pods.environment is not None:
        recorded = pods.environment.name
        return next((n for n in attempts if names.environment_pod(names.run_id(uid, n)) == recorded), 1)
    if pods is not None and pods.agent is not None:
        recorded = pods.agent.name
        return next((n for n in attempts if names.agent_pod(names.run_id(uid, n)) == recorded), 1)
    return 1 if run.status.failure is None else MAX_ATTEMPTS


async def _surroundings(deps: Deps, body: Mapping[str, Any], run: ScenarioRun) -> Observed:
    """Read the objects that the run refers to."""
    namespace = body["metadata"]["namespace"]
    spec = run.spec
    owner, subject_body, world_body = await asyncio.gather(
        deps.kube.get(kinds.EVALUATION, namespace, spec.evaluation.name),
        deps.kube.get(kinds.AGENT, namespace, spec.agent_ref.name),
        deps.kube.get(kinds.ENVIRONMENT, namespace, spec.environment_ref.name),
    )
    if owner is not None and owner["metadata"]["uid"] != spec.evaluation.uid:
        owner = None
    seconds = stage_seconds(spec.timeouts, deps.settings.timeouts)
    attempt = attempt_of(run, body["metadata"]["uid"])
    recorded = run.status.pods.environment if run.status.pods else None
    world = names.world_of(recorded.name) if recorded else ""
    return Observed(
        body=body,
        run=run,
        evaluation=evaluation.Evaluation.parse(owner) if owner else None,
        agent=agent.Agent.parse(subject_body).spec if subject_body else None,
        environment=environment.Environment.parse(world_body).spec if world_body else None,
        attempt=attempt,
        objects=run_objects(body, attempt, seconds.pod_deadline, world),
        seconds=seconds,
        environment_uid=world_body["metadata"]["uid"] if world_body else "",
    )


async def _objects(deps: Deps, seen: Observed) -> Observed:
    """Read the objects of this attempt and the pods of the one before."""
    seen = await _claims(deps, seen)
    api, ids = deps.kube, seen.objects
    found = await asyncio.gather(
        api.get(kinds.SECRET, ids.namespace, names.secret(ids.world)),
        api.get(kinds.NETWORK_POLICY, ids.namespace, names.policy(ids.id)),
        api.get(kinds.NETWORK_POLICY, ids.namespace, names.DEFAULT_DENY),
        api.get(kinds.POD, ids.namespace, names.environment_pod(ids.world)),
        api.get(kinds.POD, ids.namespace, names.agent_pod(ids.id)),
    )
    secret, policy, deny, world, subject_pod = found
    return _with(
        seen,
        secret=secret,
        has_policy=policy is not None,
        deny_intact=network_policy.is_intact(deny, network_policy.default_deny(ids.namespace)),
        environment_pod=pod_state.pod_state(world),
        agent_pod=pod_state.pod_state(subject_pod),
        leftovers=(*seen.leftovers, *await _leftovers(deps, seen)),
        stranger=_stranger(seen, secret, world, policy, subject_pod),
        offer=await _offer(deps, seen) if world is None else None,
    )


async def _claims(deps: Deps, seen: Observed) -> Observed:
    """Look up by the run's UID what it has claimed, before anything is made or where all must go.

    The world of a first attempt that has not recorded it yet is the claimed one, unless that is broken
    already. All others are left over.
    """
    if seen.stage not in (Stage.PENDING, Stage.JUDGING):
        return seen
    pods = await worlds.claimed(deps, seen.objects.namespace, seen.body["metadata"]["uid"])
    if seen.stage is Stage.PENDING and seen.attempt == 1:
        own = next((pod for pod in pods if worlds.is_whole(pod)), None)
        if own is not None:
            pods = tuple(pod for pod in pods if pod is not own)
            world = names.world_of(own["metadata"]["name"])
            seen = _with(seen, objects=replace(seen.objects, world=world))
    return _with(seen, leftovers=tuple(_leftover(pod) for pod in pods))


async def _offer(deps: Deps, seen: Observed) -> worlds.Offer | None:
    """Return what the first attempt may claim before anything of it was made."""
    if seen.stage is not Stage.PENDING or seen.attempt != 1 or seen.environment is None:
        return None
    template = warm_pod.template_of(seen.environment, deps.settings)
    return await worlds.offer(deps, seen.objects.namespace, seen.environment_uid, template)


def _stranger(
    seen: Observed, secret: kube.Object | None, world: kube.Object | None, *others: kube.Object | None
) -> str:
    """Return the name of an object that is not the run's; keys may also belong to its world."""
    uid = seen.body["metadata"]["uid"]
    if secret is not None and not manifests.is_owned_by(secret, uid):
        recorded = seen.run.status.pods.environment if seen.run.status.pods else None
        of_world = world["metadata"]["uid"] if world else recorded.uid if recorded else ""
        if not (of_world and manifests.is_owned_by(secret, of_world)):
            return str(secret["metadata"]["name"])
    found = (item for item in (world, *others) if item is not None)
    return next((item["metadata"]["name"] for item in found if not manifests.is_owned_by(item, uid)), "")


async def _leftovers(deps: Deps, seen: Observed) -> tuple[Leftover, ...]:
    """Return the pods that must be gone before the stage can end: of earlier attempts, at the end of all."""
    if seen.stage not in (Stage.PENDING, Stage.JUDGING):
        return ()
    last = seen.attempt if seen.stage is Stage.JUDGING else seen.attempt - 1
    uid = seen.body["metadata"]["uid"]
    wanted = [
        name
        for attempt in range(1, last + 1)
        for name in (
            names.agent_pod(names.run_id(uid, attempt)),
            names.environment_pod(names.run_id(uid, attempt)),
        )
    ]
    pods = await asyncio.gather(*(deps.kube.get(kinds.POD, seen.objects.namespace, name) for name in wanted))
    return tuple(_leftover(pod) for pod in pods if pod is not None and manifests.is_owned_by(pod, uid))


def _leftover(pod: Mapping[str, Any]) -> Leftover:
    meta = pod["metadata"]
    return Leftover(meta["name"], meta["uid"], "deletionTimestamp" in meta)


async def _sidecars(deps: Deps, seen: Observed) -> Sidecars:
    """Ask the sidecars what the stage needs to know."""
    probe, adapter = seen.probe_access(), seen.adapter_access()
    if seen.stage is Stage.PROVISIONING and probe is not None:
        waiting, trouble = await _ask(deps.probe.health(probe))
        return Sidecars(unhealthy=None if trouble else waiting or "", probe_trouble=trouble)
    if seen.stage is Stage.PREPARING:
        return await _preparing(deps, probe, adapter)
    if seen.stage is Stage.RUNNING and adapter is not None:
        state, trouble = await _ask(deps.adapter.state(adapter))
        return Sidecars(adapter=state, adapter_trouble=trouble)
    if seen.stage is Stage.OBSERVING and probe is not None and seen.agent_pod is None:
        stopping, trouble = await _ask(deps.probe.stopping(probe))
        return Sidecars(stopping=stopping, probe_trouble=trouble)
    return Sidecars()


async def _preparing(deps: Deps, probe: Access | None, adapter: Access | None) -> Sidecars:
    preparation, probe_trouble = await _ask(deps.probe.preparation(probe)) if probe else (None, "")
    state, adapter_trouble = await _ask(deps.adapter.state(adapter)) if adapter else (None, "")
    return Sidecars(
        preparation=preparation,
        adapter=state,
        probe_trouble=probe_trouble,
        adapter_trouble=adapter_trouble,
    )


async def _ask(question: Awaitable[T]) -> tuple[T | None, str]:
    """Return the answer and no trouble, or no answer and the trouble."""
    try:
        return await question, ""
    except (errors.Transient, errors.ProviderFault) as error:
        return None, error.message


def _with(seen: Observed, **changes: Any) -> Observed:
    """Return a changed copy."""
    values = {name: getattr(seen, name) for name in Observed.__slots__}
    return Observed(**{**values, **changes})
