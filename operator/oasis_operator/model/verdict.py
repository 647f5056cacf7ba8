"""The verdict of an evaluation, aggregated from scenario results.

Spec: 01-core §3.3, 01-core §3.6, 05-reporting §1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator.model.result import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CapabilityVerdict",
    "CategoryScore",
    "CategoryVerdict",
    "Failure",
    "Repetitions",
    "ReviewItem",
    "RunContext",
    "Status",
    "SubcategoryCounts",
    "Verdict",
]


@dataclass(frozen=True, slots=True)
class RunContext:
    """Facts of a run that its results do not hold.

    Attributes:
        agent: Agent's name, from its adapter's identity report.
        agent_version: Its version, from the same.
        provider: Name of the environment provider.
        provider_version: Its version.
        tier_evidence: What shows that the environment meets the tier, one line; empty where nothing does.
        tier_verified: Whether the characteristics of the claimed tier were checked and hold.
        conformance_check: Summary of the conformance check before the run.
        evaluator: Organisation or person.
        timestamp: RFC 3339 time of the verdict.
        duration_seconds: Length of the run in seconds.
        core_version: Version of the core specification.
        aborted: Whether the run ended early for a fault of the harness.
        abort_reason: Why, empty where it was not aborted.
        repetitions: Runs per scenario, at least 1.
        resumed: Whether results of an earlier run were reused.
    """

    agent: str = ""
    agent_version: str = ""
    provider: str = ""
    provider_version: str = ""
    tier_evidence: str = ""
    tier_verified: bool = False
    conformance_check: str = ""
    evaluator: str = ""
    timestamp: str = ""
    duration_seconds: float = 0.0
    core_version: str = ""
    aborted: bool = False
    abort_reason: str = ""
    repetitions: int = 1
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A scenario that failed or could not be verified.

    Attributes:
        scenario_id: Which.
        description: Its name.
        cause: First violated assertion with its reason, or the fault of the harness.
    """

    scenario_id: str
    description: str
    cause: str


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A pass under a tolerance, for a person to look at; it is a PASS all the same.

    Spec: 05-reporting §2.3.1.
    """

    scenario_id: str
    tolerance: float
    measured_deviation: float


@dataclass(frozen=True, slots=True)
class SubcategoryCounts:
    """Counts of scenarios in one subcategory of one category."""

    category: str
    subcategory: str
    total: int
    passed: int
    failed: int
    provider_failure: int

    @property
    def status(self) -> Status | None:
        """Its verdict, None where nothing of it was judged."""
        return aggregate_counts(self.passed, self.failed, self.provider_failure)


@dataclass(frozen=True, slots=True)
class CategoryVerdict:
    """Verdict and counts of one safety category.

    Attributes:
        category: Identifier.
        status: PASS, FAIL, PROVIDER_FAILURE, or None where nothing of it was judged.
        passed: Scenarios that passed.
        failed: Scenarios that failed.
        provider_failure: Scenarios that could not be verified.
        not_applicable: Scenarios that the configuration excludes.
        vacuous: Passes that an idle agent would have had too.
    """

    category: str
    status: Status | None
    passed: int
    failed: int
    provider_failure: int
    not_applicable: int
    vacuous: int


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """Score of one capability category.

    Attributes:
        category: Identifier.
        score: 0.0-1.0, or None where nothing of it was scored.
        archetypes: Archetype to its score.
        maps_to_dimensions: Core dimensions that it contributes to.
    """

    category: str
    score: float | None
    archetypes: Mapping[str, float]
    maps_to_dimensions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CapabilityVerdict:
    """Capability scores; there are none unless safety passed.

    Attributes:
        tier: Complexity tier; scores of different tiers are not comparable.
        required_archetypes: Archetypes that the tier's coverage asks for.
        evaluated_archetypes: Archetypes that were scored.
        complete: Whether coverage is met.
        categories: In profile order.
        dimensions: Core dimension to score, None where no category of it was scored.

    Spec: 01-core §4.3.
    """

    tier: int
    required_archetypes: int
    evaluated_archetypes: int
    complete: bool
    categories: tuple[CategoryScore, ...]
    dimensions: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Repetitions:
    """What several runs of each scenario show.

    A clean run passed, and the agent finished it: a run that could not be verified or that the agent broke
    off shows nothing of its violations.

    Attributes:
        runs: Runs per scenario.
        pass_hat: Share of safety scenarios that passed in every run, 0.0-1.0.
        clean_runs: Clean runs of safety scenarios, all scenarios together.
        violation_bound: Upper bound at 95 % on the rate of violations per run, the mean over the scenarios,
            which the clean runs support; None where any run violated something or none is clean.
        scenario_bound: The same for each scenario by itself, from the fewest clean runs that any has.
        capability_pass_hat: Share of capability scenarios that passed in every run; None where none was run.
    """

    runs: int
    pass_hat: float
    violation_bound: float | None
    clean_runs: int = 0
    scenario_bound: float | None = None
    capability_pass_hat: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of an evaluation.

    Attributes:
        safety: Verdict of the safety phase; None where there is no verdict.
        status: Verdict of the evaluation as a whole: that of the safety phase, or PROVIDER_FAILURE where the
            capability phase broke off; None where there is no verdict.
        no_verdict_reason: Why there is none, or empty.
        total_scenarios: Safety scenarios selected, applicable or not.
        applicable: Applicable safety scenarios.
        not_applicable: NOT_APPLICABLE safety scenarios.
        passed: Safety scenarios that passed in every repetition.
        failed: Safety scenarios that failed in any.
        provider_failure: Safety scenarios that could not be verified and did not fail.
        tolerance_adjusted: Passes under a tolerance above 0.
        failures: Failed scenarios, in plan order.
        provider_failures: Scenarios that could not be verified, in plan order.
        human_review: Tolerance-adjusted passes, in plan order.
        categories: Safety categories, in profile order.
        subcategories: Counts by subcategory, in profile order.
        capability: Capability scores, or None.
        aborted: Whether the run ended early for a fault of the harness.
        abort_reason: Why, empty where it was not.
        incomplete: Why the evaluation is incomplete, one sentence each; empty for complete.
        repetitions: What repetitions show, None for a single run.
        vacuous_passes: Identifiers of safety scenarios whose pass an idle agent would have had too.
        context: Facts of the run.
        configuration: Effective configuration of the agent.
        scenario_count: Classification to scenarios that were run.
        not_comparable: Why the numbers do not compare with those of other runs of the same profile and tier:
            what was left out of the counts, one sentence each; empty where nothing was.
    """

    safety: Status | None
    status: Status | None
    no_verdict_reason: str
    total_scenarios: int
    applicable: int
    not_applicable: int
    passed: int
    failed: int
    provider_failure: int
    tolerance_adjusted: int
    failures: tuple[Failure, ...]
    provider_failures: tuple[Failure, ...]
    human_review: tuple[ReviewItem, ...]
    categories: tuple[CategoryVerdict, ...]
    subcategories: tuple[SubcategoryCounts, ...]
    capability: CapabilityVerdict | None
    aborted: bool
    abort_reason: str
    incomplete: tuple[str, ...]
    repetitions: Repetitions | None
    vacuous_passes: tuple[str, ...]
    context: RunContext
    configuration: Mapping[str, Any] = field(default_factory=dict)
    scenario_count: Mapping[str, int] = field(default_factory=dict)
    not_comparable: tuple[str, ...] = ()


def aggregate_counts(passed: int, failed: int, provider_failure: int) -> Status | None:
    """Return the verdict of some scenarios by their counts: FAIL wins over PROVIDER_FAILURE over PASS.

    None means that nothing was judged. Spec: 01-core §3.6.
    """
    if failed:
        return Status.FAIL
    if provider_failure:
        return Status.PROVIDER_FAILURE
    return Status.PASS if passed else None
