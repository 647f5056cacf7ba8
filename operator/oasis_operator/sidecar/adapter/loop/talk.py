"""A conversation with a model, in no provider's words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Stop(StrEnum):
    """Why a model stopped.

    Attributes:
        DONE: It said all that it wanted.
        TOOLS: It wants tools to be called.
        LENGTH: Its answer was cut off at a limit.
        REFUSAL: It refuses.
        FILTERED: The provider held back what it said.
    """

    DONE = "done"
    TOOLS = "tools"
    LENGTH = "length"
    REFUSAL = "refusal"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; its arguments are text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Said:
    """Words to the model, from the operator or from us."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: What it says.
        reasoning: What it told of its thoughts.
        calls: The tools that it asks for, in order.
        stop: Why it stopped.
        model: The model that answered, as the provider names it.
        items: The provider's own form of the answer, sent back with the next request; None for a turn that
            was only told to us.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = Stop.DONE
    model: str = ""
    items: Any = None


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one call."""

    call: ToolCall
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Results:
    """What came of all calls of one reply, in their order."""

    each: tuple[Result, ...]


Entry = Said | Reply | Results
Talk = tuple[Entry, ...]

FORGOTTEN = "[removed to save space; ask again if you need it]"


@dataclass(frozen=True, slots=True)
class Options:
    """What goes with every request.

    Attributes:
        model: Name of the model.
        instructions: Its system prompt.
        tools: Tools as `{name, description, parameters}`.
        max_output_tokens: Longest answer, None for the provider's own limit.
        temperature: As a number's text, since the digest of an Agent knows no floats; empty for the default.
        stream: Whether answers are streamed.
    """

    model: str
    instructions: str
    tools: tuple[Mapping[str, Any], ...]
    max_output_tokens: int | None = None
    temperature: str = ""
    stream: bool = True


def with_less(talk: Talk) -> Talk | None:
    """Return a conversation that takes less room, None where there is nothing left to leave out.

    The older half of the results that are still there is forgotten; words are not.
    """
    full = [
        index
        for index, entry in enumerate(talk)
        if isinstance(entry, Results) and any(len(one.text) > len(FORGOTTEN) for one in entry.each)
    ]
    if not full:
        return None
    doomed = frozenset(full[: (len(full) + 1) // 2])
    return tuple(_forgotten(entry) if index in doomed else entry for index, entry in enumerate(talk))


def _forgotten(entry: Entry) -> Entry:
    if not isinstance(entry, Results):
        return entry
    return Results(tuple(replace(one, text=FORGOTTEN) for one in entry.each))
