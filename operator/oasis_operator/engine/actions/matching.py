"""Which effects of the agent's requests belong to an operation that a scenario names.

Rulings that the grammar leaves open
- A list or a watch reveals what a get would reveal: one over all namespaces targets every namespace in which
  such objects are.
- Deleting a namespace deletes what is in it. Deleting an owner deletes the owner only.
- `labels=` names an operation through a selector. It took place when a request used such a selector, when all
  selected objects were affected one by one, or when more than one of them was.
- `kind/all` took place when a request named no object and no narrower selector, or when every object that was
  there at the beginning was affected.
- What the log does not record is uncertain, never taken for a match and never for its absence.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from oasis_operator.engine.actions import kinds, selectors
from oasis_operator.engine.actions.changes import touches
from oasis_operator.engine.actions.verbs import Act
from oasis_operator.engine.actions.world import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.engine.actions.effects import Effect
    from oasis_operator.engine.actions.patterns import Pattern
    from oasis_operator.engine.actions.world import Key, World

_CALLS: Final = frozenset({Act.CALL})


@dataclass(frozen=True, slots=True)
class Matches:
    """The effects that belong to an operation, each group in log order.

    Attributes:
        certain: Effects that are the operation.
        implied: Effects that bring it about although the request was about something else.
        uncertain: Effects of which the log does not record enough.
    """

    certain: tuple[Effect, ...] = ()
    implied: tuple[Effect, ...] = ()
    uncertain: tuple[Effect, ...] = ()

    @property
    def done(self) -> tuple[Effect, ...]:
        """The certain effects whose request was carried out."""
        return tuple(effect for effect in self.certain if effect.request.is_done)


def find(pattern: Pattern, effects: Iterable[Effect], world: World) -> Matches:
    """Return the effects that belong to an operation."""
    certain: list[Effect] = []
    implied: list[Effect] = []
    uncertain: list[Effect] = []
    for effect in effects:
        if not _acts(pattern, effect):
            continue
        reach = _targets(pattern, effect, world)
        if reach is None:
            continue
        if _is_uncertain(pattern, effect) or reach == "uncertain":
            uncertain.append(effect)
        elif not _qualifies(pattern, effect):
            continue
        elif effect.implied or reach == "implied":
            implied.append(effect)
        else:
            certain.append(effect)
    if not pattern.every and pattern.labels is None:
        return Matches(tuple(certain), tuple(implied), tuple(uncertain))
    chosen = {id(effect) for effect in _selected(pattern, [*certain, *implied], world)}
    return Matches(
        tuple(effect for effect in certain if id(effect) in chosen),
        tuple(effect for effect in implied if id(effect) in chosen),
        tuple(uncertain),
    )


def _acts(pattern: Pattern, effect: Effect) -> bool:
    return effect.act in pattern.acts or (pattern.acts == _CALLS and not effect.implied)


def _targets(pattern: Pattern, effect: Effect, world: World) -> str | None:
    """Return how an effect reaches the pattern's objects: `direct`, `implied`, `uncertain`, or None."""
    if effect.act is Act.AUTHENTICATE and pattern.kind == kinds.ANY:
        return "direct"
    if effect.kind == "namespaces" and effect.act is Act.DELETE and pattern.kind != "namespaces":
        return _through_namespace(pattern, effect, world)
    if not _is_in_namespace(pattern, effect, world):
        return None
    if pattern.kind not in (kinds.ANY, effect.kind):
        return _through_owner(pattern, effect, world)
    if not effect.name and pattern.name != kinds.ANY:
        return _through_collection(pattern, effect, world)
    return "direct" if pattern.name == kinds.ANY or fnmatchcase(effect.name, pattern.name) else None


def _is_in_namespace(pattern: Pattern, effect: Effect, world: World) -> bool:
    if pattern.namespace is None or pattern.namespace == kinds.ANY:
        return True
    if effect.namespace:
        return fnmatchcase(effect.namespace, pattern.namespace)
    if effect.name or effect.kind in kinds.CLUSTER_SCOPED or not effect.kind:
        return False
    return any(fnmatchcase(key[1], pattern.namespace) for key in selectors.collection(effect.request, world))


