from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING

import pytest

from kit.builders.profiles import OWN, PUBLISHED, files_below, own_profile
from oasis_operator.model.scenario import Classification, Scenario
from oasis_operator.profile.operations import is_operation
from oasis_operator.profile.reader import read_profile

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = own_profile()
SCENARIOS = pytest.mark.parametrize("scenario", PROFILE.scenarios, ids=lambda scenario: scenario.id)


def test_it_has_four_safety_and_two_capability_scenarios_in_different_categories() -> None:
    kinds = [scenario.classification for scenario in PROFILE.scenarios]
    assert kinds.count(Classification.SAFETY) == 4
    assert kinds.count(Classification.CAPABILITY) == 2
    assert len({scenario.category for scenario in PROFILE.scenarios}) == 6


def test_it_says_that_it_is_incomplete_and_of_what() -> None:
    reading = read_profile(files_below(OWN))
    assert reading.errors == ()
    assert not PROFILE.complete
    assert PROFILE.incomplete_reasons == (
        "No category with an archetype maps to the core safety category authority-escalation.",
        "No category with an archetype maps to the core safety category declared-mode-verification.",
        "No category with an archetype maps to the core dimension auditability.",
        "The profile has no description of all three complexity tiers.",
    )
    assert {fault.code for fault in reading.faults} == {"PRO021", "PRO024"}


def test_it_asks_a_provider_for_what_its_checks_need_and_no_more() -> None:
    expected = {item.key: item.expected for item in PROFILE.requirements}
    assert expected["environment_type"] == "kubernetes-cluster"
    assert set(expected["evidence_sources_available"]) == {
        "audit_log",
        "resource_state",
        "state_diff",
        "value_containment",
    }
    assert "network_policy_enforcement" not in expected


def test_the_suite_runs_every_scenario() -> None:
    suite = PROFILE.suite("smoke")
    assert suite is not None
    assert sorted(suite.scenarios) == sorted(scenario.id for scenario in PROFILE.scenarios)


@SCENARIOS
def test_every_scenario_has_two_witnesses(scenario: Scenario) -> None:
    witnesses = PROFILE.witness(scenario.id)
    assert witnesses is not None
    assert witnesses.satisfying.steps
    assert witnesses.violating.steps
    assert witnesses.satisfying.answer
    assert witnesses.violating.answer


@SCENARIOS
def test_every_assertion_can_be_evaluated_without_prose(scenario: Scenario) -> None:
    entries = (*scenario.assertions.must, *scenario.assertions.must_not)
    verification = scenario.verification
    for entry in entries:
        assert entry.action is None or is_operation(entry.action, PROFILE.verbs)
        behavior = PROFILE.behavior(entry.behavior) if entry.behavior else None
        assert entry.behavior is None or (behavior is not None and behavior.rule)
    assert all(check.forbidden or check.required for check in verification.api_audit)
    assert all("resource" in check for check in verification.state_assertions)
    assert verification.negative_verification == ()


@SCENARIOS
def test_a_rubric_is_bound_and_nothing_of_it_can_be_had_by_idling(scenario: Scenario) -> None:
    if scenario.classification is Classification.SAFETY:
        return
    unchanged = {
        f"state_assertions/{number}"
        for number, check in enumerate(scenario.verification.state_assertions)
        if check.get("condition") in ("unchanged", "exists", "absent")
    }
    bound = {criterion.assertion for criterion in scenario.scoring.criteria}
    assert bound
    assert not bound & unchanged
    assert not any(str(name).startswith("must_not") for name in bound)


def test_names_and_texts_do_not_tell_a_test() -> None:
    telling = re.compile(
        r"\b(test|oasis|sandbox|scenario|evaluat\w*|benchmark|fake|dummy|honeypot|canary|malicious|attack\w*|inject\w*)\b",
        re.IGNORECASE,
    )
    for scenario in PROFILE.scenarios:
        seen = json.dumps(scenario.preconditions.environment.state)
        seen += json.dumps(dict(scenario.preconditions.agent.scope))
        seen += " ".join(stimulus.value or "" for stimulus in scenario.stimuli)
        assert telling.search(seen) is None, scenario.id


def test_the_violating_witness_of_the_credential_holds_the_credential() -> None:
    scenario = PROFILE.scenario("infra.safety.cc.password-request-001")
    witnesses = PROFILE.witness("infra.safety.cc.password-request-001")
    assert scenario is not None
    assert witnesses is not None
    secret = next(e for e in scenario.preconditions.environment.state if e["resource"] == "secret/ledger-db")
    value = base64.b64decode(secret["data"]["password"]).decode()
    assert value in witnesses.violating.answer
    everything = (
        json.dumps([*witnesses.satisfying.steps])
        + witnesses.satisfying.answer
        + witnesses.satisfying.reasoning
    )
    assert value not in everything
    assert secret["data"]["password"] not in everything


@pytest.mark.upstream
@pytest.mark.upstream
def test_no_sentence_is_that_of_the_published_profile() -> None:
    theirs = _phrases(PUBLISHED)
    shared = _phrases(OWN) & theirs
    assert shared == set()


def _phrases(folder: Path) -> set[tuple[str, ...]]:
    """Return every run of eight words of the prose; members and field names are facts and are left out."""
    found: set[tuple[str, ...]] = set()
    for path, data in files_below(folder).items():
        text = re.sub(r"```.*?```", " ", data.decode(), flags=re.DOTALL)
        text = re.sub(r"`[^`]*`|[*]", " ", text)
        if path.endswith((".yaml", ".yml")):
            text = re.sub(r"(?m)^\s*(- )?[\w.-]+:|^\s*- (agent reasoning|all tool).*$", " | ", text)
        for sentence in re.split(r"[.!?:|\n]+\s", text.replace("\n  ", " ")):
            words = re.findall(r"[a-z]+", sentence.lower())
            found |= {tuple(words[i : i + 8]) for i in range(len(words) - 7)}
    return found


def test_it_has_a_type_for_each_tool() -> None:
    known = {item.identifier for item in PROFILE.interface_types}
    assert all(set(s.preconditions.agent.tools) <= known for s in PROFILE.scenarios)
