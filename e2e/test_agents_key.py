"""The key of a model is in its Secret and in the gateway that holds it, and nowhere else that anybody could look.

An agent with a model is stopped in the middle of a call, while everything of its run is there to be searched.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build, deploy, models
from e2e.kubectl import Cluster, wait_complete, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SCENARIO = "infra.safety.sa.foreign-restart-001"
SERVER = "models-key"
OPERATOR = "app.kubernetes.io/name=oasis-operator"
GUARD = "oasis-operator.dev/sandbox-guard"
NAME = "asking"
ASK = """
import json, os, sys, urllib.request
body = {"model": os.environ["MODEL"], "messages": [{"role": "user", "content": sys.argv[1]}]}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    data=json.dumps(body).encode(),
    headers={"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())
"""
# Walks files, variables and arguments of processes; prints where the words, given backwards, are found.
SEARCH = """
import os, sys
words = [text[::-1].encode() for text in sys.argv[1:]]
looked = 0
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders[:] = [name for name in folders if name not in ("sys", "dev")]
    if folder.startswith("/proc"):
        files = [name for name in files if name in ("environ", "cmdline")]
    for name in files:
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as file:
                content = file.read(64 << 20) if not os.path.islink(path) else b""
        except OSError:
            continue
        looked += 1
        if any(word in content for word in words):
            print(path)
print("looked", looked)
"""
# Programs with which a container can be looked into; one without any has nothing of ours but static programs.
PYTHONS = {"gateway": "/opt/venv/bin/python", "adapter": "/opt/venv/bin/python", "probe": "/opt/venv/bin/python",
           "agent": "python3"}  # fmt: skip
FORMS = (models.KEY, base64.b64encode(models.KEY.encode()).decode())


@pytest.fixture(scope="module")
def origin(context: str, images: Mapping[str, str]) -> Iterator[str]:
    with models.serving(context, SERVER, images["referenceAgent"]) as origin:
        yield origin


@pytest.fixture(scope="module")
def asking(context: str, cluster: Cluster, images: Mapping[str, str], origin: str) -> Iterator[Cluster]:
    """A cluster with an agent whose model was asked and does not answer."""
    agent: dict[str, Any] = {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": "Agent",
        "metadata": {"name": NAME},
        "spec": {
            "cli": {"identity": {"name": NAME, "version": "1.0.0"}, "prompt": {"by": "Argument"}},
            "image": images["referenceAgent"],
            "command": ["python3", "-c", ASK],
            "env": [{"name": "MODEL", "value": "silent"}],
            "model": models.a_model("silent", origin),
            "mode": "Autonomous",
        },
    }
    wanted = {"select": build.only(SCENARIO), "timeouts": {"running": "5m"}}
    cluster.apply(models.a_secret(), build.an_environment(), agent, build.an_evaluation(NAME, NAME, **wanted))
    wait_for(lambda: models.books(context, SERVER)["calls"] == 1, 180, "call of the model")
    cluster.must("label", "namespace", cluster.namespace, f"{GUARD}=off")
    name = next(name for name in pod_names(cluster) if name.startswith("a-"))
    wait_for(lambda: cluster.kubectl("exec", name, "-c", "agent", "--", "true").code == 0, 20, "way in")
    yield cluster
    cancel = '{"spec":{"state":"Cancel"}}'
    cluster.kubectl("patch", "evaluation", NAME, "--type=merge", "-p", cancel)


def pod_names(cluster: Cluster) -> list[str]:
    return [str(pod["metadata"]["name"]) for pod in cluster.items("pods")]


def containers_of(cluster: Cluster) -> list[tuple[str, str]]:
    """Pod and container of everything that runs in the namespace."""
    return [
        (pod["metadata"]["name"], container["name"])
        for pod in cluster.items("pods")
        for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"])
    ]


def found_in(text: str) -> list[str]:
    return [form for form in FORMS if form in text]


def test_the_server_was_shown_the_key(context: str, asking: Cluster) -> None:
    assert models.books(context, SERVER)["keys"] == [models.KEY], "else nothing is proven here"


def test_no_object_but_its_secret_holds_the_key(asking: Cluster) -> None:
    verbs = ("--verbs=list", "-o", "name")
    kinds = asking.must("api-resources", "--namespaced", *verbs).split()
    assert {"pods", "secrets", "events", "configmaps"} <= set(kinds)
    holding = []
    for kind in kinds:
        for namespace in (asking.namespace, deploy.OPERATOR_NAMESPACE):
            done = asking.kubectl("get", kind, "-o", "json", namespace=namespace)
            items = json.loads(done.out)["items"] if done.code == 0 else []
            holding += [(kind, item["metadata"]["name"]) for item in items if found_in(json.dumps(item))]
    assert holding == [("secrets", "model")]
    for kind in asking.must("api-resources", "--namespaced=false", *verbs).split():
        assert not found_in(asking.kubectl("get", kind, "-o", "json").out), kind


def test_no_log_holds_the_key(asking: Cluster) -> None:
    seen = 0
    for pod, container in containers_of(asking):
        done = asking.kubectl("logs", pod, "-c", container)
        seen += done.code == 0
        assert not found_in(done.out), (pod, container)
    assert seen >= 4, "gateway, adapter, agent and the environment's own"
    system = deploy.OPERATOR_NAMESPACE
    assert not found_in(asking.kubectl("logs", "-l", OPERATOR, "--tail", "-1", namespace=system).out)


def test_no_file_and_no_variable_of_a_pod_holds_the_key_but_the_gateways_mount(asking: Cluster) -> None:
    searched = {}
    for pod, container in containers_of(asking):
        if container not in PYTHONS:
            continue
        words = [form[::-1] for form in FORMS]
        told = asking.must("exec", pod, "-c", container, "--", PYTHONS[container], "-c", SEARCH, *words)
        *places, count = told.splitlines()
        assert int(count.split()[1]) > 100
        searched[container] = {place.rpartition("/")[2] for place in places}
    assert set(searched) == set(PYTHONS)
    assert searched.pop("gateway") == {"model-api-key"}
    assert not any(searched.values()), searched


def test_no_evidence_and_nothing_else_that_is_kept_holds_the_key(
    context: str, asking: Cluster, tmp_path: Path
) -> None:
    cancel = '{"spec":{"state":"Cancel"}}'
    asking.must("patch", "evaluation", NAME, "--type=merge", "-p", cancel)
    wait_complete(asking, NAME, 120)
    system = Cluster(context, deploy.OPERATOR_NAMESPACE)
    (operator,) = system.items("pods", "-l", OPERATOR)
    words = [form[::-1] for form in FORMS]
    name = operator["metadata"]["name"]
    told = system.must("exec", name, "--", "/opt/venv/bin/python", "-c", SEARCH, *words)
    assert told.splitlines()[:-1] == []
    assert int(told.split()[-1]) > 100
