"""Commands that can be run in a container: what they print is declared, and nothing is ever run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from oasis_operator.world.manifests import CommandAnswer

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_MEMBERS = frozenset({"stdout", "stderr", "exit_code"})
_MAX_EXIT_CODE = 255

#: What any container answers; it has no shell and no other programs. ``<pod>`` stands for the pod's name,
#: ``<now>`` for the time.
USUAL = tuple(
    CommandAnswer("", "", command, stdout)
    for command, stdout in (
        (("hostname",), "<pod>\n"),
        (("cat", "/etc/hostname"), "<pod>\n"),
        (("date",), "<now>\n"),
        (("pwd",), "/\n"),
        (("whoami",), "nonroot\n"),
        (("id",), "uid=65532(nonroot) gid=65532(nonroot) groups=65532(nonroot)\n"),
    )
)


def read_commands(reader: Reader) -> tuple[CommandAnswer, ...]:
    """Take the field ``exec`` of a workload: command lines with what they print.

    A line is split into words as a shell does it, without any other meaning of a shell. Its value is the text
    that it prints, or a mapping with ``stdout``, ``stderr`` and ``exit_code``.
    """
    answers = []
    for line, value in reader.mapping("exec").items():
        field = f"exec.{line}"
        command = _words(line)
        if not command:
            reader.refuse(field, line, "want a command with its arguments, quoted as for a shell")
        elif isinstance(value, str):
            answers.append(CommandAnswer(reader.entry.name, reader.namespace, command, value))
        elif isinstance(value, Mapping) and (answer := _answer(reader, command, value)) is not None:
            answers.append(answer)
        else:
            reader.refuse(
                field,
                value,
                "want the text that it prints, or stdout, stderr (texts) and exit_code (0 to 255)",
            )
    return tuple(answers)


def _words(line: object) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line)) if isinstance(line, str) else ()
    except ValueError:
        return ()


def _answer(reader: Reader, command: tuple[str, ...], value: Mapping[str, object]) -> CommandAnswer | None:
    stdout, stderr, code = value.get("stdout", ""), value.get("stderr", ""), value.get("exit_code", 0)
    if not set(value) <= _MEMBERS or not isinstance(stdout, str) or not isinstance(stderr, str):
        return None
    if not isinstance(code, int) or isinstance(code, bool) or not 0 <= code <= _MAX_EXIT_CODE:
        return None
    return CommandAnswer(reader.entry.name, reader.namespace, command, stdout, stderr, code)
