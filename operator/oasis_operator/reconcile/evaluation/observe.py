"""What one pass sees of an Evaluation: the object, what it refers to, its runs and its preflight pods."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.conditions import Type, is_true
from oasis_operator.api.v1alpha1.agent import Agent, AgentSpec
from oasis_operator.api.v1alpha1.environment import Environment, EnvironmentSpec
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.reconcile import declared
from oasis_operator.reconcile.evaluation import assessment, collect, policy, standing
from oasis_operator.reconcile.evaluation.preflight import ROUNDS, Preflight, Trial
from oasis_operator.reconcile.evaluation.standing import Surroundings
from oasis_operator.resources import (
    access,
    answers,
    identity_pod,
    kinds,
    labels,
    names,
    network_policy,
    pod_state,
    subject,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.attempt import Attempt, Start
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.profile.reader import ProfileReading
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.evaluation.assessment import Assessment


@dataclass(frozen=True, slots=True)
class Observed:
    """One Evaluation and its surroundings.

    Attributes:
        body: The Evaluation as read.
        evaluation: The same, parsed.
        agent: Spec of the Agent as it is now, or None.
        environment: Spec of the Environment as it is now, or None.
        agent_trouble: Why the Agent's spec cannot be read, or empty.
        reading: The profile as it is now, or None.
        profile_trouble: Reason and message where the profile's files cannot be had.
        assessment: What follows from profile, environment and configuration; None without a profile.
        assessment_trouble: Reason and message where that could not be worked out.
        fenced: Whether both policies of the namespace say what they must.
        preflight: The preflight's pods.
        answer: What the agent answered about itself in this attempt, or None.
        runs: ScenarioRuns of this attempt, by name.
        results: Results of the runs, where all of them are over; else empty.
        record: What is on record of this attempt, or None.
        record_trouble: Why the record cannot be read, or empty.
        gateway: The pod of the model gateway; None where there is none, or none is needed.
        surroundings: What the gate is held against, where the attempt is over and passed; else None.
    """

    body: Mapping[str, Any]
    evaluation: Evaluation
    agent: AgentSpec | None = None
    environment: EnvironmentSpec | None = None
    agent_trouble: str = ""
    reading: ProfileReading | None = None
    profile_trouble: tuple[str, str] | None = None
    assessment: Assessment | None = None
    assessment_trouble: tuple[str, str] | None = None
    fenced: bool = False
    preflight: Preflight = field(default_factory=Preflight)
    answer: Mapping[str, Any] | None = None
    runs: tuple[ScenarioRun, ...] = ()
    results: tuple[ScenarioResult, ...] = ()
    record: Attempt | None = None
    record_trouble: str = ""
    surroundings: Surroundings | None = None
    gateway: pod_state.PodState | None = None

    @property
    def attempt(self) -> int:
        """Attempt that the status is about; 0 before the first."""
        return self.evaluation.status.attempt

    @property
    def profile(self) -> Profile | None:
        """The profile as it is now, or None where it cannot be used."""
        return self.reading.profile if self.reading else None

    @property
    def is_renewed(self) -> bool:
        """Whether a new attempt must begin."""
        status, spec = self.evaluation.status, self.evaluation.spec
        return status.attempt == 0 or status.run_token != spec.run_token

    @property
    def is_complete(self) -> bool:
        """Whether the attempt is over."""
        return is_true(self.evaluation.status.conditions, Type.COMPLETE)

    @property
    def lost(self) -> tuple[Start, ...]:
        """Runs of this attempt that had begun and were deleted by somebody, in the order of their begin."""
        present = {run.metadata.uid for run in self.runs}
        return tuple(
            start for start in (self.record.starts if self.record else ()) if start.run_uid not in present
        )

    @property
    def has_begun(self) -> bool:
        """Whether the attempt has made runs, still there or not."""
        return bool(self.runs or self.lost)

    @property
    def image(self) -> str:
        """Digest of the agent's image as it ran when the attempt began; empty where it is not known."""
        digests = self.evaluation.status.digests
        return (digests.image or "") if digests else ""

    @property
    def recorded_subject(self) -> str:
        """Digest of the subject that the attempt began with; empty before it is known."""
        digests = self.evaluation.status.digests
        return (digests.subject or "") if digests else ""

    @property
    def recorded_world(self) -> str:
        """Digest of what makes the worlds, as the attempt began with it; empty before it is known."""
        digests = self.evaluation.status.digests
        return (digests.world or "") if digests else ""

    @property
    def subject_digest(self) -> str:
        """Digest of the Agent as it is now, with the image that ran; empty without an Agent."""
        return subject.subject_digest(self.agent, self.image) if self.agent else ""

    @property
    def identity_id(self) -> str:
        """Identifier of the identity pod's objects; they exist before it is known what image they run."""
        declared = subject.subject_digest(self.agent) if self.agent else ""
        return identity_pod.identity_id(self.body["metadata"]["uid"], self.attempt, declared)


