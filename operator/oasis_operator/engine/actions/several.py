"""What requests do through others or together: to owners, to what is owned, and one after another.

Spec: 01-core §3.5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions import kinds, selectors
from oasis_operator.engine.actions.changes import changed_paths, value_at
from oasis_operator.engine.actions.collector import going_with
from oasis_operator.engine.actions.counts import number_in, written_replicas
from oasis_operator.engine.actions.effect import Effect
from oasis_operator.engine.actions.nodes import pods_driven_off, pods_of_deleted
from oasis_operator.engine.actions.verbs import Act

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.world import World


def of_several(found: list[Effect], world: World) -> Iterator[Effect]:
    """Yield the effects that follow from others, in the order of what causes them."""
    from_nodes = list(_pods_of_nodes(found, world))
    yield from from_nodes
    yield from _through_replica_sets(found, world)
    yield from _restarts_by_deletion([*found, *from_nodes], world)
    yield from _restarts_by_scaling(found)
    # What happens first is to come first: a deletion is one of what stood there before.
    yield from _replacements(sorted([*found, *from_nodes], key=lambda one: one.request.seq), world)


def _pods_of_nodes(found: Iterable[Effect], world: World) -> Iterator[Effect]:
    """Yield the deletion of the pods on each node that is deleted or made to drive them away."""
    for effect in found:
        if effect.kind == "nodes" and effect.act is Act.MUTATE:
            yield from pods_driven_off(effect, world)
        elif effect.kind == "nodes" and effect.act is Act.DELETE:
            for key, uncertain in _keys_of(effect, world):
                yield from pods_of_deleted(effect, key, world, uncertain=uncertain)


def pods_of_emptied(found: Iterable[Effect], world: World) -> Iterator[Effect]:
    """Yield the deletion of the pods of each workload that is scaled to zero."""
    for effect in found:
        if effect.act is Act.SCALE and effect.replicas == (0,) and effect.kind not in kinds.SETS:
            for held in world.owned(effect.key, "pods"):
                yield Effect(Act.DELETE, effect.request, held, implied=True, uncertain=effect.uncertain)


def _through_replica_sets(found: list[Effect], world: World) -> Iterator[Effect]:
    """Yield what scaling or deleting a set of pods does to the workload that owns the set."""
    for effect in found:
        if effect.kind not in kinds.SETS or effect.act not in (Act.SCALE, Act.DELETE):
            continue
        for key, uncertain in _keys_of(effect, world):
            yield from _through_set(effect, key, world, uncertain=uncertain)


def _keys_of(effect: Effect, world: World) -> Iterator[tuple[Key, bool]]:
    """Yield the objects that an effect is on, and whether nobody can tell that it is."""
    if effect.name:
        yield effect.key, False
        return
    yield from ((key, False) for key in selectors.collection(effect.request, world))
    yield from ((key, True) for key in selectors.doubtful(effect.request, world))


def _through_set(effect: Effect, key: Key, world: World, *, uncertain: bool) -> Iterator[Effect]:
    """Yield the scaling and the restart of a set's owners; the pods of an emptied set are deleted."""
    before = number_in(value_at(world.known(key, effect.request.seq), ("spec",)))
    owners = world.owners(key)
    if not owners or before == (0,):
        return
    replicas = effect.replicas if effect.act is Act.SCALE else (0,)
    uncertain = uncertain or effect.uncertain or not replicas
    for owner in owners:
        yield Effect(Act.SCALE, effect.request, owner, implied=True, uncertain=uncertain, replicas=replicas)
        yield Effect(Act.RESTART, effect.request, owner, implied=True, uncertain=uncertain)
    if effect.act is Act.SCALE and replicas == (0,):
        for held in world.owned(key, "pods"):
            yield Effect(Act.DELETE, effect.request, held, implied=True, uncertain=uncertain)


def _restarts_by_deletion(found: list[Effect], world: World) -> Iterator[Effect]:
    """Yield the restart of a workload whose pods were deleted: in full when none of them was left.

    A node takes pods with it by chance, so that only all of them together restart their workload.
    """
    gone: dict[Key, list[Effect]] = {}
    done: set[Key] = set()
    for effect in found:
        if effect.act is Act.DELETE and effect.kind == "pods":
            keys = [key for key, uncertain in _pods_hit(effect, world) if not uncertain]
            done.update(keys if effect.request.is_done else ())
            for owner in dict.fromkeys(owner for key in keys for owner in world.owners(key)):
                gone.setdefault(owner, []).append(effect)
            yield from _open_restarts(effect, world)
    for owner, deletions in gone.items():
        mine = {key for key in world.owned(owner, "pods") if key in world.before}
        whole = bool(mine) and mine <= done
        direct = [one for one in deletions if one.request.resource != "nodes"]
        if whole or direct:
            cause = (deletions if whole else direct)[-1]
            implied = not whole or len(direct) < len(deletions)
            yield Effect(Act.RESTART, cause.request, owner, implied=implied)


