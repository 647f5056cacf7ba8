"""The model gateway of an attempt: made and ready before its first run, gone with its last.

It is made once. Its books live in its pod, so that a second one would begin every budget anew: where it is
lost while runs go on, they fail by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api.conditions import Reason
from oasis_operator.reconcile.creating import create_own
from oasis_operator.reconcile.evaluation import plans, preflight
from oasis_operator.reconcile.evaluation.actions import CreateGateway
from oasis_operator.reconcile.evaluation.plans import Note, Plan
from oasis_operator.resources import gateway, kinds, names
from oasis_operator.resources.timeouts import stage_seconds
from oasis_operator.wire.gateway import is_approved

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.evaluation.observe import Observed
    from oasis_operator.settings import Settings

_POLL = 0.3
_LIFETIME = timedelta(days=8)


def approved(seen: Observed, _now: datetime, settings: Settings) -> Plan | None:
    """Refuse a model at an origin that the operator does not approve, and a world that it cannot work in."""
    model = seen.agent.model if seen.agent else None
    if model is None or seen.has_begun:
        return None
    if not is_approved(model.base_url, settings.model_origins):
        known = ", ".join(settings.model_origins) or "none"
        message = (
            f"Agent spec.model.baseURL: {model.base_url} is at no approved origin (there are: {known}); "
            "whoever runs the operator approves of one in the chart's value models.origins"
        )
        return plans.refused(seen, Note(Reason.INVALID_INPUT, message))
    if seen.environment is not None and seen.environment.kubernetes is None:
        message = "agents with spec.model need an Environment of kind kubernetes"
        return plans.refused(seen, Note(Reason.INVALID_INPUT, message))
    return None


def ready(seen: Observed, now: datetime, settings: Settings) -> Plan | None:
    """Make the gateway and wait for it, but not for ever."""
    if seen.agent is None or seen.agent.model is None or seen.has_begun:
        return None
    pod = seen.gateway
    if pod is None:
        return Plan((CreateGateway(),), wait_seconds=_POLL)
    container = pod.container(gateway.CONTAINER)
    if container.running and container.ready:
        return None
    limit = stage_seconds(seen.evaluation.spec.timeouts, settings.timeouts).provisioning
    trouble = preflight.trouble_of((pod,), now, limit)
    if trouble is not None and trouble.is_final:
        return plans.refused(seen, Note(trouble.reason, f"the model gateway: {trouble.message}"))
    note = Note(trouble.reason, f"the model gateway: {trouble.message}") if trouble else None
    return Plan(note=note, wait_seconds=_POLL)


@dataclass(frozen=True, slots=True)
class GatewayObjects:
    """Makes and removes the objects of one attempt's gateway; each step may be repeated."""

    deps: Deps
    seen: Observed

    @property
    def _token(self) -> str:
        return names.gateway_id(self.seen.body["metadata"]["uid"], self.seen.attempt)

    async def create(self, now: datetime) -> None:
        """Create Secret, policy and pod, the pod last.

        Raises:
            NotReady: The Agent is gone.
            ProviderFault: Somebody else has an object of its name.
        """
        model = self.seen.agent.model if self.seen.agent else None
        if model is None:
            raise errors.NotReady("the Agent has no model", reason="NotFound")
        body, harness = self.seen.body, self.seen.evaluation.spec.harness
        data = self.deps.keys.run_secret_data(now, _LIFETIME)
        budget = harness.budget if harness else None
        for kind, manifest in (
            (kinds.SECRET, gateway.build_secret(self._token, body, data)),
            (kinds.NETWORK_POLICY, gateway.build_policy(self._token, body, model)),
            (kinds.POD, gateway.build_pod(self._token, body, model, budget, self.deps.settings)),
        ):
            await create_own(self.deps.kube, kind, manifest, body["metadata"]["uid"])

    async def delete(self) -> None:
        """Remove what there is; the policy last, so that no pod is without it."""
        if self.seen.agent is not None and self.seen.agent.model is None:
            return
        namespace = self.seen.body["metadata"]["namespace"]
        await self.deps.kube.delete(kinds.POD, namespace, names.gateway_pod(self._token))
        await self.deps.kube.delete(kinds.SECRET, namespace, names.secret(self._token))
        await self.deps.kube.delete(kinds.NETWORK_POLICY, namespace, names.policy(self._token))
