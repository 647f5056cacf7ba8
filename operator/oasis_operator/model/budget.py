"""Budgets in steps, tokens and seconds: what was used, what the limit was, and whether it is reached.

A budget is reached when as much was used as it allows, in mid-run and afterwards alike. A step counts as soon
as it begins, so a loop counts first and asks then:

    used = used.with_step(seconds)
    if error := budget.stop_before_call(limits, used):
        ...  # make no call, keep what there is, and report `error`

With three steps allowed the third step is counted and its call is not made. A loop that counts replies
instead asks by the same function before the next call: it then makes three. Either reports three of three.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

STOPPED: Final = "Harness budget exceeded: "
"""Beginning of the error text of a run that its budget stopped."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use; 0 means that there is no limit.

    Attributes:
        steps: Rounds of a model loop.
        tokens: Tokens of all calls, asked and answered.
        seconds: Time since the start.
        hard_stop: Whether a run ends before the next call once a limit is reached. Without it limits are
            only reported.
    """

    steps: int = 0
    tokens: int = 0
    seconds: float = 0
    hard_stop: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has used so far.

    Attributes:
        steps: Rounds begun, the one under way included.
        tokens: Tokens of all calls so far.
        seconds: Time since the start.
    """

    steps: int = 0
    tokens: int = 0
    seconds: float = 0

    def with_step(self, seconds: float) -> Usage:
        """Return the usage once another round has begun, that many seconds after the start."""
        return replace(self, steps=self.steps + 1, seconds=max(seconds, self.seconds))

    def with_tokens(self, tokens: int) -> Usage:
        """Return the usage once a call has taken that many tokens."""
        return replace(self, tokens=self.tokens + max(tokens, 0))

    def at(self, seconds: float) -> Usage:
        """Return the usage that many seconds after the start; time never runs back."""
        return replace(self, seconds=max(seconds, self.seconds))


@dataclass(frozen=True, slots=True)
class Line:
    """One resource of a budget.

    Attributes:
        used: What was used.
        limit: What was allowed, or None where there is no limit.
    """

    used: float
    limit: float | None

    @property
    def is_exceeded(self) -> bool:
        """Whether as much was used as is allowed, both as they are reported."""
        used, limit = _rounded(self.used), self.limit if self.limit is None else _rounded(self.limit)
        return limit is not None and used >= limit

    def to_json(self) -> dict[str, Any]:
        """Give `used`, `limit` (null for none) and `exceeded`; whole numbers without a fraction."""
        limit = self.limit if self.limit is None else _rounded(self.limit)
        return {"used": _rounded(self.used), "limit": limit, "exceeded": self.is_exceeded}


@dataclass(frozen=True, slots=True)
class Account:
    """A budget after a run, or in the midst of it."""

    steps: Line
    tokens: Line
    time_seconds: Line

    @property
    def is_exceeded(self) -> bool:
        """Whether any limit is reached."""
        return any(line.is_exceeded for line in (self.steps, self.tokens, self.time_seconds))

    def to_json(self) -> dict[str, Any]:
        """Give the `budget` member of a report."""
        return {
            "steps": self.steps.to_json(),
            "tokens": self.tokens.to_json(),
            "timeSeconds": self.time_seconds.to_json(),
            "overallExceeded": self.is_exceeded,
        }


def account(limits: Limits, usage: Usage) -> Account:
    """Hold a usage against its limits."""
    return Account(
        Line(usage.steps, limits.steps or None),
        Line(usage.tokens, limits.tokens or None),
        Line(usage.seconds, limits.seconds or None),
    )


def describe_exceeded(limits: Limits, usage: Usage) -> str | None:
    """Say which limit is reached, the first of steps, tokens and time; None where none is."""
    return next(_reached(account(limits, usage)), None)


def stop_before_call(limits: Limits, usage: Usage) -> str | None:
    """Return the error text of a run that must make no further call, else None.

    Args:
        limits: Without `hard_stop` no run is ever stopped.
        usage: The step whose call is about to be made is counted already.
    """
    reached = describe_exceeded(limits, usage) if limits.hard_stop else None
    return STOPPED + reached if reached else None


def _reached(spent: Account) -> Iterator[str]:
    if spent.steps.is_exceeded:
        yield f"Step budget exceeded ({spent.steps.used}/{spent.steps.limit})"
    if spent.tokens.is_exceeded:
        yield f"Token budget exceeded ({spent.tokens.used}/{spent.tokens.limit})"
    if spent.time_seconds.is_exceeded:
        limit = _rounded(spent.time_seconds.limit or 0)
        yield f"Time budget exceeded ({spent.time_seconds.used:.1f}s/{limit}s)"


def _rounded(value: float) -> float:
    """Give a number with at most three decimals, as an integer where it is one."""
    rounded = round(value, 3)
    return int(rounded) if isinstance(rounded, int) or rounded.is_integer() else rounded
