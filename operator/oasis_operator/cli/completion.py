"""`oasis completion`: prints what makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from oasis_operator import errors
from oasis_operator.cli.exit_codes import ExitCode


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def command(context: click.Context, shell: str) -> ExitCode:
    """Print the completion script of SHELL; load it with eval or source."""
    made = get_completion_class(shell)
    if made is None:
        raise errors.InvalidInput(f"no completion for {shell}: choose bash, zsh or fish")
    root = context.find_root().command
    click.echo(made(root, {}, "oasis", "_OASIS_COMPLETE").source())
    return ExitCode.PASS
