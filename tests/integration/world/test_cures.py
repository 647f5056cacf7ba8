"""Every condition of a workload, told by all that an operator looks at, and gone once its cause is.

One world holds them all; the agent's own rights are used throughout, with the tool that a person would use.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kit.sightings import Reader

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

ROOT = Path(__file__).resolve().parents[3]
KUBECTL = next(
    (str(path) for path in (ROOT / "dist/bin/kubectl",) if path.exists()), shutil.which("kubectl") or ""
)
AGENT = {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["default"]}}
#: Seconds that a world may take to recover.
SOON = 20.0


@dataclass(frozen=True)
class Condition:
    """A condition with what is seen of it and what ends it.

    Attributes:
        state: Entries; the first one is the workload, and its name that of the condition.
        listed: Pattern in a row of ``kubectl get pods``.
        described: Patterns in ``kubectl describe pods``, events included.
        logged: Pattern in ``kubectl logs`` of one pod, ``--previous`` where it waits; empty for none.
        cure: Arguments of kubectl that end it, one list for each command.
        ready: Ready replicas once it is cured.
    """

    state: Sequence[dict[str, Any]]
    listed: str
    described: Sequence[str]
    cure: Sequence[Sequence[str]]
    logged: str = ""
    ready: int = 1

    @property
    def name(self) -> str:
        return str(self.state[0]["resource"]).partition("/")[2]


def patch(name: str, *operations: str) -> list[str]:
    return ["patch", "deployment", name, "--type=json", f"-p=[{','.join(operations)}]"]


def replaced(path: str, value: str) -> str:
    return f'{{"op":"replace","path":"/spec/template/spec/{path}","value":{value}}}'


CRASHED = [
    r"State: +Waiting",
    r"Reason: +CrashLoopBackOff",
    r"Last State: +Terminated",
    r"BackOff .*restarting failed",
]
CONDITIONS = [
    Condition(
        [{"resource": "deployment/crashing", "status": "CrashLoopBackOff", "restarts": 9, "last_log": "no database"}],
        r" 0/1 +CrashLoopBackOff +9 ",
        [*CRASHED, r"Reason: +Error\s+Exit Code: +1", r"Restart Count: +9"],
        [["set", "image", "deployment/crashing", "*=crashing:v99"]],
        "no database",
    ),
    Condition(
        [{"resource": "deployment/undone", "status": "CrashLoopBackOff", "image": "undone:v2",
          "previous_image": "undone:v1"}],
        r" 0/1 +CrashLoopBackOff ",
        [*CRASHED, "Image: +undone:v2"],
        [["rollout", "undo", "deployment/undone"]],
        "startup did not complete",
    ),
    Condition(
        [{"resource": "deployment/killed", "status": "OOMKilled", "memory_limit": "64Mi"}],
        r" 0/1 +CrashLoopBackOff +5 ",
        [*CRASHED, r"Reason: +OOMKilled\s+Exit Code: +137", r"memory: +64Mi"],
        [["set", "resources", "deployment/killed", "--limits=memory=512Mi"]],
        "starting",
    ),
    Condition(
        [{"resource": "deployment/unpulled", "status": "ImagePullBackOff", "image": "unpulled:v404"}],
        r" 0/1 +ImagePullBackOff +0 ",
        [r"Reason: +ImagePullBackOff", r'BackOff .*Back-off pulling image "unpulled:v404"'],
        [["set", "image", "deployment/unpulled", "*=unpulled:v1"]],
    ),
    Condition(
        [{"resource": "deployment/keyless", "status": "CreateContainerConfigError",
          "env": [{"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "keyless", "key": "mode"}}}]},
         {"resource": "configmap/keyless", "data": {"other": "x"}}],
        r" 0/1 +CreateContainerConfigError +0 ",
        [r"Reason: +CreateContainerConfigError", r"Failed .*couldn't find key mode in ConfigMap default/keyless"],
        [["patch", "configmap", "keyless", "-p", '{"data":{"mode":"fast"}}']],
    ),
    Condition(
        [{"resource": "deployment/unstarted", "status": "error"}],
        r" 0/1 +RunContainerError +4 ",
        [r"Reason: +RunContainerError", r"Exit Code: +128", r"Failed .*failed to start container"],
        [patch("unstarted", '{"op":"add","path":"/spec/template/spec/containers/0/command","value":["/app"]}')],
    ),
    Condition(
        [{"resource": "deployment/uninitialised", "status": "CrashLoopBackOff",
          "init_containers": [{"name": "migrate", "image": "migrate:v2", "status": "error", "logs": ["no such table"]}]}],
        r" 0/1 +Init:CrashLoopBackOff +5 ",
        [r"migrate:\n", r"Reason: +CrashLoopBackOff", r"Reason: +PodInitializing", r"BackOff .*container migrate"],
        [patch("uninitialised", replaced("initContainers/0/image", '"migrate:v3"'))],
    ),
    Condition(
        [{"resource": "deployment/unscheduled", "status": "pending", "reason": "Insufficient memory"}],
        r" 0/1 +Pending +0 ",
        [r"FailedScheduling .*Insufficient memory", r"PodScheduled +False"],
        [["set", "resources", "deployment/unscheduled", "--requests=memory=64Mi"]],
    ),
    Condition(
        [{"resource": "deployment/unready", "status": "unready"}],
        r" 0/1 +Running +0 ",
        [r"Ready +False", r"Unhealthy .*Readiness probe failed"],
        [patch("unready", replaced("containers/0/readinessProbe/httpGet/path", '"/ready"'))],
        "listening",
    ),
    Condition(
        [{"resource": "deployment/halved", "status": "degraded", "replicas": 2}],
        r" 0/1 +Running +0 ",
        [r"Unhealthy .*Readiness probe failed"],
        [["rollout", "restart", "deployment/halved"]],
        ready=2,
    ),
    Condition(
        [{"resource": "deployment/rolling", "status": "rolling_update_in_progress", "replicas": 3}],
        r" 0/1 +Running +0 ",
        [r"Ready +False"],
        [["rollout", "undo", "deployment/rolling"]],
        ready=3,
    ),
    Condition(
        [{"resource": "deployment/served", "labels": {"tier": "front"}},
         {"resource": "service/served", "selector": {"app": "nobody"}, "endpoints": []}],
        r" 1/1 +Running +0 ",
        [r"Ready +True"],
        [["set", "selector", "service", "served", "app=served"]],
        "listening",
    ),
]  # fmt: skip
#: What the cured world shows beside its pods, by condition.
AFTERWARDS = {"served": (["describe", "service", "served"], r"Endpoints: +10\.")}
HISTORY = {"undone": (r"\n1 .*\n2 ", r"\n2 .*\n3 "), "rolling": (r"\n1 .*\n2 ", r"\n2 .*\n3 ")}


@pytest.fixture(scope="module")
def program() -> str:
    if not KUBECTL:
        if os.environ.get("CI") == "true":
            pytest.fail("no kubectl")
        pytest.skip("no kubectl")
    return KUBECTL


def test_every_condition_is_told_everywhere_and_ends_with_its_cause(world: Any, program: str) -> None:
    state = [entry for one in CONDITIONS for entry in one.state]
    prepared = world.prepare(state, AGENT, settle_seconds=0.5)
    assert prepared["status"] == "ready", prepared
    server = f"https://127.0.0.1:{world.port}"
    kubectl = Reader(program, server, world.folder, prepared["credential"]["token"])
    wrong = [line for one in CONDITIONS for line in seen(kubectl, one)]
    wrong += histories(kubectl, 0)
    for one in CONDITIONS:
        for command in one.cure:
            said = kubectl.read(*command)
            wrong += [f"{one.name}: {said}"] if said.startswith("failed") else []
    wrong += [line for one in CONDITIONS for line in unrecovered(world, kubectl, one)]
    wrong += histories(kubectl, 1)
    assert not wrong, "\n\n".join(wrong)
    assert world.stop()["window"]["complete"] is True


def seen(kubectl: Reader, one: Condition) -> list[str]:
    selector = f"app={one.name}"
    listed, described = (
        kubectl.read("get", "pods", "-l", selector),
        kubectl.read("describe", "pods", "-l", selector),
    )
    checks = [(one.listed, listed), *((pattern, described) for pattern in one.described)]
    if one.logged:
        pod = kubectl.read("get", "pods", "-l", selector, "-o", "name").split()[0]
        waits = ["--previous"] if "CrashLoopBackOff" in one.listed else []
        checks.append((one.logged, kubectl.read("logs", pod, *waits)))
    return [
        f"{one.name}: no {pattern!r} in:\n{text[-1500:]}"
        for pattern, text in checks
        if not re.search(pattern, text, re.MULTILINE)
    ]


def histories(kubectl: Reader, when: int) -> list[str]:
    texts = {name: kubectl.read("rollout", "history", f"deployment/{name}") for name in HISTORY}
    return [
        f"{name}: no {patterns[when]!r} in:\n{texts[name]}"
        for name, patterns in HISTORY.items()
        if not re.search(patterns[when], texts[name])
    ]


def unrecovered(world: Any, kubectl: Reader, one: Condition) -> list[str]:
    command, pattern = AFTERWARDS.get(one.name, (["get", "deployment", one.name], ""))
    wanted = pattern or rf" {one.ready}/{one.ready} +{one.ready} +{one.ready} "

    def is_well() -> bool:
        return re.search(wanted, kubectl.read(*command)) is not None

    try:
        world.wait(is_well, one.name, SOON)
    except AssertionError:
        pods = kubectl.read("get", "pods", "-l", f"app={one.name}")
        return [f"{one.name}: not cured by {list(one.cure)}:\n{kubectl.read(*command)}\n{pods}"]
    rows = kubectl.read("get", "pods", "-l", f"app={one.name}", "--no-headers").splitlines()
    odd = [row for row in rows if " 1/1 " not in row and " Terminating " not in row]
    return [f"{one.name}: still {odd}"] if odd else []
