"""`oasis wait`: wait until Evaluations are settled and leave with the verdict as exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oasis_operator.cli import conclusion, exit_codes
from oasis_operator.cli.durations import Duration
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation

if TYPE_CHECKING:
    from oasis_operator.cli.exit_codes import ExitCode

EPILOG = "\b\nExit codes:\n" + "\n".join(exit_codes.exit_code_lines())


@click.command("wait", epilog=EPILOG)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--timeout", type=Duration(), default="1h", show_default=True, help="Longest time to wait.")
@click.option(
    "--gate", is_flag=True, help="Accept a PASS only where a gate may rely on it (else exit code 6)."
)
@global_options
@pass_invocation
def command(invocation: Invocation, names: tuple[str, ...], timeout: float, gate: bool) -> ExitCode:
    """Wait for the verdict of the Evaluations NAME and print the first screen of each report."""
    return conclusion.conclude(invocation, names, timeout, gate=gate)
