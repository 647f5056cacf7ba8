"""Refusals of the provider contract: the typed body of an answer of 400 and above, and its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from oasis_operator.wire.fields import Body
from oasis_operator.wire.provider import Status


class ErrorReason(StrEnum):
    """Why a request was refused; other implementations may use other words, or none.

    Attributes:
        INVALID_REQUEST: 400, a member is malformed; ``error`` names it.
        UNAUTHORIZED: 401, credentials are missing or unknown.
        FORBIDDEN: 403, known, but not allowed.
        UNKNOWN_ROUTE: 404, no route of the contract.
        UNKNOWN_ENVIRONMENT: 404, there never was such an environment.
        NOT_READY: 409, it is still being provisioned.
        CONFLICT: 409, the identifier is in use for another request.
        DESTROYED: 410, it was torn down.
        TOO_LARGE: 413.
        TOO_MANY: 429, ask again later.
        IMPOSSIBLE_STATE: 422, no environment can be in the state asked for.
        FAILED: 500, the environment could not be made, read or changed.
        UNAVAILABLE: 503, ask again later.
    """

    INVALID_REQUEST = "InvalidRequest"
    UNAUTHORIZED = "Unauthorized"
    FORBIDDEN = "Forbidden"
    UNKNOWN_ROUTE = "UnknownRoute"
    UNKNOWN_ENVIRONMENT = "UnknownEnvironment"
    NOT_READY = "NotReady"
    CONFLICT = "Conflict"
    DESTROYED = "EnvironmentDestroyed"
    TOO_LARGE = "TooLarge"
    TOO_MANY = "TooManyRequests"
    IMPOSSIBLE_STATE = "ImpossibleState"
    FAILED = "EnvironmentFault"
    UNAVAILABLE = "Unavailable"


@dataclass(frozen=True, slots=True)
class ErrorBody(Body):
    """Body of an answer that refuses or fails.

    Attributes:
        error: One sentence naming member, value and remedy.
        reason: Of ``ErrorReason``; empty where a foreign provider gives none.
        status: Always ``error``.
    """

    error: str
    reason: str = ""
    status: str = Status.ERROR.value

    @classmethod
    def from_json(cls, value: object) -> ErrorBody:
        """Read what there is; never raises. ``error`` may be a text or an object with a ``message``."""
        body = value if isinstance(value, dict) else {}
        error = body.get("error")
        inner = error if isinstance(error, dict) else {}
        said = (error, inner.get("message"), body.get("message"), body.get("detail"))
        reason = (body.get("reason"), inner.get("reason"), inner.get("code"), body.get("code"))
        return cls(
            error=next((text for text in said if isinstance(text, str) and text), ""),
            reason=next((text for text in reason if isinstance(text, str)), ""),
        )
