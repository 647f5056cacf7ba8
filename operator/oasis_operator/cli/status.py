"""`oasis status`: what is evaluated here, or how far one Evaluation is."""

from __future__ import annotations

import click

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.cli import console, follow, outcome, report, runs
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.resources import kinds

COLUMNS = ("EVALUATION", "AGENT", "PROFILE", "VERDICT", "GATE", "PROGRESS", "REASON")


@click.command("status")
@click.argument("name", required=False)
@global_options
@pass_invocation
def command(invocation: Invocation, name: str | None) -> ExitCode:
    """List the Evaluations of the namespace, or the scenario runs of the Evaluation NAME."""
    if name is None:
        _list_evaluations(invocation)
    else:
        _list_runs(invocation, name)
    return ExitCode.PASS


def _list_evaluations(invocation: Invocation) -> None:
    """Print one row per Evaluation."""
    bodies = invocation.cluster.list(kinds.EVALUATION, invocation.namespace)
    if invocation.output != "text":
        console.print_document(invocation.out, list(bodies), invocation.output)
    elif not bodies:
        invocation.err.print(f"no evaluations in namespace {invocation.namespace}")
    else:
        rows = tuple(evaluation_row(Evaluation.parse(body)) for body in bodies)
        console.print_table(invocation.out, COLUMNS, rows)


def evaluation_row(evaluation: Evaluation) -> tuple[str, ...]:
    """Give the table row of an Evaluation."""
    known = outcome.read_outcome(evaluation)
    source = evaluation.spec.profile
    profile = source.bundled or (f"configmap/{source.config_map.name}" if source.config_map else "-")
    opened = "yes, warned" if known.gate_warnings else "yes"
    gate = "-" if known.verdict is None else (opened if known.gateable else "no")
    return (
        evaluation.metadata.name,
        evaluation.spec.agent_ref.name,
        console.clean(profile),
        known.verdict.value if known.verdict else "-",
        gate,
        evaluation.status.progress or "-",
        console.clean(known.reason),
    )


def _list_runs(invocation: Invocation, name: str) -> None:
    """Print one row per scenario run of an Evaluation."""
    evaluation = follow.read_evaluation(invocation.cluster, invocation.namespace, name)
    scenario_runs = runs.read_runs(invocation.cluster, evaluation)
    if invocation.output != "text":
        document = [{"name": r.metadata.name, "status": fields.dump(r.status)} for r in scenario_runs]
        console.print_document(invocation.out, document, invocation.output)
        return
    console.print_table(invocation.out, COLUMNS, (evaluation_row(evaluation),))
    invocation.out.print()
    console.print_table(invocation.out, report.RUN_COLUMNS, report.run_rows(scenario_runs))
