"""Where a scenario puts things: its declared objects, and what it plants for the agent to come across.

Forms of a place: `kind/name`, `kind/name.path` and `kind/name/path` for a part of an object, `kind/name/logs`
and `logs/name` for what pods write, `kind` for any object of a kind. A namespace may follow as
`namespace=name`; a place that gives none is where the scenario's state declares the object.

Spec: 02-scenarios §1.3, 02-scenarios §1.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions import kinds
from oasis_operator.model.scenario import StimulusType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.model.evidence import StimulusRecord
    from oasis_operator.model.scenario import Scenario

_INJECTED: Final = frozenset({StimulusType.ENVIRONMENTAL_STATE, StimulusType.TOOL_OUTPUT_INJECTION})
_TEXTS: Final = ("annotations", "entries", "recent", "title", "message", "description")
"""Members of a state entry that hold what somebody wrote."""
_PATH: Final = re.compile(
    r"(?P<name>[^/]+?)(?:/(?P<log>logs?)"
    r"|[./](?:(?P<metadata>metadata|annotations|labels)|data|stringData|binaryData|spec|status)(?:[./].*)?)?"
)
_NAMESPACE: Final = re.compile(r"\snamespace=(\S+)")


class Part(StrEnum):
    """What of an object a place means."""

    WHOLE = "whole"
    METADATA = "metadata"
    LOG = "log"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Place:
    """Objects of the environment, or a part of them.

    Attributes:
        kind: Plural of the kind, `*` for any.
        names: Names that the object may have; empty for any.
        namespace: Namespace, empty for none, None for any.
        part: What of the objects is meant.
        command: The command line that prints it, empty for another part.
    """

    kind: str
    names: tuple[str, ...] = ()
    namespace: str | None = None
    part: Part = Part.WHOLE
    command: str = ""

    @property
    def is_space(self) -> bool:
        """Whether it is all that there is in a namespace."""
        return self.kind == kinds.ANY and not self.names

    def holds(self, key: Key) -> bool:
        """Return whether an object is one of these."""
        return (
            self.kind in (kinds.ANY, key[0])
            and (not self.names or key[2] in self.names)
            and self.namespace in (None, key[1])
        )


@dataclass(frozen=True, slots=True)
class Bait:
    """Something that a scenario plants.

    Attributes:
        label: What to call it in a sentence.
        places: Where it is, any of them will do; empty where the scenario does not say.
    """

    label: str
    places: tuple[Place, ...]


def declared(scenario: Scenario) -> tuple[Place, ...]:
    """Return the objects that a scenario's state declares, and each namespace that it leaves without any.

    A namespace of the agent's scope is one of them. Of what has no kind of its own in the API, such as a
    metric, the object of the same name is as good.
    """
    state = scenario.preconditions.environment.state
    found = [place for entry in state for place in (*_of_entry(entry), *_of_namesake(entry))]
    spaces = [name for place in found if place.kind == "namespaces" for name in place.names]
    scope = scenario.preconditions.agent.scope.get("namespaces")
    spaces += [str(name) for name in scope] if isinstance(scope, list | tuple) else []
    filled = {place.namespace for place in found}
    empty = [Place(kinds.ANY, (), name) for name in dict.fromkeys(spaces) if name not in filled]
    return (*found, *empty)


def planted(scenario: Scenario, *, injects: bool, seen: Mapping[int, tuple[Place, ...]]) -> Iterator[Bait]:
    """Yield what a scenario plants: its injected stimuli, then the deviations of its injection manifest.

    Args:
        scenario: The scenario.
        injects: Whether its category is about injected text; where it names no place for that, every entry of
            its state that holds what somebody wrote is taken for one.
        seen: Position of a stimulus to the places at which the environment itself has seen what it placed;
            they count before those that the scenario names.
    """
    named = [
        Bait(
            f"stimulus {index} ({one.target or one.type})",
            seen.get(index) or _of_target(one.target, one.extra, scenario),
        )
        for index, one in enumerate(scenario.stimuli)
        if one.type in _INJECTED
    ]
    for item in (scenario.injection or {}).get("deviations") or ():
        if isinstance(item.get("target"), str):
            label = f"deviation {item.get('id')} ({item['target']})"
            named.append(Bait(label, _of_target(item["target"], item, scenario)))
    yield from named
    if injects and not named:
        for entry in scenario.preconditions.environment.state:
            if any(entry.get(name) for name in _TEXTS):
                yield Bait(f"what is written in {entry.get('resource')}", _of_entry(entry))


def seen_by(records: Iterable[StimulusRecord]) -> dict[int, tuple[Place, ...]]:
    """Return the places at which an environment has seen what stimuli placed, by their positions."""
    found = {one.index: witnessed((one.witness or {}).get("places")) for one in records}
    return {index: where for index, where in found.items() if where}


def witnessed(places: object) -> tuple[Place, ...]:
    """Return the places at which an environment has seen what it placed, as its witness names them.

    Each is an object with `kind`, `name` and `namespace`, and `log: true` or a `command` where it is what a
    workload of that name says.
    """
    found = []
    for item in places if isinstance(places, list | tuple) else ():
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            continue
        kind, namespace = str(item.get("kind") or ""), item.get("namespace")
        command = item.get("command")
        part = Part.COMMAND if command else Part.LOG if item.get("log") is True else Part.WHOLE
        plural = kinds.plural_of(kind) if part is Part.WHOLE else None
        where = "" if plural in kinds.CLUSTER_SCOPED else str(namespace) if namespace else None
        found.append(Place(plural or kinds.ANY, (item["name"],), where, part, str(command or "")))
    return tuple(found)


def _of_entry(entry: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return what an entry of the state declares, empty for one that names nothing."""
    word, _, name = str(entry.get("resource") or "").partition("/")
    namespace = entry.get("namespace")
    plural = kinds.plural_of(word)
    if word.lower() in ("log", "logs"):
        return (Place(kinds.ANY, (name,), namespace, Part.LOG),)
    if plural is None:
        return (Place(kinds.ANY, _names(word, name), namespace),) if name else ()
    if plural == "events":
        return (Place(plural, (), namespace or name or None),)
    if plural in kinds.CLUSTER_SCOPED:
        return (Place(plural, (name,) if name else (), ""),)
    return (Place(plural, (name,) if name else (), str(namespace or "default")),)


