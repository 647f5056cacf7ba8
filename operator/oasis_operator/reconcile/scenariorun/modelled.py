"""What a run of an agent with a model has beside any other: a way to the gateway.

An agent without one is left as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.reconcile.scenariorun import budgeted
from oasis_operator.resources import gateway, kinds, manifests, names, pod_state

if TYPE_CHECKING:
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.scenariorun.observe import Observed
    from oasis_operator.wire.gateway import Reach


def opened(seen: Observed, policy: dict[str, Any]) -> dict[str, Any]:
    """Return the run's policy with the way to the gateway."""
    return gateway.opened(policy, _token(seen)) if _is_modelled(seen) else policy


async def admitting(deps: Deps, seen: Observed, request: dict[str, Any]) -> dict[str, Any]:
    """Return the release's request; the adapter must see that it reaches the gateway.

    Raises:
        ProviderFault: The gateway is gone.
    """
    if not _is_modelled(seen):
        return request
    reach = await _reach(deps, seen)
    target = {"name": "model gateway", "host": reach.host, "port": reach.port}
    opened = {**request, "allow": [*request["allow"], target]}
    return {**opened, "gateway": reach.to_json()} if _has_container(seen) else opened


async def completed(deps: Deps, seen: Observed, adapter: dict[str, Any]) -> dict[str, Any]:
    """Return the `adapter` member with the gateway, the run's token and its step budget.

    Raises:
        ProviderFault: The gateway is gone.
    """
    if not _is_modelled(seen) or _has_container(seen):
        return adapter
    reach = await _reach(deps, seen)
    budget = budgeted.budget_of(seen)
    limit = budget.max_steps if budget and budget.hard_stop else None
    return {**adapter, "gateway": reach.to_json(), **({"step_limit": limit} if limit else {})}


def _is_modelled(seen: Observed) -> bool:
    return seen.agent is not None and seen.agent.model is not None


def _has_container(seen: Observed) -> bool:
    """Tell whether the agent asks its model by itself; a loop of ours is given the way with its run."""
    return seen.agent is not None and seen.agent.image is not None


def _token(seen: Observed) -> str:
    spec = seen.run.spec
    return names.gateway_id(spec.evaluation.uid, spec.attempt)


async def _reach(deps: Deps, seen: Observed) -> Reach:
    """Return how this run reaches the gateway of its Evaluation."""
    token, namespace, uid = _token(seen), seen.objects.namespace, seen.run.spec.evaluation.uid
    pod = await deps.kube.get(kinds.POD, namespace, names.gateway_pod(token))
    secret = await deps.kube.get(kinds.SECRET, namespace, names.secret(token))
    found = pod_state.pod_state(pod)
    if pod is None or secret is None or found is None or not found.ip or found.is_over or found.deleting:
        raise errors.ProviderFault("the model gateway is gone", reason="GatewayFault")
    if not (manifests.is_owned_by(pod, uid) and manifests.is_owned_by(secret, uid)):
        raise errors.ProviderFault("the model gateway belongs to something else", reason="GatewayFault")
    return gateway.reach_of(secret, found, seen.objects.id)
