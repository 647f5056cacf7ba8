"""Bodies of the adapter contract, spoken between the operator and the adapter sidecar of an agent pod.

Each class reads what the other side sent (``from_json``) and gives what is sent (``to_json``), since both
sides share them. Those of the release stand in ``wire.release``. Times are RFC 3339 text with microseconds.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from oasis_operator.model.scenario import Approvals
from oasis_operator.wire.fields import Body, Fields, fault
from oasis_operator.wire.release import Check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.wire.agent import Action, Approval
    from oasis_operator.wire.gateway import Usage

#: Where an agent listens unless its adapter says otherwise.
DEFAULT_AGENT_URL = "http://127.0.0.1:8080"
#: Where it tells who it is unless its adapter says otherwise.
IDENTITY_PATH = "/identity-and-configuration"
#: Most bytes of a transcript in one answer.
MAX_PIECE_BYTES = 4 * 1024 * 1024
#: Longest time a run may take, in seconds.
MAX_RUN_SECONDS = 24 * 3600.0


class Phase(StrEnum):
    """Where an adapter stands; ``released`` and ``failed`` are final."""

    WAITING = "waiting"
    CHECKING = "checking"
    RELEASED = "released"
    FAILED = "failed"


class Outcome(StrEnum):
    """How a run ended, as the transcript tells it.

    Attributes:
        ANSWERED: The agent answered within its contract.
        CRASHED: It was there and went away, or answered with a server error.
        TIMEOUT: It had the prompt and did not answer in time.
        MALFORMED: It answered outside its contract, or more than is read.
        BUDGET: The operator stopped it at a budget.
        CANCELLED: The operator stopped it for another reason.
        NOT_DELIVERED: The prompt never left the adapter.
    """

    ANSWERED = "answered"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    BUDGET = "budget"
    CANCELLED = "cancelled"
    NOT_DELIVERED = "not_delivered"


class RunStatus(StrEnum):
    """Whether a run still goes on."""

    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class RunRequest(Body):
    """One delivery of a prompt.

    Attributes:
        run_id: Names the delivery; the same id never sends twice.
        adapter: ``kind`` and what that kind needs, checked by the kind itself.
        prompt: The task.
        tools: Tools the agent may use, in declared order.
        mode: The operating mode it is to keep to.
        scope: ``namespaces`` and ``zones``, each a list that may be absent.
        context: Earlier turns, ``{role, content}``.
        timeout_seconds: From the request's arrival to its end, above 0.
        approvals: What the agent is told when it asks whether it may act.
        boot_id: The adapter the request is meant for; empty accepts any.
    """

    run_id: str
    adapter: Mapping[str, Any]
    prompt: str
    timeout_seconds: float
    tools: tuple[str, ...] = ()
    mode: str = ""
    scope: Mapping[str, Any] = field(default_factory=dict)
    context: tuple[Mapping[str, str], ...] = ()
    boot_id: str = ""
    approvals: Approvals = Approvals.DENY

    @classmethod
    def from_json(cls, value: object) -> RunRequest:
        """Read a run request.

        Raises:
            InvalidInput: A member is missing or out of range.
        """
        fields = Fields.of(value)
        return cls(
            run_id=fields.text("run_id", longest=253),
            adapter=fields.child("adapter").body,
            prompt=fields.text("prompt"),
            timeout_seconds=fields.number("timeout_seconds", low=0.001, high=MAX_RUN_SECONDS),
            tools=fields.texts("tools"),
            mode=fields.text("mode", ""),
            scope=fields.mapping("scope"),
            context=tuple(
                {"role": turn.text("role"), "content": turn.text("content")}
                for turn in fields.items("context")
            ),
            boot_id=fields.text("boot_id", "", longest=64),
            approvals=fields.choice(Approvals, "approvals", Approvals.DENY),
        )


@dataclass(frozen=True, slots=True)
class CancelRequest(Body):
    """Why a run is stopped.

    Attributes:
        outcome: ``cancelled`` or ``budget``.
        detail: One sentence for the transcript; may be empty.
    """

    outcome: Outcome = Outcome.CANCELLED
    detail: str = ""

    @classmethod
    def from_json(cls, value: object) -> CancelRequest:
        """Read a cancel request; an empty one means ``cancelled``.

        Raises:
            InvalidInput: The outcome is another one.
        """
        fields = Fields.of(value)
        outcome = fields.choice(Outcome, "outcome", Outcome.CANCELLED)
        if outcome not in (Outcome.CANCELLED, Outcome.BUDGET):
            raise fault("outcome", outcome.value, "want cancelled or budget")
        return cls(outcome=outcome, detail=fields.text("detail", "", longest=1024))


@dataclass(frozen=True, slots=True)
class RunState(Body):
    """How far a run has come.

    Attributes:
        run_id: As requested.
        status: Running or finished.
        outcome: None while running.
        detail: Why it ended so, never in the agent's words.
        delivered_at: When the prompt was about to be sent; None until then.
        finished_at: None while running.
        steps: Actions known so far.
        fault: Whether something of ours broke; the run then says nothing about the agent.
        cause: What it was that broke, as a reason such as `GatewayFault`; empty for the adapter itself.
    """

    run_id: str
    status: RunStatus
    outcome: Outcome | None = None
    detail: str = ""
    delivered_at: str | None = None
    finished_at: str | None = None
    steps: int = 0
    fault: bool = False
    cause: str = ""

    @classmethod
    def from_json(cls, value: object) -> RunState:
        """Read a run's state.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        fields = Fields.of(value)
        return cls(
            run_id=fields.text("run_id"),
            status=fields.choice(RunStatus, "status"),
            outcome=fields.choice(Outcome, "outcome") if fields.has("outcome") else None,
            detail=fields.text("detail", ""),
            delivered_at=fields.text("delivered_at", "") or None,
            finished_at=fields.text("finished_at", "") or None,
            steps=fields.integer("steps", 0, low=0, high=2**53),
            fault=fields.flag("fault", default=False),
            cause=fields.text("cause", "", longest=64),
        )


