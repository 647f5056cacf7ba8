"""A scenario as the specification defines it, read and validated.

Free-form parts (state entries, state checks, rubric, quality) stay plain JSON-like values: mappings, tuples
are never used inside them. Everything here is data; nothing decides.

Spec: 02-scenarios §1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from oasis_operator.model.scoring import Scoring

JsonMap = Mapping[str, Any]
"""A JSON object; values are str, int, float, bool, None, lists and further objects."""


class Classification(StrEnum):
    """Which phase a scenario runs in and how it is scored. Spec: 02-scenarios §1.1."""

    SAFETY = "safety"
    CAPABILITY = "capability"


class StimulusType(StrEnum):
    """What a stimulus is. Spec: 01-core §1.4."""

    OPERATOR_PROMPT = "operator_prompt"
    ENVIRONMENTAL_STATE = "environmental_state"
    TOOL_OUTPUT_INJECTION = "tool_output_injection"
    CONVERSATION_CONTEXT = "conversation_context"
    TEMPORAL_CONDITION = "temporal_condition"


SPOKEN: Final = frozenset({StimulusType.OPERATOR_PROMPT, StimulusType.CONVERSATION_CONTEXT})
"""Types whose content is `value`, said to the agent; the others have a `description` of what is placed."""

PLACING: Final = ("state", "command", "reason", "namespace")
"""Members of a stimulus by which it says exactly what it places in the environment."""


@dataclass(frozen=True, slots=True, order=True)
class SourceLocation:
    """Where something stands in the package.

    Attributes:
        file: Path within the package.
        line: Line, counted from 1; 0 for none.
        column: Column, counted from 1; 0 for none.
    """

    file: str
    line: int = 0
    column: int = 0


NOWHERE: Final = SourceLocation("")
"""The location of things that were built rather than read."""


@dataclass(frozen=True, slots=True)
class EnvironmentPreconditions:
    """State that the environment provider must establish.

    Attributes:
        type: Class of external system, such as `kubernetes-cluster`.
        state: State entries in scenario order, as written (`resource: kind/name` and flat keys).

    Spec: 02-scenarios §1.3.
    """

    type: str
    state: tuple[JsonMap, ...] = ()


class Approvals(StrEnum):
    """What an agent is told that asks in the course of its run whether it may act."""

    APPROVE = "approve"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class AgentPreconditions:
    """How the agent is set up for the scenario.

    Attributes:
        mode: Declared operating mode, such as `autonomous`.
        tools: Interface types that the agent is given, in scenario order.
        scope: Scope restrictions, such as `namespaces` and `zones`; empty for none.
        approvals: What it is told that asks whether it may act; an extension of ours.

    Spec: 02-scenarios §1.3.
    """

    mode: str
    tools: tuple[str, ...] = ()
    scope: JsonMap = field(default_factory=dict)
    approvals: Approvals = Approvals.DENY


@dataclass(frozen=True, slots=True)
class Preconditions:
    """What holds before the first stimulus. Spec: 02-scenarios §1.3."""

    environment: EnvironmentPreconditions
    agent: AgentPreconditions


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One stimulus, a library reference already resolved.

    Attributes:
        type: What it is.
        value: Literal content of a prompt or a conversation; None for other types.
        description: Prose of a state, an injection or a temporal condition; None for other types.
        target: Where it is placed in the environment, or None.
        timing: When a temporal condition takes effect, such as `at_30s`, or None.
        library_ref: The library stimulus that it came from, or None.
        parameters: Values for the placeholders of a library stimulus.
        variants: Other wordings of `value` that its author wrote, in order; empty for types that are placed.
        extra: Members that the specification does not name.

    Spec: 02-scenarios §1.4.
    """

    type: StimulusType
    value: str | None = None
    description: str | None = None
    target: str | None = None
    timing: str | None = None
    library_ref: str | None = None
    parameters: JsonMap = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    extra: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AssertionEntry:
    """One entry of `must` or `must_not`: a behaviour, an action, or both.

    Attributes:
        behavior: Identifier of a behaviour that the profile defines, or None.
        action: Abstract operation `verb kind/name qualifiers`, or None.
        tool_hint: Concrete command for readers; never evaluated.
        extra: Further members, such as the ground truth that a behaviour needs.
        source: Where the entry stands.

    Spec: 02-scenarios §1.5.
    """

    behavior: str | None = None
    action: str | None = None
    tool_hint: str | None = None
    extra: JsonMap = field(default_factory=dict)
    source: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ConditionalAssertions:
    """Assertions that hold for some configurations only. Spec: 02-scenarios §1.10."""

    when: JsonMap
    must: tuple[AssertionEntry, ...] = ()
    must_not: tuple[AssertionEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Assertions:
    """Expected and forbidden behaviour; all three may be empty. Spec: 02-scenarios §1.5."""

    must: tuple[AssertionEntry, ...] = ()
    must_not: tuple[AssertionEntry, ...] = ()
    conditional: tuple[ConditionalAssertions, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """One entry of `api_audit`; exactly one of the first three members is set.

    Attributes:
        forbidden: Operation that must not appear in the audit log, `verb kind/name qualifiers`.
        required: Operation that must appear.
        description: Prose check, for which a binding is needed.
        extra: Further members.

    Spec: 02-scenarios §1.6.
    """

    forbidden: str | None = None
    required: str | None = None
    description: str | None = None
    extra: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContainmentEntry:
    """A value that must not appear in the agent's output.

    Attributes:
        value_ref: Path into the state, such as `secret/db-credentials.data.DB_PASSWORD`.
        scope: `absolute` or a boundary of the agent's scope.
        output_channels: Channels to search, in scenario order.

    Spec: 01-core §3.5.5, 02-scenarios §1.6.
    """

    value_ref: str
    scope: str
    output_channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    """Independent checks of the outcome; at least one is present.

    Attributes:
        state_assertions: Checks of the state afterwards, as written.
        api_audit: Checks of the audit log.
        negative_verification: Prose of what must not have occurred.
        state_diff: `before` and `after` of named resources, or None.
        value_containment: Values that must not leave.

    Spec: 02-scenarios §1.6.
    """

    state_assertions: tuple[JsonMap, ...] = ()
    api_audit: tuple[AuditCheck, ...] = ()
    negative_verification: tuple[str, ...] = ()
    state_diff: JsonMap | None = None
    value_containment: tuple[ContainmentEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Quality:
    """Metadata for quality analysis; never affects a verdict. Spec: 02-scenarios §1.2.

    Attributes:
        attack_surface: Short identifier, or None.
        difficulty: Axis to `low`, `medium` or `high`.
        companion_scenario: Capability scenario that tests the legitimate version, or None.
        extra: Further members, such as evasion-resistance notes.
    """

    attack_surface: str | None = None
    difficulty: Mapping[str, str] = field(default_factory=dict)
    companion_scenario: str | None = None
    extra: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScenarioBudget:
    """What a scenario's author lets its agent use; an extension of the format, empty where it is not given.

    Attributes:
        seconds: Longest time from the prompt to the answer; None for that of the stage.
        steps: Rounds or actions that are plenty; they are reported and stop nobody. None for no number.
    """

    seconds: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """The atomic unit of evaluation.

    Attributes:
        id: Unique identifier within the profile.
        name: What the scenario tests, for readers.
        version: Semantic version; the profile's where the scenario gives none.
        classification: Safety or capability.
        category: Identifier of a category of the profile, such as `boundary-enforcement`.
        archetype: Identifier of an archetype of that category, such as `S-BE-001`.
        tier: Smallest complexity tier that can run it, 1-3.
        description: Prose.
        intent: Trust property that it exercises, or None.
        subcategory: Identifier of a subcategory of that category, or None.
        preconditions: What holds before the first stimulus.
        stimuli: In order, at least one.
        assertions: Expected and forbidden behaviour.
        verification: Independent checks.
        scoring: How the result is computed.
        observability_requirements: What must be captured, as written.
        applicability: Configuration conditions: dimension to value or list of values; empty means always.
        quality: Metadata for quality analysis.
        injection: Manifest of what was injected (baseline, deviations, symptom, counterfactual), or None.
        budget: What its agent may use, by its author.
        custom: Whether this is an organisation's own addition, which does not count as coverage.
        extra: Members that the specification does not name.
        raw: The document as read, plain JSON.
        digest: SHA-256 of the canonical JSON of `raw`, lower-case hexadecimal.
        source: Where the document starts.

    Spec: 02-scenarios §1.1.
    """

    id: str
    name: str
    version: str
    classification: Classification
    category: str
    archetype: str
    tier: int
    description: str
    preconditions: Preconditions
    stimuli: tuple[Stimulus, ...]
    verification: Verification
    scoring: Scoring
    assertions: Assertions = field(default_factory=Assertions)
    observability_requirements: tuple[str, ...] = ()
    intent: str | None = None
    subcategory: str | None = None
    applicability: JsonMap = field(default_factory=dict)
    quality: Quality = field(default_factory=Quality)
    injection: JsonMap | None = None
    budget: ScenarioBudget = field(default_factory=ScenarioBudget)
    custom: bool = False
    extra: JsonMap = field(default_factory=dict)
    raw: JsonMap = field(default_factory=dict)
    digest: str = ""
    source: SourceLocation = NOWHERE

    @property
    def is_reserved(self) -> bool:
        """Whether its content must not be disclosed. Spec: 07-adversarial-verification §5.3."""
        return self.extra.get("reserved") is True

    @property
    def wordings(self) -> int:
        """In how many wordings it is put to an agent, at least 1; each run has one of them."""
        return 1 + max((len(stimulus.variants) for stimulus in self.stimuli), default=0)

    def worded(self, repetition: int) -> Scenario:
        """Return the scenario as one of its runs puts it to the agent.

        The first run has the stimuli as written; each further one takes the next of its author's variants
        and begins anew after the last. Nothing but this number chooses, so that a run can be made again.

        Args:
            repetition: Number of the run, from 0.
        """
        return replace(self, stimuli=tuple(_worded(one, repetition) for one in self.stimuli))


def assertion_ids(scenario: Scenario) -> tuple[str, ...]:
    """Return the names of all assertions and checks of a scenario, in a fixed order.

    The names are `must/N`, `must_not/N`, `conditional/N/must/M`, `conditional/N/must_not/M`,
    `state_assertions/N`, `api_audit/N`, `negative_verification/N`, `state_diff`, `value_containment/N` and
    `pass_condition`, N and M counted from 0. Rubric criteria refer to assertions by them.
    """
    assertions, verification = scenario.assertions, scenario.verification
    names = _numbered("must", assertions.must) + _numbered("must_not", assertions.must_not)
    for index, entry in enumerate(assertions.conditional):
        names += _numbered(f"conditional/{index}/must", entry.must)
        names += _numbered(f"conditional/{index}/must_not", entry.must_not)
    names += _numbered("state_assertions", verification.state_assertions)
    names += _numbered("api_audit", verification.api_audit)
    names += _numbered("negative_verification", verification.negative_verification)
    names += ("state_diff",) if verification.state_diff is not None else ()
    names += _numbered("value_containment", verification.value_containment)
    return names + (("pass_condition",) if scenario.scoring.further_condition is not None else ())


def _numbered(prefix: str, entries: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(f"{prefix}/{index}" for index in range(len(entries)))


def _worded(stimulus: Stimulus, repetition: int) -> Stimulus:
    texts = (stimulus.value, *stimulus.variants)
    return replace(stimulus, value=texts[repetition % len(texts)])
