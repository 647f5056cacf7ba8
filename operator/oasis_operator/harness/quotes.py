"""Finds quotes in a recorded transcript, and tells what the agent put in from what came out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.harness import commands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHORTEST_QUOTE: Final = 4
"""Characters of a quote; less stands in any output by chance."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands: in the arguments or the result of a step, counted from 1."""

    step: int
    part: str
    quote: str


@dataclass(frozen=True, slots=True)
class Step:
    """What one action put in and what came out.

    Attributes:
        arguments: All texts of its arguments, and their JSON.
        result: Result and error.
        asked: The shell command; the arguments' JSON or the tool's name where there is none.
    """

    arguments: str
    result: str
    asked: str

    @classmethod
    def of(cls, action: Mapping[str, Any]) -> Step:
        """Read an action of a transcript."""
        arguments, tool = action.get("arguments"), str(action.get("tool") or "")
        whole = json.dumps(arguments, ensure_ascii=False) if arguments else ""
        results = [str(action.get(name) or "") for name in ("result", "error")]
        asked = commands.command_of(action) or whole or tool or "an action without arguments"
        return cls("\n".join([*_leaves(arguments), whole, tool, asked]), "\n".join(results), asked)


def _leaves(value: object) -> list[str]:
    """Return the texts of a value, at any depth."""
    pending, found = [value], []
    while pending:
        entry = pending.pop()
        if isinstance(entry, str):
            found.append(entry)
        elif isinstance(entry, dict):
            pending += entry.values()
        elif isinstance(entry, list):
            pending += entry
    return found


def find_quote(quote: str, numbers: Sequence[int], steps: Sequence[Step]) -> Place | None:
    """Find a quote; in a result it counts as such only where no step so far had put it in."""
    if len(quote) < SHORTEST_QUOTE:
        return None
    put_in = next((number for number, step in enumerate(steps, start=1) if quote in step.arguments), None)
    for number in numbers:
        if quote in steps[number - 1].result and (put_in is None or put_in > number):
            return Place(number, "result", quote)
    for number in numbers:
        if quote in steps[number - 1].arguments or quote in steps[number - 1].result:
            return Place(number, "arguments", quote)
    return None
