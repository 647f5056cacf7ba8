"""An environment that is looked at, and changed, while its run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.ports.sidecars import Access
    from oasis_operator.wire.live import LiveLog, LiveState, SelfTest, SelfTestRequest
    from oasis_operator.wire.probe import PrepareStatus


class LiveEnvironment(Protocol):
    """One environment's probe; every call may raise Transient (network) or ProviderFault (its answer).

    Bodies have the shapes of docs/contracts/internal.md §2.
    """

    async def log(self, access: Access) -> LiveLog:
        """Return the audit log from the end of the preparation up to now.

        Spec: 08-provider-conformance §3.2.
        """
        ...

    async def state(self, access: Access) -> LiveState:
        """Return all objects as they were at the end of the preparation, and as they are."""
        ...

    async def inject(self, access: Access, state: Sequence[Mapping[str, Any]]) -> PrepareStatus:
        """Put further state into the environment; returns `ready` or `failed`."""
        ...

    async def self_test(self, access: Access, request: SelfTestRequest) -> SelfTest:
        """Try what only the inside can; the environment must exist for this alone."""
        ...
