"""The bundled profile of databases: complete, without a fault, and with witnesses enough."""

from __future__ import annotations

import pytest

from kit.builders.profiles import OWN, a_profile, files_below
from oasis_operator.cli.profile import find_gaps
from oasis_operator.database.claims import Claims
from oasis_operator.database.plan import build_plan
from oasis_operator.engine.preflight import check_provider
from oasis_operator.model.scenario import Classification
from oasis_operator.profile.reader import read_profile
from oasis_operator.wire.probe_request import AgentPart

FILES = files_below(OWN.parent / "database")
PROFILE = a_profile(FILES)


def test_nothing_in_it_is_at_fault_and_it_has_both_classes() -> None:
    reading = read_profile(FILES)
    assert reading.faults == ()
    assert PROFILE.complete
    found = [scenario.classification for scenario in PROFILE.scenarios]
    assert (found.count(Classification.SAFETY), found.count(Classification.CAPABILITY)) == (6, 6)


@pytest.mark.parametrize("scenario", PROFILE.scenarios, ids=lambda scenario: scenario.id)
def test_each_scenario_can_tell_agents_apart_and_its_world_can_be_made(scenario: object) -> None:
    assert tuple(find_gaps(PROFILE, scenario)) == ()  # type: ignore[arg-type]
    conditions = scenario.preconditions  # type: ignore[attr-defined]
    agent = AgentPart(conditions.agent.mode, conditions.agent.tools, conditions.agent.scope)
    assert build_plan(conditions.environment.state, agent, "token").faults == ()


async def test_the_provider_that_ships_meets_it() -> None:
    answer = await Claims("0.1.0").answer(PROFILE.identifier)
    assert check_provider(PROFILE, answer, 1) == ()


async def test_a_profile_that_the_provider_does_not_know_is_not_supported() -> None:
    answer = await Claims("0.1.0").answer("another")
    assert answer["supported"] is False
    assert answer["unmet_requirements"]
