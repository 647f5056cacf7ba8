"""What the suite sends and sees, apart from how it travels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from oasis_operator.resources.provider_access import AgentAccess


@dataclass(frozen=True, slots=True)
class Call:
    """One request.

    Attributes:
        method: HTTP method.
        path: Path and query, as sent.
        body: The body as sent; None for none.
        with_token: Whether the credentials go along.
    """

    method: str
    path: str
    body: bytes | None = None
    with_token: bool = True

    @classmethod
    def post(cls, path: str, body: Any) -> Call:
        """Return a POST of a JSON body."""
        return cls("POST", path, json.dumps(body).encode())


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    Attributes:
        status: HTTP status; 0 where there was no answer.
        content: The body.
        media_type: Of the body, without parameters.
        fault: Why there was no answer; else empty.
    """

    status: int
    content: bytes = b""
    media_type: str = ""
    fault: str = ""

    @property
    def is_done(self) -> bool:
        """Whether it is one of the statuses of success."""
        return self.status in (200, 201, 204)

    @property
    def is_refusal(self) -> bool:
        """Whether it refuses the request as the client's fault."""
        return 400 <= self.status < 500

    @property
    def body(self) -> dict[str, Any]:
        """Return the JSON object of the body; empty where it is none."""
        try:
            value = json.loads(self.content)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def __str__(self) -> str:
        """Show status and the beginning of the body."""
        if self.fault:
            return self.fault[:200]
        text = " ".join(self.content.decode("utf-8", "replace").split())
        return f"{self.status} {text if len(text) <= 160 else text[:159] + '…'}".strip()


class Line(Protocol):
    """How requests travel; nothing here raises, a missing answer is a reply of status 0."""

    async def send(self, call: Call) -> Reply:
        """Send one request and return its answer."""
        ...

    async def overlap(self, first: Call, then: Call) -> tuple[Reply, Reply | None]:
        """Send `then` while `first` is under way; return both answers.

        The second is None where the first was there before it, so that the order of events is not known.
        """
        ...

    async def act(self, access: AgentAccess, path: str) -> Reply:
        """Ask the environment's own API for a path with the agent's credentials."""
        ...