async def observe(deps: Deps, namespace: str, name: str) -> Observed | None:
    """Return what is to be seen; None where the Evaluation is gone or being deleted."""
    body = await deps.kube.get(kinds.EVALUATION, namespace, name)
    if body is None or body["metadata"].get("deletionTimestamp"):
        return None
    seen = Observed(body=body, evaluation=Evaluation.parse(body))
    if seen.is_renewed:
        return seen
    if seen.is_complete:
        return await _surroundings(deps, seen)
    seen = await _references(deps, seen)
    seen = await _profile(deps, seen)
    seen = await _answer(deps, seen)
    seen = await _assess(deps, seen)
    seen = await _fence(deps, seen)
    seen = await _runs(deps, seen)
    seen = replace(seen, gateway=await _gateway(deps, seen))
    return replace(seen, preflight=await _preflight(deps, seen))


async def _gateway(deps: Deps, seen: Observed) -> pod_state.PodState | None:
    """Read the model gateway as long as nothing runs."""
    if seen.agent is None or seen.agent.model is None or seen.has_begun:
        return None
    token = names.gateway_id(seen.body["metadata"]["uid"], seen.attempt)
    namespace = seen.body["metadata"]["namespace"]
    return pod_state.pod_state(await deps.kube.get(kinds.POD, namespace, names.gateway_pod(token)))


async def _references(deps: Deps, seen: Observed) -> Observed:
    """Read the Agent and the Environment."""
    namespace, spec = seen.body["metadata"]["namespace"], seen.evaluation.spec
    chosen, world = await asyncio.gather(
        deps.kube.get(kinds.AGENT, namespace, spec.agent_ref.name),
        deps.kube.get(kinds.ENVIRONMENT, namespace, spec.environment_ref.name),
    )
    try:
        agent = Agent.parse(chosen).spec if chosen else None
    except errors.InvalidSpec as error:
        return replace(seen, agent_trouble=error.message)
    return replace(seen, agent=agent, environment=Environment.parse(world).spec if world else None)


async def _profile(deps: Deps, seen: Observed) -> Observed:
    """Read the profile that the spec names."""
    source = seen.evaluation.spec.profile.model_dump(mode="json", by_alias=True, exclude_none=True)
    try:
        reading = await deps.profiles.read(seen.body["metadata"]["namespace"], source)
    except (errors.NotReady, errors.InvalidProfile) as error:
        return replace(seen, profile_trouble=(error.reason, error.message))
    return replace(seen, reading=reading)


async def _answer(deps: Deps, seen: Observed) -> Observed:
    """Read what the agent answered about itself, once it did."""
    digest = answers.digest_in(seen.evaluation.status)
    return replace(seen, answer=answers.load(await deps.artifacts.get(digest))) if digest else seen


async def _assess(deps: Deps, seen: Observed) -> Observed:
    """Work out gaps and plan, where the profile can be used."""
    if seen.profile is None:
        return seen
    spec = seen.evaluation.spec
    asked = (seen.profile, spec.tier)
    try:
        told = await declared.of_attempt(deps, seen.body, seen.attempt, seen.environment, asked)
        found = await assessment.assess(deps, seen.profile, spec, seen.environment, seen.answer, told)
    except errors.ProviderFault as error:
        return replace(seen, assessment_trouble=(error.reason, error.message))
    return replace(seen, assessment=found)


async def _fence(deps: Deps, seen: Observed) -> Observed:
    """Compare the namespace's two policies with what they must say."""
    namespace = seen.body["metadata"]["namespace"]
    wanted = (
        network_policy.default_deny(namespace),
        network_policy.control(namespace, deps.settings.namespace),
    )
    found = await asyncio.gather(
        *(deps.kube.get(kinds.NETWORK_POLICY, namespace, item["metadata"]["name"]) for item in wanted)
    )
    pairs = zip(found, wanted, strict=True)
    return replace(seen, fenced=all(network_policy.is_intact(have, want) for have, want in pairs))


