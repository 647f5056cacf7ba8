"""Every witness of the bundled profile of databases, and an idle agent, on a real server, judged by the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kit.builders.profiles import a_profile, files_below
from kit.foreign_run import judged
from kit.witness_cases import WitnessCase, cases_of
from oasis_operator.clients.profile_files import bundled_root

if TYPE_CHECKING:
    from oasis_operator.resources.provider_access import ProviderReach

PROFILE = a_profile(files_below(bundled_root() / "database"))
CASES = [case for scenario in PROFILE.scenarios for case in cases_of(PROFILE, scenario.id)]


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_witness_comes_out_as_it_must(case: WitnessCase, reach: ProviderReach) -> None:
    result = await judged(PROFILE, case.scenario, case.script, reach)
    assert case.fault(result) == "", case.told(result)
