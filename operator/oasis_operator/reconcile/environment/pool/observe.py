"""What one pass sees of a warm pool: its pods, which of them have keys, and the fence around them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.resources import kinds, labels, manifests, names, network_policy, warm_pod

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.resources.warm_pod import Member, Template


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool.

    Attributes:
        size: Environments that are wanted.
        template: What they are made from; None where none is wanted.
        members: Those that nobody claimed, oldest first, the ones that are being deleted included.
        keyless: Names of members whose Secret does not exist.
        foreign: Names of members whose Secret is somebody else's.
        fenced: Whether the policies that keep everybody out are in place.
        boot_seconds: Time after which a member that is not up is given up.
    """

    size: int
    template: Template | None
    members: tuple[Member, ...]
    keyless: frozenset[str]
    foreign: frozenset[str]
    fenced: bool
    boot_seconds: float


async def observe(deps: Deps, body: Mapping[str, Any], spec: EnvironmentSpec | None) -> Pool:
    """Return what is to be seen of an Environment's pool; `spec` is None where nothing may be made of it."""
    meta = body["metadata"]
    namespace = meta["namespace"]
    pods = await deps.kube.list(kinds.POD, namespace, {labels.POOL: meta["uid"]})
    found = [member for member in map(warm_pod.member_of, pods) if member is not None]
    wanted = warm_pod.pool_of(spec) if spec else None
    keyless, foreign = await _without_keys(deps, namespace, found)
    return Pool(
        size=wanted.size if wanted else 0,
        template=warm_pod.template_of(spec, deps.settings) if spec else None,
        members=tuple(sorted(found, key=lambda member: (member.created, member.name))),
        keyless=keyless,
        foreign=foreign,
        fenced=await _is_fenced(deps, namespace) if wanted or found else True,
        boot_seconds=deps.settings.timeouts.provisioning,
    )


async def _without_keys(
    deps: Deps, namespace: str, members: list[Member]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the members that still boot and have no Secret, or another's; who is up has its keys."""
    booting = [member for member in members if not (member.is_ready or member.state.deleting)]
    secrets = await asyncio.gather(
        *(deps.kube.get(kinds.SECRET, namespace, names.secret(member.token)) for member in booting)
    )
    pairs = tuple(zip(booting, secrets, strict=True))
    keyless = frozenset(member.name for member, secret in pairs if secret is None)
    foreign = frozenset(
        member.name
        for member, secret in pairs
        if secret is not None and not manifests.is_owned_by(secret, member.state.uid)
    )
    return keyless, foreign


async def _is_fenced(deps: Deps, namespace: str) -> bool:
    deny, control = await asyncio.gather(
        deps.kube.get(kinds.NETWORK_POLICY, namespace, names.DEFAULT_DENY),
        deps.kube.get(kinds.NETWORK_POLICY, namespace, names.CONTROL),
    )
    wanted = network_policy.control(namespace, deps.settings.namespace)
    denied = network_policy.is_intact(deny, network_policy.default_deny(namespace))
    return denied and network_policy.is_intact(control, wanted)
