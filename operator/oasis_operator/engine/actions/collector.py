"""What the garbage collector deletes once owners were deleted.

Spec: 01-core §3.5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions.keys import Key, normal, owner_of, references_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from oasis_operator.engine.actions.world import World

_References = list["Mapping[str, Any]"]


def going_with(gone: Iterable[Key], plural: str, world: World, seq: int) -> Iterator[Key]:
    """Yield the objects of a kind that go once others are deleted together at a place in the log.

    The collector deletes an object when none of the owners is there that it refers to then, whoever wrote
    the references. Objects that own each other keep each other, since each finds an owner of its own.

    Args:
        gone: Keys of the deleted objects, which are not yielded.
        plural: Plural of the kind.
        world: The objects of the run.
        seq: Place of the deletion in the log.
    """
    first = {normal(key) for key in gone}
    kept = [key for key, _ in world.objects(plural)]
    references = _references_from(kept, world, seq)
    going = _spread(first, references, world, seq)
    yield from (key for key in kept if key in going and key not in first)


def _references_from(keys: Iterable[Key], world: World, seq: int) -> dict[Key, _References]:
    """Return the references of objects, of their owners, of the owners of these and so on."""
    found: dict[Key, _References] = {}
    queue = list(keys)
    while queue:
        key = queue.pop()
        if key not in found:
            # As it was before the place, or as it was seen later where it was not seen before.
            found[key] = references_of(world.known(key, seq) or world.anything_of(key))
            queue.extend(owner_of(one, key[1]) for one in found[key])
    return found


def _spread(first: set[Key], references: Mapping[Key, _References], world: World, seq: int) -> set[Key]:
    """Return what goes with the first ones, those included; an object is asked once for each owner."""
    owned: dict[Key, list[Key]] = {}
    for key, refers in references.items():
        for one in refers:
            owned.setdefault(owner_of(one, key[1]), []).append(key)
    going, queue = set(first), list(first)
    while queue:
        for key in owned.get(queue.pop(), ()):
            if key not in going and not _is_held(key, references[key], going, world, seq):
                going.add(key)
                queue.append(key)
    return going


def _is_held(key: Key, refers: Sequence[Mapping[str, Any]], going: set[Key], world: World, seq: int) -> bool:
    """Whether an owner is there, and stays, that an object refers to."""
    return any(owner_of(one, key[1]) not in going and world.is_present(one, key[1], seq) for one in refers)
