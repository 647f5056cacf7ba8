"""An agent that is a command: how it is given its prompt, and where its answer is found."""

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.script import ScriptedIdentity

PLACE = r"^/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+$"
KEPT_FOLDERS = ("/run/", "/var/run/", "/proc/", "/sys/", "/dev/", "/etc/")
"""Folders that the sandbox or the system has for itself."""

_KEPT = "^(" + "|".join(folder.rstrip("/") for folder in KEPT_FOLDERS) + ")/"
_PLACE_REFUSED = f"choose a folder that is not below {', '.join(KEPT_FOLDERS)} and no path with .."
_PLACE_RULE = (f"!self.matches('{_KEPT}') && !self.contains('..')", _PLACE_REFUSED)

Place = Annotated[
    str,
    StringConstraints(min_length=4, max_length=512, pattern=PLACE),
    Field(json_schema_extra=fields.rules(_PLACE_RULE)),
]
EnvironmentName = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
]
JsonPath = Annotated[
    str,
    StringConstraints(min_length=1, max_length=256, pattern=r"^(\.[A-Za-z0-9_-]{1,64}|\[-?[0-9]{1,6}\])+$"),
]
ExitCode = Annotated[int, Field(ge=0, le=255)]


class PromptBy(StrEnum):
    """How a command is given its prompt."""

    ARGUMENT = "Argument"
    ENVIRONMENT = "Environment"
    FILE = "File"
    STDIN = "Stdin"


class AnswerSource(StrEnum):
    """Where a command's answer is found."""

    OUTPUT = "Output"
    FILE = "File"


def _require_place(path: str | None) -> None:
    if path is not None and (re.search(_KEPT, path) or ".." in path):
        raise ValueError(_PLACE_REFUSED)


_NAME_RULE = (
    "has(self.name) == (self.by == 'Environment')",
    "name goes with by: Environment, and only with it",
)
_FILE_RULE = ("has(self.path) == (self.by == 'File')", "path goes with by: File, and only with it")
_ANSWER_RULE = ("has(self.path) == (self.source == 'File')", "path goes with source: File, and only with it")


class CommandPrompt(fields.Part):
    """How the command is given the prompt."""

    model_config = ConfigDict(json_schema_extra=fields.rules(_NAME_RULE, _FILE_RULE))

    by: PromptBy
    """Argument (where $(PROMPT) stands in command or args, else the last one), Environment, File or Stdin."""

    name: EnvironmentName | None = None
    """Variable that holds it, for Environment."""

    path: Place | None = None
    """File that holds it, for File; in an empty, writable folder in place of the image's."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.name is not None) != (self.by is PromptBy.ENVIRONMENT):
            raise ValueError(_NAME_RULE[1])
        if (self.path is not None) != (self.by is PromptBy.FILE):
            raise ValueError(_FILE_RULE[1])
        _require_place(self.path)
        return self


class CommandAnswer(fields.Part):
    """Where the command's answer is found once it has ended."""

    model_config = ConfigDict(json_schema_extra=fields.rules(_ANSWER_RULE))

    source: AnswerSource
    """Output (standard output; standard error counts as reasoning) or File."""

    path: Place | None = None
    """File that the command leaves, for File; in an empty, writable folder in place of the image's."""

    json_path: JsonPath | None = None
    """Path of the answer in JSON, such as .result.text, in the text or its last line; all where absent."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.path is not None) != (self.source is AnswerSource.FILE):
            raise ValueError(_ANSWER_RULE[1])
        _require_place(self.path)
        return self


Words = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f]+$")]
Typed = Annotated[str, StringConstraints(max_length=256, pattern=r"^[^\x00-\x1f]*$")]


class CommandApprovals(fields.Part):
    """How the command asks in mid-run whether it may act, and what it is then typed.

    Which of the two the scenario says, in `preconditions.agent.approvals`: deny unless it says approve.
    """

    asks: Words
    """Words that it prints at its standard output when it asks, such as Proceed? [y/N]."""

    approve: Typed = "y"
    """What is typed for yes before the end of a line; may be empty."""

    deny: Typed = "n"
    """What is typed for no before the end of a line; may be empty."""


class Cli(fields.Part):
    """An agent that is a command: started once per scenario with the prompt, it answers by ending.

    It learns nothing of its task but the prompt.

    Spec: 04-execution §1.
    """

    identity: ScriptedIdentity
    """Identity of the agent, since a command is not asked for one."""

    prompt: CommandPrompt
    """How the command is given the prompt."""

    answer: CommandAnswer = CommandAnswer(source=AnswerSource.OUTPUT)
    """Where its answer is found; standard output where absent."""

    tty: bool = False
    """Give it a terminal, for commands that want one; standard error is then part of the output."""

    approvals: CommandApprovals | None = None
    """How it asks whether it may act; absent for one that never does."""

    success_codes: Annotated[
        tuple[ExitCode, ...],
        Field(min_length=1, max_length=16, json_schema_extra={"x-kubernetes-list-type": "set"}),
    ] = (0,)
    """Exit codes of a command that did its work; 0 where absent. Any other counts as a crash."""
