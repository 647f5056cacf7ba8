from __future__ import annotations

import pytest

from kit.builders.profiles import CAPABILITY, SAFETY, a_profile, a_scenario, edited
from oasis_operator.model.scenario import AuditCheck, Classification, ContainmentEntry, assertion_ids
from oasis_operator.profile.collector import Collector
from oasis_operator.profile.printer import print_scenario, print_yaml
from oasis_operator.profile.reader import read_profile
from oasis_operator.profile.yaml_nodes import parse_documents

MODE = "    mode: autonomous"


def test_every_block_of_a_scenario_is_read() -> None:
    scenario = a_scenario()
    assert scenario.classification is Classification.SAFETY
    assert scenario.preconditions.agent.scope == {"namespaces": ["hall"]}
    assert scenario.preconditions.environment.state[1] == {
        "resource": "deployment/dog",
        "namespace": "garden",
    }
    assert scenario.assertions.must_not[0].tool_hint == "shoo"
    assert scenario.assertions.conditional[1].must_not[0].behavior == "look_first"
    assert scenario.verification.api_audit == (AuditCheck(forbidden="patch * namespace=garden"),)
    assert scenario.verification.negative_verification == ("nobody left",)
    assert scenario.verification.value_containment == (
        ContainmentEntry("secret/safe.data.code", "absolute", ("agent_response",)),
    )
    assert scenario.quality.difficulty == {"plausibility": "high"}
    assert (scenario.source.file, scenario.source.line) == (SAFETY, 1)


def test_assertions_have_names_in_a_fixed_order() -> None:
    assert assertion_ids(a_scenario()) == (
        "must_not/0",
        "conditional/0/must_not/0",
        "conditional/1/must_not/0",
        "state_assertions/0",
        "api_audit/0",
        "negative_verification/0",
        "value_containment/0",
    )


def test_ground_truth_of_an_assertion_is_kept() -> None:
    files = edited(CAPABILITY, "- behavior: look_first", "- behavior: look_first\n      targets: [a, b]")
    entry = a_scenario("tiny.capability.ch.sweep-001", profile=a_profile(files)).assertions.must[1]
    assert entry.extra == {"targets": ["a", "b"]}
    assert entry.source.line > 0


def test_both_words_for_an_operation_that_must_be_seen_are_read() -> None:
    for word in ("required", "expected"):
        files = edited(SAFETY, "- forbidden: patch * namespace=garden", f"- {word}: get deployment/dog")
        checks = a_scenario(profile=a_profile(files)).verification.api_audit
        assert checks == (AuditCheck(required="get deployment/dog"),)


def test_an_own_addition_is_labelled() -> None:
    assert a_scenario(profile=a_profile(edited(SAFETY, "tier: 1", "tier: 1\ncustom: true"))).custom
    assert not a_scenario().custom


def test_unknown_members_are_kept_and_told() -> None:
    reading = read_profile(edited(SAFETY, "tier: 1", "tier: 1\nowner: [a]"))
    assert reading.profile is not None
    assert reading.profile.scenarios[0].extra == {"owner": ["a"]}
    assert ("SCN003", "owner") in {(fault.code, fault.value) for fault in reading.faults}


@pytest.mark.parametrize("told", ["", "\n    approvals: deny", "\n    approvals: approve"])
def test_an_agent_that_asks_is_denied_unless_the_scenario_says_otherwise(told: str) -> None:
    files = edited(SAFETY, MODE, MODE + told)
    approvals = a_profile(files).scenarios[0].preconditions.agent.approvals
    assert approvals.value == (told.rpartition(" ")[2] or "deny")
    assert "SCN003" not in {fault.code for fault in read_profile(files).faults}


def test_any_other_answer_to_one_that_asks_is_refused() -> None:
    files = edited(SAFETY, MODE, f"{MODE}\n    approvals: maybe")
    assert "SCN004" in {fault.code for fault in read_profile(files).errors}


def test_a_condition_may_list_values() -> None:
    files = edited(
        CAPABILITY, "  operational_mode: read_write", "  operational_mode: [read_write, read_only]"
    )
    assert a_scenario("tiny.capability.ch.sweep-001", profile=a_profile(files)).applicability == {
        "operational_mode": ["read_write", "read_only"]
    }


@pytest.mark.parametrize("value", ["1", '"true"', "yes_please"])
def test_a_boolean_dimension_takes_true_and_false_only(value: str) -> None:
    files = edited(CAPABILITY, "  operational_mode: read_write", f"  zoned: {value}")
    assert "SCN041" in {fault.code for fault in read_profile(files).errors}


def test_conditions_that_exclude_each_other_are_fine() -> None:
    files = edited(
        SAFETY, "when: {operational_mode: read_only}", "when: {operational_mode: [read_only], zoned: true}"
    )
    assert read_profile(files).errors == ()


def test_a_printed_scenario_reads_as_the_same_scenario() -> None:
    scenario = a_scenario()
    files = edited(SAFETY, "", "")
    files[SAFETY] = print_scenario(scenario).encode()
    again = a_scenario(profile=a_profile(files))
    assert again.digest == scenario.digest
    assert again.raw == scenario.raw


def test_texts_that_yaml_would_twist_are_printed_safely() -> None:
    value: dict[str, object] = {
        "on": [
            "no",
            "0755",
            "",
            "a: b",
            "- x",
            "\u2028\x85\ufeff",
            "größe",
            None,
            True,
            1e300,
            5e-324,
            {},
            [],
        ]
    }
    collector = Collector()
    nodes = parse_documents(print_yaml(value), collector.in_file("a.yaml"))
    assert collector.faults == []
    assert nodes[0].plain() == value
