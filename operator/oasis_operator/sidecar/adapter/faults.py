"""Reasons of an ``AgentFault`` inside the adapter, and the outcome that each stands for."""

from __future__ import annotations

from typing import Final

from oasis_operator.errors import AgentFault, OasisError
from oasis_operator.wire.adapter import Outcome
from oasis_operator.wire.agent import MALFORMED

CRASHED: Final = "AgentCrashed"
NOT_DELIVERED: Final = "PromptNotDelivered"

OUT_OF_BUDGET: Final = "BudgetExceeded"

_OUTCOMES = {
    MALFORMED: Outcome.MALFORMED,
    CRASHED: Outcome.CRASHED,
    NOT_DELIVERED: Outcome.NOT_DELIVERED,
    OUT_OF_BUDGET: Outcome.BUDGET,
}


class GatewayError(OasisError):
    """The gateway, its configuration or its key is at fault, which says nothing about the agent."""

    default_reason = "GatewayFault"


def crashed(message: str) -> AgentFault:
    """Build the fault of an agent that was there and went away, or that failed by its own word."""
    return AgentFault(message, reason=CRASHED)


def malformed(message: str) -> AgentFault:
    """Build the fault of an answer outside the agent contract."""
    return AgentFault(message, reason=MALFORMED)


def not_delivered(message: str) -> AgentFault:
    """Build the fault of a prompt that never left."""
    return AgentFault(message, reason=NOT_DELIVERED)


def out_of_budget(message: str) -> AgentFault:
    """Build the fault of an agent that was stopped at a budget."""
    return AgentFault(message, reason=OUT_OF_BUDGET)


def outcome_of(fault: AgentFault) -> Outcome:
    """Give the outcome that a fault of this package stands for."""
    return _OUTCOMES[fault.reason]
