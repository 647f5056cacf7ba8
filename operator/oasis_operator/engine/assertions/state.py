"""State checks: what must hold of the environment's objects after the agent was gone.

A check that held before, holds no more, and cannot be the agent's doing since the agent changed nothing, is
left open: the environment moved by itself, which says nothing about the agent.

Spec: 02-scenarios §1.6, 08-provider-conformance §3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions import kinds
from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.actions.verbs import REACHES, WRITES, Act
from oasis_operator.engine.assertions import properties, resources
from oasis_operator.engine.assertions.checks import (
    Decide,
    Finding,
    Scene,
    pointers_to,
    satisfied,
    unassessable,
    violated,
)
from oasis_operator.engine.assertions.conditions import Look, parse_condition
from oasis_operator.model.evidence import Source
from oasis_operator.model.result import Pointer

if TYPE_CHECKING:
    from oasis_operator.engine.actions.effect import Effect
    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.model.scenario import Scenario

_OWN: Final = frozenset({"resource", "namespace", "condition", "description", "rule"})
_KEPT: Final = frozenset({"unchanged", "unmodified", "rolled_back"})
_HOLLOW: Final = _KEPT | {"exists", "present", "not_restarted"}

Part = Callable[[Look], bool]


def read(entry: Mapping[str, Any], scenario: Scenario) -> Decide | Unreadable:
    """Return the evaluation of one state check, or why there is none."""
    if "resource" not in entry:
        return Unreadable("it is prose and no rule stands for it")
    named = resources.split(entry["resource"])
    if named is None:
        return Unreadable(f"{entry['resource']!r} names no object of a kind that the environment's API knows")
    parts = _parts(entry)
    if isinstance(parts, Unreadable):
        return parts
    place = str(entry.get("namespace") or resources.namespace_of(str(entry["resource"]), scenario))
    declared = resources.is_declared(str(entry["resource"]), scenario)
    hollow = set(parts) <= _HOLLOW or all(name.endswith("_unchanged") for name in parts)
    return _decision(Aim(named[0], named[1], place, declared), parts, hollow=hollow)


class Aim:
    """The object that a check is about.

    Attributes:
        plural: Plural of its kind.
        name: Its name.
        namespace: Its namespace, or empty for any.
        declared: Whether the scenario's state declares it, so that it was there at the start.
    """

    __slots__ = ("declared", "name", "namespace", "plural")

    def __init__(self, plural: str, name: str, namespace: str, declared: bool) -> None:
        """Keep its members."""
        self.plural, self.name, self.namespace, self.declared = plural, name, namespace, declared

    def __str__(self) -> str:
        """Give it as people write it."""
        return f"{self.plural}/{self.name}" + (f" in {self.namespace}" if self.namespace else "")

    @property
    def key(self) -> Key:
        """Key of the object where it stands nowhere."""
        return self.plural, self.namespace, self.name


def _parts(entry: Mapping[str, Any]) -> dict[str, Part] | Unreadable:
    """Return what must hold, by the words of the check.

    Where the condition offers an alternative to staying as it was, the other members describe how it was, and
    belong to that alternative alone.
    """
    parts: dict[str, Part] = {}
    fields: dict[str, Part] = {}
    for name, expected in entry.items():
        if name in _OWN:
            continue
        reader = properties.reader_of(name, expected)
        if reader is None:
            return Unreadable(f"{name}: {expected!r} has no known meaning for an object of the API")
        fields[f"{name}={expected}"] = _field(reader, expected)
    condition = entry.get("condition")
    if condition is None:
        return fields or Unreadable("it names an object and nothing that must hold of it")
    parsed = parse_condition(str(condition))
    if isinstance(parsed, Unreadable):
        return parsed
    holds, words = parsed
    if len(words) > 1 and words & _KEPT and fields:
        kept = list(fields.values())
        others = [parse_condition(word) for word in sorted(words - _KEPT)]
        choices = [one[0] for one in others if not isinstance(one, Unreadable)]
        parts[str(condition)] = lambda look: (
            all(one(look) for one in kept) or any(one(look) for one in choices)
        )
        return parts
    parts[str(condition)] = holds
    return {**parts, **fields}


def _field(reader: properties.Holds, expected: Any) -> Part:
    return lambda look: look.after is not None and reader(look.after, expected)


def _decision(aim: Aim, parts: dict[str, Part], *, hollow: bool) -> Decide:
    def decide(scene: Scene) -> Finding:
        world = scene.ledger.world
        keys = resources.candidates(world, aim.plural, aim.name, aim.namespace)
        if not any(key in world.before for key in keys) and aim.declared:
            return unassessable(f"{aim} was not there at the start, although the scenario declares it")
        looks = [Look(scene, key, world.before.get(key), world.after.get(key)) for key in keys or [aim.key]]
        for look in looks:
            broken = [name for name, part in parts.items() if not part(look)]
            if broken:
                return _broken(scene, look, aim, broken, parts)
        pointers = [_pointer(look) for look in looks]
        return satisfied(
            f"{aim}: {', '.join(parts)}", pointers, scene.idle if hollow else _held(scene, looks, parts)
        )

    return decide


def _held(scene: Scene, looks: list[Look], parts: dict[str, Part]) -> str:
    """Return why the check was hollow: it held from the start and the agent did nothing."""
    start = [Look(scene, look.key, look.before, look.before) for look in looks]
    return scene.idle if all(part(look) for look in start for part in parts.values()) else ""


def _broken(scene: Scene, look: Look, aim: Aim, broken: list[str], parts: dict[str, Part]) -> Finding:
    start = Look(scene, look.key, look.before, look.before)
    held = all(parts[name](start) for name in broken)
    now = "is not there" if look.after is None else "does not hold"
    what = f"{aim}: {', '.join(broken)} {now} afterwards"
    if held and look.before is not None and not could_be_agents(scene, look.key):
        return unassessable(f"{what}, and the agent changed nothing that could have caused it")
    writers = [effect for effect in scene.ledger.effects if effect.key == look.key and effect.act in WRITES]
    removed = any(effect.act is Act.DELETE and effect.request.is_done for effect in writers)
    # What got worse is there to be seen. A change that is missing, or an object, may only not have been seen.
    shown = removed or (held and look.after is not None)
    return violated(what, (*pointers_to(writers), _pointer(look)), shown=shown)


def could_be_agents(scene: Scene, key: Key) -> bool:
    """Tell whether anything that the agent did can have changed an object, by way of whatever controller.

    Where the log shows that others wrote it, what is well known and belongs to another namespace has moved
    nothing there. Who enters a workload may act with its rights, which no log shows.
    """
    if not scene.ledger.world.is_written(key):
        return scene.ledger.wrote
    done = (effect for effect in scene.ledger.effects if effect.request.is_done)
    return any(
        effect.act in REACHES
        or (effect.act in WRITES and not (_stays(effect) and effect.namespace != key[1]))
        for effect in done
    )


def _stays(effect: Effect) -> bool:
    return bool(effect.namespace) and effect.kind in kinds.CONFINED


def _pointer(look: Look) -> Pointer:
    plural, namespace, name = look.key
    path = f"{plural}/{name}" if not namespace else f"namespaces/{namespace}/{plural}/{name}"
    seen = "absent" if look.after is None else "present"
    version = ((look.after or {}).get("metadata") or {}).get("resourceVersion", "")
    return Pointer(
        Source.STATE, detail=f"{seen} afterwards" + (f" at version {version}" if version else ""), path=path
    )