@dataclass(frozen=True, slots=True)
class AdapterState(Body):
    """Where an adapter stands.

    Attributes:
        boot_id: New with each start of the process.
        phase: See ``Phase``.
        isolation: The last check of each target, denies first; empty before a release was asked for.
        message: Why the phase is ``failed``; else empty.
        run: None before a run was asked for.
    """

    boot_id: str
    phase: Phase
    isolation: tuple[Check, ...] = ()
    message: str = ""
    run: RunState | None = None

    @classmethod
    def from_json(cls, value: object) -> AdapterState:
        """Read an adapter's state.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        fields = Fields.of(value)
        return cls(
            boot_id=fields.text("boot_id"),
            phase=fields.choice(Phase, "phase"),
            isolation=tuple(Check.from_json(entry) for entry in fields.items("isolation")),
            message=fields.text("message", ""),
            run=RunState.from_json(fields.body["run"]) if fields.has("run") else None,
        )


@dataclass(frozen=True, slots=True)
class Transcript(Body):
    """What an agent said in one run: testimony, bounded and cleaned.

    Attributes:
        outcome: How the run ended.
        available: False where the adapter broke, so that silence must not be read as the agent's.
        final_answer: The answer; where it could not be read as one, the text that was seen of it.
        truncated: Whether anything was cut from the members above.
        received: The answer's bytes as they came, None where there were none to come; they reach the evidence
            document's draft only, in which values are searched for.
        cut: Whether the agent sent more than was read.
        steps: How often that model answered.
        usage: Tokens that the model behind our gateway took; None where there is none.
        approvals: What the agent asked whether it may do, and what it was told, in order.

    The other members are those of ``RunState`` and ``agent.Answer``.
    """

    outcome: Outcome
    detail: str
    delivered_at: str | None
    finished_at: str
    available: bool = True
    actions: tuple[Action, ...] = ()
    reasoning: str = ""
    final_answer: str = ""
    model: str = ""
    truncated: bool = False
    received: bytes | None = None
    cut: bool = False
    usage: Usage | None = None
    steps: int = 0
    approvals: tuple[Approval, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give the ``transcript`` member of the evidence document's draft.

        Spec: 05-reporting §1.1.
        """
        status = "available" if self.available else "unreachable"
        return {
            "evidence_source": {"type": "agent_transcript", "status": status},
            "outcome": self.outcome.value,
            "detail": self.detail,
            "delivered_at": self.delivered_at,
            "finished_at": self.finished_at,
            "actions": [action.to_json() for action in self.actions],
            "reasoning": self.reasoning,
            "final_answer": self.final_answer,
            "model": self.model,
            "truncated": self.truncated,
            "received": self._received(),
            **({"approvals": [each.to_json() for each in self.approvals]} if self.approvals else {}),
            **({"usage": {**self.usage.to_json(), "steps": self.steps}} if self.usage is not None else {}),
        }

    def _received(self) -> dict[str, Any] | None:
        if self.received is None:
            return None
        return {"base64": b64encode(self.received).decode(), "cut": self.cut}
