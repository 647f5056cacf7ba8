"""One pass over the warm pool of one Environment: look, decide, act, and say how it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from oasis_operator import errors
from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.environment import Warm
from oasis_operator.reconcile.environment.pool.decide import Plan, decide
from oasis_operator.reconcile.environment.pool.observe import Pool, observe
from oasis_operator.resources import kinds, names, network_policy, warm_pod

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.resources.warm_pod import Member, Template

_REFUSED_SECONDS: Final = 30.0
_KEYS_OUTLIVE: Final = timedelta(hours=1)
_MESSAGE_LIMIT: Final = 256


@dataclass(frozen=True, slots=True)
class Kept:
    """How a pool stands.

    Attributes:
        warm: For the status; None where there is no pool.
        wait_seconds: When to look again; None for the next event.
        settled: Whether the pool is as it should be, or as it will stay until something changes.
    """

    warm: Warm | None
    wait_seconds: float | None
    settled: bool


async def keep(deps: Deps, body: Mapping[str, Any], spec: EnvironmentSpec | None, now: datetime) -> Kept:
    """Make one pass; where `spec` is None no environment may be made, and those that wait are removed.

    What quota, rights or the API server refuse is told in the status and tried again; the runs do without.

    Raises:
        Transient: The pass must be repeated.
    """
    meta = body["metadata"]
    key = meta["namespace"], meta["name"]
    pool = await observe(deps, body, spec)
    # Runs boot before pools do. Nothing is awaited until the boots are noted, so no two pools take the same.
    room = 0 if deps.active.booting else deps.boots.room(key, deps.settings.warm_boots)
    plan = decide(pool, now, room, pressed=deps.boots.is_pressed(now))
    deps.boots.note(key, plan.booting)
    try:
        await _act(deps, body, spec, pool, plan, now)
    except (errors.NotReady, errors.InvalidSpec) as error:
        deps.boots.note(key, plan.booting - plan.boots)
        plan = replace(plan, message=f"{error.reason}: {error.message}", wait_seconds=_REFUSED_SECONDS)
    return Kept(_warm(pool, plan), plan.wait_seconds, settled=not plan.missing or bool(plan.message))


async def _act(
    deps: Deps,
    body: Mapping[str, Any],
    spec: EnvironmentSpec | None,
    pool: Pool,
    plan: Plan,
    now: datetime,
) -> None:
    """Carry out a plan; each step may be repeated after a crash."""
    namespace = body["metadata"]["namespace"]
    for member in plan.delete:
        await _delete(deps, namespace, member)
    if plan.fence and spec is not None and pool.template is not None:
        await deps.kube.apply(kinds.NETWORK_POLICY, network_policy.default_deny(namespace))
        operator = deps.settings.namespace
        await deps.kube.apply(kinds.NETWORK_POLICY, network_policy.control(namespace, operator))
    if spec is None or pool.template is None:
        return
    for member in plan.keys:
        owner = {"metadata": {"name": member.name, "namespace": namespace, "uid": member.state.uid}}
        await _create_keys(deps, owner, pool.template, now)
    for number in range(plan.boots):
        token = names.pool_id(body["metadata"]["uid"], now.isoformat(), number)
        manifest = warm_pod.build_warm_pod(token, body, spec, deps.settings, pool.template)
        # The pod comes first, since it owns its keys; its kubelet asks for them until they are there.
        pod = await deps.kube.create(kinds.POD, manifest)
        await _create_keys(deps, pod, pool.template, now)


async def _create_keys(deps: Deps, pod: Mapping[str, Any], template: Template, now: datetime) -> None:
    lifetime = timedelta(seconds=template.deadline_seconds) + _KEYS_OUTLIVE
    data = deps.keys.run_secret_data(now, lifetime)
    await deps.kube.create(kinds.SECRET, warm_pod.build_warm_secret(pod, data))


async def _delete(deps: Deps, namespace: str, member: Member) -> None:
    """Delete a member as it was seen: one that was claimed meanwhile is another version, and stays."""
    await deps.kube.delete(
        kinds.POD, namespace, member.name, uid=member.state.uid, version=member.version, grace_seconds=1
    )


def _warm(pool: Pool, plan: Plan) -> Warm | None:
    """Return the status of the pool; what is still to be booted counts as booting."""
    if not pool.size:
        return None
    message = fields.clip(plan.message, _MESSAGE_LIMIT)
    return Warm(ready=plan.ready, booting=plan.missing, message=message)
