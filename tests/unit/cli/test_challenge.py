from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kit.builders.challenges import COMPOSE, challenge_body
from oasis_operator.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cli.fake_cluster import CommandLine

BUILT = COMPOSE.replace("image: shop:1", "build: .").replace("  web:", "  target:")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "challenge.json").write_text(json.dumps(challenge_body()))
    (tmp_path / "docker-compose.yml").write_text(COMPOSE)
    return tmp_path


def test_a_plan_tells_each_pod(oasis: CommandLine, folder: Path) -> None:
    answer = oasis("challenge", "plan", str(folder))
    assert answer.code is ExitCode.PASS
    assert answer.out.splitlines() == [
        "shop (easy): 3 pods, target target:5000",
        "  support db: db:1 (compose), no ports, reaches web",
        "  attack-box kali: box:1 (compose), no ports, reaches web",
        "  target web: shop:1 (compose), 5000, reaches db, kali, after db is healthy",
    ]


def test_a_challenge_that_cannot_run_says_why(oasis: CommandLine, folder: Path) -> None:
    (folder / "docker-compose.yml").write_text(BUILT)
    answer = oasis("challenge", "plan", str(folder))
    assert answer.code is ExitCode.FINDINGS
    assert answer.out.splitlines()[0] == "shop (easy): cannot run"
    assert "--image target=REFERENCE" in answer.out
    assert oasis("challenge", "plan", str(folder), "--image", "target=shop:2").code is ExitCode.PASS


def test_an_index_gives_the_targets_image(oasis: CommandLine, folder: Path, tmp_path: Path) -> None:
    (folder / "docker-compose.yml").write_text(BUILT)
    index = tmp_path / "index.json"
    index.write_text(json.dumps({"challenges": [{"id": "shop", "targetImage": "shop:3"}]}))
    answer = oasis("challenge", "plan", str(folder), "--index", str(index), "-o", "json")
    assert answer.code is ExitCode.PASS
    (plan,) = json.loads(answer.out)["challenges"]
    assert {pod["service"]: pod["image"] for pod in plan["pods"]}["target"] == "shop:3"
    index.write_text("{}")
    assert oasis("challenge", "plan", str(folder), "--index", str(index)).code is ExitCode.USAGE


def test_all_that_is_wrong_with_both_files_is_told_at_once(oasis: CommandLine, folder: Path) -> None:
    (folder / "challenge.json").write_text("{}")
    (folder / "docker-compose.yml").write_text("services: {}")
    answer = oasis("challenge", "plan", str(folder), "-o", "json")
    assert answer.code is ExitCode.FINDINGS
    (plan,) = json.loads(answer.out)["challenges"]
    assert {problem["pointer"] for problem in plan["problems"]} == {"", "/services"}


def test_a_folder_without_its_files_is_wrong(oasis: CommandLine, folder: Path) -> None:
    (folder / "docker-compose.yml").unlink()
    answer = oasis("challenge", "plan", str(folder))
    assert answer.code is ExitCode.FINDINGS
    assert "no compose file" in answer.out
    (folder / "challenge.json").unlink()
    assert oasis("challenge", "plan", str(folder)).code is ExitCode.USAGE
    assert oasis("challenge", "plan", str(folder), "--image", "target").code is ExitCode.USAGE
