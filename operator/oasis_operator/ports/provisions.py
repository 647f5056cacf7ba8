"""Records of what was asked of foreign providers; they outlive the process and the objects they are about."""

from __future__ import annotations

from typing import Protocol


class Provisions(Protocol):
    """Small private documents by identifier; each method raises ProviderFault where the store is at fault."""

    async def keep(self, key: str, content: bytes) -> None:
        """Store durably before returning, in place of an earlier document."""
        ...

    async def get(self, key: str) -> bytes | None:
        """Return a document, or None."""
        ...

    async def keys(self) -> tuple[str, ...]:
        """Return the identifiers of all documents, sorted."""
        ...

    async def discard(self, key: str) -> None:
        """Remove a document; absent is fine."""
        ...
