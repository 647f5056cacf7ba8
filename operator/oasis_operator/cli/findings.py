"""`oasis findings`: what a valid findings file says, for people, scripts and code scanners."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from oasis_operator.cli import console
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, pass_invocation
from oasis_operator.cli.validate_documents import read
from oasis_operator.harness import sarif, validation

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLUMNS: Final = ("ID", "VERDICT", "CATEGORY", "SEVERITY", "TITLE", "BY")


@click.command("findings")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "sarif"]),
    help="How findings are printed; sarif is for code scanners.  [default: text]",
)
@pass_invocation
def command(invocation: Invocation, path: Path, output: str | None) -> ExitCode:
    """Print the findings of FILE, in either shape; exit code 8 where it is not valid."""
    data = read(path)
    problems = validation.validate_findings(data)
    if problems:
        for problem in problems:
            invocation.err.print(f"{console.clean(path)}: {console.clean(problem)}", soft_wrap=True)
        return ExitCode.FINDINGS
    document: dict[str, Any] = json.loads(data.decode("utf-8-sig"))
    chosen = output or ("json" if invocation.output == "json" else "text")
    if chosen == "sarif":
        console.print_document(invocation.out, sarif.build_sarif(document, path.as_posix()), "json")
    elif chosen == "json":
        console.print_document(invocation.out, document, "json")
    else:
        rows = tuple(_row(finding) for finding in sarif.findings_of(document))
        console.print_table(invocation.out, _COLUMNS, rows)
    return ExitCode.PASS


def _row(finding: Mapping[str, Any]) -> tuple[str, ...]:
    severity = sarif.severity_of(finding)
    by = next((finding[name] for name in ("verifiedBy", "rejectedBy", "discoveredBy") if name in finding), "")
    cells = (finding.get("id"), finding["verdict"], finding["category"], severity, finding["title"], by)
    return tuple(console.clean(cell, 80) for cell in cells)
