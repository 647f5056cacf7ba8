"""The adapter kind ``cli``: an agent that is a command, started once with the prompt.

Its container has started long before: its first process waits for an order, which is the delivery. So pulling
the image costs the agent no time, and nothing of the prompt is in the pod before the delivery was recorded.

Spec: 04-execution §1.
"""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.errors import AgentFault
from oasis_operator.model.scenario import Approvals
from oasis_operator.sidecar.adapter import entry
from oasis_operator.sidecar.adapter.faults import crashed, malformed, not_delivered
from oasis_operator.sidecar.adapter.picking import LONGEST, Step, parse_path, pick
from oasis_operator.wire.agent import MAX_ANSWER_BYTES, MAX_APPROVALS, Approval, Identity, decode
from oasis_operator.wire.fields import Fields, fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.adapter.options import Options
    from oasis_operator.sidecar.adapter.record import Record
    from oasis_operator.sidecar.adapter.task import Task

# A kubelet tells a sidecar to end when the agent's container has ended; what that left is there by then.
_GRACE_SECONDS = 0.5
_MOST_ARGUMENTS = 64
# One argument or variable of a process holds 128 KiB with its end.
_LONGEST_ARGUMENT_BYTES = 128 * 1024 - 1
# A terminal takes no longer line before somebody reads it.
_LONGEST_TYPED_BYTES = 4095


class By(StrEnum):
    """How the prompt reaches the command."""

    ARGUMENT = "Argument"
    ENVIRONMENT = "Environment"
    FILE = "File"
    STDIN = "Stdin"


class Source(StrEnum):
    """Where the answer is found."""

    OUTPUT = "Output"
    FILE = "File"


@dataclass(frozen=True, slots=True)
class Command:
    """What is started, and how it is spoken with.

    Attributes:
        command: Program and first arguments, not empty.
        args: Further arguments; the prompt's place in them is `$(PROMPT)`.
        by: How the prompt reaches it.
        name: The variable, for `By.ENVIRONMENT`.
        path: The file, for `By.FILE`.
        tty: Whether it is given a terminal.
        source: Where the answer is found.
        answer_path: The file, for `Source.FILE`.
        picked: Steps to the answer in JSON; None takes all of the text.
        success_codes: Exit codes that are no crash.
        asks: What it prints when it asks whether it may act; empty for one that never does.
        replies: What is typed then, by what the scenario says.
    """

    command: tuple[str, ...]
    args: tuple[str, ...]
    by: By
    name: str
    path: str
    tty: bool
    source: Source
    answer_path: str
    picked: tuple[Step, ...] | None
    success_codes: tuple[int, ...]
    asks: str
    replies: Mapping[Approvals, str]

    def order(self, prompt: str, policy: Approvals) -> dict[str, Any]:
        """Return the order for the first process."""
        return {
            "command": list(self.command),
            "args": list(self.args),
            "prompt": prompt,
            "by": self.by.value,
            "name": self.name,
            "path": self.path,
            "tty": self.tty,
            "answer": self.answer_path,
            "asks": self.asks,
            "reply": self.replies.get(policy, ""),
            "limit": MAX_ANSWER_BYTES,
        }


class CommandAgent:
    """Starts a command with the prompt and reads what it prints or leaves behind."""

    def check(self, adapter: Mapping[str, Any]) -> None:
        """Check the command.

        Raises:
            InvalidInput: A member is of another form than the contract's.
        """
        if "program" not in adapter:
            parse_command(adapter)

    async def identify(self, adapter: Mapping[str, Any], options: Options) -> Identity:
        """Return the declared identity once the program was found in the agent's image; nothing is run.

        Raises:
            AgentFault: The image has no such program.
        """
        fields = Fields(adapter, "adapter")
        program = fields.text("program", longest=4096)
        identity = Identity(
            name=fields.text("name", longest=256),
            version=fields.text("version", longest=256),
            description=fields.text("description", "", longest=4096),
        )
        entry.write(options.task_dir, "check.json", {"program": program})
        told = await entry.wait_for(options.task_dir, "checked.json", asyncio.Event(), 0)
        error = (told or {}).get("error")
        if error != "":
            raise AgentFault(f"spec.command[0]: {_explain(error)}", reason="CommandNotFound")
        return identity

    async def run(self, task: Task, record: Record) -> None:
        """Give the order once, wait for the end and read the answer.

        What was printed is kept however the run ends.

        Raises:
            AgentFault: Never delivered, crashed, or malformed.
        """
        command = parse_command(task.request.adapter)
        _check_prompt(command, task.request.prompt)
        folder = task.options.task_dir
        record.deliver()
        entry.write(folder, "order.json", command.order(task.request.prompt, task.request.approvals))
        end: entry.End | None = None
        try:
            told = await entry.wait_for(folder, "end.json", task.ending, _GRACE_SECONDS)
            end = None if told is None else entry.read_end(told)
        finally:
            _keep(command, task.options, record, end)
            record.decide(_asked(command, task.options, end), task.request.approvals)
        _judge(command, end)
        _answer(command, end, record)


