"""The environments that are served: what exists, what state it is in, and how it ends.

All of it is read from the cluster. This process knows only which provisions it is busy with, so that another
one that takes its place serves the same environments, and removes what nobody is busy with any more.

    (none) ──provision──▶ provisioning ──state seen──▶ ready ──teardown, age──▶ gone
                              └──failure, abandoned──────────────────────────────▲
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.provider_api.refusals import Refused
from oasis_operator.resources import access, kinds, names, network_policy, pod_state, served
from oasis_operator.wire.provider_errors import ErrorReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator import errors
    from oasis_operator.ports.clock import Clock
    from oasis_operator.ports.kube import Kube
    from oasis_operator.resources.access import Reach
    from oasis_operator.resources.pod_state import PodState
    from oasis_operator.settings import ProviderApi, Settings

_REMEMBERED = 10_000
PROBE_TOKEN = "probe-token"  # noqa: S105  # the name of a key


@dataclass(frozen=True, slots=True)
class Served:
    """One environment as the cluster has it.

    Attributes:
        environment_id: As the evaluator knows it.
        policy: Its policy.
        pod: Its pod, None where there is none.
        reach: How its probe is reached, None where it is not.
    """

    environment_id: str
    policy: Mapping[str, Any]
    pod: PodState | None = None
    reach: Reach | None = None

    @property
    def trouble(self) -> str:
        """Why the environment cannot be asked for anything, empty where it can."""
        if self.pod is None:
            return "the environment's pod is gone"
        if self.pod.is_over or self.pod.is_lost:
            reason, message = self.pod.account()
            return f"the environment's pod has ended: {reason} {message}".strip()
        if self.pod.restarts:
            return "the environment was started anew and does not know what happened in it before"
        return "" if self.reach else "the environment's Secret or address is gone"


class Environments:
    """Finds, counts and removes served environments."""

    def __init__(self, kube: Kube, clock: Clock, settings: Settings, chosen: ProviderApi) -> None:
        """Serve from one namespace."""
        self._kube, self._clock = kube, clock
        self._settings, self._chosen = settings, chosen
        self._ended: OrderedDict[str, None] = OrderedDict()
        self.busy: set[str] = set()
        """Environments that this process is provisioning."""

    @property
    def namespace(self) -> str:
        """Where they are."""
        return self._chosen.namespace

    async def policy(self, environment_id: str) -> Mapping[str, Any] | None:
        """Return the policy of an environment, None where there is none.

        Raises:
            Refused: Another identifier has the same objects (CONFLICT).
        """
        name = names.policy(served.token(environment_id))
        found = await self._kube.get(kinds.NETWORK_POLICY, self.namespace, name)
        if found is not None and served.environment_id(found) != environment_id:
            raise Refused(ErrorReason.CONFLICT, f"NetworkPolicy {self.namespace}/{name}: belongs to another")
        return found

    async def find(self, environment_id: str) -> Served:
        """Return an environment that is ready.

        Raises:
            Refused: There never was one, it is gone, too old, or not ready yet.
        """
        policy = await self.policy(environment_id)
        if policy is None:
            raise self._unknown(environment_id)
        if served.is_going(policy) or self.is_expired(policy):
            raise Refused(
                ErrorReason.DESTROYED, f"environment_id: {environment_id}: was torn down, or too old"
            )
        if not served.is_ready(policy):
            message = f"environment_id: {environment_id}: is still being provisioned; wait for its answer"
            raise Refused(ErrorReason.NOT_READY, message)
        return await self.look(environment_id, policy)

    async def look(self, environment_id: str, policy: Mapping[str, Any]) -> Served:
        """Return an environment as it is, whatever it is."""
        token = served.token(environment_id)
        pod, secret = await asyncio.gather(
            self._kube.get(kinds.POD, self.namespace, names.environment_pod(token)),
            self._kube.get(kinds.SECRET, self.namespace, names.secret(token)),
        )
        state = pod_state.pod_state(pod)
        return Served(environment_id, policy, state, access.of(secret, state, PROBE_TOKEN))

    async def count(self) -> int:
        """Return how many there are, in whatever state."""
        found = await self._kube.list(kinds.NETWORK_POLICY, self.namespace, served.SELECTOR)
        return sum(not served.is_going(policy) for policy in found)

    async def destroy(self, environment_id: str) -> None:
        """Tear an environment down; one that was torn down before is no error.

        Raises:
            Refused: There never was one (UNKNOWN_ENVIRONMENT).
        """
        if await self.policy(environment_id) is None and environment_id not in self._ended:
            raise self._unknown(environment_id)
        await self.remove(environment_id)

    async def remove(self, environment_id: str) -> None:
        """Delete all objects of an environment; the policy last, since it leads to the others."""
        token = served.token(environment_id)
        pod = names.environment_pod(token)
        await self._kube.delete(kinds.POD, self.namespace, pod, grace_seconds=1)
        await self._kube.delete(kinds.SECRET, self.namespace, names.secret(token))
        await self._kube.delete(kinds.NETWORK_POLICY, self.namespace, names.policy(token))
        self._ended[environment_id] = None
        if len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)

    async def sweep(self) -> tuple[str, ...]:
        """Remove what is too old, and what was left half made; returns what was removed."""
        removed = []
        for policy in await self._kube.list(kinds.NETWORK_POLICY, self.namespace, served.SELECTOR):
            environment_id = served.environment_id(policy)
            if environment_id and (self.is_expired(policy) or self._is_abandoned(policy, environment_id)):
                await self.remove(environment_id)
                removed.append(environment_id)
        return tuple(removed)

    async def fence(self) -> None:
        """Put the permanent policies of the namespace in place; no pod may exist before them."""
        for wanted in (
            network_policy.default_deny(self.namespace),
            network_policy.control(self.namespace, self._settings.namespace),
        ):
            name = wanted["metadata"]["name"]
            found = await self._kube.get(kinds.NETWORK_POLICY, self.namespace, name)
            if not network_policy.is_intact(found, wanted):
                await self._kube.apply(kinds.NETWORK_POLICY, wanted)

    def is_expired(self, policy: Mapping[str, Any]) -> bool:
        """Tell whether an environment is older than any may become."""
        return served.age_seconds(policy, self._clock.now()) > self._chosen.max_age_seconds

    def forget(self, environment_id: str) -> None:
        """Take an identifier for a fresh one again."""
        self._ended.pop(environment_id, None)

    def _is_abandoned(self, policy: Mapping[str, Any], environment_id: str) -> bool:
        """Tell whether nobody will finish it: its provision ended with another process."""
        return not served.is_ready(policy) and environment_id not in self.busy

    def _unknown(self, environment_id: str) -> Refused:
        if environment_id in self._ended:
            return Refused(ErrorReason.DESTROYED, f"environment_id: {environment_id}: was torn down")
        message = f"environment_id: {environment_id}: there is none; want what /v1/provision answered with"
        return Refused(ErrorReason.UNKNOWN_ENVIRONMENT, message)


def unavailable(error: errors.OasisError) -> Refused:
    """Return what a caller is told where the cluster itself does not answer, or refuses for now."""
    return Refused(ErrorReason.UNAVAILABLE, f"{error.reason}: {error.message}")
