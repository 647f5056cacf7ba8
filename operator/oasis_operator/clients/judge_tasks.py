"""What a worker of the judge pool does: pure functions; arguments and results travel between processes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator import errors
from oasis_operator.engine import evidence as engine_evidence
from oasis_operator.engine import judge as engine_judge
from oasis_operator.engine import reports
from oasis_operator.engine.capture import streamed
from oasis_operator.engine.plan import build_plan
from oasis_operator.engine.reading import read_evidence
from oasis_operator.model.plan import Impossible, Plan, Selection
from oasis_operator.ports.judge import Account
from oasis_operator.profile.reader import read_profile
from oasis_operator.world.check import find_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oasis_operator.engine.readings import Readings
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.report import Report
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.ports.judge import StreamedLog
    from oasis_operator.profile.reader import ProfileReading

    ReadingsOf = Callable[[Profile], Readings]


def read(readings_of: ReadingsOf, files: dict[str, bytes]) -> ProfileReading:
    """Return the profile and its faults; what stimuli place in prose alone is there by our readings.

    Spec: 02-scenarios §1.4.
    """
    found = read_profile(files)
    if found.profile is None:
        return found
    readings = readings_of(found.profile)
    scenarios = tuple(readings.placed(one) for one in found.profile.scenarios)
    return replace(found, profile=replace(found.profile, scenarios=scenarios))


def plan(
    readings_of: ReadingsOf, profile: Profile, selection: Selection, tier: int, configuration: dict[str, Any]
) -> Plan:
    """Return what an evaluation runs, with everything of it that no cluster can be in.

    Spec: 04-execution §3, 01-core §3.7.
    """
    planned = build_plan(profile, selection, tier, configuration, readings_of(profile))
    return replace(planned, impossible=tuple(_impossible(planned)))


def _impossible(planned: Plan) -> Iterator[Impossible]:
    for scenario in planned.scenarios:
        for fault in find_faults(scenario):
            yield Impossible(
                scenario.id, fault.index, fault.resource, fault.field, fault.value, fault.message
            )


def judge(
    readings_of: ReadingsOf,
    profile: Profile,
    scenario_id: str,
    evidence: bytes,
    configuration: dict[str, Any],
) -> ScenarioResult:
    """Return the result of one scenario run.

    Raises:
        ProviderFault: The profile has no such scenario.

    Spec: 01-core §3.6.
    """
    scenario = profile.scenario(scenario_id)
    if scenario is None:
        raise errors.ProviderFault(f"the profile has no scenario {scenario_id}", reason="ProfileChanged")
    document = json.loads(evidence)
    return engine_judge.judge(profile, scenario, document, configuration, readings_of(profile))


def attest(document: dict[str, Any], values: dict[str, str], log: StreamedLog | None) -> bytes:
    """Return the canonical bytes of a document with hits recorded and values redacted.

    Spec: 01-core §3.5.5.
    """
    whole = streamed.with_stream(document, lambda: _lines(log.path), log.fault) if log else document
    return rfc8785.dumps(engine_evidence.attest(whole, values))


def _lines(path: str) -> Iterator[bytes]:
    """Yield the whole lines of a file, without their ends; none where it does not exist."""
    if not Path(path).exists():
        return
    with Path(path).open("rb") as file:
        yield from (line[:-1] for line in file if line.endswith(b"\n"))


def account(evidence: bytes) -> Account:
    """Return what a report tells of one evidence document."""
    document = json.loads(evidence)
    found = read_evidence(document)
    witnesses = document.get("preparation", {}).get("witnesses") or ()
    return Account(
        preconditions=tuple(
            f"{item.get('subject')}: {item.get('condition')}: {item.get('observed')} at {item.get('at')}"
            for item in witnesses
        ),
        stimuli=tuple(
            f"{item.type} delivered {item.delivered_at or 'never'}: {item.content[:200]}"
            for item in found.stimuli
        ),
        run_uid=str((document.get("run") or {}).get("uid") or ""),
    )


def render(report: Report) -> dict[str, bytes]:
    """Return a report in every format that it has, by file name."""
    return {name: reports.render(name, report).encode() for name in reports.names_for(report)}
