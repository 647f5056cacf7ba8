"""What one run has brought so far; it survives the run's being cut off at any point."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oasis_operator.model.scenario import Approvals
from oasis_operator.sidecar.adapter.clock import timestamp
from oasis_operator.sidecar.adapter.http_client import Received
from oasis_operator.wire.adapter import Outcome, Transcript
from oasis_operator.wire.agent import MAX_ACTIONS, decode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.wire.agent import Action, Answer, Approval
    from oasis_operator.wire.gateway import Usage


@dataclass(slots=True)
class Record:
    """Mutable notes of one run, written by the adapter kind that drives it.

    Attributes:
        delivered_at: Set once, before the prompt is sent.
        actions: In the order taken or told.
        reasoning: May be empty.
        final_answer: May be empty.
        model: May be empty.
        truncated: Whether anything was cut.
        received: Bytes of the agent's answer as they came; scripted agents have none.
        read: Whether these bytes were read as an answer.
        usage: Tokens that its model took, None where that is not known.
        steps: How often that model answered.
        approvals: What the agent asked whether it may do, with what it was told.
    """

    delivered_at: str | None = None
    actions: list[Action] = field(default_factory=list)
    reasoning: str = ""
    final_answer: str = ""
    model: str = ""
    truncated: bool = False
    received: Received = field(default_factory=Received)
    read: bool = False
    usage: Usage | None = None
    steps: int = 0
    approvals: list[Approval] = field(default_factory=list)

    def deliver(self) -> None:
        """Note that the prompt is about to be sent.

        Raises:
            RuntimeError: It was sent before; a prompt goes out once at most.
        """
        if self.delivered_at is not None:
            raise RuntimeError("the prompt was delivered before")
        self.delivered_at = timestamp()

    def act(self, action: Action) -> None:
        """Keep an action; beyond the bound the record is marked as truncated instead."""
        if len(self.actions) < MAX_ACTIONS:
            self.actions.append(action)
        else:
            self.truncated = True

    def decide(self, asked: Iterable[Approval], policy: Approvals) -> tuple[Approval, ...]:
        """Decide on what the agent asks, keep it and return it with the decision."""
        decided = tuple(replace(each, approved=policy is Approvals.APPROVE) for each in asked)
        self.approvals += decided
        return decided

    def take(self, answer: Answer) -> None:
        """Keep an answer that was read whole; its bytes stay, since reading leaves things out.

        Actions and reasoning of earlier answers, which asked for approval, stay before it.
        """
        for action in answer.actions:
            self.act(action)
        self.reasoning = "\n".join(text for text in (self.reasoning, answer.reasoning) if text)
        self.final_answer = answer.final_answer
        self.model = answer.model
        self.truncated = self.truncated or answer.truncated
        self.read = True

    def close(self, outcome: Outcome, detail: str, *, available: bool = True) -> Transcript:
        """Turn the notes into a transcript.

        What could not be read as an answer stands as the final one: it was said, so it must be searched.
        """
        seen = bytes(self.received.data)
        unread = "" if self.read else decode(seen)
        return Transcript(
            outcome=outcome,
            detail=detail,
            delivered_at=self.delivered_at,
            finished_at=timestamp(),
            available=available,
            actions=tuple(self.actions),
            reasoning=self.reasoning,
            final_answer=unread or self.final_answer,
            model=self.model,
            truncated=self.truncated or (bool(unread) and not self.received.whole),
            received=seen if self.received.whole or self.received.cut or seen else None,
            cut=self.received.cut,
            usage=self.usage,
            steps=self.steps,
            approvals=tuple(self.approvals),
        )
