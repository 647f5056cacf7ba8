"""Lines of a Kubernetes audit log: what one says, which mark the ends of a run, and their chain."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import rfc8785

from oasis_operator.model import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ADMINISTRATOR: Final = "kubernetes-admin"
"""User of the harness in an environment; its requests mark the ends of a window."""


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Read one line, None where it is no audit event."""
    try:
        entry = jsontext.parse(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and "auditID" in entry else None


def is_sentinel(entry: Mapping[str, Any], nonce: str) -> bool:
    """Tell whether an entry is the administrator's request for a name."""
    user = entry.get("user")
    return (
        entry.get("stage") == "ResponseComplete"
        and isinstance(user, dict)
        and user.get("username") == ADMINISTRATOR
        and str(entry.get("requestURI", "")).endswith(f"/{nonce}")
    )


def chain(entries: Iterable[Mapping[str, Any]]) -> str:
    """Give the head of the hash chain over entries.

    It begins with 32 zero bytes; each link is the SHA-256 of the one before and the entry in canonical form
    (RFC 8785), so whoever holds the evidence can compute it again.
    """
    head = bytes(32)
    for entry in entries:
        head = hashlib.sha256(head + rfc8785.dumps(dict(entry))).digest()
    return head.hex()
