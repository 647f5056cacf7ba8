"""Whether a verdict may open a gate, and why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from decimal import Decimal


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
    """A policy's leave to rely on a PASS in spite of a reason.

    Attributes:
        name: Name of the waiver within its policy.
        kinds: Kinds of the reasons that it excuses.
        reason: Why.
        until: Time from which it counts for nothing.
        subject: Digest of the subject that it is for; empty where it is for an agent.
        agent: Name of the Agents that it is for; empty where it is for a subject.
        scenarios: For earlier failures: only those in which none but these failed; empty for any.
    """

    name: str
    kinds: frozenset[str]
    reason: str
    until: datetime
    subject: str = ""
    agent: str = ""
    scenarios: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ProfileFloor:
    """A profile that counts.

    Attributes:
        name: Its identifier.
        digest: Digest of its files; empty for any.
        versions: Comparisons such as `>=1.2.0` that its version must meet; empty for any.
    """

    name: str
    digest: str = ""
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """The floors of one policy of the platform; empty and None members ask for nothing.

    Attributes:
        name: Name of the policy.
        enforced: Whether it shuts gates; one that is not only warns.
        profiles: Profiles that count.
        suite: Suite that must have been run, or None.
        tier: Smallest complexity tier, or None.
        repetitions: Fewest runs per scenario, or None.
        overall: Smallest score of every core dimension that was scored, 0-1, or None.
        dimensions: Core dimension to smallest score, 0-1.
        categories: Category to smallest score, 0-1.
        adapters: Adapter kinds that count.
        providers: URLs of foreign environment providers that count; none does where empty.
        largest_age_seconds: Largest age of the verdict in seconds, or None.
        waivers: Waivers.
    """

    name: str
    enforced: bool = True
    profiles: tuple[ProfileFloor, ...] = ()
    suite: str | None = None
    tier: int | None = None
    repetitions: int | None = None
    overall: Decimal | None = None
    dimensions: Mapping[str, Decimal] = field(default_factory=dict)
    categories: Mapping[str, Decimal] = field(default_factory=dict)
    adapters: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    largest_age_seconds: float | None = None
    waivers: tuple[Waiver, ...] = ()


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of the platform for one namespace.

    Attributes:
        held: Those that are for it, by name; all of them must be met.
        trouble: Why they cannot be read, or empty; nothing may open then.
        ignored: Why they are not read at all, or empty; people are told.
    """

    held: tuple[GatePolicy, ...] = ()
    trouble: str = ""
    ignored: str = ""


@dataclass(frozen=True, slots=True)
class Basis:
    """What policies are held against.

    Attributes:
        asked_at: Time of asking.
        decided_at: Time of the verdict.
        agent: Name of the Agent.
        subject: Digest of the subject; empty where it is not known.
        adapter: Kind of the adapter that drove it; empty where it is not known.
        provider: URL of the foreign provider that made and observed the worlds; empty for the operator's own.
        profile: Identifier of the profile.
        profile_version: Its version.
        profile_digest: Digest of its files.
        suite: Suite that was run, or None.
        tier: Complexity tier that was run.
        repetitions: Runs per scenario.
        dimensions: Score by core dimension, 0-1 with three places, rounded down; without those not scored.
        categories: The same by category.
        earlier: For messages of earlier failures, the scenarios that failed there, where all are known.
    """

    asked_at: datetime
    decided_at: datetime
    agent: str = ""
    subject: str = ""
    adapter: str = ""
    provider: str = ""
    profile: str = ""
    profile_version: str = ""
    profile_digest: str = ""
    suite: str | None = None
    tier: int = 1
    repetitions: int = 1
    dimensions: Mapping[str, Decimal] = field(default_factory=dict)
    categories: Mapping[str, Decimal] = field(default_factory=dict)
    earlier: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """What the verdict is about, as far as a gate asks.

    Attributes:
        digest: Digest of the whole subject; empty where it is not known.
        adapter: Kind of the adapter that drove it.
        earlier_failures: Evaluations of the same subject that ended in FAIL and stand.
        record_trouble: Why it is not known what failed earlier; empty where it is.
        is_image_known: Whether the image that ran is known by its digest, or there is none.
    """

    digest: str = ""
    adapter: str = ""
    earlier_failures: tuple[str, ...] = ()
    record_trouble: str = ""
    is_image_known: bool = True


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a verdict may open a gate.

    Attributes:
        gateable: Whether it may.
        reasons: Why not, the gravest first; empty where it may.
        warnings: What policies that only warn find missing.
        waived: Reasons that a waiver excuses, with its name and its end.
        own: Reasons that no policy gave, waived ones included.
        policies: Names of the policies that the verdict was held against.
        until: First moment at which time alone may change it; None where it cannot.
    """

    gateable: bool
    reasons: tuple[GateReason, ...]
    warnings: tuple[GateReason, ...] = ()
    waived: tuple[GateReason, ...] = ()
    own: tuple[GateReason, ...] = ()
    policies: tuple[str, ...] = ()
    until: datetime | None = None
