"""`oasis challenge plan`: what of a challenge would run, or why it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from oasis_operator.cli import console
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.cli.validate_documents import read
from oasis_operator.errors import InvalidInput
from oasis_operator.harness import challenge, challenge_plan, compose
from oasis_operator.harness.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.harness.challenge_plan import Plan

_FOLDERS: Final = click.Path(path_type=Path, exists=True, file_okay=False)
_INDEX: Final = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group("challenge")
def command() -> None:
    """Read challenges: a challenge.json with its compose file."""


@command.command("plan")
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=_FOLDERS)
@click.option(
    "--image",
    "images",
    multiple=True,
    metavar="SERVICE=REFERENCE",
    help="Image of a service, in place of what the compose file has for it; repeatable.",
)
@click.option(
    "--index",
    type=_INDEX,
    help="Index file whose targetImage is the image of each challenge's target.",
)
@global_options
@pass_invocation
def plan(
    invocation: Invocation, /, folders: tuple[Path, ...], images: tuple[str, ...], index: Path | None
) -> ExitCode:
    """Print the pods that each challenge FOLDER would run as; exit code 8 where one cannot run."""
    given = _images(images)
    targets = _targets(index) if index else {}
    planned = {folder: _plan(folder, given, targets) for folder in folders}
    if invocation.output == "text":
        lines = [line for folder, found in planned.items() for line in _lines(folder, found)]
        invocation.out.print("\n".join(lines), soft_wrap=True)
    else:
        documents = [_document(folder, found) for folder, found in planned.items()]
        console.print_document(invocation.out, {"challenges": documents}, invocation.output)
    runs = all(not isinstance(found, tuple) and found.runs for found in planned.values())
    return ExitCode.PASS if runs else ExitCode.FINDINGS


def _images(pairs: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        service, sign, reference = pair.partition("=")
        if not (service and sign and reference):
            raise click.UsageError(f"--image {pair!r}: want SERVICE=REFERENCE")
        found[service] = reference
    return found


def _targets(index: Path) -> dict[str, str]:
    """Read the image of each challenge's target.

    Raises:
        InvalidInput: The file is no index.
    """
    try:
        entries = json.loads(read(index))["challenges"]
        return {entry["id"]: entry["targetImage"] for entry in entries}
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise InvalidInput(f"{index}: want challenges, each with id and targetImage") from fault


def _plan(folder: Path, images: Mapping[str, str], targets: Mapping[str, str]) -> Plan | tuple[Problem, ...]:
    """Plan one challenge; the problems where one of its files cannot be read."""
    found, problems = challenge.read_challenge(read(folder / challenge.FILE))
    path = next((folder / name for name in compose.FILES if (folder / name).is_file()), None)
    if path is None:
        return (*problems, Problem("", "compose", f"no compose file; want one of {', '.join(compose.FILES)}"))
    composed, more = compose.read_compose(read(path))
    if found is None or composed is None:
        return (*problems, *more)
    known = {found.host: targets[found.id]} if found.id in targets else {}
    return challenge_plan.plan_challenge(found, composed, {**known, **images})


def _document(folder: Path, found: Plan | tuple[Problem, ...]) -> dict[str, Any]:
    if not isinstance(found, tuple):
        return {"folder": folder.as_posix(), **found.to_json()}
    problems = [{"pointer": each.pointer, "code": each.code, "message": each.message} for each in found]
    return {"folder": folder.as_posix(), "runs": False, "pods": [], "problems": problems, "notes": []}


def _lines(folder: Path, found: Plan | tuple[Problem, ...]) -> list[str]:
    if isinstance(found, tuple):
        return [f"{folder.name}: cannot run", *_told(found)]
    head = f"{found.challenge.id} ({found.challenge.difficulty})"
    if not found.runs:
        return [f"{head}: cannot run", *_told(found.problems)]
    lines = [f"{head}: {len(found.pods)} pods, target {found.challenge.host}:{found.challenge.port}"]
    for pod in found.pods:
        ports = ", ".join(str(port) for port in pod.ports) or "no ports"
        reaches = ", ".join(pod.reaches) or "nobody"
        waits = "".join(f", after {name} is {state}" for name, state in pod.waits_for.items())
        place = f"{pod.role} {pod.service.name}: {pod.image} ({pod.image_source})"
        lines.append(console.clean(f"{place}, {ports}, reaches {reaches}{waits}"))
    lines[1:] = [f"  {line}" for line in lines[1:]]
    return [*lines, *(f"  note: {console.clean(note)}" for note in found.notes)]


def _told(problems: tuple[Problem, ...]) -> list[str]:
    return [f"  {console.clean(problem)}" for problem in problems]
