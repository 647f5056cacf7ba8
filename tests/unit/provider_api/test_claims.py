from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from oasis_operator import errors
from oasis_operator.provider_api import claims
from oasis_operator.provider_api.claims import Claims
from oasis_operator.resources import conformance

if TYPE_CHECKING:
    from collections.abc import Mapping

PROFILE = "oasis-profile-software-infrastructure"


class SelfTests:
    """Self-tests of a provider."""

    def __init__(self, *results: Mapping[str, str] | Exception) -> None:
        self.results = list(results)
        self.made = 0
        self.hold = asyncio.Event()
        self.hold.set()

    async def __call__(self) -> Mapping[str, str]:
        self.made += 1
        await self.hold.wait()
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


def some(tests: SelfTests, time: Any = lambda: 0.0) -> Claims:
    async def profiles() -> dict[str, conformance.Known]:
        return {PROFILE: conformance.published(PROFILE, "0.2.0-rc3")}

    return Claims(profiles, tests, time, "0.1.0")


async def test_what_self_tests_showed_is_claimed() -> None:
    answer = await some(SelfTests({})).answer(PROFILE)
    assert answer["supported"] is True
    assert answer["unmet_requirements"] == []
    assert answer["profile_version"] == "0.2.0-rc3"
    assert answer["extensions"] == ["environment_id"]
    assert {value for value in answer["requirements"].values() if isinstance(value, bool)} == {True}
    assert len(answer["requirements"]) == 8


@pytest.mark.parametrize(
    ("key", "requirement", "value"),
    [
        ("network_policy_enforcement", "network_policy_enforcement", False),
        ("audit_policy_installation", "audit_policy_installation", False),
        ("evidence_sources_available/audit_log", "evidence_sources_available",
         ["resource_state", "state_diff", "value_containment"]),
    ],
)  # fmt: skip
async def test_what_they_did_not_show_is_not_claimed_and_says_why(
    key: str, requirement: str, value: Any
) -> None:
    answer = await some(SelfTests({key: "it was not seen"})).answer(PROFILE)
    assert answer["supported"] is False
    assert answer["unmet_requirements"] == [{"requirement": requirement, "reason": "it was not seen"}]
    assert answer["requirements"][requirement] == value


async def test_a_source_that_no_profile_asks_for_may_be_missing() -> None:
    answer = await some(SelfTests({"evidence_sources_available/state_diff": "no"})).answer(PROFILE)
    assert answer["supported"] is True
    assert "state_diff" not in answer["requirements"]["evidence_sources_available"]


@pytest.mark.parametrize(
    "fault", [errors.ProviderFault("no environment could be made"), KeyError("a bug")], ids=["fault", "bug"]
)
async def test_a_self_test_that_could_not_be_made_claims_nothing(fault: Exception) -> None:
    answer = await some(SelfTests(fault)).answer(PROFILE)
    assert answer["supported"] is False
    assert not any(value is True for value in answer["requirements"].values())
    assert answer["requirements"]["evidence_sources_available"] == []
    assert str(fault) in answer["unmet_requirements"][0]["reason"]


async def test_all_who_ask_meanwhile_share_one_self_test_and_one_that_lasts_claims_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tests = SelfTests({})
    tests.hold.clear()
    monkeypatch.setattr(claims, "_WAIT_SECONDS", 0.02)
    asked = some(tests)
    first = await asyncio.gather(*(asked.answer(PROFILE) for _ in range(20)))
    assert {answer["supported"] for answer in first} == {False}
    assert "ask again" in first[0]["unmet_requirements"][0]["reason"]
    tests.hold.set()
    assert (await asked.answer(PROFILE))["supported"] is True
    assert tests.made == 1


async def test_a_self_test_is_made_again_once_it_is_old_and_sooner_where_it_failed() -> None:
    now = [0.0]
    tests = SelfTests({"state_injection": "no"}, {}, {})
    asked = some(tests, lambda: now[0])
    assert (await asked.answer(PROFILE))["supported"] is False
    now[0] += 301
    assert (await asked.answer(PROFILE))["supported"] is True
    now[0] += 3600
    await asked.answer(PROFILE)
    assert tests.made == 2
    now[0] += 24 * 3600
    await asked.answer(PROFILE)
    assert tests.made == 3


async def test_a_profile_that_nobody_has_read_is_not_claimed_and_no_self_test_is_made_for_it() -> None:
    tests = SelfTests()
    answer = await some(tests).answer("profile-of-nobody")
    assert (answer["supported"], answer["profile"]) == (False, "profile-of-nobody")
    assert PROFILE in answer["unmet_requirements"][0]["reason"]
    assert tests.made == 0
