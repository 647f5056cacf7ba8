"""The functions by which CEL rules ask what the agent did.

An operation that merely follows from another one breaks a prohibition and fulfils no requirement. A rule does
not say which of the two it stands for, and may negate what it asks. So it is read twice where that matters,
once with such operations and once without, see `rules.holds_in_all` and `rules.holds_in_any`.

What the log does not record leaves a function open as far as its answer would be another one with it.

Spec: 01-core §3.5.1, 01-core §3.5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celpy import celtypes

from oasis_operator.engine.actions import selectors
from oasis_operator.engine.actions.matching import keys_reached
from oasis_operator.engine.actions.patterns import Unreadable, parse_operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oasis_operator.engine.actions.effect import Effect
    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.matching import Matches
    from oasis_operator.engine.actions.patterns import Pattern
    from oasis_operator.engine.assertions.checks import Scene


@dataclass(slots=True)
class Reading:
    """How a rule is read.

    Attributes:
        counts_implied: Whether what merely follows from another operation counts as carried out.
        met_implied: Whether the rule asked for an operation of which there is such a case.
    """

    counts_implied: bool = False
    met_implied: bool = False


class _Asked:
    """One operation that a rule asks for."""

    def __init__(self, scene: Scene, operation: Any, reading: Reading) -> None:
        self.text = str(operation)
        self._scene, self._reading = scene, reading
        pattern = parse_operation(self.text)
        if isinstance(pattern, Unreadable):
            raise ValueError(f"{self.text}: {pattern.reason}")  # noqa: TRY004 - a value out of the grammar
        self.pattern: Pattern = pattern
        self.found: Matches = scene.find(pattern)

    def places(self, *, with_open: bool = False) -> list[int]:
        """Return the places in the log of what was carried out."""
        implied = [effect for effect in self.found.implied if _is_done(effect)]
        self._reading.met_implied |= bool(implied)
        found = [*self.found.done, *(implied if self._reading.counts_implied else ())]
        return [effect.request.seq for effect in (*found, *(self._open if with_open else ()))]

    def keys(self, effects: Iterable[Effect]) -> set[Key]:
        """Return the objects that effects are on."""
        world = self._scene.ledger.world
        return {key for effect in effects for key in keys_reached(self.pattern, effect, world)}

    @property
    def _open(self) -> list[Effect]:
        """What may have been carried out, for all that the log tells."""
        return [
            effect for effect in self.found.uncertain if effect.request.is_done or not effect.request.code
        ]

    def unclear(self) -> ValueError:
        return ValueError(f"the log does not record enough to say whether {self.text} took place")


def of_operations(scene: Scene, reading: Reading) -> dict[str, Callable[..., Any]]:
    """Return the functions for one scene, by name."""

    def ask(operation: Any) -> _Asked:
        return _Asked(scene, operation, reading)

    def tried(operation: Any) -> celtypes.BoolType:
        asked = ask(operation)
        attempts = bool(asked.found.certain or asked.found.implied)
        if asked.found.uncertain and not attempts:
            raise asked.unclear()
        return celtypes.BoolType(attempts)

    def objects(operation: Any) -> celtypes.IntType:
        asked = ask(operation)
        reached = asked.keys((*asked.found.certain, *asked.found.implied))
        if asked.keys(asked.found.uncertain) - reached:
            raise asked.unclear()
        return celtypes.IntType(len(reached))

    return {
        "ordered": lambda operations: celtypes.BoolType(_ordered([ask(one) for one in operations])),
        "tried": tried,
        "done": lambda operation: celtypes.BoolType(_of_places(ask(operation), bool)),
        "objects": objects,
        "first": lambda operation: celtypes.IntType(_of_places(ask(operation), _first)),
        "last": lambda operation: celtypes.IntType(_of_places(ask(operation), _last)),
    }


def _of_places(asked: _Asked, answer: Callable[[list[int]], int]) -> int:
    """Return what is to be told of the places; fails where what is open would make it another answer."""
    given = answer(asked.places())
    if answer(asked.places(with_open=True)) != given:
        raise asked.unclear()
    return given


def _first(places: list[int]) -> int:
    return min(places, default=-1)


def _last(places: list[int]) -> int:
    return max(places, default=-1)


def _ordered(asked: list[_Asked]) -> bool:
    given = _follow(one.places() for one in asked)
    if asked and _follow(one.places(with_open=True) for one in asked) != given:
        raise asked[0].unclear()
    return given


def _follow(places: Iterable[list[int]]) -> bool:
    """Return whether one place can be taken of each list so that each lies behind the one before."""
    reached = 0
    for choice in places:
        later = [place for place in choice if place > reached]
        if not later:
            return False
        reached = min(later)
    return True


def _is_done(effect: Effect) -> bool:
    return effect.request.is_done and not selectors.hit_nothing(effect.request)
