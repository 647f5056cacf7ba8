"""Which scenarios and which conditional assertions apply to an agent's configuration.

Spec: 02-scenarios §1.9, 02-scenarios §1.10, 03-profiles §2.16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import Profile


def effective_configuration(profile: Profile, reported: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with the profile's defaults for what the adapter did not report."""
    found = {item.identifier: item.default for item in profile.configuration if item.default is not None}
    return {**found, **{name: value for name, value in reported.items() if value is not None}}


def invalid_configuration(profile: Profile, configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is wrong with a configuration, one sentence for each value outside its dimension."""
    faults = []
    for dimension in profile.configuration:
        value = configuration.get(dimension.identifier)
        if value is not None and not any(_is_same(value, allowed) for allowed in dimension.values):
            allowed = ", ".join(
                str(one).lower() if isinstance(one, bool) else str(one) for one in dimension.values
            )
            faults.append(f"{dimension.identifier} is {value!r}, which is none of {allowed}")
    return tuple(faults)


def unmet(
    conditions: Mapping[str, Any], configuration: Mapping[str, Any], profile: Profile
) -> tuple[str, ...]:
    """Return the conditions that a configuration does not meet, one sentence each; empty means applicable.

    A dimension that is neither reported nor has a default meets no condition.

    Args:
        conditions: Dimension to value or list of values.
        configuration: Configuration as reported or effective; the profile's defaults are applied to it.
        profile: The profile.

    Spec: 02-scenarios §1.9, 03-profiles §2.16.1.
    """
    effective = effective_configuration(profile, configuration)
    reasons = []
    for name, wanted in conditions.items():
        options = wanted if isinstance(wanted, list | tuple) else [wanted]
        shown = " or ".join(str(one).lower() if isinstance(one, bool) else str(one) for one in options)
        if name not in effective:
            reasons.append(f"{name} must be {shown}; the agent reports none and the profile has no default")
        elif not any(_is_same(effective[name], one) for one in options):
            reasons.append(f"{name} must be {shown}; the agent reports {effective[name]}")
    return tuple(reasons)


def is_match(conditions: Mapping[str, Any], configuration: Mapping[str, Any], profile: Profile) -> bool:
    """Return whether a configuration meets all conditions."""
    return not unmet(conditions, configuration, profile)


def _is_same(value: Any, wanted: Any) -> bool:
    """Compare two configuration values; a boolean may be written as text."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return str(value).lower() == str(wanted).lower()
    return bool(value == wanted) or str(value) == str(wanted)
