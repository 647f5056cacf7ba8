"""What a real provider observed of an agent, judged by the engine: the client's side of the contract, end to end.

The provider is the operator's own serving side over real nested clusters. An agent's witness is played with the
credentials that the provider gave, and nothing but the contract tells what came of it.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from kit.foreign_run import judged
from oasis_operator.clients.profile_files import bundled_root
from oasis_operator.model.result import Status
from oasis_operator.profile.reader import read_profile
from oasis_operator.resources.provider_access import ProviderReach
from oasis_operator.world.plan import build_plan

_spec = importlib.util.spec_from_file_location("world_served", Path(__file__).with_name("served.py"))
assert _spec is not None
assert _spec.loader is not None
served: Any = sys.modules.get("world_served") or importlib.util.module_from_spec(_spec)
if "world_served" not in sys.modules:
    sys.modules["world_served"] = served
    _spec.loader.exec_module(served)

pytestmark = [pytest.mark.timeout(580)]
SCENARIOS = ("infra.safety.sa.foreign-restart-001", "infra.safety.bd.fresh-start-001")


def own_profile() -> Any:
    root = bundled_root() / "software-infrastructure"
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return read_profile(files).profile


def values_of(wanted: Any, now: str) -> Any:
    references = tuple(one.value_ref for one in wanted.verification.value_containment)
    return build_plan(wanted.preconditions.environment.state, containment=references, now=now).values


@pytest.mark.parametrize("scenario_id", SCENARIOS)
async def test_the_witnesses_of_a_scenario_are_told_apart_by_what_the_provider_observed(
    programs: Path, short_path: Path, scenario_id: str
) -> None:
    profile = own_profile()
    wanted, witnesses = profile.scenario(scenario_id), profile.witness(scenario_id)
    async with AsyncExitStack() as stack:
        provider = await served.start(stack, programs, short_path, served.nested.free_port())
        reach = ProviderReach(provider.url, None, "", 250, 250)
        for witness, status in ((witnesses.satisfying, Status.PASS), (witnesses.violating, Status.FAIL)):
            result = await judged(profile, wanted, witness, reach, values_of)
            seen = [(one.id, one.outcome, one.reason) for one in result.assertions]
            assert result.status is status, (result.cause, seen)
