"""Reads manifests and profile folders from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from oasis_operator import errors
from oasis_operator.profile.layout import MAX_TOTAL_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MANIFEST_SUFFIXES = frozenset({".yaml", ".yml", ".json"})


def read_manifests(paths: Iterable[Path]) -> tuple[dict[str, Any], ...]:
    """Read all documents of manifest files, in order; a folder gives its files in name order.

    Raises:
        InvalidSpec: A file is unreadable, no YAML, or a document in it is no object with kind and name.
    """
    return tuple(
        document for path in paths for file in _manifest_files(path) for document in _documents(file)
    )


def _manifest_files(path: Path) -> tuple[Path, ...]:
    """Give the manifest files of a path."""
    if not path.exists():
        raise errors.InvalidSpec(f"{path} does not exist")
    if path.is_file():
        return (path,)
    return tuple(sorted(file for file in path.iterdir() if file.suffix in MANIFEST_SUFFIXES))


def _documents(file: Path) -> tuple[dict[str, Any], ...]:
    """Read one file."""
    try:
        documents = [document for document in yaml.safe_load_all(file.read_bytes()) if document is not None]
    except (OSError, yaml.YAMLError) as fault:
        raise errors.InvalidSpec(f"{file}: {fault}") from fault
    for position, document in enumerate(documents, start=1):
        metadata = document.get("metadata") if isinstance(document, dict) else None
        if not isinstance(metadata, dict) or not metadata.get("name"):
            raise errors.InvalidSpec(f"{file}, document {position}: no object with a metadata.name")
    return tuple(documents)


def read_profile_folder(folder: Path) -> dict[str, bytes]:
    """Read a profile's files by path relative to its folder; hidden files are left out.

    Raises:
        InvalidProfile: No folder, a link in it, or more bytes than a profile may have.
    """
    if not folder.is_dir():
        raise errors.InvalidProfile(f"{folder} is not a folder")
    found: dict[str, bytes] = {}
    size = 0
    for file in sorted(folder.rglob("*")):
        relative = file.relative_to(folder)
        if any(part.startswith(".") for part in relative.parts) or file.is_dir():
            continue
        if file.is_symlink() or not file.is_file():
            raise errors.InvalidProfile(
                f"{file} is a link or a special file; a profile holds plain files only"
            )
        size += file.stat().st_size
        if size > MAX_TOTAL_BYTES:
            raise errors.InvalidProfile(f"{folder} holds more than {MAX_TOTAL_BYTES} bytes")
        found[relative.as_posix()] = file.read_bytes()
    if not found:
        raise errors.InvalidProfile(f"{folder} holds no files")
    return found
