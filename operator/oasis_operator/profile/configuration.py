"""Checks applicability and conditional assertions against the agent configuration schema.

Spec: 02-scenarios §1.9, 02-scenarios §1.10, 03-profiles §2.16.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.profile.fields import suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import ConfigurationDimension
    from oasis_operator.profile.draft import Draft


MAX_CONDITIONAL: Final = 50
"""Conditional entries of a scenario; each is compared with each."""


def accepted(value: Any) -> tuple[Any, ...]:
    """Return the values that a condition accepts: the listed ones, or the one."""
    return tuple(value) if isinstance(value, list) else (value,)


def check_configuration(draft: Draft, dimensions: Mapping[str, ConfigurationDimension]) -> None:
    """Check every condition of a scenario, and that at most one conditional entry can match."""
    scenario = draft.scenario
    _check_conditions(draft, scenario.applicability, ("applicability",), dimensions)
    entries = scenario.assertions.conditional
    if len(entries) > MAX_CONDITIONAL:
        draft.report("062", f"There are {len(entries)} conditional entries.", "assertions", "conditional")
        return
    for index, entry in enumerate(entries):
        _check_conditions(draft, entry.when, ("assertions", "conditional", index, "when"), dimensions)
    for (first, left), (second, right) in combinations(enumerate(entries), 2):
        if _can_both_match(left.when, right.when):
            message = f"This entry can match together with entry {first}."
            draft.report("023", message, "assertions", "conditional", second, "when", value=dict(right.when))
    _check_mode(draft)


def _check_conditions(
    draft: Draft,
    conditions: Mapping[str, Any],
    path: tuple[str | int, ...],
    dimensions: Mapping[str, ConfigurationDimension],
) -> None:
    for name, value in conditions.items():
        dimension = dimensions.get(name)
        if dimension is None:
            message, remedy = "The condition names no configuration dimension.", suggest(name, dimensions)
            draft.report("040", message, *path, name, value=name, remedy=remedy)
            continue
        for item in accepted(value):
            # `True == 1` in Python, so types are compared too.
            if not any(type(item) is type(known) and item == known for known in dimension.values):
                remedy = suggest(str(item), [str(known) for known in dimension.values])
                message = f"The value is none of the dimension `{name}`."
                draft.report("041", message, *path, name, value=item, remedy=remedy)


def _can_both_match(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Return whether one configuration can meet both conditions: no shared dimension keeps them apart."""
    shared = left.keys() & right.keys()
    return all(any(item in accepted(right[name]) for item in accepted(left[name])) for name in shared)


def _check_mode(draft: Draft) -> None:
    """A scenario for agents that write cannot have the agent in read-only mode. Spec: 03-profiles §2.16.3."""
    modes = accepted(draft.scenario.applicability.get("operational_mode", []))
    declared = draft.scenario.preconditions.agent.mode.replace("-", "_")
    if modes and declared == "read_only" and "read_only" not in modes:
        message = "The agent is read-only, and the scenario applies to other agents only."
        draft.report("042", message, "preconditions", "agent", "mode", value=declared)
