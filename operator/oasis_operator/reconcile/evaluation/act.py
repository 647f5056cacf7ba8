"""The effects of a plan, each of which may be repeated after a crash without doing a thing twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.conditions import Reason
from oasis_operator.reconcile.active import Limits, Ticket
from oasis_operator.reconcile.creating import create_own
from oasis_operator.reconcile.evaluation import actions, conclusion
from oasis_operator.reconcile.evaluation.gateway import GatewayObjects
from oasis_operator.reconcile.evaluation.plans import Note
from oasis_operator.reconcile.evaluation.preflight import ROUNDS
from oasis_operator.reconcile.evaluation.selftest import SelfTestObjects
from oasis_operator.resources import (
    agent_pod,
    answers,
    identity_pod,
    kinds,
    labels,
    manifests,
    names,
    network_policy,
    reach_pod,
    requests,
    scenario_run,
    subject,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.artifacts import Artifact
    from oasis_operator.reconcile.active import Turn
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.evaluation.conclusion import Conclusion
    from oasis_operator.reconcile.evaluation.observe import Observed

_LIFETIME = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Results:
    """What the effects of one pass gave; a member is None where the pass had no such effect.

    Attributes:
        answer: What the agent answered about itself.
        stored_answer: Where the answer is kept.
        created: ScenarioRuns that were created.
        conclusion: Verdict, gate and reports.
        image: Digest of the agent's image as it ran when it answered; empty where it is not known.
        note: What is waited for, where no slot was free.
    """

    answer: Mapping[str, Any] | None = None
    stored_answer: Artifact | None = None
    created: tuple[Mapping[str, Any], ...] = ()
    conclusion: Conclusion | None = None
    image: str = ""
    note: Note | None = None


async def act(deps: Deps, seen: Observed, steps: tuple[actions.Action, ...], now: datetime) -> Results:
    """Carry out the steps in order.

    Raises:
        Transient: The pass must be repeated.
        NotReady: Quota or rights refuse an object for now.
        ProviderFault: The harness is broken.
        AgentFault: The agent did not say who it is.
        InvalidSpec: The API server refuses an object.
    """
    if not any(isinstance(step, actions.CreateRuns) for step in steps):
        deps.active.withdraw(seen.body["metadata"]["uid"])
    actor = _Actor(deps, seen, now)
    results = Results()
    for step in steps:
        results = await actor.do(step, results)
    return results


class _Actor:
    """The effects of one pass over one Evaluation."""

    def __init__(self, deps: Deps, seen: Observed, now: datetime) -> None:
        self._deps = deps
        self._seen = seen
        self._now = now
        self._meta = seen.body["metadata"]
        self._namespace: str = self._meta["namespace"]

    async def do(self, step: actions.Action, results: Results) -> Results:  # noqa: C901, PLR0912 - one case each
        """Carry out one step."""
        match step:
            case actions.ApplyPolicies():
                await self._apply_policies()
            case actions.CreateControl():
                await self._create_reach_pod(names.control_pod(self._token(0)), labels.ROLE_CONTROL, 0)
            case actions.CreateCanary(number):
                await self._create_reach_pod(
                    names.canary_pod(self._token(number)), labels.ROLE_CANARY, number
                )
            case actions.DeleteReachPods():
                await self._delete_reach_pods()
            case actions.CreateIdentity():
                await self._create_identity()
            case actions.ReleaseIdentity():
                await self._release_identity()
            case actions.AskIdentity():
                return await self._keep(results, await self._ask_identity())
            case actions.TakeScriptedIdentity():
                return await self._keep(results, self._scripted_identity())
            case actions.DeleteIdentity():
                await self._delete_identity()
            case actions.CreateGateway():
                await GatewayObjects(self._deps, self._seen).create(self._now)
            case actions.DeleteGateway():
                await GatewayObjects(self._deps, self._seen).delete()
            case (
                actions.CreateSelfTest()
                | actions.RunSelfTest()
                | actions.GiveUpSelfTest()
                | actions.DeleteSelfTest()
            ):
                await SelfTestObjects(self._deps, self._seen).do(step, self._now)
            case actions.CreateRuns(slots):
                return await self._create_runs(slots, results)
            case actions.Conclude(reason, message):
                await GatewayObjects(self._deps, self._seen).delete()
                concluded = await conclusion.conclude(self._deps, self._seen, (reason, message), self._now)
                return replace(results, conclusion=concluded)
            case actions.Expire():
                await self._deps.kube.delete(
                    kinds.EVALUATION, self._namespace, self._meta["name"], uid=self._meta["uid"]
                )
        return results

    async def _apply_policies(self) -> None:
        await self._deps.kube.apply(kinds.NETWORK_POLICY, network_policy.default_deny(self._namespace))
        own = network_policy.control(self._namespace, self._deps.settings.namespace)
        await self._deps.kube.apply(kinds.NETWORK_POLICY, own)

    async def _create_reach_pod(self, name: str, role: str, number: int) -> None:
        marks = labels.preflight_labels(
            self._token(number),
            role,
            evaluation=self._meta["name"],
            sandboxed=role == labels.ROLE_CANARY,
        )
        owner = manifests.owner_reference(kinds.EVALUATION, self._seen.body)
        await self._create(
            kinds.POD, reach_pod.build_reach_pod(name, self._namespace, marks, owner, self._deps.settings)
        )

    async def _delete_reach_pods(self) -> None:
        found = self._seen.preflight
        if found.control is not None and not found.control.deleting:
            await self._delete_pod(names.control_pod(self._token(0)), found.control.uid)
        for number in range(ROUNDS):
            canary = found.canaries[number]
            if canary is not None and not canary.deleting:
                await self._delete_pod(names.canary_pod(self._token(number)), canary.uid)

    async def _create_identity(self) -> None:
        if self._seen.agent is None:
            raise errors.NotReady("the Agent does not exist", reason="NotFound")
        token = self._seen.identity_id
        if not self._seen.preflight.has_secret:
            data = self._deps.keys.run_secret_data(self._now, _LIFETIME)
            await self._create(kinds.SECRET, identity_pod.build_identity_secret(token, self._seen.body, data))
        if self._seen.preflight.identity is None:
            pod = identity_pod.build_identity_pod(
                token, self._seen.body, self._seen.agent, self._deps.settings
            )
            await self._create(kinds.POD, pod)

    async def _release_identity(self) -> None:
        found = self._seen.preflight
        if found.access is None or found.identity is None:
            raise errors.Transient("the identity pod cannot be reached yet")
        targets = reach_pod.denied_targets(self._deps.settings, found.identity.node_ip)
        await self._deps.adapter.release(found.access, requests.release_request(targets))

    async def _ask_identity(self) -> Mapping[str, Any]:
        found = self._seen.preflight
        if found.access is None or self._seen.agent is None:
            raise errors.Transient("the identity pod cannot be reached yet")
        asked = requests.identity_adapter(self._seen.agent)
        answer = await self._deps.adapter.identity(found.access, asked)
        return requests.with_declared(self._seen.agent, answer)

    def _scripted_identity(self) -> Mapping[str, Any]:
        chosen = self._seen.agent
        told = answers.of_loop(chosen) if chosen else None
        if told is not None:
            return told
        if chosen is None or chosen.scripted is None:
            raise errors.Transient("the Agent is scripted no more")
        return answers.of_scripted(chosen.scripted, chosen.configuration)

    async def _keep(self, results: Results, answer: Mapping[str, Any]) -> Results:
        """Store what the agent answered; the status of this pass refers to it."""
        stored = await self._deps.artifacts.put(answers.dump(answer))
        return replace(results, answer=answer, stored_answer=stored, image=self._image())

    def _image(self) -> str:
        """Return the digest of the image in which the agent answered."""
        chosen, pod = self._seen.agent, self._seen.preflight.identity
        told = pod.container(agent_pod.AGENT).image_id if pod is not None else ""
        return subject.image_digest(told, chosen.image) if chosen and chosen.image else ""

    async def _delete_identity(self) -> None:
        found = self._seen.preflight
        token = self._seen.identity_id
        if found.identity is not None and not found.identity.deleting:
            await self._delete_pod(names.identity_pod(token), found.identity.uid)
        if found.has_secret:
            await self._deps.kube.delete(kinds.SECRET, self._namespace, names.secret(token))

    async def _create_runs(self, slots: tuple[scenario_run.Slot, ...], results: Results) -> Results:
        """Create as many of the runs as there are slots for; each slot is taken before its run is made."""
        seen = self._seen
        if seen.profile is None or not seen.recorded_subject:
            raise errors.Transient("the attempt has not recorded what it rests on")
        basis = scenario_run.Basis(seen.recorded_subject, seen.image, seen.recorded_world)
        manifests_of = {}
        for slot in slots:
            manifest = scenario_run.build_scenario_run(
                seen.body, seen.evaluation.spec, slot, seen.profile, basis, seen.attempt
            )
            manifests_of[manifest["metadata"]["name"]] = manifest
        chosen = self._deps.settings
        limits = Limits(chosen.parallelism, chosen.namespace_parallelism)
        turn = self._deps.active.take(self._ticket(), tuple(manifests_of), limits, self._now)
        created = []
        for name in turn.granted:
            body = await self._create(kinds.SCENARIO_RUN, manifests_of[name])
            self._deps.active.see(body)
            created.append(body)
        return replace(results, created=tuple(created), note=_queued(turn))

    def _ticket(self) -> Ticket:
        meta, spec = self._meta, self._seen.evaluation.spec
        return Ticket(
            meta["uid"],
            meta.get("creationTimestamp") or "",
            self._namespace,
            meta["name"],
            spec.parallelism,
        )

    async def _delete_pod(self, name: str, uid: str) -> None:
        await self._deps.kube.delete(kinds.POD, self._namespace, name, uid=uid, grace_seconds=1)

    async def _create(self, kind: kinds.Kind, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        return await create_own(self._deps.kube, kind, manifest, self._meta["uid"])

    def _token(self, number: int) -> str:
        return names.preflight_id(self._meta["uid"], self._seen.attempt, number)


def _queued(turn: Turn) -> Note | None:
    """Return what people should know of an Evaluation that got no slot; one that runs something goes on."""
    if turn.position == 0 or turn.held:
        return None
    message = f"number {turn.position} in line for a free slot; the older Evaluation comes first"
    return Note(Reason.QUEUED, message)
