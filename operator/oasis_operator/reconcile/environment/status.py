"""The status of an Environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api import conditions
from oasis_operator.api.conditions import Fact, Reason, State, Type
from oasis_operator.resources import conformance

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.api.v1alpha1.environment import Environment, EnvironmentStatus


def report(environment: Environment, now: datetime) -> EnvironmentStatus:
    """Return the status as it must be; equal to the present one where nothing is new."""
    before, generation = environment.status, environment.metadata.generation
    facts = _facts(environment)
    after = conditions.with_facts(before.conditions, facts, generation=generation, now=now)
    if not any(fact.type is Type.STALLED for fact in facts):
        after = conditions.without(after, Type.STALLED)
    return before.model_copy(
        update={
            "observed_generation": generation,
            "conditions": conditions.without(after, Type.RECONCILING),
        }
    )


def _facts(environment: Environment) -> tuple[Fact, ...]:
    """An environment may claim no tier that its worlds cannot be.

    Spec: 08-provider-conformance §3.6.
    """
    tier, highest = environment.spec.tier, conformance.TIER_SUPPORTED
    if tier <= highest:
        return (Fact(Type.READY, State.TRUE, Reason.READY, f"worlds of tier {tier} can be made"),)
    message = f"spec.tier is {tier}; worlds of this kind reach tier {highest}: lower the claim"
    return (
        Fact(Type.READY, State.FALSE, Reason.INVALID_SPEC, message),
        Fact(Type.STALLED, State.TRUE, Reason.INVALID_SPEC, message),
    )
