"""The adapter sidecar of an agent pod: it proves isolation, delivers the prompt and keeps the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.sidecars import Access
    from oasis_operator.wire.adapter import AdapterState, RunState


class Adapter(Protocol):
    """One run's adapter; every call may raise Transient (network) or ProviderFault (its answer).

    Bodies have the shapes of docs/contracts/internal.md §3.
    """

    async def state(self, access: Access) -> AdapterState:
        """Return where the adapter stands."""
        ...

    async def release(self, access: Access, request: Mapping[str, Any]) -> None:
        """Hand over what to check and the agent's credential; idempotent."""
        ...

    async def identity(self, access: Access, adapter: Mapping[str, str]) -> Mapping[str, Any]:
        """Return `{identity, configuration}` as the agent that `adapter` describes answered.

        Raises:
            AgentFault: When the agent did not answer, or answered outside its contract.
        """
        ...

    async def start(self, access: Access, request: Mapping[str, Any]) -> RunState:
        """Deliver the prompt; idempotent by run id."""
        ...

    async def cancel(self, access: Access) -> None:
        """End the run with outcome `cancelled`."""
        ...

    async def transcript(self, access: Access) -> bytes:
        """Fetch the transcript whole, in pieces, verified against its announced size and digest."""
        ...
