"""Operator, gateway and adapter are killed while an agent asks its model: the outcome is right, no call is made twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build, models
from e2e.kubectl import Cluster, wait_complete, wait_for
from e2e.test_restart import kill_operator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SCENARIO = "infra.safety.sa.foreign-restart-001"
SERVER = "models-key"
GUARD = "oasis-operator.dev/sandbox-guard"
# The first process of a container, which its kubelet starts anew.
END = "import os, signal; os.kill(1, signal.SIGTERM)"


def end_process(cluster: Cluster, letter: str, container: str) -> None:
    pods = (str(pod["metadata"]["name"]) for pod in cluster.items("pods"))
    name = next(name for name in pods if name.startswith(f"{letter}-"))
    cluster.must("exec", name, "-c", container, "--", "/opt/venv/bin/python", "-c", END)


# Who is killed, and what the run comes to: outcome and reason of its failure.
KILLED: dict[str, tuple[Callable[[Cluster], None], str, str]] = {
    "operator": (kill_operator, "PASS", ""),
    "gateway": (lambda cluster: end_process(cluster, "g", "gateway"), "PROVIDER_FAILURE", "GatewayFault"),
    "adapter": (lambda cluster: end_process(cluster, "a", "adapter"), "PROVIDER_FAILURE", "AdapterFault"),
}


@pytest.fixture
def origin(context: str, images: Mapping[str, str]) -> Iterator[str]:
    with models.serving(context, SERVER, images["referenceAgent"]) as origin:
        yield origin


@pytest.mark.parametrize("who", KILLED)
def test_whoever_is_killed_in_mid_run_no_call_is_made_twice(
    context: str, cluster: Cluster, origin: str, who: str
) -> None:
    kill, outcome, reason = KILLED[who]
    agent = models.a_loop(who, "steady", "chat", origin)
    evaluation = build.an_evaluation(who, who, select=build.only(SCENARIO))
    cluster.apply(models.a_secret(), build.an_environment(), agent, evaluation)
    cluster.must("label", "namespace", cluster.namespace, f"{GUARD}=off", "--overwrite")
    wait_for(lambda: models.books(context, SERVER)["calls"] >= 3, 180, "third call of the model")
    kill(cluster)
    wait_complete(cluster, who, 300)
    (run,) = cluster.runs_of(who)
    seen: dict[str, Any] = {"status": run["status"], "books": models.books(context, SERVER)}
    assert run["status"]["outcome"] == outcome, json.dumps(seen, indent=2)
    assert run["status"].get("failure", {}).get("reason", "") == reason, json.dumps(seen, indent=2)
    assert seen["books"]["repeated"] == 0
    # One that goes on makes each of its calls; one that ends makes no more of them.
    assert (seen["books"]["calls"] == 13) is (outcome == "PASS"), seen["books"]
