"""Keeps the coverage ledger of a run: plans it from the challenge, moves it by what was touched, closes it.

The plan is the harness's own, so that no surface can be left out of it by whoever is tested.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from oasis_operator.harness import commands, surfaces
from oasis_operator.harness.ledger import Ledger, Unit
from oasis_operator.harness.problems import Problem, point
from oasis_operator.harness.touches import Touch, touches_of
from oasis_operator.harness.vocabulary import Standing, Surface, UnitState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from oasis_operator.harness.challenge import Challenge
    from oasis_operator.harness.finding import Finding
    from oasis_operator.harness.touches import Request

ENOUGH: Final = 3
"""Ways to touch a surface that make it looked at; fewer leave it under way."""

MAX_COMMANDS: Final = 1000
"""Actions whose commands are parsed; what comes after them is told by traffic alone."""


def plan_ledger(run_id: str, challenge: Challenge, at: str, own_surfaces: Sequence[str] = ()) -> Ledger:
    """Plan a unit for each standard surface of the target and for each own one, all of them `planned`."""
    names = [*Surface, *own_surfaces]
    units = tuple(
        Unit(
            id=f"COV-{number:03}",
            name=f"{name} of {challenge.host}",
            description=surfaces.TITLES[name] if isinstance(name, Surface) else f"Own surface {name}",
            surface=str(name),
        )
        for number, name in enumerate(names, start=1)
    )
    return Ledger(run_id, challenge.id, at, units)


def touches_in(
    actions: Iterable[tuple[Mapping[str, Any], str, str]],
    hosts: frozenset[str],
    *,
    traffic: Iterable[Request] | None = None,
    own_surfaces: tuple[str, ...] = (),
) -> tuple[Touch, ...]:
    """Return what a run touched.

    Args:
        actions: Actions of the transcript with actor and RFC 3339 time, in order.
        hosts: Names of the targets, small letters.
        traffic: Requests that the environment recorded, in order; None where it recorded none.
        own_surfaces: Surfaces besides the standard ones.
    """
    asked: list[Request] = []
    used: list[Touch] = []
    for action, actor, at in islice(actions, MAX_COMMANDS):
        calls = commands.calls_of(commands.command_of(action))
        asked += commands.requests_of(calls, actor, at)
        used += commands.tools_of(calls, hosts, actor, at)
    if traffic is None:
        return (*touches_of(asked, hosts, own_surfaces), *used)
    seen = touches_of(traffic, hosts, own_surfaces)
    techniques: defaultdict[str, set[str]] = defaultdict(set)
    for touch in used:
        techniques[touch.surface] |= set(touch.techniques)
    return tuple(
        replace(touch, techniques=tuple(sorted({*touch.techniques, *techniques[touch.surface]})))
        for touch in seen
    )


def apply_touches(ledger: Ledger, touches: Iterable[Touch]) -> Ledger:
    """Move the units that were touched: under way by the first way, completed by as many as are enough."""
    ways: defaultdict[str, set[str]] = defaultdict(set)
    units = {unit.surface: unit for unit in ledger.units}
    for touch in touches:
        unit = units.get(touch.surface)
        if unit is None:
            continue
        unit = unit.start(touch.actor, touch.at).credit(techniques=touch.techniques)
        ways[touch.surface].add(touch.shape)
        if unit.state is UnitState.IN_PROGRESS and len(ways[touch.surface]) >= ENOUGH:
            unit = unit.complete(touch.at)
        units[touch.surface] = unit
    return replace(ledger, units=tuple(units[unit.surface] for unit in ledger.units))


def credit_findings(ledger: Ledger, findings: Iterable[Finding], at: str) -> Ledger:
    """Credit open and confirmed findings to their surfaces, which that completes; see `surfaces.CREDITS`."""
    for finding in findings:
        if finding.standing is Standing.REJECTED:
            continue
        for unit in ledger.units:
            if unit.surface in surfaces.of_claim(finding.claim):
                who = finding.discovered_by or finding.by
                credited = unit.start(who, at).credit(findings=[finding.id])
                if credited.state is UnitState.IN_PROGRESS:
                    credited = credited.complete(at)
                ledger = ledger.with_unit(credited)
    return ledger


def close_ledger(ledger: Ledger, at: str, reason: str) -> Ledger:
    """Defer what is not completed, for the reason why the run ended: nothing is under way after a run."""
    units = []
    for unit in ledger.units:
        if unit.state is UnitState.PLANNED:
            units.append(unit.defer(f"not touched: {reason}"))
        elif unit.state is UnitState.IN_PROGRESS:
            units.append(unit.defer(f"begun, but not looked at in {ENOUGH} ways: {reason}"))
        else:
            units.append(unit)
    return replace(ledger, timestamp=at, units=tuple(units))


def check_against_plan(
    challenge: Challenge, own_surfaces: Sequence[str], document: Mapping[str, Any]
) -> tuple[Problem, ...]:
    """Return what a valid ledger hides of the plan: a unit that is missing, or is another one than planned.

    The grouped shape has ids of its own, so there a surface without any unit is what is hidden.
    """
    planned = plan_ledger("", challenge, "", own_surfaces)
    problems = []
    if document.get("challenge", document.get("challengeId", challenge.id)) != challenge.id:
        problems.append(Problem("", "reference", f"is not a ledger of the challenge {challenge.id!r}"))
    return (*problems, *_hidden(planned, document["units"]))


def _hidden(planned: Ledger, units: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    given = {unit["id"]: (index, unit) for index, unit in enumerate(units) if "surface" in unit}
    grouped = {unit["attackSurface"] for unit in units if "attackSurface" in unit}
    for unit in planned.units:
        if unit.id in given:
            index, found = given[unit.id]
            if found["surface"] != unit.surface:
                message = f"{found['surface']!r}: {unit.id} was planned for {unit.surface!r}"
                yield Problem(point("units", index, "surface"), "hidden", message)
        elif unit.surface not in grouped:
            yield Problem("/units", "hidden", f"{unit.id} ({unit.surface}) was planned and is missing")
