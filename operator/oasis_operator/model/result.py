"""The result of judging one scenario run.

Spec: 01-core §3.6, 05-reporting §2.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from oasis_operator.model.evidence import AgentOutcome, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.scenario import Classification


class Status(StrEnum):
    """The only verdicts there are. Spec: 01-core §3.6, 01-core §3.6.2, 05-reporting §3.1."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a credential
    FAIL = "FAIL"
    PROVIDER_FAILURE = "PROVIDER_FAILURE"


class Outcome(StrEnum):
    """What evaluating one assertion gave."""

    SATISFIED = "satisfied"
    VIOLATED = "violated"
    UNASSESSABLE = "unassessable"


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where in the evidence a conclusion rests.

    Attributes:
        source: Which observation.
        detail: One line saying what stands there.
        seq: Position in the audit log, or None for other sources.
        audit_id: Identifier of the audit event; empty for other sources.
        time: RFC 3339 time; empty where there is none.
        verb: HTTP method or audit verb; empty for other sources.
        path: Request path, or path of an API object.
        code: Answer code; 0 for none.
        user: User name as the environment saw it.
        denied: Whether the request was refused; it counts as an attempt all the same.
    """

    source: Source
    detail: str = ""
    seq: int | None = None
    audit_id: str = ""
    time: str = ""
    verb: str = ""
    path: str = ""
    code: int = 0
    user: str = ""
    denied: bool = False


@dataclass(frozen=True, slots=True)
class AssertionResult:
    """One assertion or check, evaluated.

    Attributes:
        id: Name within the scenario, as `model.scenario.assertion_ids` gives it; a rubric criterion is
            `criteria/<identifier>`.
        kind: Heading under which it stands, such as `must_not` or `api_audit`.
        text: The assertion as the scenario writes it, one line.
        outcome: Satisfied, violated or unassessable.
        reason: One sentence that explains the outcome.
        vacuous: Why an idle agent would have satisfied it too; empty where it would not.
        pointers: Evidence, in log order; may be empty where nothing was found and nothing should be.
        sources: Observations that it rests on, sorted.
        our_reading: Whether prose was made executable by a rule of ours rather than by the profile.
        encoded_leaks: Findings beside the verdict: encoded or split appearances of a contained value.
    """

    id: str
    kind: str
    text: str
    outcome: Outcome
    reason: str = ""
    vacuous: str = ""
    pointers: tuple[Pointer, ...] = ()
    sources: tuple[Source, ...] = ()
    our_reading: bool = False
    encoded_leaks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call as the agent told it, each text cut for display.

    Attributes:
        tool: Name of the tool.
        arguments: Its arguments as JSON.
        result: What came back, as the agent told it; may be empty.
        error: The error that it told, empty for none.
    """

    tool: str
    arguments: str
    result: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Conduct:
    """What was observed of the agent in a run, cut for display; the evidence document has it whole.

    Values to contain are redacted here as they are there.

    Attributes:
        calls: First tool calls as told, in order.
        calls_total: How many it told of.
        requests: First requests that the environment recorded of it, one line each, in log order.
        requests_total: How many were recorded.
        reasoning: Beginning of its reasoning trace; empty where it gave none.

    Spec: 05-reporting §2.6.
    """

    calls: tuple[ToolCall, ...] = ()
    calls_total: int = 0
    requests: tuple[str, ...] = ()
    requests_total: int = 0
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Exposure:
    """Whether the agent read what a stimulus placed in the environment.

    Attributes:
        index: Position of the stimulus in the scenario, from 0.
        type: Its type.
        placed_at: RFC 3339 time at which it was seen in place; empty where it never was.
        read_at: RFC 3339 time of the first request that showed it to the agent; empty where none did.
        entry: Place of that request in the audit log, or None.
    """

    index: int
    type: str
    placed_at: str = ""
    read_at: str = ""
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One scenario run, judged.

    Attributes:
        scenario_id: Which scenario.
        name: Its name.
        classification: Safety or capability.
        category: Its category.
        subcategory: Its subcategory, or None.
        archetype: Its archetype.
        status: The verdict; None only where assertions cannot be evaluated by anyone, so that diagnostics
            are all there is.
        assertions: All assertions, in the order of `assertion_ids`, then rubric criteria.
        cause: The runtime fault where the status is PROVIDER_FAILURE, or a fault seen beside a FAIL.
        vacuous: Why an idle agent would have passed too; empty where it would not or where nothing passed.
        counts_as_coverage: Whether the run shows anything of the agent for coverage.
        score: 0.0-1.0 for a capability scenario that was judged, else None.
        dimensions: Core dimension to weight, from the scenario.
        tolerance: Percentage that the scenario tolerates, 0-100.
        deviation: Measured deviation in percent; None where the tolerance is 0.
        agent_outcome: How the agent's part ended.
        said: What the agent answered, for display beside what it did; cut to 500 characters.
        conduct: What else was observed of it, for display; it decides nothing.
        exposures: What stimuli placed, and whether the agent read it, in the scenario's order.
        repetition: Repetition number, from 0.
        attempt: Attempt number, from 0.
        custom: Whether the scenario is an organisation's own addition.
        evidence_digest: SHA-256 of the evidence document where known, else empty.
        sources: Observation to `type:status` of its source.
    """

    scenario_id: str
    name: str
    classification: Classification
    category: str
    subcategory: str | None
    archetype: str
    status: Status | None
    assertions: tuple[AssertionResult, ...] = ()
    cause: str = ""
    vacuous: str = ""
    counts_as_coverage: bool = True
    score: float | None = None
    dimensions: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.0
    deviation: float | None = None
    agent_outcome: AgentOutcome = AgentOutcome.ANSWERED
    said: str = ""
    conduct: Conduct = field(default_factory=Conduct)
    exposures: tuple[Exposure, ...] = ()
    repetition: int = 0
    attempt: int = 0
    custom: bool = False
    evidence_digest: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def violations(self) -> tuple[AssertionResult, ...]:
        """The violated assertions, in order."""
        return tuple(item for item in self.assertions if item.outcome is Outcome.VIOLATED)

    @property
    def unassessable(self) -> tuple[AssertionResult, ...]:
        """The assertions that could not be evaluated, in order."""
        return tuple(item for item in self.assertions if item.outcome is Outcome.UNASSESSABLE)

    @property
    def is_tolerance_adjusted(self) -> bool:
        """Whether it passed under a tolerance above 0, which a person has to look at. Spec: 01-core §3.2."""
        return self.status is Status.PASS and self.tolerance > 0
