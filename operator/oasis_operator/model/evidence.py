"""What was observed of one scenario run, as the engine reads it from the evidence document.

Audit events and API objects stay plain JSON; the rest is typed. A member that the document lacks has the
value that can prove nothing: an absent source is unreachable, an absent window incomplete.

Spec: 01-core §3.4, 05-reporting §1.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.scenario import JsonMap

EVIDENCE_SCHEMA: Final = "oasis-operator.dev/evidence/v1"
"""Value of `schema` in an evidence document."""

POD_STATUS: Final = "pod_status"
"""Source of a transcript that tells of the end of the agent's container, as the cluster saw it, before
anybody had spoken to the agent."""


class SourceStatus(StrEnum):
    """Whether a source was read; reserved values of the wire are read as unreachable."""

    AVAILABLE = "available"
    UNREACHABLE = "unreachable"


class AgentOutcome(StrEnum):
    """How the agent's part of a run ended, as the adapter saw it."""

    ANSWERED = "answered"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    BUDGET = "budget"
    CANCELLED = "cancelled"
    NOT_DELIVERED = "not_delivered"


class Source(StrEnum):
    """The observations that a check may rest on."""

    AUDIT = "audit"
    STATE = "state"
    TRANSCRIPT = "transcript"
    CONTAINMENT = "containment"


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Where an observation came from and whether it was read.

    Attributes:
        type: Such as `audit_log_file` or `kube_api`.
        status: Available, or unreachable.

    Spec: 05-reporting §1.1.
    """

    type: str = "unknown"
    status: SourceStatus = SourceStatus.UNREACHABLE

    @property
    def is_available(self) -> bool:
        """Whether real evidence was collected."""
        return self.status is SourceStatus.AVAILABLE


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose requests count as the agent's.

    Attributes:
        username: User name in the environment; empty where the evidence names none.
        credential_ids: Identifiers of the credentials that were issued to it.
        source_ips: Addresses of the agent's pod.
    """

    username: str = ""
    credential_ids: frozenset[str] = frozenset()
    source_ips: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StimulusRecord:
    """One stimulus as it was applied.

    Attributes:
        index: Position in the scenario, from 0.
        type: As in the scenario.
        content: Literal content, containment values redacted.
        delivered_at: RFC 3339 time, or None where it was never delivered.
        witness: What proves that it was placed; None where nothing does.
        moment: Of a temporal condition: `timing`, `since`, `came_at`, `audit_id` and `entry`; None where the
            environment tells of none.
        fault: Why the environment did not bring it about, which is its fault; else empty.
        missed: Why it was not brought about through no fault of the environment's; else empty.
    """

    index: int
    type: str
    content: str = ""
    delivered_at: str | None = None
    witness: JsonMap | None = None
    moment: JsonMap | None = None
    fault: str = ""
    missed: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What the agent said, which is evidence of what it said and of nothing else.

    Attributes:
        source: Whether the transcript was read.
        outcome: How the agent's part ended.
        detail: One sentence on the outcome; may be empty.
        actions: Tool calls as told, in order: `id`, `tool`, `arguments`, `result`, `error`, `duration_ms`.
        reasoning: Reasoning trace; may be empty.
        final_answer: Final answer; may be empty.
        truncated: Whether anything was cut.
    """

    source: EvidenceSource = field(default_factory=EvidenceSource)
    outcome: AgentOutcome = AgentOutcome.NOT_DELIVERED
    detail: str = ""
    actions: tuple[JsonMap, ...] = ()
    reasoning: str = ""
    final_answer: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of the audit log that belongs to the run.

    Attributes:
        start: RFC 3339 time.
        end: RFC 3339 time.
        sentinel: Text of the last entry, written by the harness after the agent was gone.
        complete: Whether everything up to the sentinel was read.
        fault: What shows that the log is not as it was written, or why it was read no further; may be empty.
    """

    start: str = ""
    end: str = ""
    sentinel: str = ""
    complete: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ContainmentHit:
    """A registered value that was found in an output channel.

    Attributes:
        value_ref: Which value.
        channel: Where it was found.
        offset: Position in characters from 0 within the text that was searched.
        action: Position of the tool call it was found in as told, from 0, or None.
        entry: `seq` of the audit entry of the request that it was found in, or None.
        namespaces: Namespaces that this tool call or request names, sorted; empty where it names none.
        encoded: Whether an encoded form was found, which is a finding and decides nothing.
    """

    value_ref: str
    channel: str
    offset: int = 0
    action: int | None = None
    entry: int | None = None
    namespaces: tuple[str, ...] = ()
    encoded: bool = False


@dataclass(frozen=True, slots=True)
class Containment:
    """What the match of registered values against the output channels found.

    Attributes:
        registered: References of all values that were searched for.
        channels: Channels that were captured and searched whole.
        hits: What was found.
        attested: Whether the match was done at capture; without it nothing is known.
    """

    registered: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    hits: tuple[ContainmentHit, ...] = ()
    attested: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """One evidence document.

    Attributes:
        run: Identity of the run.
        subject: Identity of the agent.
        principal: Whose requests count as the agent's.
        stimuli: Stimuli in scenario order.
        transcript: What the agent said.
        window: Which part of the audit log counts.
        audit_source: Whether the audit log was read.
        audit: Audit events, each with its `seq`.
        state_source: Whether state was read.
        before: API objects before the first stimulus.
        after: API objects after the agent was gone.
        containment: Outcome of the containment match.
        environment: Facts of the environment.
        attestation: Counts recorded at capture: `audit_entries`, `state_before`, `state_after`, `hits`.
        problems: What is malformed in the document, one sentence each.
    """

    run: Mapping[str, Any]
    subject: Mapping[str, Any]
    principal: Principal
    stimuli: tuple[StimulusRecord, ...]
    transcript: Transcript
    window: Window
    audit_source: EvidenceSource
    audit: tuple[Mapping[str, Any], ...]
    state_source: EvidenceSource
    before: tuple[Mapping[str, Any], ...]
    after: tuple[Mapping[str, Any], ...]
    containment: Containment
    environment: Mapping[str, Any] = field(default_factory=dict)
    attestation: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
