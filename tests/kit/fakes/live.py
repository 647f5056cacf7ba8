"""A served environment's probe, and a clock that lets the cluster go on while somebody waits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kit.fakes.clock import FakeClock
from oasis_operator.wire.live import LiveLog, LiveState, SelfTest
from oasis_operator.wire.probe import PrepareState, PrepareStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from oasis_operator.ports.sidecars import Access
    from oasis_operator.wire.live import SelfTestRequest

NOON = "2026-01-05T12:00:00.000000+00:00"


@dataclass
class FakeLive:
    """Implements `ports.live.LiveEnvironment`.

    Attributes:
        events: Audit events of every log.
        complete: Whether nothing of the log can be missing.
        before: Objects at the end of the preparation.
        now: Objects as they are.
        injected: Every entry that was injected.
        status: How an injection ends.
        tested: What a self-test sees.
        faults: Called with each call before it is answered; may raise.
    """

    events: tuple[Mapping[str, Any], ...] = ()
    complete: bool = True
    before: tuple[Mapping[str, Any], ...] = ()
    now: tuple[Mapping[str, Any], ...] = ()
    injected: list[Mapping[str, Any]] = field(default_factory=list)
    status: PrepareStatus = field(default_factory=lambda: PrepareStatus(PrepareState.READY))
    tested: SelfTest = field(default_factory=lambda: SelfTest(201, 0, 28))
    faults: Callable[[str], None] = lambda call: None

    async def log(self, access: Access) -> LiveLog:
        self.faults("log")
        return LiveLog(NOON, NOON, self.complete, "" if self.complete else "lines are missing", self.events)

    async def state(self, access: Access) -> LiveState:
        self.faults("state")
        return LiveState(NOON, "2026-01-05T11:00:00Z", self.before, self.now)

    async def inject(self, access: Access, state: Sequence[Mapping[str, Any]]) -> PrepareStatus:
        self.faults("inject")
        self.injected += state
        return self.status

    async def self_test(self, access: Access, request: SelfTestRequest) -> SelfTest:
        self.faults("self_test")
        return self.tested


@dataclass
class TurningClock(FakeClock):
    """A clock during whose pauses `turn` is called, as the world goes on.

    Attributes:
        turn: Called in each pause.
        pace: How much of a pause passes, from 0 on.
    """

    turn: Callable[[], object] = lambda: None
    pace: float = 1.0

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.turn()
        self.advance(seconds * self.pace)
