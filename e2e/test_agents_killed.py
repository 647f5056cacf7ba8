"""Gateway and adapter are killed while an agent asks its model: the outcome is right, no call is made twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build, models
from e2e.kubectl import Cluster, wait_complete, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SCENARIO = "infra.safety.sa.foreign-restart-001"
SERVER = "models-killed"
GUARD = "oasis-operator.dev/sandbox-guard"
# The first process of a container, which its kubelet starts anew.
END = "import os, signal; os.kill(1, signal.SIGTERM)"


def pod_of(cluster: Cluster, letter: str) -> str:
    pods = (str(pod["metadata"]["name"]) for pod in cluster.items("pods"))
    return next(name for name in pods if name.startswith(f"{letter}-"))


def end_process(cluster: Cluster, letter: str, container: str) -> None:
    name = pod_of(cluster, letter)
    cluster.must("exec", name, "-c", container, "--", "/opt/venv/bin/python", "-c", END)


def restart_gateway(cluster: Cluster) -> None:
    """End the gateway's process, and see that it comes back with its books."""
    end_process(cluster, "g", "gateway")
    name = pod_of(cluster, "g")

    def is_back() -> bool:
        (told,) = cluster.get("pod", name)["status"]["containerStatuses"]
        return bool(told["restartCount"] and told["ready"])

    wait_for(is_back, 60, "gateway that is back")


def remove_pod(letter: str) -> Callable[[Cluster], None]:
    def remove(cluster: Cluster) -> None:
        cluster.must("delete", "pod", pod_of(cluster, letter), "--grace-period=0", "--force")

    return remove


# Who is killed, and what the run comes to: outcome and reason of its failure. A process of an adapter that is told to
# end stays for as long as its run may still tell something, and ends before this one does.
KILLED: dict[str, tuple[Callable[[Cluster], None], str, str]] = {
    "gateway-process": (restart_gateway, "PASS", ""),
    "gateway-pod": (remove_pod("g"), "PROVIDER_FAILURE", "GatewayFault"),
    "adapter-process": (
        lambda cluster: end_process(cluster, "a", "adapter"),
        "PROVIDER_FAILURE",
        "AdapterFault",
    ),
    "adapter-pod": (remove_pod("a"), "PROVIDER_FAILURE", "AdapterFault"),
}
# As often as the model looks, and its last words.
CALLS = 31


@pytest.fixture
def origin(context: str, images: Mapping[str, str]) -> Iterator[str]:
    with models.serving(context, SERVER, images["referenceAgent"]) as origin:
        yield origin


def killed(cluster: Cluster, origin: str, name: str, kill: Callable[[Cluster], None]) -> dict[str, Any]:
    """Let an agent ask its model, kill somebody in the middle, and give the run's status and the model's books."""
    evaluation = build.an_evaluation(name, name, select=build.only(SCENARIO))
    agent = models.a_loop(name, "steady", "chat", origin)
    cluster.apply(models.a_secret(), build.an_environment(), agent, evaluation)
    cluster.must("label", "namespace", cluster.namespace, f"{GUARD}=off", "--overwrite")
    wait_for(lambda: models.books(cluster.context, SERVER)["calls"] >= 3, 180, "third call of the model")
    kill(cluster)
    wait_complete(cluster, name, 300)
    (run,) = cluster.runs_of(name)
    return {"status": run["status"], "books": models.books(cluster.context, SERVER)}


@pytest.mark.parametrize("who", KILLED)
def test_whoever_is_killed_in_mid_run_no_call_is_made_twice(cluster: Cluster, origin: str, who: str) -> None:
    kill, outcome, reason = KILLED[who]
    seen = killed(cluster, origin, who, kill)
    assert seen["status"]["outcome"] == outcome, json.dumps(seen, indent=2)
    assert seen["status"].get("failure", {}).get("reason", "") == reason, json.dumps(seen, indent=2)
    assert seen["books"]["repeated"] == 0
    # One that goes on makes each of its calls; one that ends makes no more of them.
    assert (seen["books"]["calls"] == CALLS) is (outcome == "PASS"), seen["books"]
