"""Sixty environments come and go, twelve at a time, while the operator is killed at random moments.

Not a test of every day: `make soak` runs it (SOAK_SEED, SOAK_EVALUATIONS and SOAK_KILL_SECONDS change it). Only on
the local cluster, whose node is this machine: what is left is looked for among its processes and files too.
"""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path
from typing import Any, Self

import pytest

from e2e import build, deploy
from e2e.kubectl import Cluster, wait_complete, wait_for

SEED = int(os.environ.get("SOAK_SEED", str(time.time_ns() % 1_000_000)))
EVALUATIONS = int(os.environ.get("SOAK_EVALUATIONS", "10"))
KILL_SECONDS = float(os.environ.get("SOAK_KILL_SECONDS", "45"))
SCENARIOS = 6
LEFT_SECONDS = 60
ROLES = {"careful": "Satisfying", "reckless": "Violating", "idle": None}
VERDICTS = {"careful": "PASS", "reckless": "FAIL", "idle": "PASS"}
PODS = Path("/var/lib/k8s/kubelet/pods")


class Killer:
    """Kills the operator's pod without grace, again and again, until it is told to stop."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self._cluster, self._chance = cluster, chance
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.kills = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._chance.uniform(0.2, 1.8) * KILL_SECONDS):
            label = "app.kubernetes.io/name=oasis-operator"
            options = ("--grace-period=0", "--force", "--wait=false")
            done = self._cluster.kubectl(
                "delete", "pod", "-l", label, *options, namespace=deploy.OPERATOR_NAMESPACE
            )
            self.kills += done.code == 0


@pytest.fixture(scope="module", autouse=True)
def _only_here() -> None:
    if os.environ.get("OASIS_CLUSTER"):
        pytest.fail("the soak kills things: it runs on the local cluster alone, unset OASIS_CLUSTER")


@pytest.fixture(scope="module")
def soaked(cluster: Cluster) -> tuple[Cluster, list[str], int]:
    """All Evaluations, to their end."""
    chance = random.Random(SEED)  # noqa: S311  # chance alone, and one that can be had again
    cluster.apply(build.an_environment(), *(build.a_scripted_agent(*one) for one in ROLES.items()))
    names = []
    for number in range(EVALUATIONS):
        role = chance.choice(sorted(ROLES))
        names.append(f"soak-{number}-{role}")
        cluster.apply(build.an_evaluation(names[-1], role, parallelism=SCENARIOS))
    with Killer(cluster, chance) as killer:
        for name in names:
            wait_complete(cluster, name, 1800)
    print(f"\nseed {SEED}: {EVALUATIONS} evaluations, {killer.kills} kills")
    assert killer.kills >= EVALUATIONS // 4, "the operator was hardly killed"
    return cluster, names, killer.kills


def test_every_evaluation_ends_as_if_nobody_had_been_killed(soaked: Any) -> None:
    cluster, names, _ = soaked
    for name in names:
        status = cluster.evaluation(name)["status"]
        assert status.get("verdict") == VERDICTS[name.rpartition("-")[2]], (name, status["conditions"])
        assert status["counts"]["providerFailures"] == 0
        keys = [(run["spec"]["scenarioID"], run["spec"]["repetition"]) for run in cluster.runs_of(name)]
        assert len(keys) == len(set(keys)), f"{name}: a scenario was run twice"


def test_nothing_is_left_but_the_two_policies_of_the_namespace(soaked: Any) -> None:
    cluster, _, _ = soaked

    def left() -> list[str]:
        found = [*cluster.items("pods"), *cluster.items("secrets"), *cluster.items("networkpolicies")]
        names = {str(item["metadata"]["name"]) for item in found}
        return sorted(names - {"oasis-sandbox-default-deny", "oasis-sandbox-control"})

    wait_for(lambda: not left(), LEFT_SECONDS, f"clean namespace: {left()}")


def test_no_process_and_no_folder_of_an_environment_is_left_on_the_node(soaked: Any) -> None:
    cluster, _, _ = soaked
    known = {str(pod["metadata"]["uid"]) for pod in cluster.items("pods", "--all-namespaces")}

    def left() -> list[str]:
        folders = [path.name for path in PODS.iterdir() if path.name not in known] if PODS.exists() else []
        return [*folders, *launchers()]

    wait_for(lambda: not left(), LEFT_SECONDS, f"clean node: {left()}")


def launchers() -> list[str]:
    """Processes of nested control planes that run on this machine inside containers."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")[0] if process.name.isdigit() else b""
        except OSError:
            continue
        if command == b"/bin/launcher":
            found.append(f"process {process.name}")
    return found
