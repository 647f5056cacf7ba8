"""The audit log, followed while the run goes on: what was written is known, and any change of it is seen.

Only the state of a hash chain is held in memory, at the end of the log and about every mebibyte of it; pieces
are read from the file as they are asked for.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from oasis_operator.wire.audit_log import AuditPiece, LineChain

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

_EVERY_SECONDS = 0.1
_PIECE = 1 << 20


class LogChanged(Exception):  # noqa: N818  # an answer of the contract, not a failure
    """The log is not what it was when it was written."""

    reason = "LogChanged"


class Follower:
    """Follows a log from the line of the opening sentinel on."""

    def __init__(self, path: Path, begin: int) -> None:
        """Follow the file `path` from offset `begin`, where the line of the opening sentinel begins."""
        self._path = path
        self._begin = begin
        self._chain = LineChain()
        self._marks = [LineChain()]
        self._file: tuple[int, int] | None = None
        self._changed = ""
        self._reading = asyncio.Lock()

    async def watch(self) -> None:
        """Follow the log until cancelled."""
        while True:
            await self.catch_up()
            await asyncio.sleep(_EVERY_SECONDS)

    async def catch_up(self) -> None:
        """Take in what was written since; a log that cannot be read is tried again."""
        async with self._reading:
            try:
                await asyncio.to_thread(self._read_on)
            except OSError as error:
                self._changed = self._changed or f"it cannot be read: {error.strerror}"

    async def piece(self, offset: int, limit: int) -> AuditPiece:
        """Return the bytes from `offset` on, counted from the opening sentinel's line, at most `limit`.

        Raises:
            LogChanged: The log does not go on from what it was, or has no such offset.
        """
        await self.catch_up()
        async with self._reading:
            return await asyncio.to_thread(self._piece, offset, limit)

    async def find_change(self) -> str:
        """Read all that was followed once more; return what is not as it was, empty where all is.

        A change that was seen before stays one, though somebody may have taken it back.
        """
        await self.catch_up()
        async with self._reading:
            return self._changed or await asyncio.to_thread(self._find_change)

    def _read_on(self) -> None:
        with self._opened() as file:
            file.seek(self._begin + self._chain.size_bytes)
            while piece := file.read(_PIECE):
                self._chain.add(piece)
                if self._chain.size_bytes - self._marks[-1].size_bytes >= _PIECE:
                    self._marks.append(self._chain.copy())

    def _opened(self) -> BinaryIO:
        """Open the log; that it is another file or shorter than it was is remembered."""
        file = self._path.open("rb")
        found = os.fstat(file.fileno())
        identity = (found.st_dev, found.st_ino)
        self._file = self._file or identity
        if identity != self._file:
            self._changed = self._changed or "it was replaced by another file"
        if found.st_size < self._begin + self._chain.size_bytes:
            self._changed = self._changed or "it was cut off"
        return file

    def _piece(self, offset: int, limit: int) -> AuditPiece:
        whole = self._chain.whole_bytes
        if self._changed or offset > whole:
            raise LogChanged(f"audit log: {self._changed or f'it ends before offset {offset}'}")
        chain = next(mark for mark in reversed(self._marks) if mark.size_bytes <= offset).copy()
        with self._opened() as file:
            file.seek(self._begin + chain.size_bytes)
            chain.add(file.read(offset - chain.size_bytes))
            content = file.read(min(limit, whole - offset))
        content = content[: content.rfind(b"\n") + 1] or content
        chain.add(content)
        if chain.size_bytes == whole and chain.head != self._chain.head:
            self._changed = "lines of it were changed"
            raise LogChanged(f"audit log: {self._changed}")
        return AuditPiece(content, whole, chain.head)

    def _find_change(self) -> str:
        again = LineChain()
        with self._opened() as file:
            file.seek(self._begin)
            while piece := file.read(min(_PIECE, self._chain.whole_bytes - again.size_bytes)):
                again.add(piece)
        if again.head != self._chain.head:
            self._changed = self._changed or "lines of it were changed"
        return self._changed
