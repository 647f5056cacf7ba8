"""`oasis run`: make Agent, Environment and Evaluation from flags or files, and follow to the verdict."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oasis_operator.cli import conclusion, exit_codes, files, manifests
from oasis_operator.cli.durations import Duration
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.harness import configuration

if TYPE_CHECKING:
    from collections.abc import Sequence

EPILOG = "\b\nExit codes:\n" + "\n".join(exit_codes.exit_code_lines())
DEFAULT_PROFILE = "software-infrastructure"
DEFAULT_ENVIRONMENT = "oasis-run"
PATH = click.Path(path_type=Path, exists=True)
NAME_CHARACTERS = 8


@click.command("run", epilog=EPILOG)
@click.argument("name", required=False)
@click.option(
    "-f", "--filename", "paths", multiple=True, type=PATH, help="Manifest file or folder; repeatable."
)
@click.option("--agent", metavar="NAME", help="Evaluate the Agent of this name.")
@click.option("--image", metavar="IMAGE", help="Evaluate an image that serves the agent contract over HTTP.")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=8080, show_default=True, help="Port of --image."
)
@click.option(
    "--witness",
    type=click.Choice(["Satisfying", "Violating", "Idle"]),
    help="Evaluate a scripted agent: the profile's own witness, or one that does nothing.",
)
@click.option("--environment", metavar="NAME", help="Use the Environment of this name; else one is made.")
@click.option("--profile", metavar="NAME", help=f"Bundled profile.  [default: {DEFAULT_PROFILE}]")
@click.option("--profile-dir", type=PATH, help="Pack this profile folder into a ConfigMap and use it.")
@click.option(
    "--tier", type=click.IntRange(1, 3), default=1, show_default=True, help="Complexity tier to claim."
)
@click.option(
    "--scenario", "scenarios", multiple=True, metavar="GLOB", help="Only these scenarios; repeatable."
)
@click.option(
    "--category", "categories", multiple=True, metavar="NAME", help="Only these categories; repeatable."
)
@click.option("--safety-only", is_flag=True, help="Leave the capability scenarios out.")
@click.option("--parallelism", type=click.IntRange(1, 12), help="Scenarios at once.")
@click.option("--repetitions", type=click.IntRange(1, 20), help="Times that each scenario runs.")
@click.option(
    "--report-only", is_flag=True, help="Diagnostics without a verdict where assertions cannot be assessed."
)
@click.option("--evaluator", metavar="NAME", help="Who answers for the evaluation; named in the report.")
@click.option("--timeout", type=Duration(), default="1h", show_default=True, help="Longest time to wait.")
@click.option(
    "--gate", is_flag=True, help="Accept a PASS only where a gate may rely on it (else exit code 6)."
)
@click.option("--no-wait", is_flag=True, help="Apply and leave at once.")
@global_options
@pass_invocation
def command(
    invocation: Invocation,
    /,
    paths: tuple[Path, ...],
    timeout: float,
    gate: bool,
    no_wait: bool,
    **flags: Any,
) -> ExitCode:
    """Evaluate an agent: `oasis run -f FOLDER`, or `oasis run [NAME] --image IMAGE --profile-dir FOLDER`.

    Exactly one of --filename, --agent, --image and --witness says what is evaluated.
    """
    if sum((bool(paths), *(flags[key] is not None for key in ("agent", "image", "witness")))) != 1:
        raise click.UsageError("give exactly one of --filename, --agent, --image and --witness")
    documents = files.read_manifests(paths) if paths else from_flags(flags)
    if paths and configuration.from_environment(os.environ):
        invocation.err.print("OASIS_HARNESS is not applied to manifests: write spec.harness in them")
    names = tuple(doc["metadata"]["name"] for doc in documents if doc.get("kind") == "Evaluation")
    if not names:
        raise click.UsageError("the files hold no Evaluation")
    apply(invocation, documents)
    if no_wait:
        return ExitCode.PASS
    return conclusion.conclude(invocation, names, timeout, gate=gate)


def from_flags(flags: dict[str, Any]) -> tuple[manifests.Manifest, ...]:
    """Build the manifests that the flags ask for, in the order in which they are applied."""
    made: list[manifests.Manifest] = []
    if flags["profile"] and flags["profile_dir"]:
        raise click.UsageError("give --profile or --profile-dir, not both")
    profile: dict[str, Any] = {"bundled": flags["profile"] or DEFAULT_PROFILE}
    if flags["profile_dir"]:
        made.append(manifests.build_profile_config_map(files.read_profile_folder(flags["profile_dir"])))
        profile = {"configMap": {"name": made[0]["metadata"]["name"]}}
    agent = _agent(flags)
    if agent is not None:
        made.append(agent)
    if not flags["environment"]:
        made.append(manifests.build_environment(f"{DEFAULT_ENVIRONMENT}-tier-{flags['tier']}", flags["tier"]))
    choice = manifests.EvaluationChoice(
        agent=flags["agent"] if agent is None else agent["metadata"]["name"],
        environment=flags["environment"] or made[-1]["metadata"]["name"],
        profile=profile,
        tier=flags["tier"],
        scenarios=flags["scenarios"],
        categories=flags["categories"],
        classes=("safety",) if flags["safety_only"] else (),
        parallelism=flags["parallelism"],
        repetitions=flags["repetitions"],
        report_only=flags["report_only"],
        evaluator=flags["evaluator"],
        harness=_harness(),
    )
    made.append(manifests.build_evaluation(flags["name"] or default_name(choice), choice))
    return tuple(made)


def _harness() -> dict[str, Any] | None:
    """Give the `spec.harness` that the OASIS_HARNESS variables ask for; None where they ask for none.

    Raises:
        InvalidInput: A variable is malformed.
    """
    asked = configuration.from_environment(os.environ)
    return configuration.to_spec(asked) if asked else None


def _agent(flags: dict[str, Any]) -> manifests.Manifest | None:
    """Build the Agent that the flags describe; None where they name an existing one."""
    if flags["image"]:
        digest = hashlib.sha256(f"{flags['image']} {flags['port']}".encode()).hexdigest()
        return manifests.build_http_agent(f"agent-{digest[:NAME_CHARACTERS]}", flags["image"], flags["port"])
    if flags["witness"]:
        witness = None if flags["witness"] == "Idle" else flags["witness"]
        return manifests.build_scripted_agent(f"witness-{flags['witness'].lower()}", witness)
    return None


def default_name(choice: manifests.EvaluationChoice) -> str:
    """Name an Evaluation after what it evaluates, so that the same command finds its earlier run again."""
    spec = json.dumps(manifests.build_evaluation("", choice)["spec"], sort_keys=True)
    return f"{choice.agent}-{hashlib.sha256(spec.encode()).hexdigest()[:NAME_CHARACTERS]}"


def apply(invocation: Invocation, documents: Sequence[manifests.Manifest]) -> None:
    """Apply manifests in order, each in its own namespace or else in the invocation's, saying so."""
    for document in documents:
        namespace = str(document["metadata"].get("namespace") or invocation.namespace)
        invocation.cluster.apply(document, namespace)
        invocation.err.print(f"applied {document['kind']} {namespace}/{document['metadata']['name']}")