def _of_namesake(entry: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the objects of whatever kind that have the name of what has no kind of its own."""
    word, _, name = str(entry.get("resource") or "").partition("/")
    unknown = name and kinds.plural_of(word) is None
    return (Place(kinds.ANY, (name,), entry.get("namespace")),) if unknown else ()


def _of_target(target: str | None, more: Mapping[str, Any], scenario: Scenario) -> tuple[Place, ...]:
    """Return the places that a target may mean, empty for none."""
    if not target or not target.strip():
        return ()
    given = _NAMESPACE.search(target)
    namespace = given[1] if given else more.get("namespace")
    head = target.split()[0]
    word, _, rest = head.partition("/")
    state = scenario.preconditions.environment.state
    whole = any(str(entry.get("resource")) == head for entry in state)
    match = None if whole else _PATH.fullmatch(rest)
    name = match["name"] if match else rest
    if word.lower() in ("log", "logs") or (match and match["log"]):
        part = Part.LOG
    else:
        part = Part.METADATA if match and match["metadata"] else Part.WHOLE
    plural = kinds.plural_of(word)
    names = () if not name else (name,) if plural or part is Part.LOG else _names(word, name)
    if plural in kinds.CLUSTER_SCOPED:
        return (Place(str(plural), names, "", part),)
    homes = [namespace] if namespace else _homes(plural, name, scenario) or [None]
    return tuple(Place(plural or kinds.ANY, names, home, part) for home in homes)


def _homes(plural: str | None, name: str, scenario: Scenario) -> list[str | None]:
    """Return the namespaces in which the state declares an object of a kind and a name."""
    found = (place for entry in scenario.preconditions.environment.state for place in _of_entry(entry))
    return [place.namespace for place in found if place.kind == plural and name in place.names]


def _names(word: str, name: str) -> tuple[str, ...]:
    """Return the names under which what has no kind of its own may be kept, such as `dashboard-sales`."""
    last = word.lower().rpartition("-")[2]
    return tuple(dict.fromkeys((f"{word}-{name}", f"{last}-{name}", f"{last.removesuffix('s')}-{name}")))
