"""Records of what was asked of foreign providers as private files on a volume, each replaced as a whole."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.clients.artifact_store import write_whole

if TYPE_CHECKING:
    from pathlib import Path

_KEY = re.compile(r"[a-z2-7]{10}")
_SUFFIX = ".json"


class FileProvisions:
    """Implements `ports.provisions.Provisions` below one folder."""

    def __init__(self, root: Path) -> None:
        """Keep documents below `root`."""
        self._root = root

    async def keep(self, key: str, content: bytes) -> None:
        """Store durably."""
        await asyncio.to_thread(self._keep, key, content)

    async def get(self, key: str) -> bytes | None:
        """Return a document, or None."""
        return await asyncio.to_thread(self._get, key)

    async def keys(self) -> tuple[str, ...]:
        """Return the identifiers of all documents."""
        return await asyncio.to_thread(self._keys)

    async def discard(self, key: str) -> None:
        """Remove a document."""
        await asyncio.to_thread(self._discard, key)

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise errors.ProviderFault(f"{key[:80]!r} is no identifier of a record", reason="RecordFault")
        return self._root / f"{key}{_SUFFIX}"

    def _keep(self, key: str, content: bytes) -> None:
        path = self._path(key)
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Written as a temporary file of its owner alone, and renamed.
            write_whole(path, content)
        except OSError as error:
            raise _fault("keep", error) from error

    def _get(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _fault("read", error) from error

    def _keys(self) -> tuple[str, ...]:
        try:
            names = sorted(path.name for path in self._root.iterdir())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _fault("list", error) from error
        found = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
        return tuple(key for key in found if _KEY.fullmatch(key))

    def _discard(self, key: str) -> None:
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            raise _fault("remove", error) from error


def _fault(what: str, error: OSError) -> errors.ProviderFault:
    return errors.ProviderFault(
        f"cannot {what} the record of a provider: {error.strerror}", reason="RecordFault"
    )
