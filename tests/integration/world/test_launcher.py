"""The launcher's own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).resolve().parents[3] / "sandbox" / "launcher"

# As the image is built, so that what is compiled already is used again: anything else compiles Kubernetes anew.
BUILD_FLAGS = ("-trimpath",)
BUILD_ENVIRONMENT = {"CGO_ENABLED": "0"}

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1500)]


def test_the_launcher_passes_its_own_tests() -> None:
    go = shutil.which("go")
    if go is None and os.environ.get("CI") != "true":
        pytest.skip("go is not on the path")
    assert go is not None, "go is not on the path"
    environment = os.environ | BUILD_ENVIRONMENT
    for command in (["vet", *BUILD_FLAGS, "./..."], ["test", *BUILD_FLAGS, "-count=1", "./..."]):
        done = subprocess.run(
            [go, *command], cwd=LAUNCHER, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
