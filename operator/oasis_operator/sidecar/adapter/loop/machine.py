"""What a tool loop does next: pure, from what has happened so far.

The machine is told events and gives commands. It knows no provider, no clock and no network; whoever drives
it carries its commands out and tells it what came of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from oasis_operator.model import budget
from oasis_operator.sidecar.adapter.loop.talk import (
    Reply,
    Result,
    Results,
    Said,
    Stop,
    Talk,
    ToolCall,
    with_less,
)

MOST_STEPS: Final = 1000
MOST_CALLS: Final = 64
MOST_RETRIES: Final = 6
MOST_CONTINUATIONS: Final = 3
LONGEST_WAIT_SECONDS: Final = 120.0
CONTINUE: Final = "Your answer was cut off. Go on exactly where it ended."


class Trouble(StrEnum):
    """Why there is no reply.

    Attributes:
        BUSY: The provider asks to come back later.
        OUTAGE: It failed, or broke off.
        TOO_LONG: The conversation does not fit.
        BUDGET: The token budget is used up.
        MISCONFIGURED: It refuses the key, the model or the request: no doing of the agent's.
        FAULT: Something of ours broke.
    """

    BUSY = "busy"
    OUTAGE = "outage"
    TOO_LONG = "too long"
    BUDGET = "budget"
    MISCONFIGURED = "misconfigured"
    FAULT = "fault"


class Ending(StrEnum):
    """How a loop ends; `FAULT` says nothing about the agent."""

    ANSWERED = "answered"
    CRASHED = "crashed"
    BUDGET = "budget"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Failed:
    """Event: a request to the model brought no reply.

    Attributes:
        trouble: Why.
        detail: One sentence of ours, never the provider's.
        retry_after: Seconds after which the provider may be asked again, None where it did not say.
    """

    trouble: Trouble
    detail: str
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Waited:
    """Event: the time to wait is over."""


Event = Reply | Failed | Results | Waited


@dataclass(frozen=True, slots=True)
class Ask:
    """Command: send the conversation to the model."""

    talk: Talk


@dataclass(frozen=True, slots=True)
class RunTools:
    """Command: call tools, in order."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Command: wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Finish:
    """Command: end.

    Attributes:
        ending: How.
        detail: Why; empty for an answer.
        answer: What the model said last.
        truncated: Whether that was cut off.
    """

    ending: Ending
    detail: str = ""
    answer: str = ""
    truncated: bool = False


Command = Ask | RunTools | Wait | Finish


@dataclass(frozen=True, slots=True)
class State:
    """Where a loop stands.

    Attributes:
        talk: The conversation so far.
        step_limit: Replies after which no further one is asked for, None without a budget.
        steps: Replies so far.
        retries: Failures in a row.
        begun: What was said of an answer that is being continued.
        continuations: How often it was.
        overflow: Calls of the last reply beyond the bound, which are answered without being made.
    """

    talk: Talk
    step_limit: int | None = None
    steps: int = 0
    retries: int = 0
    begun: str = ""
    continuations: int = 0
    overflow: tuple[ToolCall, ...] = ()


def begin(state: State) -> tuple[State, Command]:
    """Return the first command."""
    return _ask(state)


def advance(state: State, event: Event) -> tuple[State, Command]:
    """Return the next state and what to do."""
    match event:
        case Reply():
            return _replied(replace(state, retries=0, steps=state.steps + 1), event)
        case Results():
            refused = tuple(
                Result(call, f"not called: more than {MOST_CALLS} calls at once", is_error=True)
                for call in state.overflow
            )
            return _ask(replace(state, talk=(*state.talk, Results(event.each + refused)), overflow=()))
        case Failed():
            return _failed(state, event)
        case Waited():
            return state, Ask(state.talk)


def _ask(state: State) -> tuple[State, Command]:
    """Ask the model, unless a budget that is reached forbids it."""
    detail = _reached(state)
    if detail is not None:
        return state, Finish(Ending.BUDGET, detail, state.begun, truncated=bool(state.begun))
    return state, Ask(state.talk)


def _reached(state: State) -> str | None:
    """Return why no further reply may be asked for; None where one may."""
    if state.step_limit is not None:
        limits = budget.Limits(steps=state.step_limit, hard_stop=True)
        return budget.stop_before_call(limits, budget.Usage(steps=state.steps))
    return f"no loop takes more than {MOST_STEPS} steps" if state.steps >= MOST_STEPS else None


def _replied(state: State, reply: Reply) -> tuple[State, Command]:
    state = replace(state, talk=(*state.talk, reply))
    if reply.calls and reply.stop not in (Stop.REFUSAL, Stop.FILTERED):
        # What was said before calls is no answer that could be continued.
        state = replace(state, begun="", continuations=0, overflow=reply.calls[MOST_CALLS:])
        return state, RunTools(reply.calls[:MOST_CALLS])
    said = state.begun + reply.text
    if reply.stop is not Stop.LENGTH:
        return state, Finish(Ending.ANSWERED, answer=said, truncated=reply.stop is Stop.FILTERED)
    if state.continuations >= MOST_CONTINUATIONS:
        return state, Finish(Ending.ANSWERED, answer=said, truncated=True)
    further = replace(
        state, talk=(*state.talk, Said(CONTINUE)), begun=said, continuations=state.continuations + 1
    )
    return _ask(further)


def _failed(state: State, failed: Failed) -> tuple[State, Command]:
    if failed.trouble is Trouble.TOO_LONG:
        shorter = with_less(state.talk)
        if shorter is None:
            return state, Finish(Ending.CRASHED, failed.detail, state.begun, truncated=bool(state.begun))
        return _ask(replace(state, talk=shorter))
    if failed.trouble in _ENDINGS:
        return state, Finish(
            _ENDINGS[failed.trouble], failed.detail, state.begun, truncated=bool(state.begun)
        )
    if state.retries >= MOST_RETRIES:
        detail = f"{failed.detail}, {state.retries + 1} times in a row"
        return state, Finish(Ending.CRASHED, detail, state.begun, truncated=bool(state.begun))
    seconds = float(2**state.retries) if failed.retry_after is None else failed.retry_after
    wait = Wait(min(max(seconds, 0.0), LONGEST_WAIT_SECONDS))
    return replace(state, retries=state.retries + 1), wait


_ENDINGS: Final = {
    Trouble.BUDGET: Ending.BUDGET,
    Trouble.MISCONFIGURED: Ending.FAULT,
    Trouble.FAULT: Ending.FAULT,
}
