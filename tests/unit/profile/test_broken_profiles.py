from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kit.builders.profiles import ROOT, edited, read_good
from oasis_operator.profile.codes import CODES
from oasis_operator.profile.reader import read_profile

CASES: list[dict[str, Any]] = yaml.safe_load(
    (ROOT / "tests/broken_profiles/cases.yaml").read_text(encoding="utf-8")
)
KNOWN = {(fault.code, fault.message) for fault in read_good().faults}


def test_the_good_profile_has_no_error() -> None:
    reading = read_good()
    assert reading.errors == ()
    assert reading.profile is not None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_fault_is_found_at_its_place_and_nothing_else(case: dict[str, Any]) -> None:
    files = edited(case["file"], case["find"], case["replace"])
    reading = read_profile(files)

    new = [fault for fault in reading.faults if (fault.code, fault.message) not in KNOWN]
    hits = [fault for fault in new if fault.code == case["code"] and fault.file == case["file"]]
    assert (case["line"], case["column"]) in [(fault.line, fault.column) for fault in hits]
    assert {fault.code for fault in new} == {case["code"], *case.get("also", ())}
    assert all(fault.message and fault.remedy for fault in new)
    assert (reading.profile is None) == bool(reading.errors)
    if "seen" in case:
        line = files[case["file"]].decode().split("\n")[case["line"] - 1]
        assert line[case["column"] - 1 :].startswith(case["seen"])


def test_the_table_is_large_and_its_names_differ() -> None:
    assert len(CASES) >= 60
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_every_code_is_shown_by_a_case_or_by_a_test_that_names_it() -> None:
    shown = {case["code"] for case in CASES} | {code for case in CASES for code in case.get("also", ())}
    others = (path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__))
    named = " ".join(path.read_text(encoding="utf-8") for path in others)
    # Every family has its four general codes, whether or not it can come to each of them.
    special = {
        code
        for code in CODES
        if not code.endswith(("001", "002", "003", "004")) or code[:3] in ("PKG", "YML")
    }
    assert {code for code in special - shown if code not in named} == set()
