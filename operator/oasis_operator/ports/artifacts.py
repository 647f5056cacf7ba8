"""Durable bytes: evidence and reports by content, and drafts of evidence by run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Artifact:
    """A stored document.

    Attributes:
        digest: `sha256:` and the hexadecimal digest of the plain bytes.
        size_bytes: Length of the plain bytes.
    """

    digest: str
    size_bytes: int

    @property
    def uri(self) -> str:
        """Where the document is found: `artifact://` and the digest."""
        return f"artifact://{self.digest}"


class Artifacts(Protocol):
    """A content-addressed store; writing the same bytes twice is one document."""

    async def put(self, content: bytes) -> Artifact:
        """Store durably before returning.

        Raises:
            ProviderFault: When the store cannot keep the bytes.
        """
        ...

    async def get(self, digest: str) -> bytes:
        """Return the bytes, verified against the digest.

        Raises:
            ProviderFault: When they are absent or damaged.
        """
        ...

    async def keep_draft(self, key: str, content: bytes) -> None:
        """Store unredacted bytes of one run durably under its identifier, in place of earlier ones.

        A draft may hold registered containment values: it must be discarded once the document that it grew
        into is stored.

        Raises:
            ProviderFault: When the store cannot keep the bytes.

        Spec: 08-provider-conformance §3.2.
        """
        ...

    async def draft(self, key: str) -> bytes | None:
        """Return the bytes kept under a run's identifier, or None."""
        ...

    async def discard_draft(self, key: str) -> None:
        """Remove the bytes kept under a run's identifier; absent is fine."""
        ...
