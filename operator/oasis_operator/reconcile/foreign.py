"""Foreign providers as all reconcilers see them: how they are reached, and what goes on with them meanwhile.

A provision may take minutes, so it goes on beside the passes; what is known of it is the record on the volume
and, as long as the process lives, the task here.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.foreign_provider import (
    DEFAULT_CA_KEY,
    DEFAULT_TOKEN_KEY,
    ForeignProvider,
)
from oasis_operator.resources import kinds
from oasis_operator.resources.provider_access import ProviderReach

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from oasis_operator.api.v1alpha1.foreign_provider import CaRef, KeyRef
    from oasis_operator.ports.kube import Kube
    from oasis_operator.ports.provider import Provider
    from oasis_operator.ports.provisions import Provisions
    from oasis_operator.wire.provider import ProvisionAnswer

_PROVISION_SECONDS = 600.0
_REQUEST_SECONDS = 60.0


@dataclass(slots=True)
class Desk:
    """Provisions under way, by the identifier of the run's attempt; a restart forgets them."""

    _tasks: dict[str, asyncio.Task[ProvisionAnswer]] = field(default_factory=dict)

    def begin(self, key: str, provision: Coroutine[Any, Any, ProvisionAnswer]) -> None:
        """Let a provision go on by itself."""
        self._tasks[key] = asyncio.create_task(provision)

    @property
    def is_busy(self) -> bool:
        """Whether any provision goes on."""
        return any(not task.done() for task in self._tasks.values())

    def is_known(self, key: str) -> bool:
        """Tell whether this process asked for it."""
        return key in self._tasks

    def result(self, key: str) -> ProvisionAnswer | errors.ProviderFault | None:
        """Return how a provision ended; None where it goes on, or is not known."""
        task = self._tasks.get(key)
        if task is None or not task.done():
            return None
        if task.cancelled():
            return errors.ProviderFault("the provision was given up")
        error = task.exception()
        if error is None:
            return task.result()
        if isinstance(error, errors.ProviderFault):
            return error
        return errors.ProviderFault(f"the provision broke: {type(error).__name__}: {error}"[:512])

    def drop(self, key: str) -> None:
        """Forget a provision; one that goes on is given up."""
        task = self._tasks.pop(key, None)
        if task is not None and not task.done():
            task.cancel()


@dataclass(frozen=True, slots=True)
class Foreign:
    """What the reconcilers need for foreign providers.

    Attributes:
        provider: The contract's other side.
        provisions: What was asked, on record.
        desk: What is under way.
    """

    provider: Provider
    provisions: Provisions
    desk: Desk = field(default_factory=Desk)


async def reach(kube: Kube, namespace: str, spec: ForeignProvider) -> ProviderReach:
    """Return how a provider is reached, with what the objects that its spec names hold by now.

    Raises:
        NotReady: One of them is not there, or lacks the key.
    """
    return ProviderReach(
        url=spec.url,
        ca=await _ca(kube, namespace, spec.ca_ref) if spec.ca_ref else None,
        token=await _token(kube, namespace, spec.token_ref) if spec.token_ref else "",
        provision_seconds=provision_seconds(spec),
        request_seconds=_seconds(spec.request_timeout, _REQUEST_SECONDS),
    )


def provision_seconds(spec: ForeignProvider) -> float:
    """Return the longest time until an environment is ready."""
    return _seconds(spec.provision_timeout, _PROVISION_SECONDS)


def provider_of(spec: Mapping[str, Any]) -> ForeignProvider:
    """Read `spec.provider` as a record has it."""
    return ForeignProvider.model_validate(dict(spec))


def _seconds(duration: str | None, default: float) -> float:
    return fields.duration_seconds(duration) if duration else default


async def _ca(kube: Kube, namespace: str, reference: CaRef) -> bytes:
    if reference.config_map is not None:
        name, key = reference.config_map.name, reference.config_map.key or DEFAULT_CA_KEY
        found = await kube.get(kinds.CONFIG_MAP, namespace, name)
        text = ((found or {}).get("data") or {}).get(key)
        if not isinstance(text, str) or not text.strip():
            raise _missing("ConfigMap", namespace, name, key)
        return text.encode()
    if reference.secret is None:
        raise errors.InvalidSpec("spec.provider.caRef names neither a ConfigMap nor a Secret")
    return await _secret(kube, namespace, reference.secret, DEFAULT_CA_KEY)


async def _token(kube: Kube, namespace: str, reference: KeyRef) -> str:
    token = (await _secret(kube, namespace, reference, DEFAULT_TOKEN_KEY)).strip()
    try:
        text = token.decode("ascii")
    except UnicodeDecodeError:
        text = ""
    if not text or not text.isprintable() or " " in text:
        key = reference.key or DEFAULT_TOKEN_KEY
        message = f"Secret {namespace}/{reference.name}: {key} is no token of one line; correct it"
        raise errors.NotReady(message, reason="NotReady")
    return text


async def _secret(kube: Kube, namespace: str, reference: KeyRef, default: str) -> bytes:
    key = reference.key or default
    found = await kube.get(kinds.SECRET, namespace, reference.name)
    encoded = ((found or {}).get("data") or {}).get(key)
    try:
        value = base64.b64decode(encoded or "", validate=True)
    except (binascii.Error, ValueError):
        value = b""
    if not value:
        raise _missing("Secret", namespace, reference.name, key)
    return value


def _missing(kind: str, namespace: str, name: str, key: str) -> errors.NotReady:
    return errors.NotReady(
        f"{kind} {namespace}/{name} with key {key}, which spec.provider names, is not there; create it",
        reason="NotFound",
    )
