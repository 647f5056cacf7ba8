"""What is claimed of the environments that are served: nothing that a self-test of them did not show.

A self-test is made of an environment like any other, before the first claim, and again once it is old.
Whoever asks meanwhile waits for it, for a bounded time.

Spec: 08-provider-conformance §3.8.2.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.resources import conformance
from oasis_operator.wire.conformance import Extension

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

_WAIT_SECONDS = 240.0
_HOLDS_SECONDS = 24 * 3600.0
_FAILED_SECONDS = 300.0
_ALL = (
    conformance.NETWORK,
    f"{conformance.SOURCES}/audit_log",
    f"{conformance.SOURCES}/resource_state",
    f"{conformance.SOURCES}/state_diff",
    f"{conformance.SOURCES}/value_containment",
    "value_containment_support",
    "state_injection",
    "audit_policy_installation",
)


class Claims:
    """Answers conformance queries."""

    def __init__(
        self,
        profiles: Callable[[], Awaitable[Mapping[str, conformance.Known]]],
        test: Callable[[], Awaitable[Mapping[str, str]]],
        time: Callable[[], float],
        version: str,
    ) -> None:
        """Know whom to ask.

        Args:
            profiles: Gives the profiles that are known, by identifier.
            test: Makes a self-test; gives what it did not show, as the reason by requirement key.
            time: Seconds of a clock that never goes back.
            version: Version of the operator.
        """
        self._profiles, self._test, self._time, self._version = profiles, test, time, version
        self._unproven: Mapping[str, str] = {}
        self._until = 0.0
        self._testing: asyncio.Task[None] | None = None

    async def answer(self, identifier: str) -> dict[str, Any]:
        """Return the conformance answer about a profile."""
        known = await self._profiles()
        if identifier in known:
            answer = conformance.answer(known[identifier], self._version, await self._shown())
        else:
            answer = conformance.unknown_profile(identifier, known, self._version)
        return {**answer, "extensions": [Extension.ENVIRONMENT_ID.value]}

    def begin(self) -> None:
        """Let a self-test begin, where none goes on and the last one is old."""
        if self._testing is None and self._time() >= self._until:
            self._testing = asyncio.create_task(self._try())

    async def close(self) -> None:
        """Give up a self-test that goes on."""
        if self._testing is not None:
            self._testing.cancel()
            await asyncio.gather(self._testing, return_exceptions=True)

    async def _shown(self) -> Mapping[str, str]:
        self.begin()
        if self._testing is not None:
            done, _ = await asyncio.wait({self._testing}, timeout=_WAIT_SECONDS)
            if not done:
                return dict.fromkeys(_ALL, "the self-test of this provider still goes on; ask again")
        return self._unproven

    async def _try(self) -> None:
        try:
            self._unproven = await self._test()
        except errors.OasisError as error:
            self._unproven = dict.fromkeys(_ALL, f"the self-test could not be made: {error.message}")
        except Exception as error:  # noqa: BLE001 - whatever breaks here must not be claimed
            self._unproven = dict.fromkeys(_ALL, f"the self-test broke: {type(error).__name__}: {error}")
        finally:
            self._until = self._time() + (_FAILED_SECONDS if self._unproven else _HOLDS_SECONDS)
            self._testing = None
