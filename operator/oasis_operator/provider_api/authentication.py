"""Who may ask: holders of cluster tokens for one audience, of one fixed token, or everyone on loopback."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

from oasis_operator import errors
from oasis_operator.provider_api.refusals import Refused
from oasis_operator.wire.provider_errors import ErrorReason

if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis_operator.ports.tokens import Caller, Tokens

_KNOWN_SECONDS = 60.0
_UNKNOWN_SECONDS = 5.0
_KEPT = 1024
_LONGEST_TOKEN = 16_384
_REVIEWS_AT_ONCE = 8


class Authentication(Protocol):
    """Decides on one `Authorization` header."""

    async def admit(self, header: str) -> None:
        """Return for whoever may ask.

        Raises:
            Refused: UNAUTHORIZED, FORBIDDEN, or UNAVAILABLE where nobody could tell.
        """
        ...


class Anyone:
    """Admits everyone."""

    async def admit(self, header: str) -> None:
        """Return."""


class FixedToken:
    """Admits whoever shows the one token."""

    def __init__(self, read: Callable[[], str]) -> None:
        """Take the token from `read` each time, since it may be rotated."""
        self._read = read

    async def admit(self, header: str) -> None:
        """Compare the token."""
        given, wanted = bearer(header), (await asyncio.to_thread(self._read)).strip()
        if not wanted:
            raise Refused(
                ErrorReason.UNAVAILABLE, "the token of this provider is empty; put one into its Secret"
            )
        if not hmac.compare_digest(given.encode(), wanted.encode()):
            raise Refused(ErrorReason.UNAUTHORIZED, "Authorization: this is not the token of this provider")


class ClusterToken:
    """Admits whom the cluster knows; what it said is believed for a short time."""

    def __init__(
        self, tokens: Tokens, audience: str, users: tuple[str, ...], time: Callable[[], float]
    ) -> None:
        """Ask `tokens` about an audience; an empty tuple of users and groups admits everyone it knows."""
        self._tokens, self._audience, self._users, self._time = tokens, audience, users, time
        self._said: OrderedDict[str, tuple[float, Caller | None]] = OrderedDict()
        self._asking = asyncio.Semaphore(_REVIEWS_AT_ONCE)

    async def admit(self, header: str) -> None:
        """Ask whose token it is."""
        caller = await self._caller(bearer(header))
        if caller is None:
            message = f"Authorization: the cluster knows no such token for audience {self._audience!r}"
            raise Refused(ErrorReason.UNAUTHORIZED, message)
        if self._users and not {caller.username, *caller.groups} & {*self._users}:
            raise Refused(ErrorReason.FORBIDDEN, f"user {caller.username}: may not use this provider")

    async def _caller(self, token: str) -> Caller | None:
        key = hashlib.sha256(token.encode()).hexdigest()
        async with self._asking:
            until, caller = self._said.get(key, (0.0, None))
            if self._time() < until:
                return caller
            try:
                caller = await self._tokens.review(token, self._audience)
            except errors.OasisError as error:
                raise Refused(ErrorReason.UNAVAILABLE, f"whose token it is: {error.message}") from error
            lasts = _UNKNOWN_SECONDS if caller is None else _KNOWN_SECONDS
            self._said[key] = (self._time() + lasts, caller)
            self._said.move_to_end(key)
            if len(self._said) > _KEPT:
                self._said.popitem(last=False)
            return caller


def bearer(header: str) -> str:
    """Return the bearer token of a header.

    Raises:
        Refused: There is none (UNAUTHORIZED).
    """
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not 0 < len(token.strip()) <= _LONGEST_TOKEN:
        raise Refused(ErrorReason.UNAUTHORIZED, "Authorization: want a bearer token")
    return token.strip()
