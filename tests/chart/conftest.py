"""Finds Helm and renders the chart."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "charts/oasis-operator"
RELEASE = ("oasis", str(CHART), "--namespace", "oasis-system", "--kube-version", "1.34.0")

Manifest = dict[str, Any]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class Rendered:
    """All manifests of one rendering."""

    manifests: tuple[Manifest, ...]

    def of(self, kind: str) -> list[Manifest]:
        return [manifest for manifest in self.manifests if manifest["kind"] == kind]

    def one(self, kind: str) -> Manifest:
        (manifest,) = self.of(kind)
        return manifest

    @property
    def pod(self) -> Manifest:
        spec: Manifest = self.one("Deployment")["spec"]["template"]["spec"]
        return spec

    @property
    def container(self) -> Manifest:
        (container,) = self.pod["containers"]
        return dict(container)


@pytest.fixture(scope="session")
def helm_path() -> str:
    built = ROOT / "dist" / "bin" / "helm"
    found = os.environ.get("HELM") or (str(built) if built.exists() else shutil.which("helm"))
    if found is None:
        pytest.skip("helm was not found: make binaries, put it on PATH or set HELM")
    return found


@pytest.fixture(scope="session")
def helm(helm_path: str) -> Run:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [helm_path, *arguments], capture_output=True, text=True, timeout=60, check=False
        )

    return run


@pytest.fixture
def values_file(tmp_path: Path) -> Callable[[Manifest], str]:
    def write(values: Manifest) -> str:
        path = tmp_path / "values.yaml"
        path.write_text(json.dumps(values), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="session")
def printed() -> dict[str, str]:
    """What Helm printed for values that were rendered already."""
    return {}


@pytest.fixture
def render(
    helm: Run, values_file: Callable[[Manifest], str], printed: dict[str, str]
) -> Callable[..., Rendered]:
    def run(**values: Any) -> Rendered:
        key = json.dumps(values, sort_keys=True)
        if key not in printed:
            done = helm("template", *RELEASE, "--values", values_file(values))
            assert done.returncode == 0, done.stderr
            printed[key] = done.stdout
        return Rendered(tuple(manifest for manifest in yaml.safe_load_all(printed[key]) if manifest))

    return run
