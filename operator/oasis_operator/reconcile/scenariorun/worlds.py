"""Worlds that were booted ahead: which one a run has claimed, which it may claim, and the claim itself.

Only the first attempt of a run claims one. Whatever went wrong in it, the second attempt boots a world of its
own, so that nothing that ails a pool can cost more than one attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator import errors
from oasis_operator.api.v1alpha1.scenariorun import PodRef
from oasis_operator.resources import access, kinds, labels, manifests, names, warm_pod

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.resources.run import RunObjects
    from oasis_operator.resources.warm_pod import Member, Template

_TRIES: Final = 4
"""Members that one pass tries at the most: each that is lost to another run is a write for nothing."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a run may claim.

    Attributes:
        environment_uid: UID of the Environment that owns the pool.
        template: What a member must be made from.
        members: The pool, as far as it is to be seen; may be empty.
    """

    environment_uid: str
    template: Template
    members: tuple[Member, ...]

    def for_run(self, run: RunObjects, now: datetime) -> tuple[Member, ...]:
        """Return the members to try, in an order of the run's own, so that runs seldom try the same first."""
        fit = [item for item in self.members if warm_pod.claimable(item, self.template, run, now)]
        order = sorted(fit, key=lambda item: names.opaque_token("order", run.id, item.name))
        return tuple(order[:_TRIES])


async def claimed(deps: Deps, namespace: str, uid: str) -> tuple[Mapping[str, Any], ...]:
    """Return the environment pods that the run with this UID has claimed, by name; one, or none."""
    pods = await deps.kube.list(kinds.POD, namespace, {labels.RUN_UID: uid})
    return tuple(sorted(pods, key=lambda pod: str(pod["metadata"]["name"])))


def is_whole(pod: Mapping[str, Any]) -> bool:
    """Tell whether a claimed pod can still become the world of its run."""
    member = warm_pod.member_of(pod)
    return member is not None and not (member.is_broken or member.state.deleting)


async def offer(deps: Deps, namespace: str, uid: str, template: Template | None) -> Offer | None:
    """Return what the pool of the Environment with this UID offers; None where it has no pool."""
    if template is None:
        return None
    pods = await deps.kube.list(kinds.POD, namespace, {labels.POOL: uid})
    found = (warm_pod.member_of(pod) for pod in pods if manifests.is_owned_by(pod, uid))
    return Offer(uid, template, tuple(member for member in found if member is not None))


async def claim(
    deps: Deps, run: RunObjects, environment_uid: str, members: Sequence[Member], now: datetime
) -> PodRef | None:
    """Claim the first member that is still blank and free, by one conditional patch each.

    Returns:
        The environment pod, which is the run's own from now on; None where there was none to be had.

    Raises:
        Transient: The API server did not answer; whether a member was claimed the next pass sees.
    """
    for member in members:
        if not await _is_blank(deps, run.namespace, member):
            continue
        operations = warm_pod.claim(member, environment_uid, run, now)
        try:
            pod = await deps.kube.patch(kinds.POD, run.namespace, member.name, operations)
        except (errors.NotReady, errors.InvalidSpec) as error:
            # What refuses this claim refuses the next one too; a world of the run's own needs no claim.
            deps.meter.fault(error.reason)
            return None
        if pod is not None:
            return PodRef(name=member.name, uid=member.state.uid)
    return None


async def _is_blank(deps: Deps, namespace: str, member: Member) -> bool:
    """Tell whether a member's probe, asked with the member's own keys, says that nothing was done there."""
    secret = await deps.kube.get(kinds.SECRET, namespace, names.secret(member.token))
    if secret is None or not manifests.is_owned_by(secret, member.state.uid):
        return False
    reach = access.of(secret, member.state, "probe-token")
    if reach is None:
        return False
    try:
        return (await deps.probe.info(reach)).blank
    except (errors.Transient, errors.ProviderFault):
        return False
