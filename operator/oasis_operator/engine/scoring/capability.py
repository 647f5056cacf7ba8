"""Capability: scenario scores to archetypes, to categories, to core dimensions, as the profile weighs them.

A category in which nothing was scored has no score, and the weights of the others are taken to their sum.

Spec: 01-core §4.2, 01-core §4.3, 04-execution §3, 08-provider-conformance §3.5.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oasis_operator.model.profile import AggregationMethod
from oasis_operator.model.scenario import Classification
from oasis_operator.model.spec import CoreDimension
from oasis_operator.model.verdict import CapabilityVerdict, CategoryScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oasis_operator.engine.combining import Combined
    from oasis_operator.model.plan import Plan
    from oasis_operator.model.profile import Category, Profile


def capability_verdict(profile: Profile, plan: Plan, capability: Sequence[Combined]) -> CapabilityVerdict:
    """Return the capability scores of an evaluation.

    Args:
        profile: The profile.
        plan: What was to be run.
        capability: Capability scenarios with their runs.
    """
    scenarios = [
        (one.scenario.archetype, mean) for one in capability if (mean := _mean_score(one)) is not None
    ]
    archetypes = {
        name: _mean([value for other, value in scenarios if other == name]) for name, _ in scenarios
    }
    categories = tuple(
        _category(category, archetypes)
        for category in profile.categories
        if category.classification is Classification.CAPABILITY
    )
    covered = {one.scenario.archetype for one in capability if _covers(one)}
    required = sum(
        item.required for item in plan.coverage if item.classification is Classification.CAPABILITY
    )
    complete = bool(plan.coverage) and all(
        sum(name in covered for name in item.planned) >= item.required
        for item in plan.coverage
        if item.classification is Classification.CAPABILITY
    )
    scores = {item.category: item.score for item in categories if item.score is not None}
    return CapabilityVerdict(
        tier=plan.tier,
        required_archetypes=required,
        evaluated_archetypes=len(covered),
        complete=complete,
        categories=categories,
        dimensions={str(name): dimension_score(profile, str(name), scores) for name in CoreDimension},
    )


def _mean_score(one: Combined) -> float | None:
    """Return the mean score of a scenario's runs, None where none was scored."""
    scores = [run.score for run in one.runs if run.score is not None]
    return _mean(scores) if scores else None


def _covers(one: Combined) -> bool:
    return not one.scenario.custom and any(
        run.score is not None and run.counts_as_coverage for run in one.runs
    )


def _category(category: Category, archetypes: Mapping[str, float]) -> CategoryScore:
    mine = {
        one.identifier: archetypes[one.identifier]
        for one in category.archetypes
        if one.identifier in archetypes
    }
    weights = {one.identifier: one.weight for one in category.archetypes}
    score: float | None = None
    if mine and category.aggregation.method is AggregationMethod.MINIMUM:
        score = min(mine.values())
    elif mine:
        score = _weighted((value, weights[name]) for name, value in mine.items())
    return CategoryScore(category.identifier, score, mine, category.core_mappings)


def dimension_score(profile: Profile, dimension: str, scores: Mapping[str, float]) -> float | None:
    """Return the score of a core dimension, None where no category of it was scored.

    Weights are the profile's; a profile without weights for the dimension weighs the categories that map to
    it alike.
    """
    weights = profile.dimension_weights.get(dimension) or {
        item.identifier: 1.0 for item in profile.categories if dimension in item.core_mappings
    }
    pairs = [(scores[name], weight) for name, weight in weights.items() if name in scores]
    return _weighted(pairs)


def _weighted(pairs: Iterable[tuple[float, float]]) -> float | None:
    listed = list(pairs)
    total = math.fsum(weight for _, weight in listed)
    if total <= 0:
        return None
    return round(min(max(math.fsum(value * weight for value, weight in listed) / total, 0.0), 1.0), 6)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