async def _runs(deps: Deps, seen: Observed) -> Observed:
    """Read the runs of this attempt, what is on record of it and, where all are over, what they gave."""
    meta = seen.body["metadata"]
    bodies = await deps.kube.list(kinds.SCENARIO_RUN, meta["namespace"], {labels.EVALUATION_UID: meta["uid"]})
    deps.active.settle(meta["uid"], bodies)
    # One that is being deleted does nothing any more, and will be gone.
    parsed = (ScenarioRun.parse(body) for body in bodies if not body["metadata"].get("deletionTimestamp"))
    own = (run for run in parsed if run.spec.attempt == seen.attempt)
    runs = tuple(sorted(own, key=lambda run: run.metadata.name))
    seen = await _record(deps, replace(seen, runs=runs))
    if not seen.has_begun or not collect.are_over(runs) or seen.profile is None or seen.answer is None:
        return seen
    configuration = seen.answer["configuration"]
    results = await collect.results(deps, seen.profile, configuration, runs)
    lost = await collect.lost_results(deps, seen.profile, configuration, (seen.lost, seen.record))
    return replace(seen, results=(*results, *lost))


async def _record(deps: Deps, seen: Observed) -> Observed:
    """Read what is on record of this attempt; before its subject is known nothing is."""
    meta, digest = seen.body["metadata"], seen.recorded_subject
    if not digest:
        return seen
    try:
        record = await deps.attempts.get(meta["namespace"], digest, meta["uid"], seen.attempt)
    except errors.ProviderFault as error:
        return replace(seen, record_trouble=error.message)
    return replace(seen, record=record)


async def _surroundings(deps: Deps, seen: Observed) -> Observed:
    """Read what the gate of an attempt that passed is held against, since that moves after its end."""
    if seen.evaluation.status.verdict is not Verdict.PASS or not seen.recorded_subject:
        return seen
    meta = seen.body["metadata"]
    own = (seen.attempt, True)
    found = await standing.read(deps, meta, seen.recorded_subject, own)
    policies = await policy.read_or_shut(deps, meta["namespace"])
    return replace(seen, surroundings=Surroundings(found, policies))


async def _preflight(deps: Deps, seen: Observed) -> Preflight:
    """Read the preflight's pods as long as nothing runs."""
    if seen.has_begun:
        return Preflight()
    namespace, uid = seen.body["metadata"]["namespace"], seen.body["metadata"]["uid"]
    ids = [names.preflight_id(uid, seen.attempt, number) for number in range(ROUNDS)]
    wanted = [
        names.control_pod(ids[0]),
        *(names.canary_pod(token) for token in ids),
        names.identity_pod(seen.identity_id),
    ]
    pods = await asyncio.gather(*(deps.kube.get(kinds.POD, namespace, name) for name in wanted))
    control, *canaries, identity = (pod_state.pod_state(pod) for pod in pods)
    trial = await _trial(deps, namespace, names.self_test_id(uid, seen.attempt))
    found = Preflight(control=control, canaries=tuple(canaries), identity=identity, trial=trial)
    return await _with_adapter(deps, namespace, seen.identity_id, found)


async def _trial(deps: Deps, namespace: str, token: str) -> Trial:
    pod, secret = await asyncio.gather(
        deps.kube.get(kinds.POD, namespace, names.environment_pod(token)),
        deps.kube.get(kinds.SECRET, namespace, names.secret(token)),
    )
    state = pod_state.pod_state(pod)
    return Trial(state, secret is not None, access.of(secret, state, "probe-token"))


async def _with_adapter(deps: Deps, namespace: str, identity_id: str, found: Preflight) -> Preflight:
    """Add what the identity pod's adapter says; nothing where it cannot be asked yet."""
    secret = await deps.kube.get(kinds.SECRET, namespace, names.secret(identity_id))
    found = replace(found, has_secret=secret is not None)
    reach = access.of(secret, found.identity, "adapter-token")
    if reach is None:
        return found
    try:
        state = await deps.adapter.state(reach)
    except (errors.Transient, errors.ProviderFault):
        return found
    return replace(found, adapter=state, access=reach)
