"""What left the environment of a run while it goes on: raw lines of its audit log, kept until judged.

The lines hold bodies as they were sent, registered containment values among them: nobody is given them, and
they are removed when the run is over.

Spec: 08-provider-conformance §3.2.
"""

from __future__ import annotations

from typing import Protocol


class Streams(Protocol):
    """Durable private bytes by run identifier; every call may raise ProviderFault for the store."""

    @property
    def limit_bytes(self) -> int:
        """Most bytes of one run's log; what is written later is not kept."""
        ...

    async def begin(self, key: str, beginning: bytes) -> None:
        """Keep what is known of a run as it begins, in place of what was kept before."""
        ...

    async def has_begun(self, key: str) -> bool:
        """Tell whether a run's beginning was kept, without reading it."""
        ...

    async def beginning(self, key: str) -> bytes | None:
        """Return what was kept of a run's beginning, or None."""
        ...

    async def size(self, key: str) -> int:
        """Return how many bytes of a run's log are kept; 0 for none."""
        ...

    async def append(self, key: str, offset: int, content: bytes, head: str) -> None:
        """Keep more of a run's log durably.

        Args:
            key: Identifier of the run.
            offset: How many bytes are kept already.
            content: The bytes that follow them.
            head: What the head of the hash chain over all lines must be then, in hexadecimal.

        Raises:
            ProviderFault: It is another; nothing is appended.
        """
        ...

    def path(self, key: str) -> str:
        """Return the file that holds a run's log; it need not exist."""
        ...

    async def keys(self) -> tuple[str, ...]:
        """Return the runs of which anything is kept, sorted."""
        ...

    async def discard(self, key: str) -> None:
        """Remove all that is kept of a run; absent is fine."""
        ...
