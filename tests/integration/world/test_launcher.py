"""The own tests of the programs that a sandbox is made of."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SANDBOX = Path(__file__).resolve().parents[3] / "sandbox"

# As the image is built, so that what is compiled already is used again: anything else compiles Kubernetes anew.
BUILD_FLAGS = ("-trimpath",)
BUILD_ENVIRONMENT = {"CGO_ENABLED": "0"}

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1500)]


def check(name: str, *vet_flags: str) -> None:
    go = shutil.which("go")
    if go is None and os.environ.get("CI") != "true":
        pytest.skip("go is not on the path")
    assert go is not None, "go is not on the path"
    environment = os.environ | BUILD_ENVIRONMENT
    commands = (["vet", *vet_flags, *BUILD_FLAGS, "./..."], ["test", *BUILD_FLAGS, "-count=1", "./..."])
    for command in commands:
        done = subprocess.run(
            [go, *command], cwd=SANDBOX / name, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_the_launcher_passes_its_own_tests() -> None:
    check("launcher")


def test_what_evaluates_promql_passes_its_own_tests() -> None:
    # The engine wants iterators whose Seek is another one than that of files.
    check("prometheus", "-stdmethods=false")


def test_the_first_process_of_a_commands_container_passes_its_own_tests() -> None:
    check("entry")
