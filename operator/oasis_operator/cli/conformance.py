"""`oasis conformance`: does a provider keep the contract, rule by rule.

Spec: 08-provider-conformance §3, 04-execution §2.2.
"""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from oasis_operator import errors
from oasis_operator.cli import console, files
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.conformance.rules import Finding, Outcome
from oasis_operator.conformance.session import Subject
from oasis_operator.conformance.suite import run
from oasis_operator.profile import reader
from oasis_operator.resources.provider_access import ProviderReach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.model.profile import Profile

DEFAULT_PROFILE_ID = "oasis-profile-software-infrastructure"
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command("conformance")
@click.argument("url")
@click.option("--profile", "folder", type=_FOLDER, help="Profile folder that the answer must meet.")
@click.option(
    "--profile-id",
    metavar="ID",
    help=f"Profile to ask for without a folder.  [default: {DEFAULT_PROFILE_ID}]",
)
@click.option("--tier", type=click.IntRange(1, 3), default=1, show_default=True)
@click.option("--token-file", type=_FILE, help="File with the bearer token.")
@click.option("--ca-file", type=_FILE, help="PEM of the only authority to trust; the system's by default.")
@click.option(
    "--timeout", type=click.IntRange(1, 3600), default=600, show_default=True, help="Seconds for one request."
)
@global_options
@pass_invocation
def command(  # noqa: PLR0913, PLR0917 - one argument for each option
    invocation: Invocation,
    url: str,
    folder: Path | None,
    profile_id: str | None,
    tier: int,
    token_file: Path | None,
    ca_file: Path | None,
    timeout: int,
) -> ExitCode:
    """Try the rules of the provider contract on the provider at URL, and clean up afterwards.

    The provider makes a few environments and destroys them. Exit code 8 when a rule is broken, 7 when the
    provider cannot be reached.
    """
    _check(url)
    profile = _profile(folder) if folder else None
    token = token_file.read_text(encoding="utf-8").strip() if token_file else ""
    subject = Subject(
        profile_id=profile.identifier if profile else profile_id or DEFAULT_PROFILE_ID,
        profile=profile,
        tier=tier,
        has_token=bool(token),
        token=f"suite-{secrets.token_hex(4)}",
    )
    reach = ProviderReach(url, ca_file.read_bytes() if ca_file else None, token, timeout, timeout)
    findings = asyncio.run(_try(reach, subject))
    _print(invocation, findings)
    broken = [found for found in findings if found.outcome is Outcome.BROKEN]
    return ExitCode.FINDINGS if broken else ExitCode.PASS


async def _try(reach: ProviderReach, subject: Subject) -> tuple[Finding, ...]:
    # Loaded here: commands that speak to no provider need no HTTP client.
    from oasis_operator.clients.provider_http import HttpProvider  # noqa: PLC0415
    from oasis_operator.clients.provider_line import HttpLine  # noqa: PLC0415
    from oasis_operator.ports.provider import Fault  # noqa: PLC0415

    provider = HttpProvider()
    try:
        await provider.send(reach, "GET", "/")
    except errors.ProviderFault as error:
        if error.reason == Fault.UNREACHABLE:
            raise errors.Transient(error.message, reason=error.reason) from error
    return await run(HttpLine(reach, provider), subject)


def _check(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise errors.InvalidInput(f"URL {url!r}: want http:// or https:// and a host")
    if parts.query or parts.fragment:
        raise errors.InvalidInput(f"URL {url!r}: leave out what follows the path")


def _profile(folder: Path) -> Profile:
    reading = reader.read_profile(files.read_profile_folder(folder))
    if reading.profile is None:
        raise errors.InvalidProfile(
            f"{folder} cannot be used: {len(reading.faults)} faults; `oasis validate {folder}` lists them"
        )
    return reading.profile


def _print(invocation: Invocation, findings: Sequence[Finding]) -> None:
    """Print one line for each rule, and what was seen below those that are broken or untried."""
    if invocation.output != "text":
        console.print_document(invocation.out, _document(findings), invocation.output)
        return
    for found in findings:
        rule = found.rule
        line = f"{found.outcome.value:<9}{rule.id:<8}{rule.source:<13}{rule.says}"
        invocation.out.print(console.clean(line), soft_wrap=True, markup=False)
        if found.detail:
            seen = f"{'':<9}{'seen:' if found.outcome is Outcome.BROKEN else 'why:':<8}{found.detail}"
            invocation.out.print(console.clean(seen, 2000), soft_wrap=True, markup=False)
    counts = _counts(findings)
    summary = ", ".join(f"{number} {name}" for name, number in counts.items())
    invocation.out.print(summary, soft_wrap=True)


def _document(findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "conformant": not any(found.outcome is Outcome.BROKEN for found in findings),
        "counts": _counts(findings),
        "rules": [
            {
                "id": found.rule.id,
                "source": found.rule.source,
                "says": found.rule.says,
                "outcome": found.outcome.value,
                "detail": found.detail,
            }
            for found in findings
        ],
    }


def _counts(findings: Sequence[Finding]) -> dict[str, int]:
    return {str(one.value): sum(found.outcome is one for found in findings) for one in Outcome}
