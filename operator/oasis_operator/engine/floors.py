"""The floors of the platform's policies: which a verdict does not meet, and what a waiver excuses.

1. What shuts a gate whatever the policies say comes from `engine.gate`; here it can only be waived.
2. Each policy is for itself: all must be met, and a waiver reaches no floor of another policy.
3. A policy that only warns neither shuts nor opens: its reasons are warnings, its waivers lift those alone.
4. Policies that cannot be read shut the gate.
5. A foreign provider makes the evidence, and whoever is gated may choose it: it counts where an enforced
   policy names it and no policy omits it.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Final

import semver

from oasis_operator.model.gate import Gate, GateReason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from oasis_operator.model.gate import Basis, GatePolicy, Policies, ProfileFloor, Waiver

EARLIER_FAILURE: Final = "EarlierFailure"
INCOMPLETE: Final = "Incomplete"
UNREADABLE: Final = "PolicyUnreadable"
NOT_READ: Final = "PolicyNotRead"
FOREIGN_PROVIDER: Final = "ForeignProvider"

OF_POLICY: Final = (
    "BelowFloor",
    "Stale",
    "ProfileNotAllowed",
    "AdapterNotAllowed",
    "ProviderNotAllowed",
    "TierTooLow",
    "TooFewRepetitions",
    "OtherSuite",
)
"""Kinds of reasons that floors give."""

WAIVABLE: Final = frozenset({*OF_POLICY, EARLIER_FAILURE, INCOMPLETE, "CustomSelection"})
"""Kinds of reasons that a waiver may excuse; every other one stands."""

_PLACES: Final = Decimal("0.001")
_NOISE: Final = Decimal("0.000000001")


def hold(own: Sequence[GateReason], basis: Basis, policies: Policies) -> Gate:
    """Return the gate of a verdict with its own reasons under the policies; reasons keep their order.

    Args:
        own: Reasons that no policy gave.
        basis: What the policies are held against.
        policies: The policies.
    """
    reasons: list[GateReason] = []
    warnings: list[GateReason] = []
    waived: list[GateReason] = []
    enforced = [policy for policy in policies.held if policy.enforced]
    for reason in own:
        excuse = _excuse(reason, basis, enforced)
        (waived if excuse else reasons).append(excuse or reason)
    for policy in policies.held:
        for reason in unmet(policy, basis):
            excuse = _excuse(reason, basis, (policy,))
            if excuse is not None:
                waived.append(excuse)
            else:
                (reasons if policy.enforced else warnings).append(reason)
    if basis.provider and not enforced:
        reasons.append(_unvouched(basis))
    if policies.trouble:
        reasons.append(GateReason(UNREADABLE, policies.trouble))
    if policies.ignored:
        warnings.append(GateReason(NOT_READ, policies.ignored))
    return Gate(
        gateable=not reasons,
        reasons=tuple(reasons),
        warnings=tuple(warnings),
        waived=tuple(waived),
        own=tuple(own),
        policies=tuple(policy.name for policy in policies.held),
        until=next_change(basis, policies),
    )


def seconds_to_change(basis: Basis, policies: Policies) -> float | None:
    """Return the seconds after which time alone may change the gate; None where it cannot."""
    moment = next_change(basis, policies)
    return (moment - basis.asked_at).total_seconds() if moment is not None else None


def next_change(basis: Basis, policies: Policies) -> datetime | None:
    """Return the first moment, not before that of asking, at which time alone may change the gate."""
    moments = [
        basis.decided_at + timedelta(seconds=policy.largest_age_seconds)
        for policy in policies.held
        if policy.largest_age_seconds is not None
    ]
    moments += [
        waiver.until for policy in policies.held for waiver in policy.waivers if _is_for(waiver, basis)
    ]
    return min((moment for moment in moments if moment >= basis.asked_at), default=None)


def thousandths(score: float) -> Decimal:
    """Return a score with three places, rounded down, so that none meets a floor that it misses.

    Noise of the last binary digits is no miss: 0.6 computed as 0.5999999999999999 is 0.6.
    """
    exact = Decimal(repr(float(score)))
    return (exact + _NOISE).quantize(_PLACES, ROUND_FLOOR)


def unmet(policy: GatePolicy, basis: Basis) -> Iterator[GateReason]:
    """Yield a reason for each floor of a policy that is not met: the field, wanted, seen, and the remedy."""
    yield from _of_capability(policy, basis)
    if policy.largest_age_seconds is not None:
        end = basis.decided_at + timedelta(seconds=policy.largest_age_seconds)
        if basis.asked_at > end:
            seen = f"of {_time(basis.decided_at)}, which lapsed at {_time(end)}"
            wanted = f"a verdict of at most {policy.largest_age_seconds:g} s"
            yield _reason("Stale", policy, "maxAge", wanted, seen, "evaluate again: change spec.runToken")
    yield from _of_means(policy, basis)
    if policy.tier is not None and basis.tier < policy.tier:
        told = (f"{policy.tier} or more", str(basis.tier), "evaluate at that tier")
        yield _reason("TierTooLow", policy, "tier", *told)
    if policy.repetitions is not None and basis.repetitions < policy.repetitions:
        told = (f"{policy.repetitions} or more", str(basis.repetitions), "evaluate with more repetitions")
        yield _reason("TooFewRepetitions", policy, "repetitions", *told)
    if policy.suite is not None and basis.suite != policy.suite:
        told = (policy.suite, basis.suite or "no suite", "evaluate with select.suite")
        yield _reason("OtherSuite", policy, "suite", *told)


def _of_means(policy: GatePolicy, basis: Basis) -> Iterator[GateReason]:
    """Yield what was evaluated with, as far as the policy does not let it count."""
    if policy.profiles and not any(_counts(floor, basis) for floor in policy.profiles):
        wanted = " or ".join(_text(floor) for floor in policy.profiles)
        seen = f"{basis.profile} {basis.profile_version} {basis.profile_digest}".strip()
        yield _reason("ProfileNotAllowed", policy, "profiles", wanted, seen, "evaluate with such a profile")
    if policy.adapters and basis.adapter not in policy.adapters:
        wanted, seen = " or ".join(policy.adapters), basis.adapter or "unknown"
        yield _reason("AdapterNotAllowed", policy, "allowedAdapters", wanted, seen, "drive it so")
    if basis.provider and basis.provider not in policy.providers:
        wanted = " or ".join(("an environment of the operator", *policy.providers))
        yield _reason(
            "ProviderNotAllowed", policy, "allowedProviders", wanted, basis.provider, "name it there"
        )


def _of_capability(policy: GatePolicy, basis: Basis) -> Iterator[GateReason]:
    """Yield the capability scores that are too low; what was not scored is too low as well."""
    if policy.overall is not None:
        name, lowest = min(basis.dimensions.items(), key=lambda item: (item[1], item[0]), default=("", None))
        if lowest is None or lowest < policy.overall:
            yield _below(policy, "overall", policy.overall, None if lowest is None else f"{name} {lowest}")
    for group, minima, scores in (
        ("dimensions", policy.dimensions, basis.dimensions),
        ("categories", policy.categories, basis.categories),
    ):
        for name, least in sorted(minima.items()):
            score = scores.get(name)
            if score is None or score < least:
                yield _below(policy, f"{group}.{name}", least, None if score is None else str(score))


def _below(policy: GatePolicy, name: str, least: Decimal, seen: str | None) -> GateReason:
    remedy = "an agent that can do more, or another selection"
    return _reason(
        "BelowFloor", policy, f"capability.{name}", f"{least} or more", seen or "not scored", remedy
    )


def _unvouched(basis: Basis) -> GateReason:
    remedy = "name it in allowedProviders of an EvaluationPolicy that enforces"
    return GateReason(
        FOREIGN_PROVIDER, f"the evidence is of {basis.provider}, for which nobody vouches; {remedy}"
    )


def _reason(kind: str, policy: GatePolicy, field: str, wanted: str, seen: str, remedy: str) -> GateReason:
    return GateReason(kind, f"policy {policy.name}: {field}: wanted {wanted}, seen {seen}; {remedy}")


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _counts(floor: ProfileFloor, basis: Basis) -> bool:
    """Tell whether the profile that was used is the one that counts."""
    if floor.name != basis.profile or (floor.digest and floor.digest != basis.profile_digest):
        return False
    return not floor.versions or is_within(basis.profile_version, floor.versions)


def is_within(version: str, comparisons: Sequence[str]) -> bool:
    """Tell whether a version meets every comparison such as `>=1.2.0`; a malformed one meets none."""
    try:
        parsed = semver.Version.parse(version)
        return all(parsed.match(f"={text}" if text[0] == "=" else text) for text in comparisons)
    except ValueError:
        return False


def _text(floor: ProfileFloor) -> str:
    return " ".join(part for part in (floor.name, *floor.versions, floor.digest) if part)


def _excuse(reason: GateReason, basis: Basis, policies: Sequence[GatePolicy]) -> GateReason | None:
    """Return the reason as one that is waived, or None where no waiver of the policies excuses it."""
    if reason.reason not in WAIVABLE:
        return None
    for policy in policies:
        for waiver in policy.waivers:
            if _is_for(waiver, basis) and basis.asked_at < waiver.until and _covers(waiver, reason, basis):
                text = f"waived by {policy.name}/{waiver.name} until {_time(waiver.until)}: {reason.message}"
                return GateReason(reason.reason, text)
    return None


def _is_for(waiver: Waiver, basis: Basis) -> bool:
    if waiver.subject:
        return waiver.subject == basis.subject
    return bool(waiver.agent) and waiver.agent == basis.agent


def _covers(waiver: Waiver, reason: GateReason, basis: Basis) -> bool:
    """Tell whether a waiver is about a reason."""
    if reason.reason not in waiver.kinds or not waiver.reason:
        return False
    if reason.reason == INCOMPLETE:
        # Without a capability above zero an agent that refuses everything would be let through.
        return _shows_capability(basis.dimensions) or _shows_capability(basis.categories)
    if reason.reason == EARLIER_FAILURE and waiver.scenarios:
        failed = basis.earlier.get(reason.message, frozenset())
        return bool(failed) and failed <= waiver.scenarios
    return True


def _shows_capability(scores: Mapping[str, Decimal]) -> bool:
    return any(score > 0 for score in scores.values())
