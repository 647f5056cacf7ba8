"""`oasis report`: the report of an Evaluation, first screen first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oasis_operator import errors
from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.scenariorun import AssertionResult, ScenarioRun
from oasis_operator.cli import console, doctor, evidence, first_screen, follow, outcome, rendered, runs
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.engine.reports import comparison

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.api.v1alpha1.evaluation import Evaluation

RUN_COLUMNS = ("SCENARIO", "REP", "STAGE", "OUTCOME", "SCORE", "NOTE")


@click.command("report")
@click.argument("name")
@click.option("--all", "everything", is_flag=True, help="Add every scenario, failure, score and digest.")
@click.option(
    "--format", "wanted", type=click.Choice([*rendered.FORMATS]), help="Fetch the report in this format."
)
@click.option(
    "--to", type=click.Path(dir_okay=False, path_type=Path), help="File for it; prints it if absent."
)
@click.option("--compare", "earlier", metavar="OTHER", help="Say what changed since the Evaluation OTHER.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@click.option("--operator-namespace", default=doctor.OPERATOR_NAMESPACE, show_default=True, metavar="NAME")
@global_options
@pass_invocation
def command(invocation: Invocation, /, name: str, everything: bool, **fetched: Any) -> ExitCode:
    """Print the report of the Evaluation NAME; the exit code does not tell the verdict (see `oasis wait`).

    With --format it is fetched as the operator rendered it at the end of the run, from its volume: that asks
    for the right to run a command in the operator's pod (pods/exec in its namespace).
    """
    evaluation = follow.read_evaluation(invocation.cluster, invocation.namespace, name)
    if fetched["wanted"]:
        content = rendered.fetch(invocation, evaluation, fetched["wanted"], fetched["operator_namespace"])
        rendered.deliver(invocation, content, fetched["to"], force=fetched["force"])
        return ExitCode.PASS
    if fetched["earlier"]:
        _print_comparison(invocation, evaluation, fetched["earlier"], fetched["operator_namespace"])
        return ExitCode.PASS
    if fetched["to"] is not None:
        raise errors.InvalidSpec("--to: give --format as well, such as --format html")
    scenario_runs = runs.read_runs(invocation.cluster, evaluation)
    screen = first_screen.build_screen(evaluation, scenario_runs)
    if invocation.output == "text":
        first_screen.show(invocation, screen)
        if everything:
            _print_everything(invocation, evaluation, scenario_runs)
    else:
        document = (
            _document(screen, evaluation, scenario_runs) if everything else first_screen.as_document(screen)
        )
        console.print_document(invocation.out, document, invocation.output)
    return ExitCode.PASS


def _print_comparison(invocation: Invocation, later: Evaluation, name: str, operator_namespace: str) -> None:
    """Print what changed from an earlier Evaluation to a later one."""
    earlier = follow.read_evaluation(invocation.cluster, invocation.namespace, name)
    documents = (
        json.loads(rendered.fetch(invocation, one, "json", operator_namespace)) for one in (earlier, later)
    )
    found = comparison.compare(*documents)
    if invocation.output != "text":
        console.print_document(invocation.out, found, invocation.output)
        return
    for sentence in comparison.sentences(found):
        invocation.out.print(console.clean(sentence), soft_wrap=True)


def _document(
    screen: first_screen.Screen, evaluation: Evaluation, scenario_runs: Sequence[ScenarioRun]
) -> dict[str, Any]:
    """Give everything as one document."""
    return {
        "summary": first_screen.as_document(screen),
        "evaluation": {"spec": fields.dump(evaluation.spec), "status": fields.dump(evaluation.status)},
        "scenarioRuns": [
            {"name": run.metadata.name, "spec": fields.dump(run.spec), "status": fields.dump(run.status)}
            for run in scenario_runs
        ],
    }


def run_rows(scenario_runs: Sequence[ScenarioRun]) -> tuple[tuple[str, ...], ...]:
    """Give one table row per run: scenario, repetition, stage, outcome, score, note."""
    return tuple(
        (
            run.spec.scenario_id,
            str(run.spec.repetition),
            run.status.stage.value if run.status.stage else "Pending",
            run.status.outcome.value if run.status.outcome else "-",
            run.status.score or "-",
            run_note(run),
        )
        for run in scenario_runs
    )


def run_note(run: ScenarioRun) -> str:
    """Say in a few words what is special about a run; empty where nothing is."""
    status = run.status
    if status.failure is not None:
        return console.clean(f"{status.failure.reason}: {status.failure.message}", 100)
    violated = [item for item in status.assertions if item.result is AssertionResult.VIOLATED]
    if violated:
        return console.clean(f"violated {violated[0].kind}: {violated[0].text}", 100)
    return "vacuous" if status.vacuous else ""


def _print_everything(
    invocation: Invocation, evaluation: Evaluation, scenario_runs: Sequence[ScenarioRun]
) -> None:
    """Print scenarios, failures, what stood in the way, scores, digests and artifacts."""
    status = evaluation.status
    _section(invocation, "Scenarios", RUN_COLUMNS, run_rows(scenario_runs))
    failures = tuple((f.scenario, f.assertion, f.message, f.audit or "-") for f in status.failures)
    _section(
        invocation,
        f"Failures ({status.failures_total})",
        ("SCENARIO", "ASSERTION", "SEEN", "AUDIT"),
        failures,
    )
    _print_gate(invocation, evaluation)
    unassessable = tuple((u.scenario, u.assertion, u.reason) for u in status.unassessable)
    _section(
        invocation,
        f"Cannot be assessed ({status.unassessable_total})",
        ("SCENARIO", "ASSERTION", "REASON"),
        unassessable,
    )
    gaps = tuple((g.requirement, g.expected, g.actual, g.remedy) for g in status.conformance_gaps)
    _section(invocation, "Conformance gaps", ("REQUIREMENT", "EXPECTED", "ACTUAL", "REMEDY"), gaps)
    checks = status.preflight.checks if status.preflight else ()
    rows = tuple((check.name, check.result.value, check.message) for check in checks)
    _section(invocation, "Preflight", ("CHECK", "RESULT", "DETAIL"), rows)
    _section(invocation, "Scores", ("NAME", "SCORE"), _score_rows(evaluation))
    digests = fields.dump(status.digests) if status.digests else {}
    _section(
        invocation, "Digests", ("OF", "DIGEST"), tuple((key, str(value)) for key, value in digests.items())
    )
    artifacts = tuple((a.name, a.uri, a.digest) for a in status.artifacts)
    _section(invocation, "Artifacts", ("NAME", "WHERE", "DIGEST"), artifacts)
    kept = tuple(run for run in scenario_runs if run.status.evidence is not None)
    _section(invocation, "Evidence", evidence.COLUMNS, evidence.rows(kept))
    if kept:
        meta = evaluation.metadata
        invocation.out.print(
            f"\nTo fetch it: oasis evidence {meta.name} -n {meta.namespace} --to FOLDER"
            "\nTo judge it again: oasis replay FILE",
            soft_wrap=True,
        )


def _print_gate(invocation: Invocation, evaluation: Evaluation) -> None:
    """Print every reason for which a gate may not rely on the verdict that status lists."""
    known = outcome.read_outcome(evaluation)
    rows = tuple((kind, message) for kind, _, message in (one.partition(": ") for one in known.gate_reasons))
    cut = f", {len(rows)} shown" if known.gate_reasons_total > len(rows) else ""
    title = f"A gate may not rely on it ({known.gate_reasons_total}{cut})"
    _section(invocation, title, ("REASON", "DETAIL"), rows)
    for heading, lines in (("Waived for now", known.gate_waived), ("Warnings", known.gate_warnings)):
        told = tuple((kind, message) for kind, _, message in (one.partition(": ") for one in lines))
        _section(invocation, f"{heading} ({len(told)})", ("REASON", "DETAIL"), told)


def _score_rows(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """Give the capability scores, categories before core dimensions."""
    scores = evaluation.status.scores
    if scores is None:
        return ()
    return tuple((score.name, score.score) for score in (*scores.categories, *scores.dimensions))


def _section(
    invocation: Invocation, title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]
) -> None:
    """Print a titled table; nothing where there are no rows."""
    if not rows:
        return
    invocation.out.print(f"\n{title}")
    console.print_table(
        invocation.out, columns, tuple(tuple(console.clean(cell) for cell in row) for row in rows)
    )
