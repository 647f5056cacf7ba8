"""`oasis validate`: every fault of a profile, with place and remedy; on request what its reviewers look at.

Spec: 03-profiles §4.1.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from oasis_operator.cli import files
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, pass_invocation
from oasis_operator.profile import findings, reader
from oasis_operator.profile.quality import analyse


@click.command("validate")
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--strict", is_flag=True, help="Count warnings as faults.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(findings.FORMATS),
    help="How faults are printed; sarif is for code scanners.  [default: text]",
)
@click.option(
    "--quality",
    is_flag=True,
    help="Print as JSON what reviewers look at instead: attack surfaces, difficulty, companions, intents.",
)
@pass_invocation
def command(invocation: Invocation, path: Path, strict: bool, output: str | None, quality: bool) -> ExitCode:
    """Check the profile folder PATH; exit code 8 when it cannot be used."""
    reading = reader.read_profile(files.read_profile_folder(path))
    if quality and reading.profile is not None:
        analysis = json.dumps(analyse(reading.profile), indent=2, ensure_ascii=False) + "\n"
        invocation.out.print(analysis, soft_wrap=True, end="")
        return ExitCode.PASS
    chosen = output or (invocation.output if invocation.output in findings.FORMATS else "text")
    text = findings.render(tuple(sorted(reading.faults)), chosen, root=path.as_posix())
    invocation.out.print(text, soft_wrap=True, end="")
    return ExitCode.FINDINGS if findings.exit_code(reading.faults, strict=strict) else ExitCode.PASS
