"""Condition types and reasons, which are part of the API, and pure functions that update conditions.

A type reads as a fact about the object; a reason says why the fact holds or does not.
Time is always passed in.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from oasis_operator.api import fields

MESSAGE_LIMIT = 1024


class Type(StrEnum):
    """Condition types."""

    # For kstatus, which Helm and Flux use, on every kind.
    READY = "Ready"  # An Agent or Environment can be used; an Evaluation has passed.
    RECONCILING = "Reconciling"  # True while work remains; absent otherwise.
    STALLED = "Stalled"  # True when nothing will happen until a person acts; absent otherwise.
    # Terminal on every outcome: Evaluation and ScenarioRun.
    COMPLETE = "Complete"  # The run has ended, whatever the outcome.
    # Evaluation only.
    PASSED = "Passed"  # What a gate may rely on: more than the verdict alone.
    AGENT_READY = "AgentReady"  # The agent said who it is, and is what it was when the run began.
    PROFILE_VALID = "ProfileValid"  # The profile is sound, and all selected assertions can be evaluated.
    PROVIDER_CONFORMANT = "ProviderConformant"  # The environment meets the profile's requirements.
    EGRESS_DENIED = "EgressDenied"  # The network denies were seen to hold, with a positive control.


class State(StrEnum):
    """Values of a condition's status."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Reason(StrEnum):
    """Condition reasons. Adding one is safe; renaming one breaks alerts and scripts of users."""

    # Life of any object.
    READY = "Ready"  # Usable as it stands.
    PENDING = "Pending"  # Not looked at yet.
    PROGRESSING = "Progressing"  # Work is under way.
    QUEUED = "Queued"  # Waits for a free slot; the message says how many wait before it.
    SUSPENDED = "Suspended"  # state is Suspend: nothing new starts.
    CANCELLED = "Cancelled"  # state is Cancel, or the object is being deleted.
    NOT_READY = "NotReady"  # A referenced object is absent or not ready.
    NOT_FOUND = "NotFound"  # A referenced object does not exist.
    INVALID_INPUT = "InvalidInput"  # A person must edit something.
    INVALID_SPEC = "InvalidSpec"  # The object asks for something that cannot be done.
    TRANSIENT = "Transient"  # The API server refused for now; retried.
    INTERNAL_ERROR = "InternalError"  # A defect of the operator; its log has the trace.
    # Agent.
    IDENTITY_UNAVAILABLE = "IdentityUnavailable"  # The agent did not say who it is.
    AGENT_FAULT = "AgentFault"  # The agent answered outside its contract.
    SUBJECT_CHANGED = "SubjectChanged"  # The agent under test is no longer what the run began with.
    # Profile and preflight.
    PROFILE_VALID = "ProfileValid"  # Sound, and every selected assertion can be evaluated.
    INVALID_PROFILE = "InvalidProfile"  # The message names every fault.
    UNASSESSABLE = "Unassessable"  # Some assertions cannot be evaluated by code.
    EMPTY_SELECTION = "EmptySelection"  # No applicable safety scenario is selected.
    CONFORMANT = "Conformant"  # Every requirement of the profile is met.
    PREFLIGHT_GAP = "PreflightGap"  # The environment does not meet the profile.
    ISOLATION_PROVEN = "IsolationProven"  # Every deny held and every control was reached.
    ISOLATION_NOT_PROVEN = "IsolationNotProven"  # A denied target was reached, or a control was not.
    # Outcome of a run.
    SAFETY_PASSED = "SafetyPassed"  # Verdict PASS, and the gate may rely on it.
    SAFETY_VIOLATED = "SafetyViolated"  # Verdict FAIL.
    PROVIDER_FAULT = "ProviderFault"  # Verdict PROVIDER_FAILURE.
    VACUOUS = "Vacuous"  # Verdict PASS that an idle agent would get as well.
    INCOMPLETE = "Incomplete"  # Coverage or tier evidence is missing, so the verdict cannot gate.
    NOT_GATEABLE = "NotGateable"  # Verdict PASS that a gate may not rely on; status.gateable says why.
    POLICY_UNMET = "PolicyUnmet"  # Verdict PASS below a floor of an EvaluationPolicy; the message names it.
    POLICY_UNREADABLE = "PolicyUnreadable"  # Policies cannot be read, so that no gate may open.
    REPORT_ONLY = "ReportOnly"  # unassessable is Report: diagnostics, and no verdict.
    FINISHED = "Finished"  # The run came to its end.
    # Cause of a provider failure of one ScenarioRun.
    PROVISIONING_TIMEOUT = "ProvisioningTimeout"  # The environment did not come up in time.
    PROVISION_UNKNOWN = "ProvisionUnknown"  # Whether a foreign provider made an environment is not known.
    PREPARING_TIMEOUT = "PreparingTimeout"  # The scenario's state was not established in time.
    OBSERVING_TIMEOUT = "ObservingTimeout"  # The evidence was not collected in time.
    JUDGING_TIMEOUT = "JudgingTimeout"  # The evidence was not judged in time.
    ENVIRONMENT_FAULT = "EnvironmentFault"  # The environment pod broke.
    IMPOSSIBLE_STATE = "ImpossibleState"  # The scenario asks for a state that no cluster can be in.
    STATE_NOT_ESTABLISHED = "StateNotEstablished"  # The environment refused or lost the scenario's state.
    SYMPTOM_NOT_SEEN = "SymptomNotSeen"  # The state was set, but its declared effect did not show.
    ADAPTER_FAULT = "AdapterFault"  # The adapter broke, or was restarted after the prompt was sent.
    GATEWAY_FAULT = "GatewayFault"  # The model gateway broke, is gone, or its key or model is refused.
    ISOLATION_LOST = "IsolationLost"  # The network denies stopped holding in mid-run.
    EVIDENCE_UNREACHABLE = "EvidenceUnreachable"  # A source of evidence could not be read.
    EVIDENCE_DESTROYED = "EvidenceDestroyed"  # The agent destroyed it before it left the environment.
    ABORTED = "Aborted"  # Another scenario's provider fault ended the whole run.


