"""How `run` and `wait` end: follow to the verdict, print the first screen, choose the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.cli import console, first_screen, follow, outcome, runs
from oasis_operator.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.cli.invocation import Invocation


def conclude(invocation: Invocation, names: Sequence[str], timeout_seconds: float, *, gate: bool) -> ExitCode:
    """Follow Evaluations, print the first screen of each, and give the code that blocks most.

    Args:
        invocation: Cluster, clock and consoles.
        names: Evaluations of the invocation's namespace; at least one.
        timeout_seconds: Longest time to wait for all of them.
        gate: Accept a PASS only where a gate may rely on it.
    """
    followed = follow.follow(invocation, invocation.namespace, names, timeout_seconds)
    screens = tuple(
        first_screen.build_screen(one.evaluation, runs.read_runs(invocation.cluster, one.evaluation))
        for one in followed
    )
    _print(invocation, screens)
    codes = tuple(one.exit_code(gate=gate) for one in followed)
    for name, code in zip(names, codes, strict=True):
        _explain(invocation, name, code, timeout_seconds)
    return outcome.combined_exit_code(codes)


def _print(invocation: Invocation, screens: Sequence[first_screen.Screen]) -> None:
    """Print the screens; as a document, one alone stands for itself and several are a list."""
    if invocation.output == "text":
        for position, screen in enumerate(screens):
            invocation.out.print("\n" if position else "", end="")
            first_screen.show(invocation, screen)
    else:
        documents = [first_screen.as_document(screen) for screen in screens]
        console.print_document(
            invocation.out, documents[0] if len(documents) == 1 else documents, invocation.output
        )


def _explain(invocation: Invocation, name: str, code: ExitCode, timeout_seconds: float) -> None:
    """Say on stderr what the verdict alone does not."""
    if code is ExitCode.TIMEOUT:
        invocation.err.print(f"{name} is not complete after {timeout_seconds:g} s; it goes on in the cluster")
    elif code is ExitCode.NOT_GATEABLE:
        invocation.err.print(f"{name} has verdict PASS, but a gate may not rely on it")
