"""Entry point of `oasis` and `kubectl-oasis`: the commands, and the one place that maps errors to codes."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

import click

from oasis_operator import errors
from oasis_operator.cli import (
    attest,
    challenge,
    completion,
    conformance,
    console,
    demo,
    doctor,
    evidence,
    exit_codes,
    findings,
    harness,
    profile,
    replay,
    report,
    run,
    status,
    validate,
    validate_documents,
    wait,
)
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options

if TYPE_CHECKING:
    from collections.abc import Sequence

EPILOG = "\b\nExit codes:\n" + "\n".join(exit_codes.exit_code_lines())
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(epilog=EPILOG, context_settings=CONTEXT)
@global_options
@click.version_option(package_name="oasis-operator", prog_name="oasis")
def cli() -> None:
    """Evaluate AI agents in disposable sandboxes and read the verdicts."""


for command in (
    attest.command,
    attest.verify_command,
    challenge.command,
    completion.command,
    conformance.command,
    demo.command,
    doctor.command,
    evidence.command,
    findings.command,
    harness.command,
    profile.command,
    replay.command,
    report.command,
    run.command,
    status.command,
    validate.command,
    validate_documents.findings_command,
    validate_documents.ledger_command,
    validate_documents.record_command,
    wait.command,
):
    cli.add_command(command)


def code_of(error: errors.OasisError) -> ExitCode:
    """Choose the exit code of an error that a command did not handle.

    No error is ever read as a verdict.
    """
    match error:
        case errors.InvalidInput():
            return ExitCode.USAGE
        case errors.PreflightGap():
            return ExitCode.NO_VERDICT
        case errors.ProviderFault():
            return ExitCode.PROVIDER_FAILURE
        case errors.NotReady() | errors.Transient():
            return ExitCode.UNREACHABLE
        case _:
            return ExitCode.INTERNAL


def invoke(arguments: Sequence[str], invocation: Invocation | None = None) -> ExitCode:
    """Run one command and give its exit code; never raises.

    Args:
        arguments: The command line without the program's name.
        invocation: Replaces cluster, clock and consoles in tests.
    """
    try:
        result = cli.main(list(arguments), prog_name="oasis", standalone_mode=False, obj=invocation)
    except click.ClickException as refusal:
        refusal.show()
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except errors.OasisError as error:
        click.echo(f"oasis: {error.reason}: {console.clean(error.message)}", err=True)
        return code_of(error)
    except BrokenPipeError:
        sys.stderr.close()
        return ExitCode.INTERRUPTED
    except Exception:  # noqa: BLE001 - the last line of defence: Python's own exit code would read as FAIL
        traceback.print_exc()
        return ExitCode.INTERNAL
    return result if isinstance(result, ExitCode) else ExitCode.PASS


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(invoke(sys.argv[1:]))
