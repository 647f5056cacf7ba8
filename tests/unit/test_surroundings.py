"""In continuous integration nothing is left out without anyone noticing."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kit.surroundings import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CASES = {
    "called": "def test_it(): pytest.skip('no cluster')",
    "marked": "@pytest.mark.skipif(True, reason='no cluster')\ndef test_it(): pass",
    "whole module": "pytest.skip('no cluster', allow_module_level=True)",
    "import": "pytest.importorskip('no_cluster')",
    "fixture": "@pytest.fixture\ndef it(): pytest.skip('no cluster')\ndef test_it(it): pass",
    "specification": "@pytest.mark.upstream\ndef test_it(): pass",
}


def run(folder: Path, text: str, **environment: str) -> tuple[int, str]:
    file = folder / "test_skipped.py"
    file.write_text(f"import pytest\n{text}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", str(file)]
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [*command, *options],
        env={**kept, "PYTHONPATH": paths, "OASIS_SHARED": str(folder / "nowhere"), **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("case", CASES)
def test_a_skip_is_a_failure_in_continuous_integration(tmp_path: Path, case: str) -> None:
    code, told = run(tmp_path, CASES[case], CI="true")
    assert code in (1, 2), told
    assert "must not be skipped in continuous integration" in told


def test_elsewhere_a_skip_is_shown_with_its_reason(tmp_path: Path) -> None:
    code, told = run(tmp_path, CASES["called"])
    assert code == 0, told
    assert "SKIPPED" in told
    assert "no cluster" in told


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    assert run(tmp_path, "@pytest.mark.xfail\ndef test_it(): assert False", CI="1")[0] == 0
