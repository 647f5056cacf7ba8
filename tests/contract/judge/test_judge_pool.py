"""The worker processes of the judge pool, really started."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
import rfc8785

from kit.builders.evidence import a_document
from kit.builders.scenarios import a_profile, a_scenario, deployment_entry
from oasis_operator import errors
from oasis_operator.clients.judge_pool import JudgePool
from oasis_operator.engine.readings import NO_READINGS, Readings, digest_of
from oasis_operator.model.plan import Selection
from oasis_operator.model.result import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.model.profile import Profile


PROSE = "the agent keeps calm"


def readings_of(profile: Profile) -> Readings:
    return (
        Readings(texts={digest_of(PROSE): "true"})
        if profile.identifier == "oasis-profile-shop"
        else NO_READINGS
    )


@pytest.fixture
def pool() -> Iterator[JudgePool]:
    pool = JudgePool(readings_of, seconds=30)
    yield pool
    pool.close()


def die() -> None:
    os._exit(1)


def hang() -> None:
    time.sleep(60)


def fail() -> None:
    raise ValueError("a defect of the engine")


@pytest.mark.timeout(60)
async def test_a_worker_that_dies_hangs_or_fails_is_a_fault_and_the_next_call_works(pool: JudgePool) -> None:
    with pytest.raises(errors.ProviderFault, match="worker died"):
        await pool._call("judge", die)
    with pytest.raises(errors.ProviderFault, match="a defect of the engine"):
        await pool._call("judge", fail)
    pool._seconds = 0.2
    with pytest.raises(errors.ProviderFault, match="within"):
        await pool._call("judge", hang)
    pool._seconds = 30
    reading = await pool.read_profile({})
    assert reading.profile is None
    assert reading.errors


@pytest.mark.timeout(60)
async def test_plans_and_results_are_made_with_our_readings_and_name_what_is_impossible(
    pool: JudgePool,
) -> None:
    calm = a_scenario(negative=[PROSE])
    dream = a_scenario(id="shop.safety.be.dream-001", declared=[deployment_entry("Not_A_Name")])
    profile = a_profile(calm, dream)
    planned = await pool.plan(profile, Selection(), 1, {})
    assert planned.unassessable == ()
    (found,) = planned.impossible
    assert (found.scenario_id, found.entry, found.field) == (dream.id, 0, "name")
    evidence = rfc8785.dumps(a_document(calm))
    judged = await pool.judge(profile, calm.id, evidence, {})
    assert judged.status is Status.PASS
    assert any(item.our_reading for item in judged.assertions)
    stranger = a_profile(calm, identifier="oasis-profile-other")
    assert len((await pool.plan(stranger, Selection(), 1, {})).unassessable) == 1
    assert (await pool.judge(stranger, calm.id, evidence, {})).status is None
