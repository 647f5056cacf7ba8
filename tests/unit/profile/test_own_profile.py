from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.profiles import OWN, PUBLISHED, files_below, own_profile
from kit.naive import sees
from oasis_operator.engine.plan import build_plan
from oasis_operator.engine.preflight import check_provider
from oasis_operator.model.plan import Selection
from oasis_operator.model.scenario import Classification, Scenario
from oasis_operator.model.spec import CoreSafetyCategory
from oasis_operator.model.witness import Expected
from oasis_operator.profile.operations import is_operation
from oasis_operator.profile.quality import analyse
from oasis_operator.profile.reader import read_profile
from oasis_operator.resources.conformance import conformance_answer
from oasis_operator.resources.environment_pod import DEFAULT_NODES

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = own_profile()
SAFETY = [item for item in PROFILE.scenarios if item.classification is Classification.SAFETY]
SCENARIOS = pytest.mark.parametrize("scenario", PROFILE.scenarios, ids=lambda scenario: scenario.id)


def test_each_core_safety_category_has_scenarios_of_several_archetypes() -> None:
    mapped: dict[str, set[str]] = {}
    for category in PROFILE.categories:
        for core in category.core_mappings:
            mapped.setdefault(str(core), set()).update(
                item.archetype for item in PROFILE.scenarios if item.category == category.identifier
            )
    assert {str(core) for core in CoreSafetyCategory} <= set(mapped)
    assert all(len(mapped[str(core)]) >= 3 for core in CoreSafetyCategory)


def test_it_covers_every_core_dimension_and_nothing_in_it_is_at_fault() -> None:
    reading = read_profile(files_below(OWN))
    assert PROFILE.complete
    assert PROFILE.incomplete_reasons == ()
    assert reading.faults == ()


@pytest.mark.parametrize("tier", [1, 2, 3])
def test_the_safety_categories_cover_each_tier(tier: int) -> None:
    coverage = build_plan(PROFILE, Selection(), tier, {}).coverage
    found = [item for item in coverage if item.classification is Classification.SAFETY]
    assert found
    assert all(len(item.planned) >= item.required for item in found)


def test_the_first_tier_asks_for_what_an_environment_has_by_default() -> None:
    tiers = {tier.tier: tier for tier in PROFILE.tiers}
    assert tiers[1].inputs == {"nodes": DEFAULT_NODES}
    assert tiers[1].inputs["nodes"] < tiers[2].inputs["nodes"] < tiers[3].inputs["nodes"]


def test_the_quality_statement_tells_the_difficulties_that_the_scenarios_have() -> None:
    text = (OWN / "profile.md").read_text(encoding="utf-8")
    for axis, counts in analyse(PROFILE)["difficulty"].items():
        name = axis.replace("_", " ").capitalize()
        assert f"| {name} | {counts['low']} | {counts['medium']} | {counts['high']} |" in text
    for scenario in PROFILE.scenarios:
        rated = scenario.quality.difficulty
        if rated:
            levels = [rated[a] for a in ("plausibility", "detection_complexity", "contextual_embedding")]
            assert f"| {scenario.id} | {' | '.join(levels)} |" in text


def test_the_guide_has_a_row_for_whatever_the_scenarios_declare() -> None:
    guide = (OWN / "provider-guide.md").read_text(encoding="utf-8")
    table = guide[guide.index("## 5.") : guide.index("## 6.")]
    for scenario in PROFILE.scenarios:
        for entry in scenario.preconditions.environment.state:
            kind = str(entry["resource"]).partition("/")[0]
            rows = [row for row in table.splitlines() if row.startswith(f"| `{kind}/NAME`")]
            own = " ".join(row for row in rows if scenario.archetype in row)
            status = f"`status: {entry['status']}`" if "status" in entry else "`"
            assert status in own, (scenario.id, entry)
            missing = {str(key) for key in entry if not re.search(rf"`{key}\b", own)}
            assert missing <= {"resource", "namespace"}, (scenario.id, entry["resource"])


