"""What the routes of the provider contract do, without HTTP.

A fault of an environment that was ready is told as its evidence source being unreachable wherever the
contract has a place for that, since such an answer must not look like an empty one.

Spec: 04-execution §2.2, 05-reporting §1.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.provider_api import observations
from oasis_operator.provider_api.provisioning import failed
from oasis_operator.provider_api.refusals import Refused
from oasis_operator.wire.fields import Fields, fault
from oasis_operator.wire.observation import (
    EvidenceSource,
    ObservationType,
    ObserveAnswer,
    ObserveRequest,
    SourceStatus,
    SourceType,
)
from oasis_operator.wire.probe import PrepareState
from oasis_operator.wire.provider import ResourceRef, SnapshotAnswer, Status, StatusAnswer
from oasis_operator.wire.provider_errors import ErrorReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.provider_api.environments import Environments, Served
    from oasis_operator.provider_api.provisioning import Provisioner, Tools
    from oasis_operator.resources.access import Reach
    from oasis_operator.wire.provider import (
        InjectRequest,
        ProvisionAnswer,
        ProvisionRequest,
        SnapshotRequest,
        TeardownRequest,
    )

_SOURCES = {
    ObservationType.AUDIT_LOG: SourceType.AUDIT_LOG_FILE,
    ObservationType.RESOURCE_STATE: SourceType.KUBE_API,
    ObservationType.STATE_DIFF: SourceType.KUBE_API,
}


class Service:
    """Serves one namespace's environments."""

    def __init__(self, tools: Tools, environments: Environments, provisioner: Provisioner) -> None:
        """Work with these."""
        self._tools = tools
        self._environments = environments
        self._provisioner = provisioner

    @property
    def is_full(self) -> bool:
        """Whether as many provisions go on as may."""
        return self._provisioner.is_full

    async def provision(self, request: ProvisionRequest) -> ProvisionAnswer:
        """Make an environment.

        Raises:
            Refused: Nothing was made.
        """
        return await self._provisioner.provision(request)

    async def snapshot(self, request: SnapshotRequest) -> SnapshotAnswer:
        """Return the state as it is now; without references, of everything.

        Raises:
            Refused: There is no such environment, or it cannot be read.
        """
        there = await self._environments.find(request.environment_id)
        try:
            state = await self._tools.live.state(_reach(there))
        except errors.OasisError as error:
            raise Refused(ErrorReason.FAILED, f"the environment cannot be read: {error.message}") from error
        found = observations.select(state.now, request.resources)
        if not request.resources:
            found = observations.steady(found)
        return SnapshotAnswer(request.environment_id, state.at, tuple(map(_named, found)))

    async def inject(self, request: InjectRequest) -> StatusAnswer:
        """Put further state into an environment.

        Raises:
            Refused: There is no such environment, or the state was not established.
        """
        there = await self._environments.find(request.environment_id)
        try:
            status = await self._tools.live.inject(_reach(there), request.state)
        except errors.OasisError as error:
            raise Refused(ErrorReason.FAILED, f"nothing could be injected: {error.message}") from error
        if status.status is not PrepareState.READY:
            raise failed(status)
        return StatusAnswer(Status.APPLIED.value)

    async def observe(self, request: ObserveRequest) -> ObserveAnswer:
        """Return one observation.

        Raises:
            Refused: There is no such environment, or it is not ready.
            InvalidInput: A parameter is malformed.
        """
        there = await self._environments.find(request.environment_id)
        wanted = ObservationType(request.observation_type)
        parameters = Fields(request.parameters, "parameters")
        user = ""
        try:
            data, at, whole = await self._look(_reach(there), wanted, parameters)
            credential = (await self._tools.probe.preparation(_reach(there))).credential
            user = credential.username if credential else ""
        except (errors.Transient, errors.ProviderFault, errors.NotReady, Refused):
            data, at, whole = {}, self._tools.clock.now().isoformat(), False
        status = SourceStatus.AVAILABLE if whole and user else SourceStatus.UNREACHABLE
        source = EvidenceSource(_SOURCES[wanted].value, status)
        return ObserveAnswer(request.environment_id, at, wanted.value, data, source, user)

    async def teardown(self, request: TeardownRequest) -> StatusAnswer:
        """Destroy an environment; one that was destroyed before is so again.

        Raises:
            Refused: There never was one.
        """
        await self._provisioner.abort(request.environment_id)
        await self._environments.destroy(request.environment_id)
        return StatusAnswer(Status.DESTROYED.value)

    async def _look(
        self, reach: Reach, wanted: ObservationType, parameters: Fields
    ) -> tuple[dict[str, Any], str, bool]:
        """Return data, moment, and whether nothing of it can be missing."""
        if wanted is ObservationType.AUDIT_LOG:
            observations.audit_entries((), parameters)
            log = await self._tools.live.log(reach)
            data: dict[str, Any] = {"entries": list(observations.audit_entries(log.entries, parameters))}
            return data, log.end or self._tools.clock.now().isoformat(), log.complete
        kind, name, namespace = observations.references(parameters)
        references = (ResourceRef(kind, name, namespace),) if kind or name or namespace else ()
        state = await self._tools.live.state(reach)
        if wanted is ObservationType.STATE_DIFF:
            diff = observations.difference(state.before, state.now, references, state.prepared_from)
            return diff, state.at, True
        found = observations.select(state.now, references)
        if kind and name:
            if len(found) > 1:
                spaces = ", ".join(item["metadata"].get("namespace", "") for item in found)
                want = f"{kind}/{name} is in several; want one of {spaces}"
                raise fault("parameters.namespace", namespace, want)
            return dict(_named(found[0])) if found else {}, state.at, True
        shown = found if references else observations.steady(found)
        return {"resources": [_named(item) for item in shown]}, state.at, True


def _reach(there: Served) -> Reach:
    if there.reach is None or there.trouble:
        raise Refused(ErrorReason.FAILED, there.trouble)
    return there.reach


def _named(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object with name and namespace beside its kind, as evaluators look for them."""
    metadata = item["metadata"]
    return {"name": metadata["name"], "namespace": metadata.get("namespace") or "", **item}
