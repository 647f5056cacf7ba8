"""The self-tests that a provider makes before it claims anything, on an environment like those it serves.

1. Each failing status that evaluators may ask for is injected, and seen.
2. The agent writes, and the write stands in the audit log with verb, resource, namespace and user.
3. State and difference show what was declared, and what was written.
4. A value that is registered resolves.
5. One pod reaches another, and does not once a policy forbids it.

Spec: 08-provider-conformance §3.2, 08-provider-conformance §3.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.provider_api.refusals import Refused
from oasis_operator.resources import self_test
from oasis_operator.resources.conformance import NETWORK, SOURCES
from oasis_operator.wire.observation import ObservationType, ObserveRequest, SourceStatus
from oasis_operator.wire.provider import InjectRequest, ProvisionRequest, TeardownRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.live import LiveEnvironment
    from oasis_operator.provider_api.environments import Environments
    from oasis_operator.provider_api.service import Service

_STATUSES = ("CrashLoopBackOff", "degraded", "OOMKilled", "pending", "error", "elevated_error_rate")


class SelfTester:
    """Makes the self-tests of one kind of environment."""

    def __init__(self, service: Service, environments: Environments, live: LiveEnvironment) -> None:
        """Test what `service` serves."""
        self._service, self._environments, self._live = service, environments, live

    async def run(self) -> Mapping[str, str]:
        """Make all of them; returns what was not shown, as the reason by requirement key.

        Raises:
            ProviderFault: No environment could be made.
        """
        request = ProvisionRequest("self-test", self_test.STATE, self_test.AGENT)
        try:
            made = await self._service.provision(request)
        except Refused as refused:
            raise errors.ProviderFault(refused.message, reason=refused.reason.value) from refused
        try:
            return await self._tried(made.environment_id)
        finally:
            await self._service.teardown(TeardownRequest(made.environment_id))

    async def _tried(self, environment_id: str) -> Mapping[str, str]:
        failed: dict[str, str] = {}
        for part in (self._injection, self._inside, self._states):
            try:
                failed.update(await part(environment_id))
            except (errors.OasisError, Refused) as error:
                failed.update(dict.fromkeys(_KEYS[part.__name__], f"its self-test failed: {error}"))
        return failed

    async def _injection(self, environment_id: str) -> Mapping[str, str]:
        for number, status in enumerate(_STATUSES):
            entry = {"resource": f"deployment/batch-{number}", "namespace": "shop", "status": status}
            try:
                await self._service.inject(InjectRequest(environment_id, (entry | _MORE.get(status, {}),)))
            except Refused as refused:
                return {"state_injection": f"status {status} could not be established: {refused.message}"}
        return {}

    async def _inside(self, environment_id: str) -> Mapping[str, str]:
        there = await self._environments.find(environment_id)
        if there.reach is None:
            raise errors.ProviderFault(there.trouble)
        seen = await self._live.self_test(there.reach, self_test.TRIED)
        log = await self._observed(environment_id, ObservationType.AUDIT_LOG, {"namespace": "orders"})
        failed: dict[str, str] = {}
        if seen.created != self_test.CREATED or not any(
            (entry["verb"], entry["resource"], entry["name"]) == ("create", "configmaps", self_test.WRITTEN)
            for entry in log.get("entries", ())
        ):
            why = f"a write of the agent (answered {seen.created}) does not stand in the audit log"
            failed |= dict.fromkeys(self_test.AUDIT, why)
        return failed | self_test.traffic_unproven(seen)

    async def _states(self, environment_id: str) -> Mapping[str, str]:
        failed = {}
        where = {"kind": "ConfigMap", "name": self_test.WRITTEN, "namespace": "orders"}
        state = await self._observed(environment_id, ObservationType.RESOURCE_STATE, where)
        if state.get("data") != {"note": self_test.WRITTEN}:
            failed[f"{SOURCES}/resource_state"] = "the state does not show what was written"
        diff = await self._observed(environment_id, ObservationType.STATE_DIFF, where)
        if not diff.get("changes"):
            failed[f"{SOURCES}/state_diff"] = "the difference does not show what was written"
        where = {"kind": "Secret", "name": "ledger-db", "namespace": "orders"}
        value = await self._observed(environment_id, ObservationType.RESOURCE_STATE, where)
        if not (value.get("data") or {}).get("PASSWORD"):
            why = "a registered value does not resolve against the state"
            failed |= dict.fromkeys(("value_containment_support", f"{SOURCES}/value_containment"), why)
        return failed

    async def _observed(
        self, environment_id: str, kind: ObservationType, parameters: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        request = ObserveRequest(environment_id, kind.value, parameters)
        answer = await self._service.observe(request)
        if answer.evidence_source.status is not SourceStatus.AVAILABLE:
            raise errors.ProviderFault(f"{kind}: unreachable")
        return answer.data


_MORE: Mapping[str, dict[str, Any]] = {
    "elevated_error_rate": {"error_rate": "12%"},
    "degraded": {"replicas": 3},
}
_KEYS = {
    "_injection": ("state_injection",),
    "_inside": (NETWORK, *self_test.AUDIT),
    "_states": (
        f"{SOURCES}/resource_state",
        f"{SOURCES}/state_diff",
        f"{SOURCES}/value_containment",
        "value_containment_support",
    ),
}