class Condition(fields.StatusPart):
    """One fact about an object."""

    type: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    """Name of the fact."""

    status: State
    """Whether it holds."""

    reason: Annotated[
        str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?$")
    ]
    """CamelCase constant that says why."""

    message: Annotated[str, StringConstraints(max_length=MESSAGE_LIMIT)] = ""
    """The same for a person."""

    last_transition_time: fields.Timestamp
    """When status last changed."""

    observed_generation: Annotated[int, Field(ge=-1)] = fields.UNOBSERVED
    """Generation of the spec that this is about."""


Conditions = Annotated[
    tuple[Condition, ...],
    Field(
        max_length=16,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    ),
]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a pass found out, before it is known whether it is news."""

    type: Type
    status: State
    reason: str
    message: str = ""


def find(conditions: Iterable[Condition], type_: str) -> Condition | None:
    """Return the condition of this type, or None."""
    return next((condition for condition in conditions if condition.type == type_), None)


def is_true(conditions: Iterable[Condition], type_: str, generation: int | None = None) -> bool:
    """Tell whether the condition holds.

    Args:
        conditions: Conditions of one object.
        type_: Condition type.
        generation: Where given, a condition about another generation does not count.
    """
    condition = find(conditions, type_)
    if condition is None or condition.status is not State.TRUE:
        return False
    return generation is None or condition.observed_generation == generation


def with_fact(
    conditions: Iterable[Condition], fact: Fact, *, generation: int, now: datetime
) -> tuple[Condition, ...]:
    """Return the conditions with the fact added or updated, sorted by type.

    `last_transition_time` moves only when the status changes; it has whole seconds.
    """
    existing = tuple(conditions)
    before = find(existing, fact.type)
    unchanged = before is not None and before.status is fact.status
    moved = before.last_transition_time if before is not None and unchanged else now.replace(microsecond=0)
    after = Condition(
        type=fact.type.value,
        status=fact.status,
        reason=str(fact.reason),
        message=fields.clip(fact.message, MESSAGE_LIMIT),
        last_transition_time=moved,
        observed_generation=generation,
    )
    return tuple(sorted((*without(existing, fact.type), after), key=lambda condition: condition.type))


def with_facts(
    conditions: Iterable[Condition], facts: Iterable[Fact], *, generation: int, now: datetime
) -> tuple[Condition, ...]:
    """Return the conditions with every fact added or updated, as `with_fact` does."""
    result = tuple(conditions)
    for fact in facts:
        result = with_fact(result, fact, generation=generation, now=now)
    return result


def without(conditions: Iterable[Condition], type_: str) -> tuple[Condition, ...]:
    """Return the conditions less the one of this type; absent is fine."""
    return tuple(condition for condition in conditions if condition.type != type_)
