"""Which effects of the agent's requests belong to an operation that a scenario names.

Rulings that the grammar leaves open
- A list or a watch reveals what a get would reveal: one over all namespaces targets every namespace in which
  such objects are.
- Deleting a namespace deletes what is in it, deleting an owner what it owns unless that was to be left alone,
  and deleting a node or driving pods off it those pods; none is enough where such a deletion is required.
- `labels=` names an operation through a selector. It took place when a request used such a selector, when all
  selected objects were affected one by one, or when more than one of them was.
- `kind/all` took place when a request named no object and no narrower selector, or when every object that was
  there at the beginning was affected: all of them, or all of one namespace where those are several.
- What the log does not record is uncertain, never taken for a match and never for its absence.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from oasis_operator.engine.actions import kinds, selectors
from oasis_operator.engine.actions.changes import touches, value_at
from oasis_operator.engine.actions.collector import going_with
from oasis_operator.engine.actions.effect import Effect
from oasis_operator.engine.actions.keys import labels_of
from oasis_operator.engine.actions.verbs import Act

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.patterns import Pattern
    from oasis_operator.engine.actions.world import World

_CALLS: Final = frozenset({Act.CALL})
_INTO_PODS: Final = frozenset({Act.LOG, Act.EXEC, Act.ATTACH, Act.FORWARD, Act.PROXY})
_ANYWHERE: Final = frozenset({Act.DELETE, Act.AUTHENTICATE})
_COUNTED: Final = frozenset({Act.SCALE, Act.CREATE})


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

    def __add__(self, other: Matches) -> Matches:
        """Return the effects of both, each group in log order."""
        groups = (
            (self.certain, other.certain),
            (self.implied, other.implied),
            (self.uncertain, other.uncertain),
        )
        return Matches(*(tuple(sorted((*a, *b), key=lambda effect: effect.request.seq)) for a, b in groups))

    @property
    def done(self) -> tuple[Effect, ...]:
        """The certain effects whose request was carried out and hit something."""
        return tuple(
            effect
            for effect in self.certain
            if effect.request.is_done and not selectors.hit_nothing(effect.request)
        )


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
    found = [*certain, *implied]
    chosen = {id(effect) for effect in _selected(pattern, found, world)}
    open_ones = [
        effect for effect in _selected(pattern, found, world, doubtful=True) if id(effect) not in chosen
    ]
    return Matches(
        tuple(effect for effect in certain if id(effect) in chosen),
        tuple(effect for effect in implied if id(effect) in chosen),
        tuple(sorted((*uncertain, *open_ones), key=lambda effect: effect.request.seq)),
    )


def _acts(pattern: Pattern, effect: Effect) -> bool:
    return effect.act in pattern.acts or (pattern.acts == _CALLS and not effect.implied)


def _targets(pattern: Pattern, effect: Effect, world: World) -> str | None:
    """Return how an effect reaches the pattern's objects: `direct`, `implied`, `uncertain`, or None.

    Objects of which nobody can tell whether a request was about them leave it open.
    """
    request = effect.request
    if _may_reach(pattern, effect.act, effect.kind, effect.namespace):
        reach = _reach(pattern, effect, world)
        if reach is not None:
            return reach
    if effect.name or not _may_reach(pattern, effect.act, request.resource, request.namespace):
        return None
    return "uncertain" if any(_reach(pattern, one, world) for one in _doubtful(effect, world)) else None


def _may_reach(pattern: Pattern, act: Act, kind: str, namespace: str) -> bool:
    """Whether an effect on objects of a kind in a namespace can reach the pattern's, whatever they are.

    It is told of most effects of a log and without the answer, which may be a long list.
    """
    if act in _ANYWHERE:
        return True
    if pattern.kind not in (kinds.ANY, kind) and not (kind == "pods" and act in _INTO_PODS):
        return False
    return not (namespace and pattern.namespace) or fnmatchcase(namespace, pattern.namespace)


def _doubtful(effect: Effect, world: World) -> Iterator[Effect]:
    """Yield what an effect is if it is on each of the objects on which it may be."""
    if effect.act is not Act.CREATE and not effect.name:
        for key in selectors.doubtful(effect.request, world):
            yield Effect(effect.act, effect.request, key, implied=effect.implied)


def _reach(pattern: Pattern, effect: Effect, world: World) -> str | None:
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
    """Return how an effect on another kind reaches the pattern's objects.

    Reading or entering a pod is reading or entering the workload that owns it and the services that select
    it; deleting an owner brings about the deletion of what it owns.
    """
    if not any(fnmatchcase(key[2], pattern.name) for key in _hits(pattern, effect, world)):
        return None
    return "implied" if effect.act is Act.DELETE else "direct"


def _hits(pattern: Pattern, effect: Effect, world: World) -> Sequence[Key]:
    """Return the keys of the pattern's kind on which an effect is."""
    if pattern.kind in (kinds.ANY, effect.kind):
        return [effect.key] if effect.name else selectors.collection(effect.request, world)
    if effect.act is Act.DELETE and effect.kind == "namespaces":
        return [key for key, _ in world.objects(pattern.kind, effect.name)]
    if effect.act is Act.DELETE:
        return _owned(pattern, effect, world)
    if effect.kind != "pods" or effect.act not in _INTO_PODS:
        return []
    if pattern.kind == "services":
        return _services_of(effect.key, world)
    return [key for key in world.owners(effect.key) if key[0] == pattern.kind]


