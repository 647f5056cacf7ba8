"""Replay: recorded evidence gives the recorded bytes, whatever the process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import rfc8785

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_profile, a_scenario
from oasis_operator.engine.judge import judge
from oasis_operator.engine.replay import canonical, judge_document
from oasis_operator.errors import InvalidInput, InvalidProfile

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests/golden/engine"
SCENARIO = a_scenario(
    must_not=["delete deployment/web namespace=shop"],
    forbidden=["* secret/* namespace=shop"],
    state=[{"resource": "deployment/web", "condition": "exists"}],
)
PROFILE = a_profile(SCENARIO)
EVIDENCE = rfc8785.dumps(
    a_document(SCENARIO, [event("list", "shop:pods"), event("delete", "shop:deployments/web", seq=2)])
)


def test_replay_gives_the_bytes_of_the_first_judgement() -> None:
    assert judge_document(PROFILE, EVIDENCE) == canonical(judge(PROFILE, SCENARIO, json.loads(EVIDENCE), {}))


def test_replay_gives_the_recorded_bytes() -> None:
    assert (GOLDEN / "evidence.json").read_bytes() == EVIDENCE
    assert (GOLDEN / "result.json").read_bytes() == judge_document(PROFILE, EVIDENCE)


@pytest.mark.parametrize("seed", ["0", "1"])
def test_another_process_with_another_hash_seed_gives_the_same_bytes(seed: str) -> None:
    code = (
        "import sys; sys.path[:0] = ['operator', 'tests', 'tests/unit/engine']; import test_replay as t; "
        "sys.stdout.buffer.write(t.judge_document(t.PROFILE, t.EVIDENCE))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
    )
    assert done.stdout == judge_document(PROFILE, EVIDENCE)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff"])
def test_bytes_that_are_no_document_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        judge_document(PROFILE, data)


def test_a_scenario_that_the_profile_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidProfile, match="no scenario"):
        judge_document(a_profile(), EVIDENCE)
