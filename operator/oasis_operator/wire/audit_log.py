"""The audit log on its way out of an environment: pieces of its raw lines, and the hash chain over them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Final

SIZE_HEADER: Final = "X-Audit-Size"
"""How many bytes of whole lines there are so far."""
HEAD_HEADER: Final = "X-Audit-Head"
"""Head of the chain at the end of the piece."""


@dataclass(frozen=True, slots=True)
class AuditPiece:
    """Raw bytes of the log from some place on.

    Attributes:
        content: The bytes; they end with a line, unless one line is longer than a piece may be.
        size_bytes: Bytes of whole lines that there were, from the opening sentinel's line on.
        head: Head of the chain over the lines that end within the piece or before, in hexadecimal.
    """

    content: bytes
    size_bytes: int
    head: str


@dataclass(slots=True)
class LineChain:
    """A running hash chain over lines, however they arrive.

    It begins with 32 zero bytes; each link is the SHA-256 of the one before and the line, its end included. A
    line that has not ended yet counts in `size_bytes` alone.

    Attributes:
        lines: Lines that have ended.
        whole_bytes: Their bytes.
        size_bytes: All bytes.
    """

    lines: int = 0
    whole_bytes: int = 0
    size_bytes: int = 0
    _head: bytes = bytes(32)
    _open: hashlib._Hash = field(default_factory=lambda: hashlib.sha256(bytes(32)))

    @property
    def head(self) -> str:
        """Head over all lines that have ended, in hexadecimal."""
        return self._head.hex()

    def add(self, content: bytes) -> None:
        """Go on with more bytes of the log; they may begin and end anywhere in a line."""
        start = 0
        while (end := content.find(b"\n", start) + 1) > 0:
            self._open.update(content[start:end])
            self._head = self._open.digest()
            self._open = hashlib.sha256(self._head)
            self.lines += 1
            self.whole_bytes = self.size_bytes + end
            start = end
        self._open.update(content[start:])
        self.size_bytes += len(content)

    def copy(self) -> LineChain:
        """Return a chain that goes on from the same place by itself."""
        return replace(self, _open=self._open.copy())
