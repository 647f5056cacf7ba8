"""Where a domain profile's files come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class ProfileFiles(Protocol):
    """Finds the files of the profile that an Evaluation names."""

    async def files(self, namespace: str, reference: Mapping[str, Any]) -> Mapping[str, bytes]:
        """Return the profile's files by relative path.

        Args:
            namespace: Where a ConfigMap is looked for.
            reference: `spec.profile` of the Evaluation.

        Raises:
            NotReady: When it does not exist (reason ReferenceNotFound).
            InvalidProfile: When the archive cannot be opened.
        """
        ...