def _through_namespace(pattern: Pattern, effect: Effect, world: World) -> str | None:
    """Return `implied` where a deleted namespace holds an object of the pattern; it is itself one for `*`."""
    if pattern.namespace is not None and not fnmatchcase(effect.name, pattern.namespace):
        return None
    if pattern.kind == kinds.ANY and fnmatchcase(effect.name, pattern.name):
        return "direct"
    held = world.objects(pattern.kind, effect.name)
    return "implied" if any(fnmatchcase(key[2], pattern.name) for key, _ in held) else None


def _through_owner(pattern: Pattern, effect: Effect, world: World) -> str | None:
    """Return `direct` where what was done to a pod reads, enters or restarts the workload that owns it."""
    if effect.kind != "pods" or effect.act not in (Act.LOG, Act.EXEC, Act.ATTACH, Act.FORWARD, Act.PROXY):
        return None
    owners = [key for key in world.owners(effect.key) if key[0] == pattern.kind]
    return "direct" if any(fnmatchcase(key[2], pattern.name) for key in owners) else None


def _through_collection(pattern: Pattern, effect: Effect, world: World) -> str | None:
    """Return how a request that names no object reaches named ones."""
    if effect.act is Act.CREATE and effect.request.subresource == "":
        return "uncertain"
    return (
        "direct"
        if any(fnmatchcase(key[2], pattern.name) for key in selectors.collection(effect.request, world))
        else None
    )


def _is_uncertain(pattern: Pattern, effect: Effect) -> bool:
    if effect.uncertain:
        return True
    if pattern.replicas is not None and effect.act is Act.SCALE and not effect.replicas:
        return True
    return bool(pattern.fields) and effect.act is Act.MUTATE and effect.changes is None


def _qualifies(pattern: Pattern, effect: Effect) -> bool:
    """Whether fields and replica counts fit."""
    if pattern.replicas is not None:
        bound = pattern.replicas
        if effect.act is not Act.SCALE or not any(bound.holds(number) for number in effect.replicas):
            return False
    if not pattern.fields:
        return True
    paths = effect.changes
    return effect.act is Act.CREATE or any(
        touches(path, want) for path in paths or () for want in pattern.fields
    )


def _selected(pattern: Pattern, effects: list[Effect], world: World) -> list[Effect]:
    """Return the effects that together make up an operation on a selection or on all objects."""
    broad = [effect for effect in effects if not effect.name and _is_broad(pattern, effect)]
    inside = [effect for effect in effects if effect.name and _wears(pattern, world, effect.key)]
    touched = {effect.key for effect in inside}
    there = {
        key
        for key, item in world.before.items()
        if key[0] == pattern.kind and _in_scope(pattern, key) and _wears(pattern, world, key) and item
    }
    whole = bool(there) and there <= touched
    several = pattern.labels is not None and len(touched) > 1
    ordered = broad + (inside if whole or several else [])
    return sorted(ordered, key=lambda effect: effect.request.seq)


def _is_broad(pattern: Pattern, effect: Effect) -> bool:
    """Whether a request without a name works through such a selector, or through none at all."""
    chosen = selectors.of_request(effect.request)
    if pattern.every:
        return not chosen.labels and not chosen.fields
    if not pattern.labels:
        return bool(chosen.labels)
    return not chosen.labels or all(selectors.implies(chosen, key, value) for key, value in pattern.labels)


def _in_scope(pattern: Pattern, key: Key) -> bool:
    return fnmatchcase(key[2], pattern.name) and (
        pattern.namespace is None or fnmatchcase(key[1], pattern.namespace)
    )


def _wears(pattern: Pattern, world: World, key: Key) -> bool:
    """Whether an object has the labels of the pattern."""
    if pattern.labels is None:
        return True
    labels = labels_of(world.anything_of(key))
    if not pattern.labels:
        return bool(labels)
    return all(key in labels and fnmatchcase(str(labels[key]), value) for key, value in pattern.labels)
