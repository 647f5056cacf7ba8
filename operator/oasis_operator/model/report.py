"""The evaluation report, in no format: everything that every format must be able to show.

Texts that came from an agent or an environment are plain strings here; each format makes them harmless.

Spec: 05-reporting §2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.gate import Gate
    from oasis_operator.model.plan import CategoryCoverage, Exclusion, Unassessable
    from oasis_operator.model.result import ScenarioResult, Status
    from oasis_operator.model.scenario import Classification
    from oasis_operator.model.verdict import Verdict

NOT_APPLICABLE_STATEMENT: Final = (
    "NOT_APPLICABLE scenarios are excluded from pass/fail counts. They indicate the scenario is not "
    "relevant to the agent's reported configuration, not that the agent passed."
)
"""Statement that a report must carry, word for word. Spec: 05-reporting §2.3."""

SAME_TIER_STATEMENT: Final = "Scores are only comparable between evaluations at the same tier"
"""Statement that a report must carry, word for word. Spec: 05-reporting §2.4."""


@dataclass(frozen=True, slots=True)
class ConformanceLine:
    """One requirement of the conformance check before the run, and what the provider answered."""

    requirement: str
    met: bool
    answer: str


@dataclass(frozen=True, slots=True)
class StageSpan:
    """One stage of a run.

    Attributes:
        name: Name of the stage.
        started_at: RFC 3339 time at which it began.
        seconds: How long it lasted; None where it never ended.
    """

    name: str
    started_at: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Spending:
    """What the agent used of one resource of its budget.

    Attributes:
        resource: `steps`, `seconds` or `tokens`.
        used: How much.
        limit: How much there was; None where there was no limit.
        is_estimated: Whether a part of it was estimated.
    """

    resource: str
    used: int
    limit: int | None
    is_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """How one run went in time, and what the agent used in it.

    Attributes:
        repetition: Repetition number, from 0.
        stages: Stages in their order; may be empty.
        spending: Steps, seconds and, where they were counted, tokens; may be empty.
    """

    repetition: int
    stages: tuple[StageSpan, ...] = ()
    spending: tuple[Spending, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a report says beyond verdict and results.

    Attributes:
        evaluation: Name of the evaluation, empty where it has none.
        implementation: Name of the evaluation implementation.
        implementation_version: Its version.
        conformance: Conformance check, requirement by requirement.
        environment: Characteristics of the environment, one sentence each.
        tier_evidence: What shows that the environment meets the tier, one sentence each.
        framework: Lab framework, or empty.
        subject_digest: Digest of the whole subject.
        profile_digest: Digest of the profile.
        evidence: Scenario run to URI or digest of its evidence.
        preconditions: Scenario to what shows that its preconditions held, one sentence each.
        stimuli: Scenario to the stimuli that were applied, one line each.
        courses: Scenario to how its runs went, by repetition.
        next_command: The command that shows more; empty for none.
    """

    evaluation: str = ""
    implementation: str = "oasis-operator"
    implementation_version: str = ""
    conformance: tuple[ConformanceLine, ...] = ()
    environment: tuple[str, ...] = ()
    tier_evidence: tuple[str, ...] = ()
    framework: str = ""
    subject_digest: str = ""
    profile_digest: str = ""
    evidence: Mapping[str, str] = field(default_factory=dict)
    preconditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stimuli: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    courses: Mapping[str, tuple[Course, ...]] = field(default_factory=dict)
    next_command: str = ""


@dataclass(frozen=True, slots=True)
class ScenarioSection:
    """One executed scenario.

    Attributes:
        scenario_id: Identifier.
        name: Name, empty for a reserved scenario.
        description: Description, empty for a reserved scenario.
        classification: Safety or capability.
        category: Category.
        archetype: Archetype.
        status: Its verdict over all runs, or None.
        score: Mean score of a capability scenario, or None.
        tolerance: Percentage that it tolerates.
        deviation: Largest measured deviation in percent, or None.
        vacuous: Why an idle agent would have passed it, or empty.
        is_custom: Whether it is an organisation's own addition.
        is_reserved: Whether its content must not be disclosed; then it has no runs here.
        runs: Results of its runs, by repetition and attempt.
        preconditions: What shows that its preconditions held.
        stimuli: Stimuli that were applied.
        courses: How its runs went, by repetition; none of a reserved scenario.
    """

    scenario_id: str
    name: str
    description: str
    classification: Classification
    category: str
    archetype: str
    status: Status | None
    score: float | None
    tolerance: float
    deviation: float | None
    vacuous: str
    is_custom: bool
    is_reserved: bool
    runs: tuple[ScenarioResult, ...]
    preconditions: tuple[str, ...]
    stimuli: tuple[str, ...]
    courses: tuple[Course, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report.

    Attributes:
        profile_name: Name of the profile.
        profile_identifier: Its identifier.
        profile_version: Its version.
        verdict: The verdict.
        gate: Whether it may open a gate.
        facts: What else there is to say.
        scenarios: Executed scenarios, safety first, in plan order.
        excluded: NOT_APPLICABLE scenarios.
        coverage: Coverage by category.
        dimension_weights: Core dimension to (category to weight), as the profile declares them.
        unassessable: Assertions that cannot be evaluated.
        warnings: Coverage warnings and others.
        tier: Complexity tier.
    """

    profile_name: str
    profile_identifier: str
    profile_version: str
    verdict: Verdict
    gate: Gate
    facts: Facts
    scenarios: tuple[ScenarioSection, ...]
    excluded: tuple[Exclusion, ...]
    coverage: tuple[CategoryCoverage, ...]
    dimension_weights: Mapping[str, Mapping[str, float]]
    unassessable: tuple[Unassessable, ...]
    warnings: tuple[str, ...]
    tier: int
