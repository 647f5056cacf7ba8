"""The books of a gateway: which calls went out, and what they took.

A call is put down before it goes out and again when it has ended. One that has a beginning and no end, since
the gateway was killed meanwhile, counts by its estimate.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.errors import InvalidInput
from oasis_operator.model import budget
from oasis_operator.wire.gateway import Configuration, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a run, by its number."""

    run: str
    number: int


class Ledger:
    """Calls and usage of all runs, built from the lines of a journal.

    Every change is a line: what is told to `begin` and `end` gives the line that must be kept first.
    """

    def __init__(self, configuration: Configuration) -> None:
        """Begin with empty books."""
        self._configuration = configuration
        self._open: dict[Call, Usage] = {}
        self._known: set[Call] = set()
        self._runs: dict[str, Usage] = {}

    def read(self, lines: Iterable[bytes]) -> None:
        """Take up the lines of a journal, in order; one that was cut off in the middle is left out."""
        for line in lines:
            try:
                body = json.loads(line)
                call = Call(str(body["run"]), int(body["call"]))
                usage = Usage.from_json(body["usage"])
            except (ValueError, KeyError, TypeError, InvalidInput):
                continue
            if body.get("entry") == "begin":
                self._begin(call, usage)
            else:
                self._end(call, usage)
        for call in tuple(self._open):
            self._end(call, self._open[call])

    def exceeded(self, run: str) -> str:
        """Return why no further call of a run may go out, empty where one may.

        Whether it is held back all the same is for whoever asks: a budget may only count.
        """
        limits, together = self._configuration, self.used_by_all.total
        of_run = budget.Limits(tokens=limits.run_tokens or 0, hard_stop=True)
        stopped = budget.stop_before_call(of_run, budget.Usage(tokens=self.used(run).total))
        if stopped is not None:
            return stopped
        if limits.evaluation_tokens is not None and together >= limits.evaluation_tokens:
            return f"the evaluation used {together} of {limits.evaluation_tokens} tokens"
        return ""

    def is_known(self, call: Call) -> bool:
        """Tell whether a call went out before."""
        return call in self._known

    def used(self, run: str) -> Usage:
        """Return what a run's calls took; those that go on count by their estimate."""
        pending = (usage for call, usage in self._open.items() if call.run == run)
        return sum(pending, self._runs.get(run, Usage()))

    @property
    def used_by_all(self) -> Usage:
        """What all calls took."""
        return sum(self._open.values(), sum(self._runs.values(), Usage()))

    def begin(self, call: Call, estimated: Usage, **more: Any) -> bytes:
        """Put down that a call goes out; return the line to keep before it does."""
        self._begin(call, estimated)
        return _line("begin", call, estimated, more)

    def end(self, call: Call, usage: Usage, **more: Any) -> bytes:
        """Put down what a call took; return the line to keep."""
        self._end(call, usage)
        return _line("end", call, usage, more)

    def _begin(self, call: Call, estimated: Usage) -> None:
        self._known.add(call)
        self._open[call] = estimated

    def _end(self, call: Call, usage: Usage) -> None:
        self._known.add(call)
        if self._open.pop(call, None) is not None:
            self._runs[call.run] = self._runs.get(call.run, Usage()) + usage


def _line(entry: str, call: Call, usage: Usage, more: Mapping[str, Any]) -> bytes:
    body = {"entry": entry, "run": call.run, "call": call.number, "usage": usage.to_json(), **more}
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode() + b"\n"
