"""Environment providers of others, as the operator speaks to them.

A fault of a provider is `errors.ProviderFault` whose reason is one of `Fault`; whether it means a refusal
before a run or a failure in it is for the caller to say.

Spec: 08-provider-conformance §3.8, 04-execution §2.2.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from oasis_operator import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.resources.provider_access import ProviderReach
    from oasis_operator.wire.observation import ObserveAnswer, ObserveRequest
    from oasis_operator.wire.provider import (
        InjectRequest,
        ProvisionAnswer,
        ProvisionRequest,
        SnapshotAnswer,
        SnapshotRequest,
    )


class Fault(StrEnum):
    """Reasons of a provider's faults.

    Attributes:
        UNREACHABLE: No connection stood, or its certificate is not trusted.
        TIMEOUT: There was no whole answer in time.
        BROKEN: The connection ended before the answer did.
        REDIRECTED: It answered with a redirect, which is never followed: credentials would go along.
        TOO_LARGE: The answer is larger than is read.
        REFUSED: It answered 400 to 499.
        FAILED: It answered 500 and above, or with a status other than the contract's.
        UNFINISHED: It answered 202, of which the contract knows nothing.
        MALFORMED: The body is no JSON, or not what the contract has.
        WRONG_ENVIRONMENT: The answer is about another environment, or about none.
        NOT_DONE: The body says that it was not done.
    """

    UNREACHABLE = "ProviderUnreachable"
    TIMEOUT = "ProviderTimeout"
    BROKEN = "ProviderHungUp"
    REDIRECTED = "ProviderRedirected"
    TOO_LARGE = "ProviderAnswerTooLarge"
    REFUSED = "ProviderRefused"
    FAILED = "ProviderFailed"
    UNFINISHED = "ProviderUnfinished"
    MALFORMED = "ProviderAnswerMalformed"
    WRONG_ENVIRONMENT = "ProviderWrongEnvironment"
    NOT_DONE = "ProviderNotDone"


UNKNOWN_OUTCOMES = frozenset(
    {Fault.TIMEOUT, Fault.BROKEN, Fault.TOO_LARGE, Fault.MALFORMED, Fault.UNFINISHED}
)
"""Faults after which it is not known whether the provider did what it was asked for."""


class ProviderRefusal(errors.ProviderFault):
    """A request that the provider refused with 400 to 499.

    Attributes:
        status: HTTP status.
    """

    def __init__(self, message: str, status: int) -> None:
        """Keep the status beside the message."""
        super().__init__(message, reason=Fault.REFUSED)
        self.status = status


class Provider(Protocol):
    """One provider per call; every method raises ProviderFault with a reason of `Fault`."""

    async def conformance(self, reach: ProviderReach, profile: str) -> Mapping[str, Any]:
        """Return the answer for a profile as it came: what is wrong with it is for preflight to name.

        Spec: 08-provider-conformance §3.8.1.
        """
        ...

    async def provision(self, reach: ProviderReach, request: ProvisionRequest) -> ProvisionAnswer:
        """Return a ready environment.

        One that came with an answer that cannot be used is torn down before the fault is raised.
        """
        ...

    async def snapshot(self, reach: ProviderReach, request: SnapshotRequest) -> SnapshotAnswer:
        """Return state as it is now."""
        ...

    async def inject(self, reach: ProviderReach, request: InjectRequest) -> None:
        """Add state."""
        ...

    async def observe(self, reach: ProviderReach, request: ObserveRequest) -> ObserveAnswer:
        """Return one observation, whose source may be unreachable."""
        ...

    async def teardown(self, reach: ProviderReach, environment_id: str) -> None:
        """Destroy an environment; one that is gone already, or never was, is fine."""
        ...

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Return the IP addresses of a host name, sorted; of an address itself.

        Raises:
            ProviderFault: The name has none.
        """
        ...
