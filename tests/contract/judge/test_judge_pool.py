"""The worker processes of the judge pool, really started."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest
import rfc8785

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_profile, a_scenario, deployment_entry
from oasis_operator import errors
from oasis_operator.clients.judge_pool import JudgePool
from oasis_operator.engine.readings import NO_READINGS, Readings, digest_of
from oasis_operator.model.plan import Selection
from oasis_operator.model.result import Status
from oasis_operator.ports.judge import StreamedLog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


@pytest.mark.timeout(60)
async def test_an_account_says_which_run_a_document_is_about(pool: JudgePool) -> None:
    document = a_document(a_scenario(), [])
    told = await pool.account(rfc8785.dumps({**document, "run": {**document["run"], "uid": "uid-7"}}))
    assert told.run_uid == "uid-7"
    without = await pool.account(rfc8785.dumps({**document, "run": {}}))
    assert without.run_uid == ""


@pytest.mark.timeout(60)
async def test_evidence_is_held_against_the_log_in_its_file_and_attested(
    pool: JudgePool, tmp_path: Path
) -> None:
    opening, read, delete = (
        {name: value for name, value in one.items() if name != "seq"}
        for one in (
            event("get", "kube-system:configmaps/open", user="kubernetes-admin", code=404),
            event("list", "shop:pods"),
            event("delete", "shop:deployments/web"),
        )
    )
    log = tmp_path / "audit.log"
    log.write_text("".join(json.dumps(one) + "\n" for one in (opening, read, delete)) + "cut of")
    document = {**a_document(a_scenario()), "audit": {"entries": [{**read, "seq": 1}]}}
    found = json.loads(await pool.attest(document, {}, StreamedLog(str(log))))
    assert [entry["verb"] for entry in found["audit"]["entries"]] == ["list", "delete"]
    assert found["attestation"]["audit_entries"] == 2
    absent = json.loads(await pool.attest(document, {}, StreamedLog(str(tmp_path / "absent"))))
    assert "nothing of the audit log" in absent["window"]["fault"]
