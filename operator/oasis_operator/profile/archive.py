"""A profile archive (.tgz) to files and back, in memory, safe against what an archive can do.

Sizes are bounded before anything is expanded, links and devices are refused, and paths must stay inside.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from typing import TYPE_CHECKING, Final

from oasis_operator.errors import InvalidProfile
from oasis_operator.profile.codes import CODES
from oasis_operator.profile.layout import MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

_GZIP: Final = 31
_BLOCK: Final = 2048
_MAX_EXPANDED: Final = MAX_TOTAL_BYTES + MAX_FILES * _BLOCK


def open_archive(data: bytes) -> dict[str, bytes]:
    """Return path to bytes of the regular files of a gzip-compressed tar archive.

    Raises:
        InvalidProfile: Where the archive is malformed, too large, or holds what no profile holds; the message
            starts with a code of the PKG family.
    """
    files: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(_expand(data)), mode="r:") as archive:
            for member in archive:
                if member.isdir():
                    continue
                path = _checked_path(member, files)
                total += member.size
                if len(files) >= MAX_FILES or total > MAX_TOTAL_BYTES:
                    raise _refusal("PKG003", f"{len(files)} files, {total} bytes")
                files[path] = _read(archive, member)
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise _refusal("PKG006", str(error)) from error
    return files


def pack_archive(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of the files; the same files give the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(files):
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(files[path]), 0o644
            archive.addfile(member, io.BytesIO(files[path]))
    return gzip.compress(buffer.getvalue(), mtime=0)


def _expand(data: bytes) -> bytes:
    """Return the bytes inside the compression, or refuse before they outgrow the bound."""
    stream = zlib.decompressobj(_GZIP)
    try:
        expanded = stream.decompress(data, _MAX_EXPANDED)
    except zlib.error as error:
        raise _refusal("PKG006", str(error)) from error
    if stream.unconsumed_tail:
        raise _refusal("PKG003", f"more than {_MAX_EXPANDED} bytes")
    if not stream.eof or stream.unused_data:
        raise _refusal("PKG006", "the compressed stream is cut short or followed by other data")
    return expanded


def _checked_path(member: tarfile.TarInfo, files: Mapping[str, bytes]) -> str:
    path = member.name.removeprefix("./")
    parts = path.split("/")
    if not member.isreg() or member.issparse():
        raise _refusal("PKG007", path)
    if path.startswith("/") or "\\" in path or "\0" in path or ".." in parts or "" in parts:
        raise _refusal("PKG005", path)
    if path in files:
        raise _refusal("PKG009", path)
    if member.size > MAX_FILE_BYTES:
        raise _refusal("PKG002", f"{path} has {member.size} bytes")
    return path


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    content = stream.read() if stream is not None else b""
    if len(content) != member.size:
        raise _refusal("PKG006", f"{member.name} is cut short")
    return content


def _refusal(code: str, detail: str) -> InvalidProfile:
    known = CODES[code]
    return InvalidProfile(f"{code} {known.title}: {detail[:120]!r}. {known.remedy}")
