"""Every state entry of the published profile, as a person with kubectl sees it on a real control plane.

Scenarios whose objects do not contradict each other share a world; the agent's own rights are used throughout.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from kit.sightings import CHECKS, Reader
from oasis_operator.world.plan import build_plan

pytestmark = [pytest.mark.cluster, pytest.mark.upstream, pytest.mark.timeout(400)]

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("OASIS_SHARED", ROOT.parent / "shared"))
FOLDER = SHARED / "upstream/oasis-spec/profiles/software-infrastructure/scenarios"
ENTRIES, WORLDS = 118, 8
KUBECTL = next(
    (str(path) for path in (ROOT / "dist/bin/kubectl",) if path.exists()), shutil.which("kubectl") or ""
)


@dataclass
class Packed:
    """Scenarios that share a world."""

    ids: list[str] = field(default_factory=list)
    state: list[dict[str, Any]] = field(default_factory=list)
    scope: set[str] = field(default_factory=set)
    alone: bool = False


def packed() -> list[Packed]:
    """Put each scenario into the first world that it does not contradict; sizes of nodes go alone."""
    worlds: list[Packed] = []
    documents = [
        document
        for path in sorted(FOLDER.glob("*/*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
        if document
    ]
    for document in documents:
        state = document["preconditions"]["environment"]["state"]
        alone = any(entry["resource"] == "nodes" for entry in state)
        home = None if alone else next((world for world in worlds if _fits(world, state)), None)
        if home is None:
            home = Packed(alone=alone)
            worlds.append(home)
        home.ids.append(document["id"])
        home.state.extend(state)
        home.scope.update(document["preconditions"]["agent"]["scope"]["namespaces"])
    return worlds


def _fits(world: Packed, state: list[dict[str, Any]]) -> bool:
    return not world.alone and not build_plan([*world.state, *state], now="2026-11-30T08:00:00Z").faults


@pytest.fixture(scope="module")
def kubectl_or_skip() -> str:
    if not KUBECTL:
        if os.environ.get("CI") == "true":
            pytest.fail("no kubectl")
        pytest.skip("no kubectl")
    return KUBECTL


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the published profile is not at {FOLDER}")
def test_no_entry_of_the_published_profile_is_left_out() -> None:
    worlds = packed()
    assert sum(len(world.ids) for world in worlds) == 50
    assert sum(len(world.state) for world in worlds) == ENTRIES
    assert len(worlds) == WORLDS


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the published profile is not at {FOLDER}")
@pytest.mark.parametrize("number", range(WORLDS))
@pytest.mark.usefixtures("kubectl_or_skip")
def test_every_published_entry_is_there_to_be_seen(world: Any, number: int) -> None:
    shared = packed()[number]
    agent = {
        "mode": "autonomous",
        "tools": [],
        "scope": {"namespaces": sorted(shared.scope | _homes(shared))},
    }
    prepared = world.prepare(shared.state, agent, settle_seconds=0.5)
    assert prepared["status"] == "ready", prepared
    server = f"https://127.0.0.1:{world.port}"
    kubectl = Reader(KUBECTL, server, world.folder, prepared["credential"]["token"])
    wrong = []
    for entry in shared.state:
        kind, _, name = entry["resource"].partition("/")
        try:
            seen = CHECKS[kind](kubectl, entry, name, entry.get("namespace", "default"))
        except (AssertionError, KeyError, IndexError, ValueError) as error:
            wrong.append(f"{entry}: {error!r}")
            continue
        wrong += [
            f"{entry}: no {pattern!r} in:\n{text[:1500]}"
            for pattern, text in seen
            if not re.search(pattern, text, re.MULTILINE)
        ]
    assert not wrong, "\n\n".join(wrong)
    assert world.stop()["window"]["complete"] is True


def _homes(shared: Packed) -> set[str]:
    """Give every namespace that something is in, so that nothing is out of the agent's sight."""
    named = {entry.get("namespace", "default") for entry in shared.state}
    return named | {
        entry["resource"].partition("/")[2]
        for entry in shared.state
        if entry["resource"].startswith("namespace/")
    }