def _pods_hit(effect: Effect, world: World) -> Iterator[tuple[Key, bool]]:
    """Yield the pods that a deletion is on, and whether nobody can tell that it is."""
    return ((key, uncertain or effect.uncertain) for key, uncertain in _keys_of(effect, world))


def _open_restarts(effect: Effect, world: World) -> Iterator[Effect]:
    """Yield the restart of each workload of which a deletion may have hit a pod."""
    perhaps = (key for key, uncertain in _pods_hit(effect, world) if uncertain)
    for owner in dict.fromkeys(owner for key in perhaps for owner in world.owners(key)):
        yield Effect(Act.RESTART, effect.request, owner, implied=True, uncertain=True)


def _restarts_by_scaling(found: list[Effect]) -> Iterator[Effect]:
    """Yield the restart of a workload that was taken down to no replicas and up again."""
    down: set[Key] = set()
    for effect in found:
        if effect.act is Act.SCALE and not effect.implied and effect.replicas and effect.request.is_done:
            if effect.replicas == (0,):
                down.add(effect.key)
            elif effect.key in down:
                down.discard(effect.key)
                yield Effect(Act.RESTART, effect.request, effect.key)


def _replacements(found: list[Effect], world: World) -> Iterator[Effect]:
    """Yield the change that deleting an object and creating it anew amounts to."""
    gone: dict[Key, tuple[Any, bool]] = {}
    spaces: dict[str, int] = {}
    owners = _Owners(world)
    for effect in found:
        if effect.act is Act.DELETE:
            if effect.kind == "namespaces" and effect.name:
                spaces[effect.name] = effect.request.seq
            for key, uncertain in _keys_of(effect, world):
                gone[key] = (world.known(key, effect.request.seq), uncertain or effect.uncertain)
            owners.add(effect)
        elif effect.act is Act.CREATE and effect.name:
            former = gone.get(effect.key)
            if former is None and effect.namespace in spaces:
                prior = world.known(effect.key, spaces[effect.namespace])
                former = (prior, False) if prior is not None else None
            former = former or owners.former(effect)
            if former is not None:
                yield from _of_replacement(effect, *former)


class _Owners:
    """The deletions of a log in their order, to tell what went with them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._deletions: list[Effect] = []
        self._taken: dict[tuple[int, str], frozenset[Key]] = {}

    def add(self, deletion: Effect) -> None:
        """Add a deletion that takes along what is owned."""
        if not deletion.request.orphans:
            self._deletions.append(deletion)

    def former(self, creation: Effect) -> tuple[Any, bool] | None:
        """Return what stood where something is created and went with an owner, and whether that is open."""
        if self._world.known(creation.key, creation.request.seq) is None:
            return None
        for place, deletion in enumerate(self._deletions):
            if creation.key in self._taken_by(place, creation.kind):
                return self._world.known(creation.key, deletion.request.seq), deletion.uncertain
        return None

    def _taken_by(self, place: int, kind: str) -> frozenset[Key]:
        """Return the objects of a kind that went with a deletion; many creations may ask for the same."""
        found = self._taken.get((place, kind))
        if found is None:
            deletion = self._deletions[place]
            keys = [key for key, uncertain in _keys_of(deletion, self._world) if not uncertain]
            taken = going_with(keys, kind, self._world, deletion.request.seq)
            found = self._taken[place, kind] = frozenset(taken)
        return found


def _of_replacement(effect: Effect, prior: Any, uncertain: bool) -> Iterator[Effect]:
    """Yield the change that a creation after a deletion is, uncertain where that may have met others."""
    request, open_ = effect.request, uncertain or effect.uncertain
    paths = None if request.body is None else changed_paths(prior, request.body, None)
    yield Effect(Act.MUTATE, request, effect.key, implied=True, uncertain=open_, paths=lambda: paths)
    if effect.kind in kinds.WORKLOADS:
        yield Effect(Act.RESTART, request, effect.key, implied=True, uncertain=open_)
        if paths is None or any(path[:2] == ("spec", "replicas") for path in paths):
            replicas = written_replicas(request)
            yield Effect(Act.SCALE, request, effect.key, implied=True, uncertain=open_, replicas=replicas)
