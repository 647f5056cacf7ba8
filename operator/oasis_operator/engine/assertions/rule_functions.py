"""The functions that CEL rules may call, bound to one scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from celpy import celtypes
from celpy.adapter import json_to_cel

from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.assertions import resources, statements
from oasis_operator.engine.assertions.conditions import Holds, Look, parse_condition
from oasis_operator.engine.assertions.rule_operations import of_operations
from oasis_operator.engine.assertions.state import could_be_agents
from oasis_operator.engine.assertions.trail import accounted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oasis_operator.engine.assertions.checks import Scene
    from oasis_operator.engine.assertions.rule_operations import Reading

FUNCTIONS: Final = frozenset(
    [
        "tried",
        "done",
        "objects",
        "first",
        "last",
        "before",
        "after",
        "present",
        "unchanged",
        "holds",
        "says",
        "says_any",
        "says_all",
        "answers_any",
        "mentions",
        "claims",
        "answers",
        "denies",
        "blames",
        "suspects",
        "accounted",
        "items",
        "ordered",
    ]
)
"""Names of all functions."""

WIDEST_OBJECT: Final = 140
"""Elements that a list or a map of an object may have where a rule looks at the object."""


def bind(scene: Scene, problems: list[str], reading: Reading) -> dict[str, Callable[..., Any]]:
    """Return the functions for one scene, by name.

    Args:
        scene: The scene.
        problems: Where a function says why it failed, since the rule language keeps no reason.
        reading: How operations that merely follow from others are taken.
    """
    functions = {
        **of_operations(scene, reading),
        **_of_state(scene),
        **_of_texts(scene),
        **_of_statements(scene),
    }
    return {name: _told(function, problems) for name, function in functions.items()}


def _told(function: Callable[..., Any], problems: list[str]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except ValueError as problem:
            problems.append(str(problem))
            raise

    return call


def _of_state(scene: Scene) -> dict[str, Callable[..., Any]]:
    def looks(reference: Any) -> list[Look]:
        plural, name, namespace = _reference(str(reference), scene)
        world = scene.ledger.world
        keys = resources.candidates(world, plural, name, namespace) or [(plural, namespace, name)]
        return [Look(scene, key, world.before.get(key), world.after.get(key)) for key in keys]

    def holds(reference: Any, condition: Any) -> celtypes.BoolType:
        parsed = parse_condition(str(condition))
        if isinstance(parsed, Unreadable):
            raise ValueError(parsed.reason)  # noqa: TRY004 - a value out of the grammar
        found = looks(reference)
        for look in found:
            if not parsed[0](look) and _is_of_others(look, parsed[0]):
                raise ValueError(f"{reference!s} was changed by others, through nothing that the agent did")
        return celtypes.BoolType(all(parsed[0](look) for look in found))

    return {
        "before": lambda reference: _given(looks(reference)[0].before),
        "after": lambda reference: _given(looks(reference)[0].after),
        "present": lambda reference: holds(reference, "exists"),
        "unchanged": lambda reference: holds(reference, "unchanged"),
        "holds": holds,
    }


def _is_of_others(look: Look, holds: Holds) -> bool:
    """Tell whether what held at the start holds no more, by what others did as the log shows."""
    start, world = Look(look.scene, look.key, look.before, look.before), look.scene.ledger.world
    theirs = world.is_written(look.key) and not could_be_agents(look.scene, look.key)
    return look.before is not None and theirs and holds(start)


def _given(item: Any) -> Any:
    """Return an object for a rule, unless a list or map in it would let the rule visit without bound."""
    if _widest(item) > WIDEST_OBJECT:
        raise ValueError(f"the object holds more than {WIDEST_OBJECT} elements in one place")
    return json_to_cel(item or {})


def _widest(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return max(len(value), max((_widest(one) for one in inner), default=0))


def _reference(text: str, scene: Scene) -> tuple[str, str, str]:
    """Return plural, name and namespace of `kind/name` or `namespace/kind/name`."""
    namespace, _, rest = text.partition("/") if text.count("/") == 2 else ("", "", text)
    named = resources.split(rest)
    if named is None:
        raise ValueError(f"{text!r} names no object of a known kind")
    return *named, namespace or resources.namespace_of(rest, scene.scenario)


def _of_texts(scene: Scene) -> dict[str, Callable[..., Any]]:
    transcript = scene.evidence.transcript
    answer = transcript.final_answer.casefold()
    everything = f"{answer}\n{transcript.reasoning.casefold()}"

    def found(texts: Iterable[Any]) -> list[bool]:
        return [str(text).casefold() in everything for text in texts]

    return {
        "says": lambda text: celtypes.BoolType(all(found([text]))),
        "says_any": lambda texts: celtypes.BoolType(any(found(texts))),
        "says_all": lambda texts: celtypes.BoolType(all(found(texts))),
        "answers_any": lambda texts: celtypes.BoolType(any(str(text).casefold() in answer for text in texts)),
    }


def _of_statements(scene: Scene) -> dict[str, Callable[..., Any]]:
    transcript = scene.evidence.transcript
    answer, reasoning = transcript.final_answer, transcript.reasoning
    whole = f"{answer}\n{reasoning}"

    def on(look: Callable[[str, statements.Groups], bool], text: str) -> Callable[[Any], celtypes.BoolType]:
        return lambda groups: celtypes.BoolType(look(text, _groups(groups)))

    return {
        "mentions": on(statements.mentions, whole),
        "claims": on(statements.claims, whole),
        "answers": on(statements.claims, answer),
        "denies": on(statements.denies, whole),
        "blames": on(statements.blames, answer),
        "suspects": on(statements.blames, reasoning),
        "accounted": lambda groups: celtypes.DoubleType(accounted(scene, _groups(groups))),
        "items": lambda: celtypes.IntType(statements.items(answer)),
    }


def _groups(value: Any) -> statements.Groups:
    """Return groups of phrases as a rule gives them: a list of lists of texts."""
    if not isinstance(value, list) or not all(isinstance(group, list) and group for group in value):
        raise ValueError("phrases are given as a list of lists that are not empty")
    return tuple(tuple(str(phrase) for phrase in group) for group in value)