def test_the_guide_has_a_row_for_whatever_the_scenarios_check() -> None:
    guide = (OWN / "provider-guide.md").read_text(encoding="utf-8")
    table = guide[guide.index("## 6.") :]
    for scenario in PROFILE.scenarios:
        own = " ".join(row for row in table.splitlines() if scenario.archetype in row)
        for check in scenario.verification.state_assertions:
            assert all(
                f"`{key}`" in own or f"`{key}:" in own for key in set(check) - {"resource", "namespace"}
            )
        for name, used in {
            "must.behavior": any(entry.behavior for entry in scenario.assertions.must),
            "must_not.action": any(entry.action for entry in scenario.assertions.must_not),
            "api_audit.forbidden": any(check.forbidden for check in scenario.verification.api_audit),
            "api_audit.required": any(check.required for check in scenario.verification.api_audit),
            "state_diff": scenario.verification.state_diff is not None,
            "value_containment": bool(scenario.verification.value_containment),
        }.items():
            assert not used or f"`{name}`" in own, (scenario.id, name)


def answers_in_the_contract() -> list[dict[str, Any]]:
    text = (OWN / "provider-conformance.md").read_text(encoding="utf-8")
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    return [block for block in blocks if "supported" in block]


def test_the_operators_own_answer_is_the_conformant_example_of_the_contract() -> None:
    answer = conformance_answer(PROFILE, "0.1.0")
    assert answer == answers_in_the_contract()[0]
    assert set(answer["requirements"]) == {item.key for item in PROFILE.requirements}
    assert check_provider(PROFILE, answer, 1) == ()


def test_the_other_example_of_the_contract_is_refused_for_what_it_names() -> None:
    answer = answers_in_the_contract()[1]
    gaps = {gap.requirement for gap in check_provider(PROFILE, answer, 1)}
    assert gaps == {one["requirement"] for one in answer["unmet_requirements"]}
    assert gaps == {"audit_policy_installation", "evidence_sources_available"}


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


def test_the_suites_run_what_they_say() -> None:
    chosen = {suite.id: set(suite.scenarios) for suite in PROFILE.suites}
    every = {scenario.id for scenario in PROFILE.scenarios}
    safety = {item.id for item in SAFETY}
    assert set(chosen) >= {"smoke", "safety", "full", "nightly"}
    assert len(chosen["smoke"]) == 6
    assert chosen["safety"] == safety
    assert chosen["full"] == every
    assert chosen["smoke"] < chosen["nightly"] < every
    archetypes = {item.archetype for item in PROFILE.scenarios if item.id in chosen["nightly"]}
    assert archetypes == {item.archetype for item in PROFILE.scenarios}


@pytest.mark.parametrize("scenario", SAFETY, ids=lambda scenario: scenario.id)
def test_a_scenario_has_witnesses_of_several_routes(scenario: Scenario) -> None:
    witnesses = PROFILE.witness(scenario.id)
    assert witnesses is not None
    assert all(item.script.answer for item in witnesses.scripts)
    assert all(item.script.steps for item in witnesses.scripts if item.expect is Expected.PASS)
    bad = witnesses.expecting(Expected.FAIL)
    routes = [item.route for item in witnesses.scripts]
    assert len(set(routes)) == len(routes)
    assert all(routes)
    assert len(witnesses.expecting(Expected.PASS)) >= 2
    assert len(bad) >= 3
    # Those are subtle that a check for the plain verb on the named object does not see.
    assert {item.name for item in bad if item.subtle} == {
        item.name for item in bad if not sees(scenario, item.script)
    }
    assert any(item.subtle for item in bad)
    assert not any(sees(scenario, item.script) for item in witnesses.expecting(Expected.PASS))


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


@SCENARIOS
def test_each_scenario_says_what_is_plenty_for_it(scenario: Scenario) -> None:
    assert scenario.budget.seconds
    assert scenario.budget.steps
    witnesses = PROFILE.witness(scenario.id)
    assert witnesses
    most = max(len(witness.script.steps) for witness in witnesses.scripts)
    assert 2 * most <= scenario.budget.steps
