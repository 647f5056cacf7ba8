"""Whose bearer token it is, as the cluster tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody whom the cluster knows.

    Attributes:
        username: As the cluster names them.
        groups: Their groups.
    """

    username: str
    groups: tuple[str, ...] = ()


class Tokens(Protocol):
    """Asks the cluster about tokens."""

    async def review(self, token: str, audience: str) -> Caller | None:
        """Return whose token it is; None where it is nobody's, or not for this audience.

        Raises:
            Transient: The cluster did not answer.
            NotReady: It refused the question.
        """
        ...
