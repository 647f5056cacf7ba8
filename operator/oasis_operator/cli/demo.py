"""`oasis demo`: evaluate a careful, a reckless and an idle agent, and show what tells them apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from oasis_operator import errors
from oasis_operator.cli import console, files, first_screen, follow, run, runs
from oasis_operator.cli.durations import Duration
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.cli.first_screen import Screen

DEFAULT_MANIFESTS = Path("examples/demo")
CAREFUL, RECKLESS, IDLE = "careful", "reckless", "idle"
NAMES = (CAREFUL, RECKLESS, IDLE)
VACUOUS = "Vacuous"
SURPRISE_CHARACTERS = 240
DELETION_SECONDS = 60.0
COLUMNS = ("AGENT", "VERDICT", "GATE", "SCENARIO", "ASSERTION", "AUDIT ENTRY")


@click.command("demo")
@click.option(
    "-f",
    "--filename",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_MANIFESTS,
    show_default=True,
    help="Folder with the demo's manifests.",
)
@click.option("--timeout", type=Duration(), default="20m", show_default=True, help="Longest time to wait.")
@global_options
@pass_invocation
def command(invocation: Invocation, folder: Path, timeout: float) -> ExitCode:
    """Run the demo anew; exit code 0 when the three agents come out as they should, else 8.

    The careful agent must pass. The reckless one must fail, with scenario, assertion and audit entry.
    The idle one may not be usable as a gate, whatever its verdict.
    """
    documents = files.read_manifests((folder,))
    remove_earlier(invocation)
    run.apply(invocation, documents)
    followed = follow.follow(invocation, invocation.namespace, NAMES, timeout)
    screens = tuple(
        first_screen.build_screen(one.evaluation, runs.read_runs(invocation.cluster, one.evaluation))
        for one in followed
    )
    _print(invocation, screens)
    surprises = find_surprises(followed, screens)
    for surprise in surprises:
        invocation.err.print(f"not as it should be: {surprise}", soft_wrap=True)
    return ExitCode.FINDINGS if surprises else ExitCode.PASS


def remove_earlier(invocation: Invocation) -> None:
    """Delete the Evaluations of an earlier demo and wait until they are gone, so that this one really runs.

    Raises:
        NotReady: One is not gone after a minute.
    """
    space = invocation.namespace
    for name in NAMES:
        invocation.cluster.delete(kinds.EVALUATION, space, name)
    started = invocation.monotonic()
    while any(invocation.cluster.get(kinds.EVALUATION, space, name) for name in NAMES):
        if invocation.monotonic() - started > DELETION_SECONDS:
            raise errors.NotReady(
                f"evaluations of an earlier demo in {space} are not gone; is the operator running?"
            )
        invocation.sleep(follow.POLL_SECONDS)


def demo_row(name: str, screen: Screen) -> tuple[str, ...]:
    """Give the table row of one agent; the gate's column has the names of the reasons, vacuity first."""
    words = dict.fromkeys(reason.partition(":")[0] for reason in screen.gate_reasons)
    named = sorted(words, key=lambda word: word != VACUOUS)
    gate = "yes" if screen.gateable else f"no: {', '.join(console.clean(word) for word in named)}"
    return (name, screen.verdict, gate, screen.scenario or "-", screen.assertion or "-", screen.audit or "-")


def is_vacuous(screen: Screen) -> bool:
    """Tell whether the operator marked the pass as one that an idle agent would get as well."""
    marks = (screen.reason, *(reason.partition(":")[0] for reason in screen.gate_reasons))
    return screen.verdict == "PASS" and VACUOUS in marks


def find_surprises(followed: Sequence[follow.Followed], screens: Sequence[Screen]) -> tuple[str, ...]:
    """Compare the outcome with what the demo must show; empty when all is as it should be."""
    careful, reckless, idle = screens
    claims = (
        *(
            (one.settled, f"{screen.evaluation} is not complete")
            for one, screen in zip(followed, screens, strict=True)
        ),
        (
            careful.verdict == "PASS",
            f"careful is {careful.verdict} ({careful.reason}), not PASS: {careful.cause}",
        ),
        (not is_vacuous(careful), "careful passes vacuously"),
        (
            reckless.verdict == "FAIL",
            f"reckless is {reckless.verdict} ({reckless.reason}), not FAIL: {reckless.cause}",
        ),
        (bool(reckless.scenario), "reckless names no scenario"),
        (bool(reckless.assertion), "reckless names no assertion"),
        (reckless.audit_proven, "reckless has no audit entry"),
        (is_vacuous(idle), f"idle is {idle.verdict} ({idle.reason}), not marked vacuous: {idle.cause}"),
        (not idle.gateable, "a gate may rely on idle"),
        (not reckless.gateable, "a gate may rely on reckless"),
    )
    return tuple(console.clean(text, SURPRISE_CHARACTERS) for holds, text in claims if not holds)


def _print(invocation: Invocation, screens: Sequence[Screen]) -> None:
    """Print the table, then the first screen of the failure."""
    if invocation.output != "text":
        console.print_document(
            invocation.out, [first_screen.as_document(screen) for screen in screens], invocation.output
        )
        return
    rows = tuple(demo_row(name, screen) for name, screen in zip(NAMES, screens, strict=True))
    console.print_table(invocation.out, COLUMNS, rows)
    invocation.out.print(f"\nThe report of {RECKLESS} begins with:\n")
    first_screen.show(invocation, screens[NAMES.index(RECKLESS)])
