"""Logs of runs that go on as private files on a volume, appended to as they arrive.

What a crash leaves is the beginning of the log, maybe with a line cut off, and the next piece goes on there.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.clients.artifact_store import write_whole
from oasis_operator.wire.audit_log import LineChain

if TYPE_CHECKING:
    from pathlib import Path

_KEY = re.compile(r"[a-z2-7]{10}")
_LOG = "audit.log"
_BEGINNING = "beginning.json"
_PIECE = 1 << 20
#: A log beyond this is larger than the evidence of a run may be.
_LIMIT = 128 * 2**20


class FileStreams:
    """Implements `ports.streams.Streams` below one folder: `<run>/audit.log` and `<run>/beginning.json`."""

    def __init__(self, root: Path, limit_bytes: int = _LIMIT) -> None:
        """Keep logs below `root`, each at most `limit_bytes` long."""
        self._root = root
        self._limit = limit_bytes
        # The chain over each file; one that is not known is computed from the file.
        self._chains: dict[str, LineChain] = {}

    @property
    def limit_bytes(self) -> int:
        """Most bytes of one run's log."""
        return self._limit

    async def begin(self, key: str, beginning: bytes) -> None:
        """Keep what is known of a run as it begins."""
        await asyncio.to_thread(self._begin, key, beginning)

    async def has_begun(self, key: str) -> bool:
        """Tell whether a run's beginning was kept."""
        return await asyncio.to_thread((self._folder(key) / _BEGINNING).exists)

    async def beginning(self, key: str) -> bytes | None:
        """Return what was kept of a run's beginning, or None."""
        return await asyncio.to_thread(self._beginning, key)

    async def size(self, key: str) -> int:
        """Return how many bytes of a run's log are kept."""
        return (await asyncio.to_thread(self._chain, key)).size_bytes

    async def append(self, key: str, offset: int, content: bytes, head: str) -> None:
        """Keep more of a run's log durably."""
        await asyncio.to_thread(self._append, key, offset, content, head)

    def path(self, key: str) -> str:
        """Return the file that holds a run's log."""
        return str(self._folder(key) / _LOG)

    async def keys(self) -> tuple[str, ...]:
        """Return the runs of which anything is kept."""
        return await asyncio.to_thread(self._keys)

    async def discard(self, key: str) -> None:
        """Remove all that is kept of a run."""
        await asyncio.to_thread(self._discard, key)

    def _folder(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise errors.ProviderFault(f"{key[:80]!r} is no run identifier", reason="ArtifactMissing")
        return self._root / key

    def _made(self, key: str) -> Path:
        folder = self._folder(key)
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def _begin(self, key: str, beginning: bytes) -> None:
        try:
            # Written as a temporary file of its owner alone, and renamed.
            write_whole(self._made(key) / _BEGINNING, beginning)
        except OSError as error:
            raise _fault("keep the beginning of a run", error) from error

    def _beginning(self, key: str) -> bytes | None:
        try:
            return (self._folder(key) / _BEGINNING).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _fault("read the beginning of a run", error) from error

    def _chain(self, key: str) -> LineChain:
        if key not in self._chains:
            chain = LineChain()
            try:
                with (self._folder(key) / _LOG).open("rb") as file:
                    while piece := file.read(_PIECE):
                        chain.add(piece)
            except FileNotFoundError:
                return chain
            except OSError as error:
                raise _fault("read the log of a run", error) from error
            self._chains[key] = chain
        return self._chains[key]

    def _append(self, key: str, offset: int, content: bytes, head: str) -> None:
        chain = self._chain(key).copy()
        if chain.size_bytes != offset or offset + len(content) > self._limit:
            raise errors.ProviderFault(
                f"{len(content)} bytes of a log do not follow {chain.size_bytes} bytes at offset {offset}",
                reason="EvidenceUnreachable",
            )
        chain.add(content)
        if chain.head != head:
            raise errors.ProviderFault(
                "the audit log does not go on from what left the environment before", reason="LogChanged"
            )
        try:
            _write(self._made(key) / _LOG, offset, content)
        except OSError as error:
            # How much was written is not known; the file tells.
            self._chains.pop(key, None)
            raise _fault("keep the log of a run", error) from error
        self._chains[key] = chain

    def _keys(self) -> tuple[str, ...]:
        if not self._root.is_dir():
            return ()
        return tuple(sorted(path.name for path in self._root.iterdir() if _KEY.fullmatch(path.name)))

    def _discard(self, key: str) -> None:
        self._chains.pop(key, None)
        try:
            shutil.rmtree(self._folder(key))
        except FileNotFoundError:
            return
        except OSError as error:
            raise _fault("remove the log of a run", error) from error


def _write(target: Path, offset: int, content: bytes) -> None:
    """Write at the end of a file that only its owner may read, and flush it."""
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.seek(offset)
        file.write(content)
        file.flush()
        os.fdatasync(file.fileno())


def _fault(what: str, error: OSError) -> errors.ProviderFault:
    return errors.ProviderFault(f"cannot {what}: {error.strerror}", reason="ArtifactStoreFault")
