"""Digests of what was read: canonical JSON for documents, paths and bytes for packages.

A run is bound to a profile by its digest and by its exact version.

Spec: 08-provider-conformance §5.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import rfc8785

if TYPE_CHECKING:
    from collections.abc import Mapping


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a JSON value's canonical form (RFC 8785), lower-case hexadecimal."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def digest_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return path to SHA-256 of each file, sorted by path."""
    return {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)}


def digest_package(digests: Mapping[str, str]) -> str:
    """Return the digest of a package from the digests of its files; paths count, their order does not."""
    return digest_of(dict(digests))
