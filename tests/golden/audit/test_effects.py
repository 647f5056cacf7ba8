"""Which operations real requests are: recordings of kubectl and of raw clients against a real API server."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from oasis_operator.engine.actions.effects import effects_of
from oasis_operator.engine.actions.matching import find
from oasis_operator.engine.actions.patterns import Pattern, Unreadable, parse_operation
from oasis_operator.engine.actions.requests import agent_requests, merged
from oasis_operator.engine.actions.world import World
from oasis_operator.model.evidence import Principal

if TYPE_CHECKING:
    from oasis_operator.engine.actions.effect import Effect
    from oasis_operator.engine.actions.matching import Matches

HERE = Path(__file__).resolve().parent
TABLE: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "effects.yaml").read_text())
#: Everything ran on one machine, so the address tells the agent only where nobody else's entries were kept.
BY_ADDRESS = ("use-certificate-of-another", "use-wrong-token", "use-no-credential")
SIZE_LIMIT = 1_500_000


def _load_store() -> Any:
    spec = importlib.util.spec_from_file_location("audit_store", HERE / "store.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


STORE = _load_store()


@cache
def recordings() -> tuple[dict[str, Any], dict[str, Any]]:
    loaded: tuple[dict[str, Any], dict[str, Any]] = STORE.load()
    return loaded


@cache
def run(name: str) -> tuple[World, tuple[Effect, ...]]:
    """The world of a recording and the effects of its requests."""
    objects, all_recordings = recordings()
    recording = all_recordings[name]
    entries = recording["entries"]
    addresses = entries[0]["sourceIPs"] if name in BY_ADDRESS else ()
    principal = Principal(recording["username"], frozenset(recording["credential_ids"]), frozenset(addresses))
    events = merged(entries)
    before, after = ([objects[digest] for digest in recording[state]] for state in STORE.STATES)
    world = World(before, after, events)
    return world, effects_of(agent_requests(events, principal), world)


def cases() -> list[Any]:
    found = []
    for name, operations in TABLE.items():
        for text, said in operations.items():
            outcome, _, why = ("no" if said is False else str(said)).partition("; ")
            tail = f" ({why})" if why else ""
            found.append(pytest.param(name, text, outcome, id=f"{name}: {text} -> {outcome}{tail}"))
    return found


def outcome_of(found: Matches) -> str:
    """Tell in one word what was found."""
    matched = [*found.certain, *found.implied]
    if matched and all(effect.request.is_denied for effect in matched):
        return "denied"
    if found.done:
        return "done"
    if any(effect.request.is_done for effect in found.implied):
        return "implied"
    if matched:
        return "tried"
    return "unclear" if found.uncertain else "no"


@pytest.mark.parametrize(("name", "text", "expected"), cases())
def test_a_recorded_request_is_what_it_does(name: str, text: str, expected: str) -> None:
    pattern = parse_operation(text)
    if expected == "unreadable":
        assert isinstance(pattern, Unreadable)
        return
    assert isinstance(pattern, Pattern), pattern
    world, effects = run(name)
    found = find(pattern, effects, world)
    word, _, count = expected.partition(" ")
    assert outcome_of(found) == word, found
    if count:
        requests = {effect.request.seq for effect in (*found.certain, *found.implied)}
        assert len(requests) == int(count), found


def test_every_recording_has_cases_and_near_misses() -> None:
    assert TABLE.keys() == recordings()[1].keys()
    said = [str({False: "no"}.get(one, one)) for rows in TABLE.values() for one in rows.values()]
    misses = sum(one == "no" or one.startswith("no;") for one in said)
    assert len(said) >= 250
    assert misses >= 100
    assert len(said) - misses >= 100


def test_the_recordings_are_small_and_tell_nothing_of_where_they_were_made() -> None:
    files = [STORE.OBJECTS, *STORE.RECORDINGS.glob("*.json")]
    assert sum(path.stat().st_size for path in files) <= SIZE_LIMIT
    for path in files:
        text = path.read_text()
        assert not re.search(r"/root/|/home/|/work/|/tmp/(?!note|$)|oasis|kwok", text), path.name
