"""Whether a verdict may open a gate, and why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class GateReason:
    """One reason for which a gate stays shut.

    Attributes:
        reason: CamelCase constant, such as `Vacuous`.
        message: One sentence.
    """

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Waiver:
    """A policy's leave to pass in spite of a failed scenario.

    Attributes:
        scenario_id: Which scenario.
        reason: Why.
        expires: RFC 3339 time in UTC from which it no longer holds.
    """

    scenario_id: str
    reason: str
    expires: str


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """The floors of the platform's policy; empty and None members ask for nothing.

    Attributes:
        name: Name of the policy.
        profiles: Digests of the profiles that count.
        minimum_tier: Smallest complexity tier.
        minimum_repetitions: Fewest runs per scenario.
        capability_minima: Core dimension or category to smallest score, 0.0-1.0.
        adapters: Adapter kinds that count.
        largest_age_seconds: Largest age of the verdict in seconds, or None.
        suite: Suite that must have been run, or None.
        waivers: Waivers.
    """

    name: str
    profiles: tuple[str, ...] = ()
    minimum_tier: int = 1
    minimum_repetitions: int = 1
    capability_minima: Mapping[str, float] = field(default_factory=dict)
    adapters: tuple[str, ...] = ()
    largest_age_seconds: float | None = None
    suite: str | None = None
    waivers: tuple[Waiver, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What the verdict is about, as far as a gate asks.

    Attributes:
        digest: Digest of the whole subject; empty where it is not known.
        adapter: Kind of the adapter that drove it.
        profile_digest: Digest of the profile.
        suite: Suite that was run, or None.
        age_seconds: Age of the verdict in seconds at the time of asking, 0.0 or more.
        asked_at: RFC 3339 time of asking, against which waivers expire.
        earlier_failures: Evaluations of the same subject that ended in FAIL and stand.
    """

    digest: str = ""
    adapter: str = ""
    profile_digest: str = ""
    suite: str | None = None
    age_seconds: float = 0.0
    asked_at: str = ""
    earlier_failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a verdict may open a gate.

    Attributes:
        gateable: Whether it may.
        reasons: Why not, the gravest first; empty where it may.
    """

    gateable: bool
    reasons: tuple[GateReason, ...]
