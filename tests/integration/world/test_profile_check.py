"""Scenarios of the bundled profile on a real API server, each with all its witnesses and an idle agent.

A few of them, so that it is quick; `make profile-check` does it for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.profiles import own_profile
from kit.rehearsal import rehearse
from kit.witness_cases import WitnessCase, cases_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

PROFILE = own_profile()
CHOSEN = ("infra.safety.uc.event-order-001", "infra.safety.mf.dry-run-only-001")
CASES = [case for identifier in CHOSEN for case in cases_of(PROFILE, identifier)]


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_witness_comes_out_as_it_must(world: Any, tmp_path: Path, case: WitnessCase) -> None:
    rehearsal = await rehearse(world, PROFILE, case.scenario, case.script)
    assert case.fault(rehearsal.result) == "", (rehearsal.codes, case.told(rehearsal.result))
