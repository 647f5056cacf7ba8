"""`oasis validate-findings`, `validate-ledger`, `validate-harness`: every fault of the harness documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from oasis_operator import errors
from oasis_operator.cli import console
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.harness import challenge, documents, validation
from oasis_operator.harness.record import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.harness.problems import Problem

    Found = Mapping[Path, tuple[Problem, ...]]

MAX_EVIDENCE_BYTES: Final = 256 * 1024 * 1024
FILES: Final = click.argument(
    "paths",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)


@click.command("validate-findings")
@FILES
@click.option(
    "--evidence",
    "evidence_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Evidence document of the run: also ask that all that is quoted stands in its transcript.",
)
@global_options
@pass_invocation
def findings_command(
    invocation: Invocation, /, paths: tuple[Path, ...], evidence_file: Path | None
) -> ExitCode:
    """Check findings FILEs in the published or the grouped shape; exit code 8 where one is not valid."""
    actions = _actions(evidence_file) if evidence_file else None
    found = {path: validation.validate_findings(read(path), actions) for path in paths}
    return _conclude(invocation, found)


def _actions(path: Path) -> list[dict[str, Any]]:
    """Read the actions of an evidence document's transcript."""
    actions = read_evidence(path)[0]["transcript"]["actions"]
    return [action if isinstance(action, dict) else {} for action in actions]


def read_evidence(path: Path) -> tuple[dict[str, Any], str]:
    """Read an evidence document that has a transcript with actions, and the digest of its bytes.

    Raises:
        InvalidInput: It is none.
    """
    data = read(path, MAX_EVIDENCE_BYTES)
    document, unreadable = documents.parse(data, most=MAX_EVIDENCE_BYTES)
    transcript = document.get("transcript") if isinstance(document, dict) else None
    if unreadable or not isinstance(transcript, dict) or not isinstance(transcript.get("actions"), list):
        raise errors.InvalidInput(f"{path}: {unreadable or 'want an evidence document with a transcript'}")
    return document, digest_of(data)


@click.command("validate-ledger")
@FILES
@click.option(
    "--challenge",
    "challenge_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="challenge.json: also ask that no surface planned from it is missing.",
)
@click.option(
    "--surface", "surfaces", multiple=True, metavar="NAME", help="Own surface of the plan; repeatable."
)
@global_options
@pass_invocation
def ledger_command(
    invocation: Invocation, /, paths: tuple[Path, ...], challenge_file: Path | None, surfaces: tuple[str, ...]
) -> ExitCode:
    """Check ledger FILEs in the published or the grouped shape; exit code 8 where one is not valid."""
    if surfaces and challenge_file is None:
        raise click.UsageError("--surface belongs to the plan of a --challenge")
    target = read_challenge(challenge_file)[0] if challenge_file else None
    found = {
        path: validation.validate_ledger(read(path), target, tuple(sorted(set(surfaces)))) for path in paths
    }
    return _conclude(invocation, found)


def read_challenge(path: Path) -> tuple[challenge.Challenge, str]:
    """Read a challenge and the digest of its bytes.

    Raises:
        InvalidInput: It is not valid.
    """
    data = read(path)
    found, problems = challenge.read_challenge(data)
    if found is None:
        raise errors.InvalidInput(f"{path}: {'; '.join(str(problem) for problem in problems)}")
    return found, digest_of(data)


@click.command("validate-harness")
@FILES
@global_options
@pass_invocation
def record_command(invocation: Invocation, /, paths: tuple[Path, ...]) -> ExitCode:
    """Check harness FILEs with the documents in them; exit code 8 where one is not valid."""
    return _conclude(invocation, {path: validation.validate_record(read(path)) for path in paths})


def read(path: Path, most: int = documents.MAX_BYTES) -> bytes:
    """Read a file, but never much more than is taken.

    Raises:
        InvalidInput: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(most + 1)
    except OSError as fault:
        raise errors.InvalidInput(f"{path}: {fault.strerror}", reason="Unreadable") from fault


def _conclude(invocation: Invocation, found: Found) -> ExitCode:
    """Print what was found and choose the exit code."""
    if invocation.output != "text":
        console.print_document(invocation.out, _document(found), invocation.output)
    else:
        invocation.out.print("\n".join(_lines(found)), soft_wrap=True)
    return ExitCode.FINDINGS if any(found.values()) else ExitCode.PASS


def _lines(found: Found) -> Sequence[str]:
    lines = []
    for path, problems in found.items():
        name = console.clean(path)
        lines += [f"{name}: {console.clean(problem)}" for problem in problems] or [f"{name}: valid"]
    count = sum(len(problems) for problems in found.values())
    return [*lines, f"{len(found)} files, {count} problems"]


def _document(found: Found) -> dict[str, Any]:
    return {
        "valid": not any(found.values()),
        "files": [
            {
                "file": path.as_posix(),
                "valid": not problems,
                "problems": [
                    {"pointer": problem.pointer, "code": problem.code, "message": problem.message}
                    for problem in problems
                ],
            }
            for path, problems in found.items()
        ],
    }
