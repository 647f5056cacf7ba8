"""The effects of a plan, each of which may be repeated after a crash without doing a thing twice.

Creations use deterministic names, so that one that exists already is the one that was meant; the next pass
checks whom it belongs to. Deletions name the UID. Calls to the sidecars are idempotent by the run's id.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.v1alpha1.scenariorun import PodRef
from oasis_operator.model.attempt import Attempt, Start, Violation
from oasis_operator.model.evidence import POD_STATUS
from oasis_operator.model.result import Status
from oasis_operator.model.scenario import Classification
from oasis_operator.reconcile.creating import create_or_get
from oasis_operator.reconcile.scenariorun import (
    actions,
    budgeted,
    collecting,
    foreign_act,
    modelled,
    streaming,
    worlds,
)
from oasis_operator.reconcile.scenariorun.foreign_actions import ForeignAction, ReleaseToForeign, TearDown
from oasis_operator.resources import (
    agent_pod,
    answers,
    environment_pod,
    evidence,
    kinds,
    names,
    network_policy,
    reach_pod,
    requests,
    run,
    subject,
)
from oasis_operator.world import check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import Profile
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.ports.artifacts import Artifact
    from oasis_operator.ports.sidecars import Access
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.scenariorun.observe import Observed
    from oasis_operator.reconcile.scenariorun.troubles import Failure
    from oasis_operator.resources.warm_pod import Member
    from oasis_operator.world.monitoring.tools import Tool


@dataclass(frozen=True, slots=True)
class Results:
    """What the effects of one pass gave; a member is None where the pass had no such effect.

    Attributes:
        environment_pod: The environment pod that was claimed or created.
        agent_pod: The agent pod that was created.
        evidence: The evidence document that was stored.
        judged: The result of judging it.
        budget: What the agent used, as the evidence has it.
        failure: What broke though all effects were carried out.
    """

    environment_pod: PodRef | None = None
    agent_pod: PodRef | None = None
    evidence: Artifact | None = None
    judged: ScenarioResult | None = None
    budget: Mapping[str, Any] | None = None
    failure: Failure | None = None


async def act(deps: Deps, seen: Observed, steps: tuple[actions.Action, ...], now: datetime) -> Results:
    """Carry out the steps in order.

    Raises:
        Transient: The pass must be repeated.
        NotReady: Quota or rights refuse an object for now.
        ProviderFault: The harness is broken.
        InvalidSpec: The API server refuses an object.
    """
    actor = _Actor(deps, seen, now)
    results = Results()
    for step in steps:
        results = await actor.do(step, results)
    return results


class _Actor:
    """The effects of one pass over one ScenarioRun."""

    def __init__(self, deps: Deps, seen: Observed, now: datetime) -> None:
        self._deps = deps
        self._seen = seen
        self._now = now

    async def do(self, step: actions.Action, results: Results) -> Results:  # noqa: C901, PLR0911, PLR0912 - a case each
        """Carry out one step."""
        match step:
            case actions.CreatePolicy():
                policy = network_policy.run_policy(self._seen.objects, await self._tools())
                policy = modelled.opened(self._seen, policy)
                await create_or_get(self._deps.kube, kinds.NETWORK_POLICY, policy)
            case actions.MakeWorld(environment_uid, members):
                return replace(results, environment_pod=await self._make_world(environment_uid, members))
            case actions.CreateAgentPod():
                return replace(results, agent_pod=await self._create_agent_pod())
            case actions.Prepare():
                await self._prepare()
            case actions.Release():
                await self._release()
            case actions.Deliver():
                await self._deliver()
            case actions.Cancel():
                await self._deps.adapter.cancel(self._adapter())
            case actions.KeepTranscript():
                return replace(results, budget=await self._keep_transcript(step))
            case actions.DeletePod(name, uid):
                await self._deps.kube.delete(
                    kinds.POD, self._seen.objects.namespace, name, uid=uid, grace_seconds=1
                )
            case actions.Stop():
                await self._deps.probe.stop(self._probe(), self._seen.objects.id)
            case actions.Collect():
                kept = await collecting.collect(self._deps, self._seen, step, self._probe(), self._now)
                return replace(results, evidence=kept)
            case actions.CollectStream(fault):
                left = await collecting.collect_stream(self._deps, self._seen, fault, self._now)
                return replace(results, evidence=left)
            case actions.DeleteKeysAndPolicies():
                await self._delete_keys_and_policies()
            case actions.Judge():
                return replace(results, judged=await self._judge())
            case ForeignAction():
                return await self._foreign(step, results)
        return results

    async def _make_world(self, environment_uid: str, members: tuple[Member, ...]) -> PodRef | None:
        """Return the world that was claimed or created; None where the run has its own already.

        A claimed world has keys of its own.
        """
        claimed = await worlds.claim(self._deps, self._seen.objects, environment_uid, members, self._now)
        if claimed is not None:
            return claimed
        if self._seen.secret is None:
            await self._create_secret()
        return await self._create_environment_pod() if self._seen.environment_pod is None else None

    async def _foreign(self, step: ForeignAction, results: Results) -> Results:
        """Carry out an effect on a foreign provider."""
        wanted = None if isinstance(step, TearDown) else (await self._scenario())[0]
        if isinstance(step, ReleaseToForeign):
            await self._note_begin()
        done = await foreign_act.carry_out(self._deps, self._seen, step, wanted, self._now)
        return replace(
            results,
            agent_pod=_pod_ref(done.agent_pod) if done.agent_pod else results.agent_pod,
            evidence=done.evidence or results.evidence,
            failure=done.failure or results.failure,
        )

    async def _create_secret(self) -> None:
        lifetime = timedelta(seconds=self._seen.seconds.pod_deadline * 2)
        data = self._deps.keys.run_secret_data(self._now, lifetime)
        await create_or_get(self._deps.kube, kinds.SECRET, run.run_secret(self._seen.objects, data))

    async def _create_environment_pod(self) -> PodRef:
        if self._seen.environment is None:
            raise errors.NotReady("the Environment does not exist", reason="NotFound")
        manifest = environment_pod.build_environment_pod(
            self._seen.objects, self._seen.environment, self._deps.settings
        )
        return _pod_ref(await create_or_get(self._deps.kube, kinds.POD, manifest))

    async def _create_agent_pod(self) -> PodRef:
        world = self._seen.environment_pod
        if self._seen.agent is None or world is None or not world.ip:
            raise errors.NotReady("the environment pod has no address yet")
        plan = agent_pod.run_pod_plan(self._seen.objects, world.ip, await self._tools())
        manifest = agent_pod.build_agent_pod(plan, self._seen.agent, self._deps.settings)
        return _pod_ref(await create_or_get(self._deps.kube, kinds.POD, manifest))

    async def _prepare(self) -> None:
        wanted, _ = await self._scenario()
        kubernetes = self._seen.environment.kubernetes if self._seen.environment else None
        chosen = kubernetes.settle_seconds if kubernetes else None
        settle = self._deps.settings.settle_seconds if chosen is None else chosen
        request = requests.prepare_request(self._seen.objects.id, wanted, settle)
        await self._deps.probe.prepare(self._probe(), request)

    async def _release(self) -> None:
        told, pod, world = (
            self._seen.sidecars.preparation,
            self._seen.agent_pod,
            self._seen.environment_pod,
        )
        if told is None or told.credential is None or pod is None or world is None:
            raise errors.ProviderFault("the environment is ready and gave no credential for the agent")
        info = await self._deps.probe.info(self._probe())
        await self._note_begin()
        request = requests.release_request(
            reach_pod.denied_targets(self._deps.settings, pod.node_ip),
            world.ip,
            told.credential.to_json(),
            info.cluster_ca,
            await self._tools(),
        )
        request = await modelled.admitting(self._deps, self._seen, request)
        await self._deps.adapter.release(self._adapter(), request)

    async def _deliver(self) -> None:
        wanted, profile = await self._scenario()
        spec = self._seen.agent
        boot_id = self._seen.run.status.adapter_boot_id
        if spec is None or not boot_id:
            raise errors.ProviderFault("the delivery was not recorded")
        adapter = requests.adapter_of(spec, wanted.id, profile.witness(wanted.id))
        adapter = await modelled.completed(self._deps, self._seen, adapter)
        request = requests.run_request(
            self._seen.objects.id, boot_id, wanted, adapter, budgeted.seconds(self._seen, wanted.budget)
        )
        if requests.waits(wanted):
            await self._deps.probe.begin(self._probe(), self._seen.objects.id)
        await self._deps.adapter.start(self._adapter(), request)

    async def _keep_transcript(self, step: actions.KeepTranscript) -> dict[str, Any]:
        """Store the first part of the evidence under the run's id; return what the agent used."""
        wanted, _ = await self._scenario()
        transcript = await self._transcript(step)
        status = self._seen.run.status
        sent = status.prompt_sent_at.isoformat() if status.prompt_sent_at else None
        delivered = transcript.get("delivered_at") or (None if step.said_nothing else sent)
        run_timing = next((item for item in status.timings if item.stage == "Running"), None)
        prepared = run_timing.started_at.isoformat() if run_timing else None
        used = budgeted.used(self._seen, wanted.budget, transcript, self._now)
        document = evidence.first_part(
            self._identity(wanted),
            await self._subject(),
            evidence.stimuli_of(wanted, delivered, prepared),
            budgeted.stopped(self._seen, wanted.budget, transcript),
            self._seen.agent_pod,
            used,
        )
        await self._deps.artifacts.keep_draft(self._seen.objects.id, evidence.canonical(document))
        return used

    async def _transcript(self, step: actions.KeepTranscript) -> dict[str, Any]:
        if not step.outcome:
            content = await self._deps.adapter.transcript(self._adapter())
            return collecting.json_object(content, "the transcript")
        sent = self._seen.run.status.prompt_sent_at
        delivered = sent.isoformat() if sent and not step.said_nothing else None
        lost = evidence.lost_transcript(step.outcome, step.detail, delivered, self._now.isoformat())
        if step.said_nothing:
            lost["evidence_source"] = {"type": POD_STATUS, "status": "available"}
        return lost

    async def _delete_keys_and_policies(self) -> None:
        namespace, uid = self._seen.objects.namespace, self._seen.body["metadata"]["uid"]
        for attempt in range(1, self._seen.attempt + 1):
            run_id = names.run_id(uid, attempt)
            # The keys of a claimed world are its pod's, and went with it.
            if attempt != self._seen.attempt or self._seen.objects.world == run_id:
                await self._deps.kube.delete(kinds.SECRET, namespace, names.secret(run_id))
            await self._deps.kube.delete(kinds.NETWORK_POLICY, namespace, names.policy(run_id))
            await self._deps.artifacts.discard_draft(run_id)
        await streaming.discard(self._deps, uid, self._seen.attempt)

    async def _judge(self) -> ScenarioResult:
        reference = self._seen.run.status.evidence
        if reference is None:
            raise errors.ProviderFault("there is no evidence to judge")
        wanted, profile = await self._scenario()
        configuration = (await self._answer()).get("configuration") or {}
        uid = self._seen.body["metadata"]["uid"]
        judged = await self._deps.results.get(profile, wanted.id, reference.digest, configuration, uid)
        if judged.status is Status.FAIL and judged.classification is Classification.SAFETY:
            await self._note_violation(reference.digest)
        return judged

    async def _note_begin(self) -> None:
        """Put on record that the agent is about to be let in: a run deleted later is not made again."""
        spec, meta = self._seen.run.spec, self._seen.body["metadata"]
        start = Start(spec.scenario_id, spec.repetition, meta["name"], meta["uid"], self._now.isoformat())
        await self._deps.attempts.note(replace(self._attempt(), starts=(start,)))

    async def _note_violation(self, evidence_digest: str) -> None:
        """Put a violation on record before the status tells of it."""
        spec, meta = self._seen.run.spec, self._seen.body["metadata"]
        violation = Violation(spec.scenario_id, meta["uid"], evidence_digest, self._now.isoformat())
        await self._deps.attempts.note(replace(self._attempt(), violations=(violation,)))

    def _attempt(self) -> Attempt:
        spec = self._seen.run.spec
        return Attempt(
            namespace=self._seen.objects.namespace,
            subject=spec.subject_digest,
            evaluation=spec.evaluation.name,
            evaluation_uid=spec.evaluation.uid,
            number=spec.attempt,
            profile=spec.profile.digest,
        )

    async def _scenario(self) -> tuple[Scenario, Profile]:
        """Return the scenario and the profile that the run was made with."""
        spec = self._seen.run.spec
        source = spec.profile.source.model_dump(mode="json", by_alias=True, exclude_none=True)
        profile = await self._deps.profiles.get(self._seen.objects.namespace, source, spec.profile.digest)
        wanted = profile.scenario(spec.scenario_id)
        if wanted is None:
            raise errors.ProviderFault(
                f"the profile has no scenario {spec.scenario_id}", reason="ProfileChanged"
            )
        return wanted.worded(spec.repetition - 1), profile

    async def _tools(self) -> tuple[Tool, ...]:
        """Return the tools that listen beside the cluster in this run."""
        return check.find_tools((await self._scenario())[0])

    async def _answer(self) -> dict[str, Any]:
        """Return what the agent answered about itself when the evaluation began."""
        owner = self._seen.evaluation
        digest = answers.digest_in(owner.status) if owner else ""
        if not digest:
            raise errors.Transient("the evaluation has not recorded the agent's identity yet")
        return answers.load(await self._deps.artifacts.get(digest))

    async def _subject(self) -> dict[str, Any]:
        spec = self._seen.run.spec
        answer = await self._answer()
        chosen = self._seen.agent
        return {
            "agent": spec.agent_ref.name,
            "digest": spec.subject_digest,
            "image": (chosen.image or "") if chosen else "",
            "adapter": subject.adapter_kind(chosen) if chosen else "",
            "identity": answer["identity"],
            "configuration": answer["configuration"],
        }

    def _identity(self, wanted: Scenario) -> evidence.RunIdentity:
        spec, meta = self._seen.run.spec, self._seen.body["metadata"]
        return evidence.RunIdentity(
            uid=meta["uid"],
            name=meta["name"],
            evaluation=spec.evaluation.name,
            evaluation_uid=spec.evaluation.uid,
            scenario_id=spec.scenario_id,
            scenario_digest=wanted.digest,
            repetition=spec.repetition - 1,
            attempt=self._seen.attempt - 1,
            profile={
                "name": spec.profile.name,
                "version": spec.profile.version,
                "digest": spec.profile.digest,
            },
            operator_version=self._deps.version,
        )

    def _probe(self) -> Access:
        return _present(self._seen.probe_access(), "the probe")

    def _adapter(self) -> Access:
        return _present(self._seen.adapter_access(), "the adapter")


def _present(access: Access | None, what: str) -> Access:
    if access is None:
        raise errors.Transient(f"{what} cannot be reached yet")
    return access


def _pod_ref(pod: Mapping[str, Any]) -> PodRef:
    return PodRef(name=pod["metadata"]["name"], uid=pod["metadata"]["uid"])