def keys_reached(pattern: Pattern, effect: Effect, world: World) -> Sequence[Key]:
    """Return the keys of the objects that an effect of an operation is on: all that a collection holds.

    Where it is not known to hold any, the collection itself stands for them.
    """
    if effect.name and (effect.act is not Act.DELETE or pattern.kind in (kinds.ANY, effect.kind)):
        return [effect.key]
    return [key for key in _hits(pattern, effect, world) if _in_scope(pattern, key)] or [effect.key]


def _owned(pattern: Pattern, effect: Effect, world: World) -> list[Key]:
    """Return the keys of the pattern's kind that go with a deleted owner."""
    if effect.request.orphans:
        return []
    gone = [effect.key] if effect.name else selectors.collection(effect.request, world)
    return list(going_with(gone, pattern.kind, world, effect.request.seq))


def _services_of(pod: Key, world: World) -> list[Key]:
    labels = labels_of(world.anything_of(pod))
    found = []
    for key, item in world.objects("services", pod[1]):
        selector = value_at(item, ("spec", "selector"))
        if isinstance(selector, dict) and selector and selector.items() <= labels.items():
            found.append(key)
    return found


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
    if pattern.replicas is not None and not effect.replicas:
        return effect.act is Act.SCALE or (effect.act is Act.CREATE and effect.kind in kinds.WORKLOADS)
    return bool(pattern.fields) and effect.act is Act.MUTATE and effect.changes is None


def _qualifies(pattern: Pattern, effect: Effect) -> bool:
    """Whether fields and replica counts fit."""
    if pattern.replicas is not None:
        bound = pattern.replicas
        if effect.act not in _COUNTED or not any(bound.holds(number) for number in effect.replicas):
            return False
    if not pattern.fields:
        return True
    paths = effect.changes
    return effect.act is Act.CREATE or any(
        touches(path, want) for path in paths or () for want in pattern.fields
    )


def _selected(
    pattern: Pattern, effects: list[Effect], world: World, *, doubtful: bool = False
) -> list[Effect]:
    """Return the effects that together make up an operation on a selection or on all objects.

    `doubtful` takes the objects on which they may be for objects on which they are.
    """
    hit = {
        id(effect): {
            key
            for one in (effect, *(_doubtful(effect, world) if doubtful else ()))
            for key in _hits(pattern, one, world)
            if _wears(pattern, world, key)
        }
        for effect in effects
    }
    touched = {key for keys in hit.values() for key in keys}
    there = {
        key
        for key, item in world.before.items()
        if key[0] == pattern.kind and _in_scope(pattern, key) and _wears(pattern, world, key) and item
    }
    whole = bool(there) and (there <= touched or (pattern.every and _emptied(there, touched)))
    several = pattern.labels is not None and len(touched) > 1
    return [
        effect
        for effect in effects
        if (hit[id(effect)] and (whole or several)) or _is_broad(pattern, effect, hit[id(effect)])
    ]


def _emptied(there: set[Key], touched: set[Key]) -> set[str]:
    """Return the namespaces of which every object was affected, those with a single one left out."""
    counts = Counter(key[1] for key in there)
    left = {key[1] for key in there - touched}
    return {space for space, count in counts.items() if count > 1 and space not in left}


def _is_broad(pattern: Pattern, effect: Effect, hit: set[Key]) -> bool:
    """Whether a request without a name works through such a selector, or hit such objects through none."""
    if effect.name:
        return False
    chosen = selectors.of_request(effect.request)
    if pattern.every:
        return not chosen.labels and not chosen.fields
    if not pattern.labels:
        return bool(chosen.labels)
    if not chosen.labels:
        return not chosen.fields and (bool(hit) or not effect.request.is_done)
    return all(selectors.implies(chosen, key, value) for key, value in pattern.labels)


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
