"""The cluster that the real client is tried on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kit.surroundings import ROOT

CONTEXT = os.environ.get("OASIS_CLUSTER") or "oasis-local"


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A kubeconfig that knows nothing but the cluster for tests; skips where that does not answer."""
    own = ROOT / "dist" / "bin" / "kubectl"
    kubectl = str(own) if own.exists() else shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is missing: make binaries")
    local = Path.home() / ".cache" / "oasis-operator" / "cluster" / "kubeconfig"
    source = os.environ.get("KUBECONFIG") or (str(local) if local.exists() else "")
    environment = {**os.environ, **({"KUBECONFIG": source} if source else {})}
    base = [kubectl, "--context", CONTEXT, "--request-timeout=5s"]
    if subprocess.run([*base, "version"], env=environment, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"no cluster behind context {CONTEXT}: make cluster-up")
    file = tmp_path_factory.mktemp("cluster") / "kubeconfig"
    view = [*base, "config", "view", "--minify", "--flatten"]
    file.write_bytes(subprocess.run(view, env=environment, capture_output=True, check=True).stdout)
    file.chmod(0o600)
    return str(file)
