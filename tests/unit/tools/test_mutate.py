"""The report on mutants: what counts as noticed, and what the short form changes of the configuration."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tools import mutate

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
VERDICT = "engine/verdict.py"
CODES = {"a": 1, "b": 37, "c": 24, "d": 0, "e": 33, "f": None, "g": 99}


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    for name, codes in ((VERDICT, CODES), ("engine/gone.py", CODES), ("engine/gate.py", {})):
        path = tmp_path / "mutants/src/oasis_operator" / f"{name}.meta"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"exit_code_by_key": codes}), encoding="utf-8")
    return tmp_path


def test_a_mutant_is_noticed_by_a_test_by_a_type_or_by_taking_too_long(stage: Path) -> None:
    (module,) = mutate.read_results(stage)
    assert module.name == VERDICT
    assert [module.count(fate) for fate in mutate.COLUMNS] == [1, 1, 1, 2, 1]
    assert mutate.noticed([module]) == pytest.approx(50.0)
    assert list(mutate.survivors([module])) == ["d", "e", "g"]
    assert mutate.table([module]).splitlines()[-1].split() == [
        "all",
        "6",
        "1",
        "1",
        "1",
        "2",
        "1",
        "50.0",
        "%",
    ]


def test_without_mutants_nothing_is_claimed() -> None:
    assert mutate.noticed([]) == 0.0


def test_the_short_form_names_lists_of_the_long_one() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    short = SETTINGS["oasis"]["mutation-short"]
    found = tomllib.loads(mutate.with_lists(text, short))["tool"]["mutmut"]
    assert found == {**SETTINGS["mutmut"], **short}
    with pytest.raises(SystemExit, match="no list 'nothing'"):
        mutate.with_lists(text, {"nothing": []})


def test_what_is_mutated_and_what_notices_it_is_there() -> None:
    for settings in (SETTINGS["mutmut"], {**SETTINGS["mutmut"], **SETTINGS["oasis"]["mutation-short"]}):
        for pattern in settings["only_mutate"]:
            assert list(ROOT.glob(pattern.replace("src/", "operator/", 1))), pattern
        for path in settings["pytest_add_cli_args_test_selection"]:
            assert (ROOT / path).exists(), path


def test_copies_made_by_other_settings_are_made_anew(tmp_path: Path) -> None:
    copy = tmp_path / "mutants/src/copy.py"
    mutate.prepare(tmp_path)
    copy.parent.mkdir(parents=True)
    copy.touch()
    mutate.prepare(tmp_path)
    assert copy.exists()
    mutate.prepare(tmp_path, short=True)
    assert not copy.exists()
