"""Content-addressed documents as compressed files on a volume.

A document is written to a temporary file, flushed to disk and renamed, so that a crash leaves either the
whole document or none. Reading verifies the digest, so that damage is a fault and never evidence.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import re
import tempfile
import zlib
from pathlib import Path
from typing import BinaryIO

from oasis_operator import errors
from oasis_operator.ports.artifacts import Artifact

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_KEY = re.compile(r"[a-z2-7]{10}")
_PREFIX = "sha256:"
_LEVEL = 5
DAMAGES = (OSError, EOFError, zlib.error)
"""What unpacking raises for a file that was cut off or changed."""


class FileArtifacts:
    """Implements `ports.artifacts.Artifacts` below one folder: `sha256/<two digits>/<digest>.gz`."""

    def __init__(self, root: Path, limit_bytes: int = 256 * 2**20) -> None:
        """Keep documents below `root`, each at most `limit_bytes` long when plain."""
        self._root = root
        self._limit = limit_bytes

    async def put(self, content: bytes) -> Artifact:
        """Store durably; bytes that are already there are not written again."""
        return await asyncio.to_thread(self._put, content)

    async def get(self, digest: str) -> bytes:
        """Return the verified bytes."""
        return await asyncio.to_thread(self._get, digest)

    async def keep_draft(self, key: str, content: bytes) -> None:
        """Store the bytes of one run under its identifier."""
        await asyncio.to_thread(self._keep_draft, key, content)

    async def draft(self, key: str) -> bytes | None:
        """Return the bytes kept under a run's identifier, or None."""
        return await asyncio.to_thread(self._draft, key)

    async def discard_draft(self, key: str) -> None:
        """Remove the bytes kept under a run's identifier."""
        await asyncio.to_thread(self._draft_path(key).unlink, missing_ok=True)

    def discard_old_drafts(self, before: float) -> int:
        """Remove drafts whose run is long over, and return how many; `before` is a Unix time.

        A draft outlives its run only where the run was deleted in the middle.
        """
        old = [path for path in self._root.glob("drafts/*.gz") if path.stat().st_mtime < before]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)

    def path(self, digest: str) -> Path:
        """Return the file of a digest.

        Raises:
            ProviderFault: When the text is no digest; it could otherwise name any file.
        """
        return self._root / place_of(digest)

    def _put(self, content: bytes) -> Artifact:
        if len(content) > self._limit:
            raise errors.ProviderFault(
                f"a document of {len(content)} bytes exceeds the store's limit of {self._limit}",
                reason="ArtifactTooLarge",
            )
        artifact = Artifact(_PREFIX + hashlib.sha256(content).hexdigest(), len(content))
        target = self.path(artifact.digest)
        try:
            if not target.exists():
                write_whole(target, gzip.compress(content, compresslevel=_LEVEL, mtime=0))
        except OSError as error:
            raise errors.ProviderFault(
                f"cannot store {artifact.digest}: {error.strerror}", reason="ArtifactStoreFault"
            ) from error
        return artifact

    def _draft_path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise errors.ProviderFault(f"{key[:80]!r} is no run identifier", reason="ArtifactMissing")
        return self._root / "drafts" / f"{key}.gz"

    def _keep_draft(self, key: str, content: bytes) -> None:
        target = self._draft_path(key)
        try:
            write_whole(target, gzip.compress(content, compresslevel=1, mtime=0))
        except OSError as error:
            raise errors.ProviderFault(
                f"cannot store a draft: {error.strerror}", reason="ArtifactStoreFault"
            ) from error

    def _draft(self, key: str) -> bytes | None:
        try:
            return gzip.decompress(self._draft_path(key).read_bytes())
        except FileNotFoundError:
            return None
        except DAMAGES as error:
            raise errors.ProviderFault(
                f"a draft cannot be read: {error}", reason="ArtifactDamaged"
            ) from error

    def _get(self, digest: str) -> bytes:
        try:
            with self.path(digest).open("rb") as packed:
                return unpack(packed, digest, self._limit)
        except FileNotFoundError as error:
            raise errors.ProviderFault(f"{digest} is not in the store", reason="ArtifactMissing") from error
        except OSError as error:
            raise errors.ProviderFault(f"cannot read {digest}: {error}", reason="ArtifactDamaged") from error


def place_of(digest: str) -> str:
    """Return the file of a digest, below the store's folder.

    Raises:
        ProviderFault: When the text is no digest; it could otherwise name any file.
    """
    match = _DIGEST.fullmatch(digest)
    if match is None:
        raise errors.ProviderFault(f"{digest[:80]!r} is not a digest", reason="ArtifactMissing")
    return f"sha256/{match[1][:2]}/{match[1]}.gz"


def unpack(packed: BinaryIO, digest: str, limit_bytes: int) -> bytes:
    """Return the document of a stored file, at most `limit_bytes` long, held against its digest.

    Raises:
        ProviderFault: It is damaged, or another one.
    """
    try:
        with gzip.open(packed) as file:
            content = file.read(limit_bytes + 1)
    except DAMAGES as error:
        raise errors.ProviderFault(
            f"{digest} cannot be unpacked: {error}", reason="ArtifactDamaged"
        ) from error
    actual = _PREFIX + hashlib.sha256(content).hexdigest()
    if actual != digest:
        raise errors.ProviderFault(
            f"what is stored as {digest} has digest {actual}", reason="ArtifactDamaged"
        )
    return content


def write_whole(target: Path, content: bytes) -> None:
    """Write a file whole: temporary file, flush, rename, flush of the folder.

    Raises:
        OSError: The file is as it was before.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
