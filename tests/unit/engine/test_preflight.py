"""The conformance answer against the profile's contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kit.builders.scenarios import a_profile
from oasis_operator.engine.preflight import check_provider
from oasis_operator.model.profile import ProviderRequirement

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "environment_type": {"type": "string"},
        "complexity_tier_supported": {"type": "integer"},
        "evidence_sources_available": {"type": "array"},
        "state_injection": {"type": "boolean"},
        "oasis_core_spec_version": {},
        "extra": {},
    },
}
PROFILE = a_profile(
    requirements=(
        ProviderRequirement("environment_type", "string", True, "kubernetes-cluster"),
        ProviderRequirement(
            "complexity_tier_supported", "integer", True, {"comparison_operator": "gte", "value": "requested"}
        ),
        ProviderRequirement("oasis_core_spec_version", "semver_list", True, ">=1.0.0-rc1.5"),
        ProviderRequirement("evidence_sources_available", "array", True, ["audit_log", "resource_state"]),
        ProviderRequirement("state_injection", "boolean", True, True, "State must be injectable."),
        ProviderRequirement("extra", "string", False, "yes"),
    ),
    conformance_schema=SCHEMA,
)
ANSWER: dict[str, Any] = {
    "provider": "p",
    "provider_version": "1.0.0",
    "oasis_core_spec_versions": ["0.4.0", "1.0.0-rc1.5"],
    "profile": "oasis-profile-shop",
    "profile_version": "1.0.0",
    "supported": True,
    "requirements": {
        "environment_type": "kubernetes-cluster",
        "complexity_tier_supported": 2,
        "oasis_core_spec_version": ["1.0.0"],
        "evidence_sources_available": ["state_diff", "resource_state", "audit_log"],
        "state_injection": True,
    },
}


def gaps(tier: int = 1, **changes: Any) -> list[str]:
    requirements = {**ANSWER["requirements"], **changes.pop("requirements", {})}
    return [
        one.requirement
        for one in check_provider(PROFILE, {**ANSWER, "requirements": requirements, **changes}, tier)
    ]


def test_a_conformant_answer_has_no_gaps() -> None:
    assert gaps() == []
    assert gaps(unheard_of="field") == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"profile": "other"}, ["profile"]),
        ({"profile_version": "1.0.1"}, ["profile_version"]),
        ({"oasis_core_spec_versions": ["1.0.0-rc1"]}, ["oasis_core_spec_versions"]),
        ({"oasis_core_spec_versions": None}, ["oasis_core_spec_versions"]),
        ({"oasis_core_spec_versions": ["nonsense", 1]}, ["oasis_core_spec_versions"]),
        ({"supported": False}, ["supported"]),
        ({"supported": "true"}, ["supported"]),
        ({"supported": False, "unmet_requirements": [{"requirement": "x", "reason": "y"}]}, ["x"]),
        ({"unmet_requirements": [{"requirement": "x", "reason": "y"}]}, ["x"]),
        ({"requirements": {"environment_type": "vm"}}, ["environment_type"]),
        ({"requirements": {"evidence_sources_available": ["audit_log"]}}, ["evidence_sources_available"]),
        ({"requirements": {"state_injection": False}}, ["state_injection"]),
        ({"requirements": {"extra": "no"}}, ["extra"]),
        ({"requirements": {"unknown": 1}}, ["requirements"]),
        ({"tier": 3}, ["complexity_tier_supported"]),
    ],
)
def test_each_gap_is_named(changes: dict[str, Any], expected: list[str]) -> None:
    assert gaps(**changes) == expected


@pytest.mark.parametrize("lie", ["true", 1, None, []])
def test_only_true_is_true(lie: Any) -> None:
    assert "state_injection" in gaps(requirements={"state_injection": lie})


def test_all_gaps_are_named_at_once() -> None:
    found = check_provider(PROFILE, {}, 1)
    assert {one.requirement for one in found} >= {
        "profile",
        "profile_version",
        "requirements",
        "supported",
        "environment_type",
    }


def test_a_gap_says_what_to_do() -> None:
    answer = {**ANSWER, "requirements": {**ANSWER["requirements"], "state_injection": False}}
    (gap,) = check_provider(PROFILE, answer, 1)
    assert gap.message == (
        "provider does not satisfy oasis-profile-shop requirement `state_injection`: want True, got False"
    )
    assert gap.remedy == "State must be injectable."


def test_a_boolean_is_no_tier() -> None:
    assert "complexity_tier_supported" in gaps(requirements={"complexity_tier_supported": True})


def test_the_schema_is_read_in_the_draft_that_it_names() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "dependencies": {"state_injection": ["audit_policy_installation"]},
    }
    found = check_provider(replace(PROFILE, conformance_schema=schema), ANSWER, 1)
    assert ["audit_policy_installation" in one.found + one.message for one in found] == [True]
