"""The one table of exit codes; every command ends with one of these and nothing else.

A pipeline gates on these numbers, so they never change meaning. An unexpected error has a code of its own:
Python's default of 1 would read as the verdict FAIL.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells its caller."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    PROVIDER_FAILURE = 3
    NO_VERDICT = 4
    TIMEOUT = 5
    NOT_GATEABLE = 6
    UNREACHABLE = 7
    FINDINGS = 8
    INTERNAL = 70
    INTERRUPTED = 130


MEANINGS: dict[ExitCode, str] = {
    ExitCode.PASS: "verdict PASS, or the command did what was asked",
    ExitCode.FAIL: "verdict FAIL",
    ExitCode.USAGE: "wrong option, unreadable file, or an object that the cluster refuses",
    ExitCode.PROVIDER_FAILURE: "verdict PROVIDER_FAILURE: the harness broke, nothing is said about the agent",
    ExitCode.NO_VERDICT: "no verdict: preflight refused, input invalid, diagnostics only, or cancelled",
    ExitCode.TIMEOUT: "the evaluation was not complete within --timeout",
    ExitCode.NOT_GATEABLE: "verdict PASS that cannot be used as a gate (only with --gate)",
    ExitCode.UNREACHABLE: "no cluster, no rights, or the object does not exist",
    ExitCode.FINDINGS: "doctor, a validate command or challenge plan found something to mend",
    ExitCode.INTERNAL: "an error of this program",
    ExitCode.INTERRUPTED: "interrupted",
}


def exit_code_lines() -> tuple[str, ...]:
    """Give the table as aligned lines for help texts, in numeric order."""
    return tuple(f"{code.value:>3}  {MEANINGS[code]}" for code in sorted(MEANINGS))
