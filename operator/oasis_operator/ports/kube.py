"""What the reconcilers need of the Kubernetes API: plain dictionaries in and out.

Absence is a value (`None`), never an exception. Everything else that goes wrong is one of
`errors.Transient` (conflicts, throttling, server and network faults), `errors.NotReady` (the request was
refused by quota or rights, which a person or time can cure) or `errors.InvalidSpec` (the object itself
was refused). The reasons below are set on them, so that callers may tell conflicts apart.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from oasis_operator.resources.kinds import Kind

ALREADY_EXISTS = "AlreadyExists"
CONFLICT = "Conflict"
EXPIRED = "Expired"
THROTTLED = "Throttled"
SERVER_ERROR = "ServerError"
NETWORK = "Network"
QUOTA_EXCEEDED = "QuotaExceeded"
FORBIDDEN = "Forbidden"
REFUSED = "ObjectRefused"

Manifest = Mapping[str, Any]
Object = dict[str, Any]


class Kube(Protocol):
    """A Kubernetes API server, as far as the operator uses it."""

    async def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Return the object, or None when it does not exist."""
        ...

    async def list(
        self, kind: Kind, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Object, ...]:
        """Return the objects of a namespace (all namespaces for an empty one) that carry `labels`."""
        ...

    def watch(
        self, kind: Kind, namespace: str, labels: Mapping[str, str] | None = None
    ) -> AsyncIterator[tuple[str, Object]]:
        """Yield (`ADDED`|`MODIFIED`|`DELETED`, object), first for all that exist, then as they change.

        Raises:
            Transient: With reason Expired when the history is gone and a new watch must be made.
        """
        ...

    async def create(self, kind: Kind, manifest: Manifest) -> Object:
        """Create an object from a manifest that names its namespace.

        Raises:
            Transient: With reason AlreadyExists when the name is taken.
            NotReady: When quota or rights refuse it.
            InvalidSpec: When the API server refuses the object itself.
        """
        ...

    async def apply(self, kind: Kind, manifest: Manifest) -> Object:
        """Apply a manifest server-side as the operator's one field manager, forcing ownership."""
        ...

    async def patch(
        self, kind: Kind, namespace: str, name: str, operations: Sequence[Mapping[str, Any]]
    ) -> Object | None:
        """Change an object by a JSON patch (RFC 6902), whole or not at all.

        Returns:
            The object after the patch; None where it does not exist, or where one of the patch's own tests or
            paths does not fit it, so that nothing was changed.

        Raises:
            InvalidSpec: When the API server refuses what the object would become.
        """
        ...

    async def write_status(self, kind: Kind, seen: Manifest, status: Mapping[str, Any]) -> Object:
        """Replace the status of the object as `seen`.

        Raises:
            Transient: With reason Conflict when the object changed since it was seen.
        """
        ...

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        version: str = "",
        grace_seconds: int | None = None,
    ) -> bool:
        """Ask for deletion; True when the request was accepted, False when there was nothing to delete.

        Args:
            kind: The kind.
            namespace: The namespace.
            name: The name.
            uid: When given, only the object with this UID is deleted; another one counts as absent.
            version: When given, only the object in this resource version; a changed one counts as absent.
            grace_seconds: Overrides the pod's own grace period.
        """
        ...
