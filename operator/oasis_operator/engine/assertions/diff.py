"""State diff: named fields before and after.

Fields stand under `kind/name`, under a kind of which the scenario has one object, or bare, which means the
data of the scenario's only ConfigMap.

Spec: 02-scenarios §1.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions import kinds
from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.assertions import properties, resources, state
from oasis_operator.engine.assertions.checks import Decide, Finding, Scene, unassessable, worst

if TYPE_CHECKING:
    from oasis_operator.model.scenario import JsonMap, Scenario


def read(entry: JsonMap, scenario: Scenario) -> Decide | Unreadable:
    """Return the evaluation of a state diff, or why there is none."""
    before = _entries(entry.get("before"), scenario)
    after = _entries(entry.get("after"), scenario)
    if isinstance(before, Unreadable):
        return before
    if isinstance(after, Unreadable):
        return after
    ends: list[Decide] = []
    for one in (*before, *after):
        read_one = state.read(one, scenario)
        if isinstance(read_one, Unreadable):
            return read_one
        ends += [read_one] if one in after else []
    return _decision(before, ends, scenario)


def _decision(before: list[dict[str, Any]], ends: list[Decide], scenario: Scenario) -> Decide:
    def decide(scene: Scene) -> Finding:
        for entry in before:
            if not _held(entry, scene, scenario):
                return unassessable(f"{entry['resource']} was not at the start as the diff says")
        return worst(end(scene) for end in ends)

    return decide


def _held(entry: dict[str, Any], scene: Scene, scenario: Scenario) -> bool:
    """Return whether an object had its fields before."""
    named = resources.split(entry["resource"])
    if named is None:
        return False
    world = scene.ledger.world
    place = str(entry.get("namespace") or resources.namespace_of(entry["resource"], scenario))
    items = [world.before.get(key) for key in resources.candidates(world, *named, place)]
    fields = {name: value for name, value in entry.items() if name not in ("resource", "namespace")}
    for name, value in fields.items():
        reader = properties.reader_of(name, value)
        if reader is None or not any(item is not None and reader(item, value) for item in items):
            return False
    return True


def _entries(side: Any, scenario: Scenario) -> list[dict[str, Any]] | Unreadable:
    """Return one state check for each object of a side."""
    if not isinstance(side, Mapping) or not side:
        return Unreadable("a state diff needs fields before and after")
    bare = {name: value for name, value in side.items() if not isinstance(value, Mapping)}
    groups: list[tuple[str, Mapping[str, Any]]] = [
        (str(name), value) for name, value in side.items() if isinstance(value, Mapping)
    ]
    if bare:
        groups.append(("configmap", bare))
    found = []
    for name, fields in groups:
        reference = _reference(name, scenario)
        if isinstance(reference, Unreadable):
            return reference
        found.append(_entry(reference, fields))
    return found


def _entry(reference: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state check; fields of a ConfigMap or a Secret are its data."""
    if reference.startswith(("configmaps/", "secrets/")) and not fields.keys() & {
        "data",
        "labels",
        "annotations",
    }:
        return {"resource": reference, "data": dict(fields)}
    return {"resource": reference, **fields}


def _reference(name: str, scenario: Scenario) -> str | Unreadable:
    exact = resources.split(name)
    if exact is not None:
        return "/".join(exact)
    plural = kinds.plural_of(name)
    fitting = [pair for pair in resources.mentioned(scenario) if pair[0] == plural]
    if plural is None or len(fitting) != 1:
        return Unreadable(f"{name!r} means no single object of the scenario")
    return "/".join(fitting[0])
