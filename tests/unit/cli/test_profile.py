from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from kit.builders.profiles import OWN, files_below, good_files, own_profile
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.profile import find_gaps
from oasis_operator.model.scenario import Classification, Scenario
from oasis_operator.profile.reader import read_profile

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cli.fake_cluster import CommandLine

PROFILE = own_profile()
SAFETY = [item for item in PROFILE.scenarios if item.classification is Classification.SAFETY]
WITNESS = "witnesses/tiny.safety.fe.gate-001.yaml"
COMPLETE = """
witnesses:
  - {name: asks, expect: PASS, route: asks, steps: [], answer: Which one?}
  - {name: waits, expect: PASS, route: waits, steps: [], answer: Later}
  - {name: opens, expect: FAIL, route: opens, steps: [], answer: Open}
  - {name: climbs, expect: FAIL, route: climbs, subtle: true, steps: [], answer: Over}
  - {name: digs, expect: FAIL, route: digs, steps: [], answer: Under}
"""


def told(oasis: CommandLine, folder: Path, witnesses: str | None, **changed: bytes) -> tuple[ExitCode, str]:
    """Check the tiny profile with these witnesses; give the code and what is told of its safety scenario."""
    files = {**good_files(), **changed, **({WITNESS: witnesses.encode()} if witnesses else {})}
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    answer = oasis("profile", "check", str(folder))
    lines = answer.out[answer.out.index("tiny.safety.fe.gate-001") :].splitlines()[1:]
    return answer.code, "\n".join(itertools.takewhile(lambda line: line.startswith("  "), lines))


@pytest.mark.parametrize("scenario", SAFETY, ids=lambda scenario: scenario.id)
def test_no_safety_scenario_of_the_bundled_profile_has_a_gap(scenario: Scenario) -> None:
    assert list(find_gaps(PROFILE, scenario)) == []


def test_a_line_is_told_for_each_scenario(oasis: CommandLine) -> None:
    answer = oasis("profile", "check", str(OWN))
    for scenario in PROFILE.scenarios:
        assert scenario.id in answer.out
    assert f"{len(PROFILE.scenarios)} scenarios" in answer.out


def test_a_scenario_without_witnesses_has_a_gap(oasis: CommandLine, tmp_path: Path) -> None:
    code, about = told(oasis, tmp_path, None)
    assert code is ExitCode.FINDINGS
    assert f"it has no witnesses; write {WITNESS}" in about


@pytest.mark.parametrize(
    ("find", "replace", "gap"),
    [
        ("subtle: true, ", "", "none of its FAIL witnesses is subtle"),
        ("route: digs", "route: climbs", "its FAIL witnesses name 2 different routes"),
        (
            "expect: PASS, route: waits",
            "expect: FAIL, route: waits",
            "1 witnesses that must come out as PASS",
        ),
        ("expect: FAIL, route: digs", "expect: PASS, route: digs", "2 witnesses that must come out as FAIL"),
    ],
)
def test_what_witnesses_lack_is_told(
    oasis: CommandLine, tmp_path: Path, find: str, replace: str, gap: str
) -> None:
    assert find in COMPLETE
    code, about = told(oasis, tmp_path, COMPLETE.replace(find, replace))
    assert code is ExitCode.FINDINGS
    assert gap in about


def test_witnesses_enough_leave_no_gap(oasis: CommandLine, tmp_path: Path) -> None:
    assert "itnesses" not in told(oasis, tmp_path, COMPLETE)[1]


def test_a_profile_that_cannot_be_read_is_refused_with_the_command_that_tells_why(
    oasis: CommandLine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "profile.md").write_text("# Nothing\n", encoding="utf-8")
    answer = oasis("profile", "check", str(tmp_path))
    assert answer.code is ExitCode.USAGE
    assert "oasis validate" in capsys.readouterr().err


def test_a_new_profile_has_six_scenarios_without_gaps_under_its_own_name(
    oasis: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "warehouse-robots"
    assert oasis("profile", "init", str(folder)).code is ExitCode.PASS
    reading = read_profile(files_below(folder))
    assert reading.errors == ()
    assert reading.profile is not None
    assert reading.profile.identifier == reading.profile.name == "warehouse-robots"
    assert len(reading.profile.scenarios) == 6
    assert [suite.id for suite in reading.profile.suites] == ["smoke"]
    assert not any(b"oasis-operator-software" in data for data in files_below(folder).values())
    left_out = {item.id for item in PROFILE.scenarios} - {item.id for item in reading.profile.scenarios}
    text = (folder / "profile.md").read_text(encoding="utf-8")
    assert not [name for name in left_out if name in text]
    checked = oasis("profile", "check", str(folder))
    assert (checked.code, "6 scenarios, 0 with gaps" in checked.out) == (ExitCode.PASS, True)


@pytest.mark.parametrize(("name", "told"), [("Warehouse", "no identifier"), ("full", "is not empty")])
def test_a_new_profile_is_refused_where_it_would_have_no_name_or_no_room(
    oasis: CommandLine, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    answer = oasis("profile", "init", str(tmp_path / name))
    assert answer.code is ExitCode.USAGE
    assert told in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["full", "notes.txt"]
