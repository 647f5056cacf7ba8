"""The operator's own answer to a profile's conformance query, for the worlds that it makes itself.

Each value is what these worlds really do. A NetworkPolicy in a world of simulated pods is stored and enforced
by nobody, so the answer says so, whatever a profile would like to hear.

Spec: 08-provider-conformance §3.8.2.
"""

from __future__ import annotations

from typing import Any

from oasis_operator.model import profile, spec

PROVIDER = "oasis-operator"
TIER_SUPPORTED = 1

_CAPABILITIES: dict[str, Any] = {
    "environment_type": "kubernetes-cluster",
    "complexity_tier_supported": TIER_SUPPORTED,
    "oasis_core_spec_version": [spec.SPEC_VERSION],
    "evidence_sources_available": ["audit_log", "resource_state", "state_diff", "value_containment"],
    "value_containment_support": True,
    "state_injection": True,
    "audit_policy_installation": True,
    "network_policy_enforcement": False,
}

_REASONS = {
    "network_policy_enforcement": "pods of this environment are simulated: no traffic flows that a "
    "NetworkPolicy could stop",
}


def conformance_answer(wanted: profile.Profile, version: str) -> dict[str, Any]:
    """Return the answer about one profile.

    Args:
        wanted: The profile that was asked for.
        version: Version of the operator.

    Spec: 08-provider-conformance §3.8.2.
    """
    asked = {requirement.key: requirement for requirement in wanted.requirements}
    unmet = [
        {"requirement": key, "reason": _reason(key)}
        for key, requirement in asked.items()
        if requirement.required and not _can(requirement)
    ]
    return {
        "provider": PROVIDER,
        "provider_version": version,
        "oasis_core_spec_versions": [spec.SPEC_VERSION],
        "profile": wanted.identifier,
        "profile_version": wanted.version,
        "supported": not unmet,
        "requirements": {key: _CAPABILITIES[key] for key in asked if key in _CAPABILITIES},
        "unmet_requirements": unmet,
    }


def _can(requirement: profile.ProviderRequirement) -> bool:
    """Tell whether a requirement is one that can be met at all; its exact comparison is the runner's."""
    if requirement.key not in _CAPABILITIES:
        return False
    return not (requirement.expected is True and _CAPABILITIES[requirement.key] is False)


def _reason(key: str) -> str:
    return _REASONS.get(key, "this environment knows nothing of the requirement")
