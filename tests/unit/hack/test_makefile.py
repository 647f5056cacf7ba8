"""The set-up commands bring along what they use, on a machine that has nothing yet."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("target", ["deploy", "e2e", "test-cluster"])
def test_what_calls_helm_and_kubectl_builds_them_first(target: str) -> None:
    plan = subprocess.run(
        ["make", "-n", target], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()
    (built,) = [number for number, line in enumerate(plan) if line.endswith("binaries kubectl helm")]
    used = [number for number, line in enumerate(plan) if "deploy.py" in line or "pytest" in line]
    assert used
    assert built < used[0]
