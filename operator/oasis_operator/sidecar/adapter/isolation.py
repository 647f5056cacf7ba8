"""Proof that an agent pod reaches what it must and nothing that it must not, before the agent starts."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from oasis_operator.sidecar import reach
from oasis_operator.wire.release import Check, Expect

if TYPE_CHECKING:
    from oasis_operator.sidecar.adapter.options import Options
    from oasis_operator.wire.release import ReleaseRequest, Target

_PAUSE_SECONDS = 0.2


async def prove(request: ReleaseRequest, options: Options) -> tuple[Check, ...]:
    """Try every target until it shows what it must, or the time to settle is over.

    1. The allowed targets, first: once they connect, the pod's network is up and a denied target that does
       not connect proves something.
    2. The denied targets; policies may be set up late, so one that connects is tried again.
    3. The denied targets once more, since only what holds right before release counts.

    Returns:
        One check for each target, denies first, each the last that was seen of it. Steps after one that does
        not hold are left out; denied targets are then missing where an allowed one never connected.
    """
    allowed = await _settle(request.allow, Expect.ALLOW, options)
    if not all(check.holds for check in allowed):
        return allowed
    denied = await _settle(request.deny, Expect.DENY, options)
    if not all(check.holds for check in denied):
        return denied + allowed
    confirmed = await _try_all(request.deny, Expect.DENY, options.confirm_seconds)
    return _with_both(denied, confirmed) + allowed


def explain(checks: tuple[Check, ...]) -> str:
    """Name the targets that do not hold, empty where all do."""
    wrong = [check for check in checks if not check.holds]
    return "; ".join(
        f"{check.target} ({'must not' if check.expect is Expect.DENY else 'must'} be reached): {check.detail}"
        for check in wrong
    )


async def _settle(targets: tuple[Target, ...], expect: Expect, options: Options) -> tuple[Check, ...]:
    deadline = time.monotonic() + options.settle_seconds
    return tuple(
        await asyncio.gather(
            *(_settle_one(target, expect, options.connect_seconds, deadline) for target in targets)
        )
    )


async def _settle_one(target: Target, expect: Expect, seconds: float, deadline: float) -> Check:
    while True:
        check = await _try(target, expect, seconds)
        if check.holds or time.monotonic() >= deadline:
            return check
        await asyncio.sleep(_PAUSE_SECONDS)


async def _try_all(targets: tuple[Target, ...], expect: Expect, seconds: float) -> tuple[Check, ...]:
    return tuple(await asyncio.gather(*(_try(target, expect, seconds) for target in targets)))


async def _try(target: Target, expect: Expect, seconds: float) -> Check:
    seen = await reach.attempt(target.host, target.port, seconds)
    return Check(target=target.name, expect=expect, reached=seen.reached, detail=seen.detail)


def _with_both(first: tuple[Check, ...], last: tuple[Check, ...]) -> tuple[Check, ...]:
    """Keep the last check of each target and tell what the one before it saw."""
    return tuple(
        Check(after.target, after.expect, after.reached, f"{before.detail}, then {after.detail}")
        for before, after in zip(first, last, strict=True)
    )
