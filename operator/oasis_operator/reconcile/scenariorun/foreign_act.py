"""The effects of a plan on a foreign provider, each of which may be repeated after a crash.

The record on the volume is written before the provider is asked and after it answered, so that the next pass,
in this process or another, knows what was done.

Spec: 04-execution §2.2, 08-provider-conformance §3.2.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.conditions import Reason
from oasis_operator.ports.provider import ProviderRefusal
from oasis_operator.reconcile import foreign
from oasis_operator.reconcile.creating import create_or_get
from oasis_operator.reconcile.scenariorun import foreign_actions as do
from oasis_operator.reconcile.scenariorun import foreign_collect
from oasis_operator.reconcile.scenariorun.troubles import Failure
from oasis_operator.resources import (
    agent_pod,
    foreign_requests,
    kinds,
    names,
    network_policy,
    provision_record,
    reach_pod,
    run,
)
from oasis_operator.resources.provider_access import agent_access
from oasis_operator.wire.conformance import Extension, extensions_of
from oasis_operator.wire.observation import ObservationType, ObserveRequest, SourceStatus
from oasis_operator.wire.provider import ProvisionAnswer, SnapshotRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from oasis_operator.model.scenario import Scenario
    from oasis_operator.ports.artifacts import Artifact
    from oasis_operator.ports.provider import Provider
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.scenariorun.foreign_seen import ForeignSeen
    from oasis_operator.reconcile.scenariorun.observe import Observed
    from oasis_operator.resources.provider_access import ProviderReach
    from oasis_operator.resources.provision_record import Provision
    from oasis_operator.wire.provider import ProvisionRequest

_DAMAGED = "RecordUnreadable"
_NO_ROOM = 429
_NO_ROOM_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Done:
    """What an effect gave; a member is None where it gave no such thing.

    Attributes:
        agent_pod: The agent pod as created.
        evidence: The evidence document that was stored.
        failure: What could not be observed.
    """

    agent_pod: Mapping[str, Any] | None = None
    evidence: Artifact | None = None
    failure: Failure | None = None


async def carry_out(  # noqa: C901, PLR0912 - a case each
    deps: Deps, seen: Observed, step: do.ForeignAction, wanted: Scenario | None, now: datetime
) -> Done:
    """Carry out one effect.

    Args:
        deps: Ports.
        seen: What the pass sees.
        step: The effect.
        wanted: The scenario; None for a teardown, which needs none.
        now: The time of the pass.

    Raises:
        Transient: The pass must be repeated.
        NotReady: An object that the provider's spec names is missing.
        ProviderFault: The provider failed, or what it gave cannot be used.
    """
    part = _ForeignPart(deps, seen, now)
    match step:
        case do.MakeKeys():
            await part.make_keys()
        case do.Provision():
            await part.provision(_known(wanted))
        case do.KeepProvision():
            await part.keep_provision()
        case do.CaptureBefore():
            await part.capture_before()
        case do.AdmitAgent():
            return Done(agent_pod=await part.admit_agent())
        case do.ReleaseToForeign():
            await part.release()
        case do.CollectForeign(is_last):
            return await part.collect(_known(wanted), is_last=is_last)
        case do.TearDown(key):
            await tear_down(deps, key)
        case _:
            raise errors.ProviderFault(f"no such effect: {step!r}")
    return Done()


class _ForeignPart:
    """The effects of one pass over one run of a foreign provider."""

    def __init__(self, deps: Deps, seen: Observed, now: datetime) -> None:
        self._deps = deps
        self._seen = seen
        self._now = now
        self._ids = seen.objects

    async def make_keys(self) -> None:
        """Create the run's Secret; one that is there already is the one that was meant."""
        lifetime = timedelta(seconds=self._seen.seconds.pod_deadline * 2)
        data = self._deps.keys.run_secret_data(self._now, lifetime)
        await create_or_get(self._deps.kube, kinds.SECRET, run.run_secret(self._ids, data))

    async def provision(self, wanted: Scenario) -> None:
        """Put the request on record, and let it go on beside the passes."""
        part, meta = self._part(), self._seen.body["metadata"]
        reach = await self._reach()
        record = part.record or provision_record.Provision(
            key=self._ids.id,
            namespace=self._ids.namespace,
            run=self._ids.name,
            run_uid=meta["uid"],
            provider=part.spec.model_dump(mode="json", by_alias=True, exclude_none=True),
            knows_ids=Extension.ENVIRONMENT_ID in extensions_of(await self._declared()),
            asked_at=self._now.isoformat(),
            environment_id=self._ids.id,
        )
        if part.record is None:
            await self._keep(record)
        owner = self._seen.evaluation
        tier = owner.spec.tier if owner else wanted.tier
        proposed = record.environment_id if record.knows_ids else ""
        request = foreign_requests.provision_request(wanted, tier, proposed)
        self._deps.foreign.desk.begin(record.key, _patiently(self._deps.foreign.provider, reach, request))

    async def keep_provision(self) -> None:
        """Put the answer on record; one that cannot be handed to an agent is refused before it is used."""
        result = self._part().result
        if not isinstance(result, ProvisionAnswer):
            raise errors.Transient("the provider has not answered yet")
        record = await self._record()
        await self._keep(replace(record, answer=asdict(result), environment_id=result.environment_id))
        self._deps.foreign.desk.drop(record.key)
        agent_access(result)

    async def capture_before(self) -> None:
        """Capture the state before the agent, and prove that its requests will be seen as its own."""
        record, reach = await self._record(), await self._reach()
        provider = self._deps.foreign.provider
        state = await provider.snapshot(reach, SnapshotRequest(record.environment_id))
        request = ObserveRequest(record.environment_id, ObservationType.AUDIT_LOG.value, {})
        audit = await provider.observe(reach, request)
        if audit.evidence_source.status is not SourceStatus.AVAILABLE:
            message = "the provider says before the agent is let in that its audit log is unreachable"
            raise errors.ProviderFault(message, reason=Reason.EVIDENCE_UNREACHABLE)
        principal = audit.agent_principal or agent_access(_answer(record)).username
        if not principal:
            message = (
                "the provider does not say under which user the agent acts: want `agent_principal` in the "
                "observation of its audit log, or `username` in agent_credentials"
            )
            raise errors.ProviderFault(message, reason=Reason.EVIDENCE_UNREACHABLE)
        before = {
            "timestamp": state.timestamp,
            "resources": [dict(one) for one in state.resources],
            "agent_principal": principal,
        }
        await self._keep(replace(record, before=before))

    async def admit_agent(self) -> Mapping[str, Any]:
        """Create the policy and then the agent's pod, which waits for its release."""
        if self._seen.agent is None:
            raise errors.NotReady("the Agent does not exist", reason="NotFound")
        access = agent_access(_answer(await self._record()))
        addresses = await self._deps.foreign.provider.addresses(access.host)
        policy = network_policy.foreign_run_policy(self._ids, addresses, access.port)
        await self._deps.kube.apply(kinds.NETWORK_POLICY, policy)
        plan = agent_pod.foreign_pod_plan(self._ids, access, addresses[0])
        manifest = agent_pod.build_agent_pod(plan, self._seen.agent, self._deps.settings)
        return await create_or_get(self._deps.kube, kinds.POD, manifest)

    async def release(self) -> None:
        """Hand access and isolation targets to the adapter."""
        pod, adapter = self._seen.agent_pod, self._seen.adapter_access()
        if pod is None or adapter is None:
            raise errors.Transient("the adapter cannot be reached yet")
        access = agent_access(_answer(await self._record()))
        denied = reach_pod.denied_targets(self._deps.settings, pod.node_ip)
        request = foreign_requests.release_request(denied, access)
        await self._deps.adapter.release(adapter, request)

    async def collect(self, wanted: Scenario, *, is_last: bool) -> Done:
        """Observe, complete the evidence and store it; what could not be observed is the run's failure."""
        record, reach = await self._record(), await self._reach()
        declared = await self._declared()
        observed = await foreign_collect.observe(
            self._deps.foreign.provider, reach, record.environment_id, wanted, declared
        )
        if observed.faults and not is_last:
            raise errors.Transient(observed.faults[0][1], reason=Reason.EVIDENCE_UNREACHABLE)
        stored, faults = await foreign_collect.store(
            self._deps, self._seen, (wanted, record, observed), self._now
        )
        failure = Failure(Reason.EVIDENCE_UNREACHABLE, "; ".join(faults)) if faults else None
        return Done(evidence=stored, failure=failure)

    async def _declared(self) -> Mapping[str, Any]:
        """Return the answer that this attempt of the Evaluation was let through with; empty without one."""
        spec = self._seen.run.spec
        key = names.opaque_token("conformance", spec.evaluation.uid, spec.attempt)
        kept = await self._deps.foreign.provisions.get(key)
        found = provision_record.read_declared(kept) if kept is not None else None
        return found.answer if found is not None else {}

    async def _record(self) -> Provision:
        kept = await self._deps.foreign.provisions.get(self._ids.id)
        record = provision_record.read_provision(kept) if kept is not None else None
        if record is None:
            raise errors.ProviderFault("the record of the provider's environment is gone", reason=_DAMAGED)
        return record

    async def _keep(self, record: Provision) -> None:
        await self._deps.foreign.provisions.keep(record.key, record.dump())

    async def _reach(self) -> ProviderReach:
        return await foreign.reach(self._deps.kube, self._ids.namespace, self._part().spec)

    def _part(self) -> ForeignSeen:
        if self._seen.foreign is None:
            raise errors.ProviderFault("the run has no foreign provider")
        return self._seen.foreign


