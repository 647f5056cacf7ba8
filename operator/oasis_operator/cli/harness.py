"""`oasis harness`: the harness documents of a run, made from its stored evidence."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from oasis_operator import errors
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, pass_invocation
from oasis_operator.cli.validate_documents import read_challenge, read_evidence
from oasis_operator.engine import reading
from oasis_operator.harness import configuration
from oasis_operator.harness.conclusion import conclude
from oasis_operator.harness.record import render
from oasis_operator.harness.recorded import read_facts
from oasis_operator.harness.vocabulary import Shape

if TYPE_CHECKING:
    from oasis_operator.harness.record import Record

_FILE: Final = click.Path(path_type=Path, exists=True, dir_okay=False)
_PACKAGE: Final = "oasis-operator"
_ID_CHARACTERS: Final = 8


@click.command("harness")
@click.argument("evidence_file", metavar="EVIDENCE", type=_FILE)
@click.option("--challenge", "challenge_file", type=_FILE, required=True, help="challenge.json of the run.")
@click.option("--run", "run_id", metavar="ID", help="Name of the run.  [default: from the evidence's digest]")
@click.option("--grouped", is_flag=True, help="Write findings and ledger in the grouped shape.")
@pass_invocation
def command(
    invocation: Invocation, /, evidence_file: Path, challenge_file: Path, run_id: str | None, grouped: bool
) -> ExitCode:
    """Write findings, coverage ledger and harness document of the run that EVIDENCE was recorded of.

    What is made follows the OASIS_HARNESS variables; without OASIS_HARNESS=true nothing is.
    """
    asked = configuration.from_environment(os.environ)
    if asked is None:
        raise click.UsageError("the harness is off: set OASIS_HARNESS=true")
    document, digest = read_evidence(evidence_file)
    challenge, challenge_digest = read_challenge(challenge_file)
    facts = read_facts(
        document,
        reading.read_evidence(document).transcript,
        challenge,
        run_id or digest.partition(":")[2][:_ID_CHARACTERS],
        {"evidence": digest, "challenge": challenge_digest},
    )
    record = conclude(asked, facts, {_PACKAGE: metadata.version(_PACKAGE)})
    shape = Shape.GROUPED if grouped else Shape.PUBLISHED
    for path in _write(record, Path(asked.output_dir or "."), shape):
        invocation.out.print(path.as_posix(), soft_wrap=True)
    return ExitCode.PASS


def _write(record: Record, folder: Path, shape: Shape) -> list[Path]:
    """Write the documents.

    Raises:
        InvalidInput: The folder cannot be written to, or the run's name is none of a file.
    """
    run_id = record.findings.run_id
    if "/" in run_id or run_id.startswith("."):
        raise errors.InvalidInput(f"--run {run_id!r}: want a name that can begin a file's")
    made: dict[str, Any] = {"findings": record.findings.to_json(shape), "harness": record.to_json()}
    if record.ledger is not None:
        made["coverage-ledger"] = record.ledger.to_json(shape)
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, document in sorted(made.items()):
            paths.append(folder / f"{run_id}.{name}.json")
            paths[-1].write_bytes(render(document))
    except OSError as fault:
        raise errors.InvalidInput(f"{folder}: {fault.strerror}", reason="Unwritable") from fault
    return paths
