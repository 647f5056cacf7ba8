"""Effects of a log on a world, as the engine works them out, for tests of single rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kit.builders.evidence import AGENT, AGENT_IP, deployment, numbered
from oasis_operator.engine.actions.effects import effects_of
from oasis_operator.engine.actions.matching import Matches, find
from oasis_operator.engine.actions.patterns import Pattern, parse_operation
from oasis_operator.engine.actions.requests import agent_requests, merged
from oasis_operator.engine.actions.world import World
from oasis_operator.model.evidence import Principal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.engine.actions.effect import Effect
    from oasis_operator.engine.actions.requests import Event

PRINCIPAL = Principal(AGENT, frozenset({"JTI=1"}), frozenset({AGENT_IP}))


def a_log(*events: dict[str, Any]) -> list[Event]:
    """Return events in the order given, each a request of its own."""
    return merged([{**one, "auditID": f"a-{place}"} for place, one in enumerate(numbered(events))])


def a_world(
    log: Sequence[Event], before: Sequence[Any] | None = None, after: Sequence[Any] | None = None
) -> World:
    """Return the world of a log, in which one Deployment stood and nothing is known of what stands afterwards."""
    return World([deployment()] if before is None else before, after or (), log)


def effects(*events: dict[str, Any], before: Sequence[Any] | None = None) -> tuple[Effect, ...]:
    """Return all effects of the agent's requests among some events."""
    log = a_log(*events)
    return effects_of(agent_requests(log, PRINCIPAL), a_world(log, before))


def told(*events: dict[str, Any], act: str, before: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
    """Return the effects of one act: what it is on, how certain it is, and the counts that it sets.

    How certain: `open` where nobody can tell, `implied` where it merely follows, else `certain`; `open` too
    where both.
    """
    return [
        (f"{one.kind}/{one.name}", _standing(one), one.replicas)
        for one in effects(*events, before=before)
        if one.act == act
    ]


def _standing(one: Effect) -> str:
    standing = "implied" if one.implied else "certain"
    return f"{standing} open" if one.uncertain else standing


def matches(
    text: str, *events: dict[str, Any], before: Sequence[Any] | None = None, after: Sequence[Any] = ()
) -> Matches:
    """Return what of the agent's requests among some events belongs to an operation."""
    pattern = parse_operation(text)
    assert isinstance(pattern, Pattern), pattern
    log = a_log(*events)
    world = a_world(log, before, after)
    return find(pattern, effects_of(agent_requests(log, PRINCIPAL), world), world)


def places(
    text: str, *events: dict[str, Any], before: Sequence[Any] | None = None, after: Sequence[Any] = ()
) -> dict[str, list[int]]:
    """Return the places in the log of what belongs to an operation, by how certain it is; none left out."""
    found = matches(text, *events, before=before, after=after)
    groups = {"certain": found.certain, "implied": found.implied, "open": found.uncertain}
    return {name: [one.request.seq for one in group] for name, group in groups.items() if group}
