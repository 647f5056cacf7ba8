"""The probe sidecar of an environment pod: it prepares the world, observes it and hands over evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.sidecars import Access
    from oasis_operator.wire.audit_log import AuditPiece
    from oasis_operator.wire.probe import Info, PrepareStatus, StopStatus


class Probe(Protocol):
    """One environment's probe; every call may raise Transient (network) or ProviderFault (its answer).

    Bodies have the shapes of docs/contracts/internal.md §2.
    """

    async def health(self, access: Access) -> str | None:
        """Return None when the environment is up, else what it still waits for."""
        ...

    async def info(self, access: Access) -> Info:
        """Return what the environment says of itself."""
        ...

    async def prepare(self, access: Access, request: Mapping[str, Any]) -> PrepareStatus:
        """Start the preparation of one run; idempotent by run id."""
        ...

    async def preparation(self, access: Access) -> PrepareStatus:
        """Return how far the preparation is."""
        ...

    async def begin(self, access: Access, run_id: str) -> None:
        """Count the moments of temporal conditions from now on; idempotent.

        Raises:
            ProviderFault: When the run was never ready, or is over.
        """
        ...

    async def stop(self, access: Access, run_id: str) -> StopStatus:
        """Start the stop protocol; idempotent."""
        ...

    async def stopping(self, access: Access) -> StopStatus:
        """Return how far the stop protocol is."""
        ...

    async def evidence(self, access: Access, size_bytes: int, sha256: str) -> bytes:
        """Fetch the evidence part whole, in pieces, verified against its size and digest.

        Raises:
            ProviderFault: When it is larger than allowed or does not match its digest.
        """
        ...

    async def beginning(self, access: Access) -> bytes:
        """Fetch the evidence part as far as it is known when the agent is let in, verified, as JSON.

        Raises:
            ProviderFault: When the run has not begun, or what comes does not match its digest.
        """
        ...

    async def audit(self, access: Access, offset: int, limit: int) -> AuditPiece:
        """Fetch raw lines of the audit log from `offset` on, at most `limit` bytes.

        Offsets count from the beginning of the opening sentinel's line.

        Raises:
            ProviderFault: When the run has not begun, or the log is not what it was when it was written.
        """
        ...

    async def containment(self, access: Access) -> Mapping[str, str]:
        """Return the registered containment values by reference; the caller must not keep them.

        Spec: 08-provider-conformance §3.2.
        """
        ...
