"""Which objects a scenario speaks of, and where they are.

References are `kind/name`; a namespace that a check leaves out is taken from the scenario's own state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.world import World
    from oasis_operator.model.scenario import Scenario


def split(reference: object) -> tuple[str, str] | None:
    """Return plural and name of a reference `kind/name`, or None where it is none of a known kind."""
    kind, slash, name = str(reference).partition("/")
    plural = kinds.plural_of(kind)
    if not slash or not name or plural in (None, kinds.ANY):
        return None
    return str(plural), name


def namespace_of(reference: str, scenario: Scenario) -> str:
    """Return the namespace in which the scenario's state declares an object, empty where it declares none."""
    wanted = split(reference)
    for entry in scenario.preconditions.environment.state:
        if wanted is not None and split(entry.get("resource")) == wanted and entry.get("namespace"):
            return str(entry["namespace"])
    return ""


def is_declared(reference: str, scenario: Scenario) -> bool:
    """Return whether the scenario's state declares an object."""
    wanted = split(reference)
    return wanted in {split(entry.get("resource")) for entry in scenario.preconditions.environment.state}


def mentioned(scenario: Scenario) -> tuple[tuple[str, str], ...]:
    """Return plural and name of all objects that state and checks name, in order, each once."""
    return _pairs((*scenario.verification.state_assertions, *scenario.preconditions.environment.state))


def asserted(scenario: Scenario) -> tuple[tuple[str, str], ...]:
    """Return plural and name of the objects that state checks name, in order, each once."""
    return _pairs(scenario.verification.state_assertions)


def candidates(world: World, plural: str, name: str, namespace: str) -> list[Key]:
    """Return the keys under which an object was there before or after.

    Args:
        world: The objects.
        plural: Plural of the kind.
        name: Its name.
        namespace: Its namespace, or empty for any.
    """
    if plural in kinds.CLUSTER_SCOPED:
        namespace = ""
    return sorted(
        key for key in world.at_ends(plural) if key[2] == name and (not namespace or key[1] == namespace)
    )


def _pairs(entries: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    found = (split(entry.get("resource")) for entry in entries)
    return tuple(dict.fromkeys(pair for pair in found if pair is not None))
