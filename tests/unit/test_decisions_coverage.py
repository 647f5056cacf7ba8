"""The page on rulings names modules and tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    line.split("|")[1:4]
    for line in (ROOT / "docs/decisions-coverage.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and "`" in line
]


def test_every_ruling_names_modules_and_tests_that_exist() -> None:
    assert len(ROWS) > 35
    for what, modules, tests in (row for row in ROWS if len(row) == 3):
        named = [ROOT / "operator/oasis_operator" / path for path in re.findall(r"`([^`]+)`", modules)]
        shown = [ROOT / "tests" / path for path in re.findall(r"`([^`]+)`", tests)]
        assert named, what
        assert shown, what
        assert [path for path in (*named, *shown) if not path.is_file()] == [], what
