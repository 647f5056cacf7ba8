"""From a request to an environment whose state was seen: the steps, each of which may be repeated.

1. What is asked for is checked from its text alone, before anything is made.
2. The identifier is looked up: a repetition goes on with what there is, another request is refused.
3. Policies first, then keys, then the pod: nothing runs that is not fenced.
4. The environment boots, and its probe prepares the state and sees it.
5. The agent is let in, which is also the record that the environment is ready.

A provision that fails leaves nothing behind.

Spec: 04-execution §2.2, 08-provider-conformance §3.1.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.v1alpha1.environment import Environment, EnvironmentSpec, Kubernetes
from oasis_operator.provider_api.refusals import Refused
from oasis_operator.reconcile.creating import create_or_get
from oasis_operator.resources import conformance, kinds, network_policy, served
from oasis_operator.wire.probe import PrepareReason, PrepareState
from oasis_operator.wire.probe_request import CheckRequest, PrepareRequest
from oasis_operator.wire.provider import ProvisionAnswer, ProvisionRequest
from oasis_operator.wire.provider_errors import ErrorReason
from oasis_operator.world.check import compile_world

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oasis_operator.ports.clock import Clock
    from oasis_operator.ports.keys import Keys
    from oasis_operator.ports.kube import Kube
    from oasis_operator.ports.live import LiveEnvironment
    from oasis_operator.ports.probe import Probe
    from oasis_operator.provider_api.environments import Environments, Served
    from oasis_operator.resources.access import Reach
    from oasis_operator.settings import ProviderApi, Settings
    from oasis_operator.wire.probe import PrepareStatus
    from oasis_operator.wire.probe_request import StateFault

_TYPES = ("", "kubernetes", conformance.ENVIRONMENT_TYPE)
_POLL_SECONDS = 0.25
_DEADLINE_SLACK = 300
_ANY_MOMENT = "2000-01-01T00:00:00Z"
_MOST_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Tools:
    """Ports and settings of the serving side.

    Attributes:
        kube: The cluster.
        probe: Environment pods.
        live: The same, while a run goes on.
        keys: Fresh keys for an environment.
        clock: Time.
        settings: The operator's settings.
        chosen: What is set for serving.
    """

    kube: Kube
    probe: Probe
    live: LiveEnvironment
    keys: Keys
    clock: Clock
    settings: Settings
    chosen: ProviderApi


class Provisioner:
    """Makes environments, a bounded number at once."""

    def __init__(self, tools: Tools, environments: Environments) -> None:
        """Work with `tools` on `environments`."""
        self._kube, self._probe, self._keys, self._clock = tools.kube, tools.probe, tools.keys, tools.clock
        self._settings, self._chosen = tools.settings, tools.chosen
        self._environments = environments
        self._going: dict[str, asyncio.Task[ProvisionAnswer]] = {}

    @property
    def is_full(self) -> bool:
        """Whether as many provisions go on as may."""
        return len(self._going) >= self._chosen.provisions

    async def provision(self, request: ProvisionRequest) -> ProvisionAnswer:
        """Make an environment, or go on with the one of a repeated request.

        A caller that goes away does not end it: it may come back with the same identifier.

        Raises:
            Refused: Nothing was made, and why.

        Spec: 04-execution §2.2.
        """
        await self._check(request)
        environment_id = request.environment_id or secrets.token_hex(16)
        going = self._going.get(environment_id)
        digest = served.request_digest(request.to_json())
        if going is None:
            await self._admit(environment_id, digest)
            # Between the question and here another request may have come first.
            going = self._going.get(environment_id) or self._begin(environment_id, digest, request)
        elif going.get_name() != digest:
            raise _taken(environment_id)
        try:
            return await asyncio.shield(going)
        except asyncio.CancelledError:
            if not going.cancelled():
                raise
            message = f"environment_id: {environment_id}: was torn down while it was provisioned"
            raise Refused(ErrorReason.DESTROYED, message) from None

    async def abort(self, environment_id: str) -> None:
        """Give up a provision that goes on, since the environment is not wanted any more."""
        task = self._going.get(environment_id)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Give up what goes on; the next process removes what is left of it."""
        going = tuple(self._going.values())
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    def _begin(
        self, environment_id: str, digest: str, request: ProvisionRequest
    ) -> asyncio.Task[ProvisionAnswer]:
        if self.is_full:
            raise Refused(
                ErrorReason.TOO_MANY, f"{self._chosen.provisions} provisions go on already; ask again"
            )
        self._environments.busy.add(environment_id)
        task = asyncio.create_task(self._make(environment_id, digest, request), name=digest)
        self._going[environment_id] = task

        def over(done: asyncio.Task[ProvisionAnswer]) -> None:
            self._going.pop(environment_id, None)
            self._environments.busy.discard(environment_id)
            # Whoever asked may be gone; then nobody else looks at what became of it.
            if not done.cancelled():
                done.exception()

        task.add_done_callback(over)
        return task

    async def _check(self, request: ProvisionRequest) -> None:
        """Refuse what no environment of ours can be, from the request's text alone."""
        if request.environment_type not in _TYPES:
            wanted = conformance.ENVIRONMENT_TYPE
            message = f"environment.type: {request.environment_type!r}: want {wanted}"
            raise Refused(ErrorReason.IMPOSSIBLE_STATE, message)
        if request.tier > conformance.TIER_SUPPORTED:
            message = f"tier: {request.tier}: environments here reach tier {conformance.TIER_SUPPORTED}"
            raise Refused(ErrorReason.IMPOSSIBLE_STATE, message)
        wanted_state = CheckRequest(request.state, request.agent)
        _, faults = await asyncio.to_thread(compile_world, wanted_state, _ANY_MOMENT)
        if faults:
            raise impossible(faults)

    async def _admit(self, environment_id: str, digest: str) -> None:
        """Refuse an identifier that is used for something else, and more environments than there may be."""
        found = await self._environments.policy(environment_id)
        if found is None:
            if self.is_full:
                raise Refused(
                    ErrorReason.TOO_MANY, f"{self._chosen.provisions} provisions go on already; ask again"
                )
            if await self._environments.count() >= self._chosen.environments:
                message = f"{self._chosen.environments} environments exist already; tear one down"
                raise Refused(ErrorReason.TOO_MANY, message)
        elif served.is_going(found) or self._environments.is_expired(found):
            raise Refused(
                ErrorReason.DESTROYED, f"environment_id: {environment_id}: was torn down; propose another"
            )
        elif served.digest_of(found) != digest:
            raise _taken(environment_id)

    async def _make(self, environment_id: str, digest: str, request: ProvisionRequest) -> ProvisionAnswer:
        try:
            return await self._steps(environment_id, digest, request)
        except Refused:
            await self._discard(environment_id)
            raise
        except errors.OasisError as error:
            await self._discard(environment_id)
            waits = isinstance(error, errors.NotReady | errors.Transient)
            reason = ErrorReason.UNAVAILABLE if waits else ErrorReason.FAILED
            raise Refused(reason, f"{error.reason}: {error.message}") from error

    async def _discard(self, environment_id: str) -> None:
        try:
            await self._environments.remove(environment_id)
        except errors.OasisError:
            # The sweep removes whatever is left.
            return
        self._environments.forget(environment_id)

    async def _steps(self, environment_id: str, digest: str, request: ProvisionRequest) -> ProvisionAnswer:
        spec, settle = await self._template()
        await self._environments.fence()
        policy = await self._created(
            kinds.NETWORK_POLICY, served.root(environment_id, self._chosen.namespace, digest)
        )
        lifetime = self._chosen.max_age_seconds + _DEADLINE_SLACK
        data = await asyncio.to_thread(
            self._keys.run_secret_data, self._clock.now(), timedelta(seconds=lifetime * 2)
        )
        await self._created(kinds.SECRET, served.secret(policy, data))
        await self._created(kinds.POD, served.pod(policy, spec, self._settings, lifetime))
        there = await self._booted(environment_id, policy)
        status = await self._prepared(there, served.token(environment_id), settle, request)
        if not served.is_ready(policy):
            peers = self._chosen.agent_peers
            opened = served.root(environment_id, self._chosen.namespace, digest, peers)
            await self._kube.apply(kinds.NETWORK_POLICY, opened)
        return await self._answer(environment_id, there, status)

    async def _template(self) -> tuple[EnvironmentSpec, float]:
        """Return what environments are made from, and how long a state must hold."""
        spec, name = EnvironmentSpec(kubernetes=Kubernetes()), self._chosen.environment
        if name:
            body = await self._kube.get(kinds.ENVIRONMENT, self._chosen.namespace, name)
            if body is None:
                where = f"{self._chosen.namespace}/{name}"
                raise errors.NotReady(f"Environment {where} not found; create it", reason="NotFound")
            spec = Environment.parse(body).spec
        chosen = spec.kubernetes.settle_seconds if spec.kubernetes else None
        return spec, self._settings.settle_seconds if chosen is None else chosen

    async def _created(self, kind: kinds.Kind, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        """Create an object; one that is there already is that of an earlier try."""
        meta = manifest["metadata"]
        if kind is kinds.NETWORK_POLICY:
            # The one manager of its fields from the beginning, so that the agent can be let in later.
            found = await self._kube.get(kind, meta["namespace"], meta["name"])
            return found or await self._kube.apply(kind, manifest)
        return await create_or_get(self._kube, kind, manifest)

    async def _booted(self, environment_id: str, policy: Mapping[str, Any]) -> Served:
        """Wait until the environment answers."""
        deadline = self._clock.now() + timedelta(seconds=self._settings.timeouts.provisioning)
        said = "no node took the pod yet"
        while self._clock.now() < deadline:
            there = await self._environments.look(environment_id, policy)
            if there.pod is None or there.pod.is_over or there.pod.deleting:
                raise Refused(
                    ErrorReason.FAILED, f"the environment did not come up: {there.trouble or 'deleted'}"
                )
            reason, message = there.pod.account()
            said = f"{reason} {message}".strip() or said
            if there.reach is not None:
                try:
                    health = await self._probe.health(there.reach)
                except errors.Transient as error:
                    said = error.message
                else:
                    if health is None:
                        return there
                    said = health
            await self._clock.sleep(_POLL_SECONDS)
        limit = self._settings.timeouts.provisioning
        raise Refused(ErrorReason.UNAVAILABLE, f"the environment was not up within {limit:g} s: {said}")

    async def _prepared(
        self, there: Served, run_id: str, settle: float, request: ProvisionRequest
    ) -> PrepareStatus:
        """Let the probe establish the state, and wait until it saw it."""
        reach = _reach(there)
        wanted = PrepareRequest(
            request.state,
            request.agent,
            run_id=run_id,
            scenario_id=request.scenario_id,
            settle_seconds=settle,
        )
        deadline = self._clock.now() + timedelta(seconds=self._settings.timeouts.preparing)
        status = await self._probe.prepare(reach, wanted.to_json())
        while status.status not in (PrepareState.READY, PrepareState.FAILED):
            if self._clock.now() > deadline:
                limit = self._settings.timeouts.preparing
                raise Refused(ErrorReason.FAILED, f"the state was not established within {limit:g} s")
            await self._clock.sleep(_POLL_SECONDS)
            status = await self._probe.preparation(reach)
        if status.status is PrepareState.FAILED:
            raise failed(status)
        return status

    async def _answer(self, environment_id: str, there: Served, status: PrepareStatus) -> ProvisionAnswer:
        if status.credential is None:
            raise Refused(ErrorReason.FAILED, "the environment is ready and gave no credential for the agent")
        reach = _reach(there)
        info = await self._probe.info(reach)
        host = f"[{reach.host}]" if ":" in reach.host else reach.host
        endpoint = f"https://{host}:{network_policy.API_PORT}"
        credential = status.credential.to_json()
        access = {**credential, "certificate_authority": info.cluster_ca}
        access["kubeconfig"] = served.kubeconfig(endpoint, info.cluster_ca, credential)
        return ProvisionAnswer(environment_id, endpoint, access)


def failed(status: PrepareStatus) -> Refused:
    """Return what a caller is told of a state that was not established."""
    if status.reason is PrepareReason.IMPOSSIBLE_STATE:
        return (
            impossible(status.faults)
            if status.faults
            else Refused(ErrorReason.IMPOSSIBLE_STATE, status.message)
        )
    said = status.message or "the state was not established"
    return Refused(ErrorReason.FAILED, f"{status.reason or 'EnvironmentFault'}: {said}")


def impossible(faults: Iterable[StateFault]) -> Refused:
    """Return what a caller is told of entries that no cluster can be in."""
    lines = [str(fault) for fault in faults]
    more = f"; and {len(lines) - _MOST_FAULTS} more" if len(lines) > _MOST_FAULTS else ""
    return Refused(ErrorReason.IMPOSSIBLE_STATE, "; ".join(lines[:_MOST_FAULTS]) + more)


def _taken(environment_id: str) -> Refused:
    message = f"environment_id: {environment_id}: is in use for another request; propose another"
    return Refused(ErrorReason.CONFLICT, message)


def _reach(there: Served) -> Reach:
    if there.reach is None:
        raise Refused(ErrorReason.FAILED, there.trouble)
    return there.reach
