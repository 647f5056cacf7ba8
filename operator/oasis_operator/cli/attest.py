"""`oasis attest` signs what an Evaluation says of an image; `oasis verify-attestation` checks it anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import click

from oasis_operator import errors
from oasis_operator.cli import console, follow, runs, statement
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.clients import dsse

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_CODES = {"PASSED": ExitCode.PASS, "WARNED": ExitCode.NOT_GATEABLE, "FAILED": ExitCode.FAIL}


@click.command("attest")
@click.argument("name")
@click.option("--key", type=FILE, required=True, help="Private key in PEM: Ed25519, or ECDSA on P-256.")
@click.option(
    "--to", type=click.Path(dir_okay=False, path_type=Path), help="File to write; prints it if absent."
)
@global_options
@pass_invocation
def command(invocation: Invocation, name: str, key: Path, to: Path | None) -> ExitCode:
    """Sign the verdict of the Evaluation NAME on its image, as an in-toto test result in a DSSE envelope.

    Nothing is signed where there is no verdict on an image; a fault of the harness is none.
    """
    evaluation = follow.read_evaluation(invocation.cluster, invocation.namespace, name)
    payload = statement.build_statement(evaluation, runs.read_runs(invocation.cluster, evaluation))
    text = dsse.dumps(dsse.sign(payload, key.read_bytes()))
    if to is None:
        click.echo(text, nl=False)
    else:
        to.write_text(text, encoding="utf-8")
        invocation.out.print(f"wrote {to}", soft_wrap=True)
    return ExitCode.PASS


@click.command("verify-attestation")
@click.argument("file", type=FILE)
@click.option("--key", type=FILE, required=True, help="Public key in PEM.")
@click.option("--image", required=True, help="The image in question: repository@sha256:..., or its digest.")
@global_options
@pass_invocation
def verify_command(invocation: Invocation, file: Path, key: Path, image: str) -> ExitCode:
    """Check that a key signed FILE about an image; the exit code is that of `oasis wait --gate`."""
    try:
        envelope = json.loads(file.read_bytes())
    except ValueError as error:
        raise errors.InvalidInput(f"{file}: no JSON: {error}") from error
    told = statement.read_statement(dsse.verify(envelope, key.read_bytes()))
    digest = image.rpartition("@")[2]
    if digest not in told["images"]:
        about = ", ".join(told["images"]) or "no image"
        raise errors.InvalidInput(f"{file}: it is about {console.clean(about)} and not about {digest}")
    invocation.out.print(f"{told['result']} {digest}", soft_wrap=True)
    return _CODES[told["result"]]
