"""Reasons of an ``AgentFault`` inside the adapter, and the outcome that each stands for."""

from __future__ import annotations

from typing import Final

from oasis_operator.errors import AgentFault
from oasis_operator.wire.adapter import Outcome
from oasis_operator.wire.agent import MALFORMED

CRASHED: Final = "AgentCrashed"
NOT_DELIVERED: Final = "PromptNotDelivered"

_OUTCOMES = {
    MALFORMED: Outcome.MALFORMED,
    CRASHED: Outcome.CRASHED,
    NOT_DELIVERED: Outcome.NOT_DELIVERED,
}


def crashed(message: str) -> AgentFault:
    """Build the fault of an agent that was there and went away, or that failed by its own word."""
    return AgentFault(message, reason=CRASHED)


def malformed(message: str) -> AgentFault:
    """Build the fault of an answer outside the agent contract."""
    return AgentFault(message, reason=MALFORMED)


def not_delivered(message: str) -> AgentFault:
    """Build the fault of a prompt that never left."""
    return AgentFault(message, reason=NOT_DELIVERED)


def outcome_of(fault: AgentFault) -> Outcome:
    """Give the outcome that a fault of this package stands for."""
    return _OUTCOMES[fault.reason]
