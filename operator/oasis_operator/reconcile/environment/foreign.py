"""The status of an Environment of a foreign provider: what it answers for each profile that it is used with.

The provider is asked for the profiles of the Evaluations that refer to the Environment, and again when an
answer is old. It is a record for people: each attempt of an Evaluation asks for itself.

Spec: 08-provider-conformance §3.8.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oasis_operator import errors
from oasis_operator.api import conditions, fields
from oasis_operator.api.conditions import Fact, Reason, State, Type
from oasis_operator.api.v1alpha1.environment import Conformance, ConformanceGap
from oasis_operator.reconcile import declared
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from oasis_operator.api.v1alpha1.environment import Environment, EnvironmentStatus
    from oasis_operator.api.v1alpha1.foreign_provider import ForeignProvider
    from oasis_operator.model.profile import Profile
    from oasis_operator.reconcile.declared import Declaration
    from oasis_operator.reconcile.deps import Deps

ASK_AGAIN_SECONDS: Final = 300.0
_PROFILES: Final = 16
_GAPS: Final = 32
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Report:
    """What was found out in one pass.

    Attributes:
        status: The status as it must be.
        wait_seconds: When to ask again; None where no Evaluation wants to know.
    """

    status: EnvironmentStatus
    wait_seconds: float | None


async def report(
    deps: Deps, body: Mapping[str, Any], environment: Environment, provider: ForeignProvider, now: datetime
) -> Report:
    """Return the status; the provider is asked for what is not known or not known any more."""
    namespace, tier = body["metadata"]["namespace"], environment.spec.tier
    fresh = _fresh(environment, now)
    records: list[Conformance] = []
    faults: list[tuple[str, str]] = []
    for profile in await _profiles(deps, namespace, body["metadata"]["name"]):
        known = fresh.get((profile.identifier, profile.version))
        if known is None:
            found = await declared.ask(deps, namespace, provider, profile, tier)
            known = _record(profile, found, now)
            if found.fault:
                faults.append((found.fault, found.gaps[0].message))
        records.append(known)
    facts = _facts(tuple(records), faults)
    generation = environment.metadata.generation
    after = conditions.with_facts(environment.status.conditions, facts, generation=generation, now=now)
    if not any(fact.type is Type.STALLED for fact in facts):
        after = conditions.without(after, Type.STALLED)
    changes = {
        "observed_generation": generation,
        "conditions": conditions.without(after, Type.RECONCILING),
        "conformance": tuple(records),
    }
    wait = ASK_AGAIN_SECONDS if records else None
    return Report(environment.status.model_copy(update=changes), wait)


def _fresh(environment: Environment, now: datetime) -> dict[tuple[str, str], Conformance]:
    """Return the answers that are still good: to the same spec, and not long ago; no answer is none."""
    status = environment.status
    if status.observed_generation != environment.metadata.generation:
        return {}
    return {
        (one.profile, one.profile_version): one
        for one in status.conformance
        if (now - one.checked_at).total_seconds() < ASK_AGAIN_SECONDS
        and not any(gap.requirement == declared.ENDPOINT for gap in one.gaps)
    }


async def _profiles(deps: Deps, namespace: str, name: str) -> tuple[Profile, ...]:
    """Return the profiles of the Evaluations that refer to an Environment, each once, sorted."""
    found: dict[tuple[str, str], Profile] = {}
    sources: set[str] = set()
    for evaluation in await deps.kube.list(kinds.EVALUATION, namespace):
        spec = evaluation.get("spec") or {}
        source = json.dumps(spec.get("profile") or {}, sort_keys=True)
        if (spec.get("environmentRef") or {}).get("name") != name or source in sources:
            continue
        sources.add(source)
        try:
            reading = await deps.profiles.read(namespace, spec["profile"])
        except errors.OasisError:
            # What is wrong with the profile is told by the Evaluation.
            continue
        if reading.profile is not None:
            found[reading.profile.identifier, reading.profile.version] = reading.profile
    return tuple(found[key] for key in sorted(found))[:_PROFILES]


def _record(profile: Profile, found: Declaration, now: datetime) -> Conformance:
    gaps = tuple(
        ConformanceGap(
            requirement=fields.clip(gap.requirement, 128) or "unnamed",
            expected=fields.clip(gap.expected, 256),
            actual=fields.clip(gap.found, 256),
            remedy=fields.clip(gap.remedy, 256),
        )
        for gap in found.gaps[:_GAPS]
    )
    return Conformance(
        profile=fields.clip(profile.identifier, 128),
        profile_version=fields.clip(profile.version, 128),
        conformant=not gaps,
        gaps=gaps,
        checked_at=now,
    )


def _facts(records: tuple[Conformance, ...], faults: list[tuple[str, str]]) -> tuple[Fact, ...]:
    if faults:
        reason, message = faults[0]
        stalled = Fact(Type.STALLED, State.TRUE, reason, message)
        return Fact(Type.READY, State.FALSE, reason, message), stalled
    if not records:
        message = "no Evaluation refers to it yet; the provider is asked for a profile when one does"
        return (Fact(Type.READY, State.UNKNOWN, Reason.PENDING, message),)
    met = sum(one.conformant for one in records)
    lacking = [one.profile for one in records if not one.conformant]
    gaps = f"; gaps for {', '.join(lacking[:_SHOWN])}, see status.conformance" if lacking else ""
    message = f"the provider answers and meets {met} of {len(records)} profiles{gaps}"
    return (Fact(Type.READY, State.TRUE, Reason.READY, message),)
