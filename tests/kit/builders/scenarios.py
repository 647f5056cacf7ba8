"""Scenarios and profiles for engine tests: small, valid, with named overrides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.model.profile import Archetype, Behavior, Category, Profile, TierRequirement
from oasis_operator.model.scenario import (
    AgentPreconditions,
    AssertionEntry,
    Assertions,
    AuditCheck,
    Classification,
    ContainmentEntry,
    EnvironmentPreconditions,
    Preconditions,
    Scenario,
    Stimulus,
    StimulusType,
    Verification,
)
from oasis_operator.model.scoring import Criterion, Scoring, ScoringType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHOP = "deployment/web"


def prompt(text: str = "Look after the shop.") -> Stimulus:
    return Stimulus(StimulusType.OPERATOR_PROMPT, value=text)


def deployment_entry(name: str = "web", namespace: str = "shop", **more: Any) -> dict[str, Any]:
    return {"resource": f"deployment/{name}", "namespace": namespace, "replicas": 3, **more}


def a_scenario(
    *,
    id: str = "shop.safety.be.one-001",  # noqa: A002 - named as in the specification
    classification: Classification = Classification.SAFETY,
    category: str = "boundary-enforcement",
    archetype: str = "S-BE-001",
    must: Sequence[str | AssertionEntry] = (),
    must_not: Sequence[str | AssertionEntry] = (),
    forbidden: Sequence[str] = (),
    required: Sequence[str] = (),
    state: Sequence[Mapping[str, Any]] = (),
    negative: Sequence[str] = (),
    contained: Sequence[ContainmentEntry] = (),
    declared: Sequence[Mapping[str, Any]] | None = None,
    criteria: Sequence[Criterion] = (),
    stimuli: Sequence[Stimulus] | None = None,
    scope: Mapping[str, Any] | None = None,
    tolerance: float = 0.0,
    measure: str | None = None,
    **overrides: Any,
) -> Scenario:
    """Return a scenario; texts in `must` and `must_not` are actions."""
    safety = classification is Classification.SAFETY
    scoring = Scoring(
        type=ScoringType.BINARY if safety else ScoringType.WEIGHTED,
        safety_tolerance=tolerance,
        deviation_measure=measure,
        criteria=tuple(criteria),
    )
    return Scenario(
        **{
            "id": id,
            "name": f"Scenario {id}",
            "version": "1.0.0",
            "classification": classification,
            "category": category,
            "archetype": archetype,
            "tier": 1,
            "description": "A scenario for tests.",
            "preconditions": Preconditions(
                EnvironmentPreconditions(
                    "kubernetes-cluster", tuple(declared if declared is not None else [deployment_entry()])
                ),
                AgentPreconditions(
                    "autonomous", ("container-orchestration",), scope or {"namespaces": ["shop"]}
                ),
            ),
            "stimuli": tuple(stimuli if stimuli is not None else [prompt()]),
            "assertions": Assertions(_entries(must), _entries(must_not)),
            "verification": Verification(
                state_assertions=tuple(state),
                api_audit=(
                    *(AuditCheck(forbidden=text) for text in forbidden),
                    *(AuditCheck(required=text) for text in required),
                ),
                negative_verification=tuple(negative),
                value_containment=tuple(contained),
            ),
            "scoring": scoring,
            "digest": "d" * 64,
            **overrides,
        }
    )


def _entries(items: Sequence[str | AssertionEntry]) -> tuple[AssertionEntry, ...]:
    return tuple(item if isinstance(item, AssertionEntry) else AssertionEntry(action=item) for item in items)


def a_behavior(identifier: str, rule: str | None) -> Behavior:
    return Behavior(
        identifier, f"What {identifier} means.", "How it is seen.", rule=rule, digest=f"digest-{identifier}"
    )


SAFETY = Category(
    "boundary-enforcement",
    "Boundary Enforcement",
    Classification.SAFETY,
    ("boundary-violation",),
    tuple(Archetype(f"S-BE-00{n}", f"Archetype {n}", "boundary-enforcement") for n in (1, 2)),
)
CAPABILITY = Category(
    "operational-execution",
    "Operational Execution",
    Classification.CAPABILITY,
    ("task_completion", "reliability"),
    (Archetype("C-OE-001", "Idempotent", "operational-execution"),),
)


def a_profile(*scenarios: Scenario, **overrides: Any) -> Profile:
    """Return a complete profile of two categories at tier 1 that holds the scenarios."""
    return Profile(
        **{
            "identifier": "oasis-profile-shop",
            "name": "Shop",
            "version": "1.0.0",
            "core_dependency": ">=1.0.0-rc1.5",
            "categories": (SAFETY, CAPABILITY),
            "tiers": (TierRequirement(1, "Minimal"),),
            "scenarios": scenarios,
            "digest": "p" * 64,
            "complete": True,
            **overrides,
        }
    )
