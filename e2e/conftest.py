"""A cluster with the operator, one namespace per test module, and what is kept when a test fails."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from e2e import deploy
from e2e.kubectl import ROOT, Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RESULTS = ROOT / "results" / "e2e"
KEPT = "agents,environments,evaluations,scenarioruns"
OPERATOR_LABEL = "app.kubernetes.io/name=oasis-operator"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs the cluster."""
    for item in items:
        item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def context() -> str:
    """The context to use; a cluster that is not there is a failure."""
    name = os.environ.get("OASIS_E2E_CONTEXT", "oasis-local")
    answer = Cluster(name, "default").kubectl("get", "--raw", "/readyz")
    if answer.code != 0:
        pytest.fail(f"no cluster behind context {name}: make cluster-up\n{answer.err}", pytrace=False)
    return name


@pytest.fixture(scope="session")
def images() -> dict[str, str]:
    """The images that were built."""
    return dict(json.loads((ROOT / "dist" / "images.json").read_text()))


@pytest.fixture(scope="module")
def cluster(context: str, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A namespace of the module's own, restricted, and removed afterwards unless something failed."""
    base = os.environ.get("OASIS_E2E_NAMESPACE", "oasis-e2e")
    suffix = re.sub(r"[^a-z0-9]+", "-", request.module.__name__.rpartition(".")[2].removeprefix("test_"))
    namespace = f"{base}-{suffix}"
    admin = Cluster(context, "default")
    admin.kubectl("delete", "namespace", namespace, "--ignore-not-found", "--wait=true", "--timeout=180s")
    deploy.Cluster(context).apply(deploy.build_namespace(namespace))
    failed_before = request.session.testsfailed
    yield Cluster(context, namespace)
    if request.session.testsfailed == failed_before:
        admin.kubectl("delete", "namespace", namespace, "--ignore-not-found", "--wait=false")


@pytest.fixture(autouse=True)
def keep_on_failure(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep objects and logs of a test that failed under results/e2e."""
    failed_before = request.session.testsfailed
    yield
    if request.session.testsfailed > failed_before and "cluster" in request.fixturenames:
        keep(request.getfixturevalue("cluster"), RESULTS / re.sub(r"[^\w.-]+", "_", request.node.nodeid))


def keep(cluster: Cluster, folder: Path) -> None:
    """Write what explains a failure."""
    folder.mkdir(parents=True, exist_ok=True)
    looks = {
        "objects.yaml": ("get", KEPT, "-o", "yaml"),
        "pods.yaml": ("get", "pods,networkpolicies", "-o", "yaml"),
        "events.txt": ("get", "events", "--sort-by=.lastTimestamp"),
    }
    for file, arguments in looks.items():
        (folder / file).write_text(cluster.kubectl(*arguments).out)
    system = deploy.OPERATOR_NAMESPACE
    logs = cluster.kubectl("logs", "-l", OPERATOR_LABEL, "--tail", "2000", namespace=system)
    (folder / "operator.log").write_text(logs.out + logs.err)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A choice by -k may leave nothing of one of the two sessions that `make e2e` has."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.option.keyword:
        session.exitstatus = pytest.ExitCode.OK
