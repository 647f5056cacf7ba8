"""The operator's own answer to a profile's conformance query, for the worlds that it makes itself.

Each value is what these worlds really do. Where self-tests were made, what they did not show is not claimed,
whatever a profile would like to hear.

Spec: 08-provider-conformance §3.8.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.model import profile, spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PROVIDER = "oasis-operator"
TIER_SUPPORTED = 1
ENVIRONMENT_TYPE = "kubernetes-cluster"
NETWORK: Final = "network_policy_enforcement"
SOURCES: Final = "evidence_sources_available"

_CAPABILITIES: dict[str, Any] = {
    "environment_type": ENVIRONMENT_TYPE,
    "complexity_tier_supported": TIER_SUPPORTED,
    "oasis_core_spec_version": [spec.SPEC_VERSION],
    SOURCES: ["audit_log", "resource_state", "state_diff", "value_containment"],
    "value_containment_support": True,
    "state_injection": True,
    "audit_policy_installation": True,
    NETWORK: True,
}

TO_BE_TESTED: Final = frozenset({NETWORK})
"""What is claimed only after a self-test: no run shows it by itself."""


@dataclass(frozen=True, slots=True)
class Known:
    """A profile as far as a conformance answer needs it.

    Attributes:
        identifier: Its identifier.
        version: The version that the answer is about.
        requirements: What it asks of a provider.
    """

    identifier: str
    version: str
    requirements: tuple[profile.ProviderRequirement, ...]


def published(identifier: str, version: str) -> Known:
    """Return a published profile of which only the requirement keys are known here: all of ours."""
    return Known(
        identifier,
        version,
        tuple(
            profile.ProviderRequirement(key, _type(value), required=True, expected=_least(key, value))
            for key, value in _CAPABILITIES.items()
        ),
    )


def needs_self_test(wanted: profile.Profile) -> bool:
    """Tell whether a profile asks for something that is claimed only after a self-test.

    Spec: 08-provider-conformance §3.6.
    """
    return any(item.key in TO_BE_TESTED for item in wanted.requirements)


def conformance_answer(
    wanted: profile.Profile, version: str, unproven: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the answer about one profile.

    Args:
        wanted: The profile that was asked for.
        version: Version of the operator.
        unproven: What a self-test did not show, see `answer`.

    Spec: 08-provider-conformance §3.8.2.
    """
    return answer(Known(wanted.identifier, wanted.version, wanted.requirements), version, unproven)


def answer(wanted: Known, version: str, unproven: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer about one profile.

    Args:
        wanted: The profile that was asked for.
        version: Version of the operator.
        unproven: What self-tests did not show, as the reason by requirement key; an evidence source is named
            as `evidence_sources_available/NAME`.

    Spec: 08-provider-conformance §3.8.2.
    """
    given = {key: _claimed(key, value, unproven) for key, value in _CAPABILITIES.items()}
    asked = {requirement.key: requirement for requirement in wanted.requirements}
    unmet = [
        {"requirement": key, "reason": _reason(key, unproven)}
        for key, requirement in asked.items()
        if requirement.required and not _can(requirement, given)
    ]
    return {
        "provider": PROVIDER,
        "provider_version": version,
        "oasis_core_spec_versions": [spec.SPEC_VERSION],
        "profile": wanted.identifier,
        "profile_version": wanted.version,
        "supported": not unmet,
        "requirements": {key: given[key] for key in asked if key in given},
        "unmet_requirements": unmet,
    }


def unknown_profile(identifier: str, known: Iterable[str], version: str) -> dict[str, Any]:
    """Return the answer about a profile that nobody here has read."""
    names = ", ".join(sorted(known)) or "none"
    reason = (
        f"{identifier}: is not known to this provider, which knows {names}; add it to the provider's profiles"
    )
    return {
        "provider": PROVIDER,
        "provider_version": version,
        "oasis_core_spec_versions": [spec.SPEC_VERSION],
        "profile": identifier,
        "profile_version": "",
        "supported": False,
        "requirements": {},
        "unmet_requirements": [{"requirement": "profile", "reason": reason}],
    }


def _claimed(key: str, value: Any, unproven: Mapping[str, str]) -> Any:
    if isinstance(value, bool):
        return value and key not in unproven
    if key == SOURCES:
        return [source for source in value if f"{SOURCES}/{source}" not in unproven]
    return value


def _can(requirement: profile.ProviderRequirement, given: Mapping[str, Any]) -> bool:
    """Tell whether a requirement is one that can be met at all; its exact comparison is the runner's."""
    if requirement.key not in given:
        return False
    value = given[requirement.key]
    if requirement.key == SOURCES:
        expected = requirement.expected if isinstance(requirement.expected, list | tuple) else ()
        return set(map(str, expected)) <= {*value}
    return not (requirement.expected is True and value is False)


def _reason(key: str, unproven: Mapping[str, str]) -> str:
    told = [reason for name, reason in unproven.items() if name.partition("/")[0] == key]
    return "; ".join(told) or "this environment knows nothing of the requirement"


def _least(key: str, value: Any) -> Any:
    """Return what a published profile asks for, as far as an answer must know it."""
    if key == SOURCES:
        return ("audit_log", "resource_state", "value_containment")
    return True if value is True else None


def _type(value: Any) -> str:
    return {bool: "boolean", int: "integer", list: "array"}.get(type(value), "string")