async def _patiently(provider: Provider, reach: ProviderReach, request: ProvisionRequest) -> ProvisionAnswer:
    """Ask for an environment, and again as long as the provider says that it has no room for one now."""
    until = asyncio.get_running_loop().time() + reach.provision_seconds
    while True:
        try:
            return await provider.provision(reach, request)
        except ProviderRefusal as error:
            if error.status != _NO_ROOM or asyncio.get_running_loop().time() >= until:
                raise
        await asyncio.sleep(_NO_ROOM_SECONDS)


async def tear_down(deps: Deps, key: str) -> bool:
    """Tear an environment down and remove its record; one that cannot be now is marked to be later.

    Returns:
        Whether nothing of it is left.

    Raises:
        ProviderFault: The record cannot be written.
    """
    provisions, desk = deps.foreign.provisions, deps.foreign.desk
    kept = await provisions.get(key)
    record = provision_record.read_provision(kept) if kept is not None else None
    if record is None:
        return True
    ended = desk.result(key)
    if isinstance(ended, ProvisionAnswer):
        record = replace(record, answer=asdict(ended), environment_id=ended.environment_id)
    # While it is being made it cannot be told to go.
    settled = ended is not None or not desk.is_known(key)
    if settled and (not record.can_be_torn_down or await _destroy(deps, record)):
        desk.drop(key)
        await provisions.discard(key)
        return True
    await provisions.keep(key, replace(record, orphaned=True).dump())
    return False


async def _destroy(deps: Deps, record: Provision) -> bool:
    try:
        spec = foreign.provider_of(record.provider)
        reach = await foreign.reach(deps.kube, record.namespace, spec)
        await deps.foreign.provider.teardown(reach, record.environment_id)
    except (errors.ProviderFault, errors.NotReady, errors.Transient) as error:
        deps.meter.fault(error.reason)
        return False
    return True


def _answer(record: Provision) -> ProvisionAnswer:
    answer = record.provisioned
    if answer is None:
        raise errors.ProviderFault("the provider's answer is not on record", reason=_DAMAGED)
    return answer


def _known(wanted: Scenario | None) -> Scenario:
    if wanted is None:
        raise errors.ProviderFault("the scenario is not known", reason="ProfileChanged")
    return wanted
