"""Why a request of the provider contract is refused, and the status that says so."""

from __future__ import annotations

from oasis_operator.wire.provider_errors import ErrorBody, ErrorReason

STATUS = {
    ErrorReason.INVALID_REQUEST: 400,
    ErrorReason.UNAUTHORIZED: 401,
    ErrorReason.FORBIDDEN: 403,
    ErrorReason.UNKNOWN_ROUTE: 404,
    ErrorReason.UNKNOWN_ENVIRONMENT: 404,
    ErrorReason.NOT_READY: 409,
    ErrorReason.CONFLICT: 409,
    ErrorReason.DESTROYED: 410,
    ErrorReason.TOO_LARGE: 413,
    ErrorReason.TOO_MANY: 429,
    ErrorReason.IMPOSSIBLE_STATE: 422,
    ErrorReason.FAILED: 500,
    ErrorReason.UNAVAILABLE: 503,
}
RETRY_SECONDS = 5


class Refused(Exception):  # noqa: N818  # an answer of the contract, not a failure of ours
    """A request that is answered by an error body.

    Attributes:
        reason: The contract's word for it.
        message: One sentence naming member, value and remedy.
    """

    def __init__(self, reason: ErrorReason, message: str) -> None:
        """Keep reason and message."""
        super().__init__(message)
        self.reason = reason
        self.message = message

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.reason]

    @property
    def headers(self) -> dict[str, str]:
        """Headers that go with it: when to ask again, or how to say who asks."""
        if self.reason in (ErrorReason.TOO_MANY, ErrorReason.UNAVAILABLE):
            return {"Retry-After": str(RETRY_SECONDS)}
        return {"WWW-Authenticate": "Bearer"} if self.reason is ErrorReason.UNAUTHORIZED else {}

    def to_json(self) -> dict[str, str]:
        """Give the body."""
        return ErrorBody(self.message, self.reason.value).to_json()
