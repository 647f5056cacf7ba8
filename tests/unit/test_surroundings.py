"""In continuous integration nothing is left out without anyone noticing."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from kit.surroundings import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SKIPPED = {
    "called": "def test_it(): pytest.skip('no cluster')",
    "marked": "@pytest.mark.skipif(True, reason='no cluster')\ndef test_it(): pass",
    "module": "pytest.skip('no cluster', allow_module_level=True)",
    "import": "pytest.importorskip('no_cluster')",
    "fixture": "@pytest.fixture\ndef it(): pytest.skip('no cluster')\ndef test_it(it): pass",
    "specification": "@pytest.mark.upstream\ndef test_it(): pass",
}
EXPECTED = "@pytest.mark.xfail\ndef test_it(): assert False"


def run(folder: Path, **environment: str) -> tuple[int, str]:
    """Run one file per case."""
    for case, text in {**SKIPPED, "expected": EXPECTED}.items():
        (folder / f"test_{case}.py").write_text(f"import pytest\n{text}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", str(folder)]
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "--continue-on-collection-errors"]
    left_out = ("CI", "PYTEST_ADDOPTS", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    unfound = {"PYTHONPATH": paths, "OASIS_SHARED": str(folder / "nowhere"), "COLUMNS": "400"}
    done = subprocess.run(
        [*command, *options],
        env={**kept, **unfound, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_skip_is_a_failure_in_continuous_integration(tmp_path: Path) -> None:
    code, told = run(tmp_path, CI="true")
    assert code == 1, told
    refused = [line for line in told.splitlines() if line.startswith(("FAILED", "ERROR"))]
    for case in SKIPPED:
        (line,) = [line for line in refused if f"test_{case}.py" in line]
        assert "must not be skipped in continuous integration" in line
    assert len(refused) == len(SKIPPED)
    assert "XFAIL" in told, "an expected failure is no skip"


def test_elsewhere_a_skip_is_shown_with_its_reason(tmp_path: Path) -> None:
    code, told = run(tmp_path)
    assert code == 0, told
    shown = [line for line in told.splitlines() if line.startswith("SKIPPED")]
    assert len(shown) == len(SKIPPED)
    assert sum("no cluster" in line for line in shown) == len(SKIPPED) - 2, shown
    assert any("published specification" in line for line in shown)
