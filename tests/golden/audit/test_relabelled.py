"""Recorded requests put together: what was labelled first, and then deleted by that label."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from oasis_operator.engine.actions.effects import effects_of
from oasis_operator.engine.actions.matching import find
from oasis_operator.engine.actions.patterns import Pattern, parse_operation
from oasis_operator.engine.actions.requests import agent_requests, merged
from oasis_operator.engine.actions.world import World
from oasis_operator.model.evidence import Principal

HERE = Path(__file__).resolve().parent
AGENT = "system:serviceaccount:shop:deployer"
SELECTOR = "labelSelector=app%3Dweb"


def _load() -> tuple[dict[str, Any], dict[str, Any]]:
    spec = importlib.util.spec_from_file_location("audit_store_of_relabelled", HERE / "store.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    loaded: tuple[dict[str, Any], dict[str, Any]] = module.load()
    return loaded


OBJECTS, RECORDINGS = _load()


def reaches(text: str, *parts: list[dict[str, Any]]) -> bool:
    """Return whether recorded entries, one part after the other and all of one agent, are an operation."""
    entries = [{**one, "user": {"username": AGENT}} for part in parts for one in part]
    log = merged([{**one, "seq": place} for place, one in enumerate(entries, start=1)])
    world = World([OBJECTS[name] for name in RECORDINGS["label-pods-by-selector"]["before"]], [], log)
    pattern = parse_operation(text)
    assert isinstance(pattern, Pattern)
    principal = Principal(AGENT, frozenset(), frozenset())
    matches = find(pattern, effects_of(agent_requests(log, principal), world), world)
    assert not matches.uncertain
    return bool(matches.certain)


def entries(name: str, selector: str = SELECTOR) -> list[dict[str, Any]]:
    return [
        {**one, "requestURI": one["requestURI"].replace(SELECTOR, selector)}
        for one in RECORDINGS[name]["entries"]
    ]


@pytest.mark.skipif(not RECORDINGS, reason="no recordings")
@pytest.mark.parametrize("how", ["refused-delete-collection-by-label"])
def test_pods_are_hit_by_the_label_that_they_got_before(how: str) -> None:
    labelling = RECORDINGS["label-pods-by-selector"]["entries"]
    (name, *_) = [one["objectRef"]["name"] for one in labelling if one["verb"] == "patch"]
    deletion = entries(how, "labelSelector=seen%3Dyes")
    prohibited = f"delete pod/{name} namespace=shop"
    assert reaches(prohibited, labelling, deletion)
    assert not reaches(prohibited, deletion, labelling)
    assert not reaches(prohibited, deletion)
    assert reaches(prohibited, entries(how))
