"""`oasis doctor`: is this cluster fit for evaluations, and if not, what must be mended."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from oasis_operator import errors
from oasis_operator.cli import checks, console, network_probe
from oasis_operator.cli.checks import Finding, Level
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation

if TYPE_CHECKING:
    from collections.abc import Sequence

OPERATOR_NAMESPACE = "oasis-system"


@click.command("doctor")
@click.option("--operator-namespace", default=OPERATOR_NAMESPACE, show_default=True, metavar="NAME")
@click.option("--probe", is_flag=True, help="Prove with three short pods that NetworkPolicy is enforced.")
@click.option(
    "--probe-image", metavar="IMAGE", help="Image for --probe; the operator's sidecar image by default."
)
@global_options
@pass_invocation
def command(
    invocation: Invocation, operator_namespace: str, probe: bool, probe_image: str | None
) -> ExitCode:
    """Check context, versions, operator, image pulls, rights, pod security and network policy.

    Each finding comes with its fix. Exit code 8 when there is a problem.
    """
    subject = checks.Subject(invocation.cluster, invocation.namespace, operator_namespace)
    chosen = tuple(check for check in checks.CHECKS if not probe or check is not checks.check_isolation)
    findings = tuple(checks.run_checks(subject, chosen))
    if probe:
        findings = (*findings, _probe(invocation, subject, probe_image))
    _print(invocation, findings)
    return ExitCode.FINDINGS if any(found.level is Level.PROBLEM for found in findings) else ExitCode.PASS


def _probe(invocation: Invocation, subject: checks.Subject, image: str | None) -> Finding:
    """Try the network; what keeps the probe from running is a finding too."""
    chosen = image or network_probe.sidecar_image(checks.operator_deployment(subject))
    if chosen is None:
        return Finding(
            "network policy", Level.PROBLEM, "no operator to take a probe image from", "pass --probe-image"
        )
    try:
        return network_probe.check_network(invocation, subject, chosen)
    except (errors.NotReady, errors.InvalidSpec, errors.ProviderFault) as fault:
        return Finding(
            "network policy",
            Level.PROBLEM,
            console.clean(fault.message, 300),
            "see the pod's events; the network was not judged",
        )


def _print(invocation: Invocation, findings: Sequence[Finding]) -> None:
    """Print the findings, each with its fix below it."""
    if invocation.output != "text":
        console.print_document(invocation.out, [asdict(found) for found in findings], invocation.output)
        return
    for found in findings:
        invocation.out.print(f"{found.level.value:<9}{found.check:<18}{found.detail}", soft_wrap=True)
        if found.fix:
            invocation.out.print(f"{'':<9}{'fix:':<18}{found.fix}", soft_wrap=True)
