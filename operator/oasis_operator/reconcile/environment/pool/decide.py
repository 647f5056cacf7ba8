"""What to do next for a warm pool: pure, from one observation and the time.

1. No environment waits without the fence: where it is not in place, it is made first, and whatever stood
   without it goes.
2. What nobody may claim any more goes: made from another template, broken, too old, never up, or too many.
3. What is missing is booted, as far as there is room beside the boots of runs and of other pools. A pod that
   is still there counts, so that a pool is never larger than it was asked to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.reconcile.environment.pool.observe import Pool
    from oasis_operator.resources.warm_pod import Member

BROKEN_KEPT_SECONDS: Final = 60.0
"""A member that broke is kept for so long, so that it can be looked at and no storm of boots follows."""

_SOON: Final = 1.0
_LATER: Final = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What one pass does.

    Attributes:
        fence: Whether the policies must be made.
        delete: Members to delete.
        keys: Members whose Secret must be made.
        boots: How many members to add.
        ready: Members that may be claimed.
        missing: Members that are wanted and not ready.
        booting: Boots that go on once the pass is over.
        message: Why the pool is smaller than wanted, or empty.
        wait_seconds: When to look again; None for the next event.
    """

    fence: bool = False
    delete: tuple[Member, ...] = ()
    keys: tuple[Member, ...] = ()
    boots: int = 0
    ready: int = 0
    missing: int = 0
    booting: int = 0
    message: str = ""
    wait_seconds: float | None = None


def decide(pool: Pool, now: datetime, room: int, *, pressed: bool) -> Plan:
    """Return the plan of this pass.

    Args:
        pool: What is to be seen.
        now: The time.
        room: Boots that the pool may have going on, those that go on already included.
        pressed: Whether runs wait for room in the cluster, so that idle environments are given back.
    """
    size = 0 if pressed or pool.template is None else pool.size
    doomed = _doomed(pool, size, now)
    kept = tuple(member for member in pool.members if member not in doomed and not member.state.deleting)
    ready = sum(member.is_ready for member in kept)
    booting = sum(not (member.is_ready or member.is_broken) for member in kept)
    gap = max(0, size - len(pool.members))
    boots = max(0, min(gap, room - booting))
    return Plan(
        fence=not pool.fenced,
        delete=tuple(member for member in doomed if not member.state.deleting),
        keys=tuple(member for member in kept if member.name in pool.keyless),
        boots=boots,
        ready=ready,
        missing=max(0, pool.size - ready),
        booting=booting + boots,
        message=_message(pool, pressed=pressed),
        wait_seconds=_wait(pool, now, is_due=not pool.fenced or gap > boots or bool(doomed)),
    )


def _doomed(pool: Pool, size: int, now: datetime) -> tuple[Member, ...]:
    """Return the members that must go; of too many those that boot first, then the oldest."""
    spent = [member for member in pool.members if _is_spent(pool, member, now)]
    left = [member for member in pool.members if member not in spent and not member.state.deleting]
    first_to_go = sorted(left, key=lambda member: (member.is_ready, member.created, member.name))
    return (*spent, *first_to_go[: max(0, len(left) - size)])


def _is_spent(pool: Pool, member: Member, now: datetime) -> bool:
    """Tell whether nobody may claim a member any more."""
    template, age = pool.template, (now - member.created).total_seconds()
    if not pool.fenced or template is None or member.template != template.hash:
        return True
    if member.name in pool.foreign or member.expires(template.age_seconds) <= now:
        return True
    if member.is_broken:
        return age >= BROKEN_KEPT_SECONDS
    return not member.is_ready and age >= pool.boot_seconds + BROKEN_KEPT_SECONDS


def _message(pool: Pool, *, pressed: bool) -> str:
    """Return why there are fewer than wanted, where that needs saying."""
    if pressed and pool.size:
        return "runs wait for a node or for quota: idle environments are given back"
    for member in pool.members:
        reason, text = member.state.account()
        if reason and not member.is_ready:
            return f"{member.name}: {reason}: {text}".partition("\n")[0]
    return ""


def _wait(pool: Pool, now: datetime, *, is_due: bool) -> float | None:
    """Return when to look again: soon where something is left to do, else when the next one is too old."""
    if is_due:
        return _SOON
    if pool.template is None or not pool.members:
        return None
    ages = [
        (member.expires(pool.template.age_seconds) - now).total_seconds()
        for member in pool.members
        if not member.state.deleting
    ]
    return max(_SOON, min([_LATER, *ages]))