def parse_command(adapter: Mapping[str, Any]) -> Command:
    """Read a command from the adapter member of a request.

    Raises:
        InvalidInput: A member is of another form than the contract's.
    """
    fields = Fields(adapter, "adapter")
    line = fields.texts("command", most=_MOST_ARGUMENTS)
    if not line:
        raise fault(fields.at("command"), [], "want a program")
    prompt, answer = fields.child("prompt"), fields.child("answer")
    by, source = prompt.choice(By, "by"), answer.choice(Source, "source")
    picked = answer.text("json_path", longest=LONGEST) if answer.has("json_path") else None
    return Command(
        command=line,
        args=fields.texts("args", most=_MOST_ARGUMENTS),
        by=by,
        name=prompt.text("name", longest=128) if by is By.ENVIRONMENT else "",
        path=prompt.text("path", longest=1024) if by is By.FILE else "",
        tty=fields.flag("tty", default=False),
        source=source,
        answer_path=answer.text("path", longest=1024) if source is Source.FILE else "",
        picked=parse_path(picked, answer.at("json_path")) if picked is not None else None,
        success_codes=_codes(fields),
        **_asking(fields),
    )


def _asking(fields: Fields) -> dict[str, Any]:
    """Read how the command asks and what it is answered."""
    if not fields.has("approvals"):
        return {"asks": "", "replies": {}}
    told = fields.child("approvals")
    asks = told.text("asks", longest=256)
    if not asks:
        raise fault(told.at("asks"), asks, "want what the command prints when it asks")
    replies = {policy: told.text(policy.value, longest=256) for policy in Approvals}
    return {"asks": asks, "replies": replies}


def _codes(fields: Fields) -> tuple[int, ...]:
    codes = fields.body.get("success_codes") or [0]
    fine = isinstance(codes, list) and all(type(code) is int and 0 <= code <= 255 for code in codes)
    if not fine:
        raise fault(fields.at("success_codes"), codes, "want a list of whole numbers from 0 to 255")
    return tuple(codes)


def _check_prompt(command: Command, prompt: str) -> None:
    """Refuse a prompt that the system would cut or could not hand over.

    Raises:
        AgentFault: It was not delivered.
    """
    if command.by in (By.ARGUMENT, By.ENVIRONMENT):
        if "\0" in prompt:
            raise not_delivered("the prompt holds a NUL character, which no argument or variable can")
        if len(command.name) + len(prompt.encode()) >= _LONGEST_ARGUMENT_BYTES:
            raise not_delivered(
                f"the prompt has more than the {_LONGEST_ARGUMENT_BYTES} bytes of an argument or variable; "
                "use File or Stdin"
            )
    longest = max(len(line.encode()) for line in prompt.split("\n"))
    if command.by is By.STDIN and command.tty and longest > _LONGEST_TYPED_BYTES:
        raise not_delivered(
            f"a line of the prompt has more than the {_LONGEST_TYPED_BYTES} bytes of a terminal's line"
        )


def _keep(command: Command, options: Options, record: Record, end: entry.End | None) -> None:
    """Bring what was printed and left behind into the record.

    A stream that is gone, or as long as is kept, counts as cut: there may have been more.
    """
    cut = end is not None and (end.out_cut or end.err_cut)
    streams = []
    for name in ("out", "err"):
        data, more = entry.read(options.task_dir, name, MAX_ANSWER_BYTES)
        gone = data is None and (end is None or end.started)
        cut = cut or more or gone or (end is None and len(data or b"") == MAX_ANSWER_BYTES)
        streams.append(data or b"")
    said, beside = streams
    if command.source is Source.FILE:
        file, more = entry.read(options.task_dir, "answer", MAX_ANSWER_BYTES)
        cut = cut or more or (end is not None and end.answer == "Cut")
        said, beside = file or b"", said + beside
    record.received.data = bytearray(said)
    record.received.cut = cut
    record.received.whole = end is not None and not cut
    record.truncated = cut
    record.reasoning = decode(beside)


def _asked(command: Command, options: Options, end: entry.End | None) -> list[Approval]:
    """Return what the command asked; of one that was stopped its output tells how often."""
    times = end.asked if end else 0
    if end is None and command.asks:
        printed, _ = entry.read(options.task_dir, "out", MAX_ANSWER_BYTES)
        times = min((printed or b"").count(command.asks.encode()), MAX_APPROVALS)
    return [Approval(str(number), command.command[0]) for number in range(1, times + 1)]


def _judge(command: Command, end: entry.End | None) -> None:
    """Raise where the command did not end well.

    Raises:
        AgentFault: It crashed.
    """
    if end is None:
        raise crashed("the agent's container ended before its command did")
    if not end.started:
        raise crashed(f"the command could not be started: {_explain(end.error)}")
    if end.signal:
        raise crashed(f"the command was ended by signal {end.signal} ({_signal_name(end.signal)})")
    if end.code not in command.success_codes:
        raise crashed(f"the command ended with exit code {end.code}")


def _answer(command: Command, end: entry.End | None, record: Record) -> None:
    """Read the answer.

    Raises:
        AgentFault: It is not where it must be.
    """
    if command.source is Source.FILE and (end is None or end.answer in ("Missing", "Unreadable", "")):
        raise malformed(f"the command left no file {command.answer_path}")
    if record.received.cut:
        raise malformed(f"the command printed or left more than {MAX_ANSWER_BYTES} bytes")
    text = decode(bytes(record.received.data))
    if command.picked is not None:
        found = pick(text, command.picked)
        if found is None:
            raise malformed("the answer's JSON has no value at spec.cli.answer.jsonPath")
        # What else was printed is no answer, but it was said.
        record.reasoning = f"{text}\n{record.reasoning}"
        text = found
    record.final_answer = text
    record.read = True


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


_REASONS: Final = {
    "NotFound": "the image has no such program",
    "NotExecutable": "the image's file of that name is no program",
    "TooLong": "its arguments are too long",
}


def _explain(error: object) -> str:
    return _REASONS.get(str(error), "the system refused it")
