"""`oasis evidence`: where the evidence of an Evaluation's runs is, and the documents themselves.

The operator serves no evidence over the network. It is read from the operator's volume by a command in its
pod: whoever may run one there may read it, nobody else can, and the cluster's own audit log says who did.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oasis_operator import errors
from oasis_operator.cli import console, doctor, follow, runs
from oasis_operator.cli.evidence_store import Store
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.api import fields
    from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun

COLUMNS = ("SCENARIO", "REP", "ATTEMPT", "OUTCOME", "BYTES", "EVIDENCE")


@click.command("evidence")
@click.argument("name", metavar="EVALUATION")
@click.argument("scenario", required=False)
@click.option("--to", "target", type=click.Path(path_type=Path), metavar="FILE|DIR", help="Fetch it to here.")
@click.option("--repetition", type=click.IntRange(1, 20), help="Only this repetition.")
@click.option("--attempt", type=click.IntRange(1, 1000), help="Another attempt than the latest.")
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@click.option("--operator-namespace", default=doctor.OPERATOR_NAMESPACE, show_default=True, metavar="NAME")
@global_options
@pass_invocation
def command(invocation: Invocation, /, name: str, target: Path | None, **choice: Any) -> ExitCode:
    """List the evidence of an EVALUATION, of one SCENARIO (or glob) only; with --to, fetch the documents.

    Each document is written as it was judged, after its digest was verified. Fetching asks for the right to
    run a command in the operator's pod (pods/exec in its namespace). `oasis replay FILE` judges one again.
    """
    evaluation = follow.read_evaluation(invocation.cluster, invocation.namespace, name)
    found = select(runs.read_runs(invocation.cluster, evaluation), **_filters(choice))
    if not found:
        raise errors.NotReady(
            f"evaluation {invocation.namespace}/{name} has no such run; see: oasis status {name}",
            reason="NotFound",
        )
    if target is None:
        _print_list(invocation, found)
        return ExitCode.PASS
    wanted = plan_files(found, target)
    if not choice["force"]:
        refuse_existing(wanted)
    store = Store(invocation.cluster, choice["operator_namespace"])
    for one in wanted:
        write(one.file, store.fetch(one.reference))
    _print_written(invocation, wanted)
    return ExitCode.PASS


def _filters(choice: dict[str, Any]) -> dict[str, Any]:
    return {key: choice[key] for key in ("scenario", "repetition", "attempt")}


def select(
    found: Sequence[ScenarioRun], scenario: str | None, repetition: int | None, attempt: int | None
) -> tuple[ScenarioRun, ...]:
    """Choose runs by scenario id or glob, repetition and attempt; the latest attempt by default."""
    latest = attempt or max((run.spec.attempt for run in found), default=0)
    return tuple(
        run
        for run in found
        if run.spec.attempt == latest
        and (scenario is None or _is_named(run.spec.scenario_id, scenario))
        and (repetition is None or run.spec.repetition == repetition)
    )


def _is_named(identifier: str, name: str) -> bool:
    """Tell whether an id is the one given, which may hold any character, or matches it as a glob."""
    return identifier == name or fnmatch.fnmatchcase(identifier, name)


def rows(found: Sequence[ScenarioRun]) -> tuple[tuple[str, ...], ...]:
    """Give one table row per run: scenario, repetition, attempt, outcome, size and address of evidence."""
    return tuple(
        (
            console.clean(run.spec.scenario_id),
            str(run.spec.repetition),
            str(run.spec.attempt),
            run.status.outcome.value if run.status.outcome else "-",
            str(run.status.evidence.size_bytes) if run.status.evidence else "-",
            console.clean(run.status.evidence.uri) if run.status.evidence else "none",
        )
        for run in found
    )


def _print_list(invocation: Invocation, found: Sequence[ScenarioRun]) -> None:
    """Print what there is."""
    if invocation.output == "text":
        console.print_table(invocation.out, COLUMNS, rows(found))
    else:
        console.print_document(invocation.out, [_entry(run) for run in found], invocation.output)


def _entry(run: ScenarioRun, file: Path | None = None) -> dict[str, Any]:
    """Give one run as an entry of a document."""
    kept = run.status.evidence
    return {
        "name": run.metadata.name,
        "scenario": run.spec.scenario_id,
        "repetition": run.spec.repetition,
        "attempt": run.spec.attempt,
        "outcome": run.status.outcome.value if run.status.outcome else None,
        "evidence": {"uri": kept.uri, "digest": kept.digest, "sizeBytes": kept.size_bytes} if kept else None,
        **({"file": str(file)} if file else {}),
    }


@dataclass(frozen=True, slots=True)
class Wanted:
    """One document to fetch: whose it is, what it must be, and the file that it goes into."""

    run: ScenarioRun
    reference: fields.ArtifactRef
    file: Path


def plan_files(found: Sequence[ScenarioRun], target: Path) -> tuple[Wanted, ...]:
    """Say which run's evidence goes into which file; a folder that exists gets one for each run.

    Raises:
        NotReady: No run has evidence.
        InvalidSpec: Several have, and the target is a file.
    """
    kept = tuple((run, run.status.evidence) for run in found if run.status.evidence is not None)
    if not kept:
        raise errors.NotReady("no evidence of these runs is stored", reason="NotFound")
    if target.is_dir():
        return tuple(Wanted(run, reference, target / file_name(run)) for run, reference in kept)
    if len(kept) > 1:
        raise errors.InvalidSpec(
            f"{len(kept)} documents do not fit into the file {target}: name an existing folder, or choose "
            "one run with SCENARIO and --repetition"
        )
    ((run, reference),) = kept
    return (Wanted(run, reference, target),)


def file_name(run: ScenarioRun) -> str:
    """Name the file of a run's evidence; a scenario's id is foreign text and may hold anything."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", run.spec.scenario_id).lstrip(".")
    return f"{plain}-r{run.spec.repetition}-a{run.spec.attempt}.json"


def refuse_existing(wanted: Sequence[Wanted]) -> None:
    """Refuse before anything is fetched.

    Raises:
        InvalidSpec: A file is there.
    """
    there = [str(one.file) for one in wanted if one.file.exists() or one.file.is_symlink()]
    if there:
        raise errors.InvalidSpec(f"{', '.join(there[:3])} exists; --force overwrites it", reason="FileExists")


def write(file: Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        InvalidSpec: It cannot be written.
    """
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_bytes(data)
        part.replace(file)
    except OSError as fault:
        part.unlink(missing_ok=True)
        raise errors.InvalidSpec(f"{file} cannot be written: {fault.strerror}") from fault


def _print_written(invocation: Invocation, wanted: Sequence[Wanted]) -> None:
    """Print what was written, and how it is judged again."""
    if invocation.output != "text":
        entries = [_entry(one.run, one.file) for one in wanted]
        console.print_document(invocation.out, entries, invocation.output)
        return
    for one in wanted:
        told = f"{one.reference.size_bytes} bytes, {one.reference.digest}"
        invocation.out.print(f"wrote {one.file}: {told}", soft_wrap=True)
    first = wanted[0]
    bundled = first.run.spec.profile.source.bundled is not None
    profile = "" if bundled else " --profile PROFILE_FOLDER"
    invocation.out.print(f"next: oasis replay {first.file}{profile}", soft_wrap=True)
