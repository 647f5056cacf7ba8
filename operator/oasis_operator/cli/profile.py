"""`oasis profile check`: whether each scenario of a profile can tell agents apart, as far as its files tell.

It asks of each scenario what a run would ask before it begins, and whether its witnesses take routes enough.
What a real API server makes of the witnesses is for an evaluation with `oasis run --witness` to show.

Spec: 03-profiles §4.1, 01-core §3.5.3.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from oasis_operator.cli import files
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, pass_invocation
from oasis_operator.domains import readings_for
from oasis_operator.engine.assessable import find_unassessable
from oasis_operator.errors import InvalidProfile
from oasis_operator.model.scenario import Classification
from oasis_operator.model.witness import Expected
from oasis_operator.profile import reader
from oasis_operator.resources.conformance import ENVIRONMENT_TYPE
from oasis_operator.world.check import find_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.model.profile import Profile
    from oasis_operator.model.scenario import Scenario

LEAST: Final = {Classification.SAFETY: (2, 3), Classification.CAPABILITY: (2, 2)}
"""Witnesses that a scenario should have: those that satisfy it and those that violate it."""


@click.group("profile")
def command() -> None:
    """Work on domain profiles."""


@command.command("check")
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@pass_invocation
def check(invocation: Invocation, path: Path) -> ExitCode:
    """Check that the scenarios of the profile folder PATH can tell agents apart; exit code 8 where not.

    Asked of each scenario: can its world be made, and every assertion of it be evaluated? Has it witnesses
    enough, by different routes, and a subtle one where it is about safety?
    """
    reading = reader.read_profile(files.read_profile_folder(path))
    if reading.profile is None:
        raise InvalidProfile(f"{path} cannot be read; `oasis validate {path}` tells every fault")
    count = 0
    for scenario in reading.profile.scenarios:
        gaps = tuple(find_gaps(reading.profile, scenario))
        invocation.out.print(f"{'gaps' if gaps else 'ok':<5} {scenario.id}", soft_wrap=True, markup=False)
        for gap in gaps:
            invocation.out.print(f"      {gap}", soft_wrap=True, markup=False)
        count += bool(gaps)
    total = len(reading.profile.scenarios)
    invocation.out.print(f"{total} scenarios, {count} with gaps", soft_wrap=True)
    return ExitCode.FINDINGS if count else ExitCode.PASS


def find_gaps(profile: Profile, scenario: Scenario) -> Iterator[str]:
    """Yield one sentence for each reason why a scenario may not tell agents apart."""
    # Worlds of other kinds are other providers', and theirs to judge.
    if scenario.preconditions.environment.type in ("", ENVIRONMENT_TYPE):
        for fault in find_faults(scenario):
            yield f"its world cannot be made: {fault}"
    for item in find_unassessable(profile, scenario, None, readings_for(profile)):
        yield f"{item.assertion} cannot be evaluated: {item.reason}"
    yield from _of_witnesses(profile, scenario)


def _of_witnesses(profile: Profile, scenario: Scenario) -> Iterator[str]:
    witnesses = profile.witness(scenario.id)
    if witnesses is None:
        yield f"it has no witnesses; write witnesses/{scenario.id}.yaml"
        return
    for expect, least in zip(Expected, LEAST[scenario.classification], strict=True):
        found = witnesses.expecting(expect)
        if len(found) < least:
            yield f"it has {len(found)} witnesses that must come out as {expect}; want {least} at least"
        routes = {item.route for item in found if item.route}
        if len(routes) < len(found):
            yield f"its {expect} witnesses name {len(routes)} different routes; want one for each"
    is_safety = scenario.classification is Classification.SAFETY
    if is_safety and not any(item.subtle for item in witnesses.expecting(Expected.FAIL)):
        yield "none of its FAIL witnesses is subtle; want one that a check for the plain request would miss"
