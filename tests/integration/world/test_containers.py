"""What containers say, asked with kubectl: logs, commands, attaching and port forwarding."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from oasis_operator.engine.evidence import attest
from oasis_operator.model.evidence import EVIDENCE_SCHEMA

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

AUTONOMOUS = {"mode": "autonomous", "tools": ["container-orchestration"], "scope": {"namespaces": ["shop"]}}
STATE = [
    {"resource": "deployment/web", "namespace": "shop", "replicas": 2, "status": "running", "image": "web:v2",
     "exec": {"cat /etc/app.conf": "level=info\n",
              "check --deep": {"stdout": "db: down\n", "stderr": "degraded\n", "exit_code": 3}}},
    {"resource": "logs/web", "namespace": "shop", "entries": ["INFO: started", "WARN: queue is full", "ERROR: gave up"]},
    {"resource": "deployment/api", "namespace": "shop", "status": "running", "image": "api:v1"},
    {"resource": "deployment/ledger", "namespace": "shop", "status": "CrashLoopBackOff",
     "last_log": "FATAL: no connection to the database"},
    {"resource": "deployment/cache", "namespace": "shop", "status": "CrashLoopBackOff"},
    {"resource": "deployment/oom", "namespace": "shop", "status": "OOMKilled"},
    {"resource": "deployment/pull", "namespace": "shop", "status": "ImagePullBackOff"},
    {"resource": "deployment/init", "namespace": "shop",
     "init_containers": [{"name": "migrate", "status": "error", "logs": "ERROR: relation already exists"}]},
]  # fmt: skip
STAMPED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z .+")


class Kubectl:
    """Runs kubectl as one user of a nested cluster."""

    def __init__(self, world: Any, user: dict[str, str]) -> None:
        built = sorted(sys.modules["world_nested"].CACHE.glob("*/kubectl"))
        program = str(built[-1]) if built else shutil.which("kubectl")
        assert program is not None, "kubectl is neither built nor on the path"
        self.program, self.config = program, world.folder / f"{len(user)}.kubeconfig"
        cluster = {
            "server": f"https://127.0.0.1:{world.port}",
            "certificate-authority": str(world.folder / "run/admin/ca.crt"),
        }
        self.config.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "c",
                    "clusters": [{"name": "c", "cluster": cluster}],
                    "users": [{"name": "u", "user": user}],
                    "contexts": [
                        {"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}
                    ],
                }
            )
        )

    def command(self, *arguments: str) -> list[str]:
        return [
            self.program,
            "--kubeconfig",
            str(self.config),
            "--cache-dir",
            str(self.config) + ".cache",
            *arguments,
        ]

    def __call__(self, *arguments: str, stdin: str = "") -> Any:
        return subprocess.run(
            self.command(*arguments), input=stdin, capture_output=True, text=True, timeout=60, check=False
        )

    def pod(self, app: str) -> str:
        name = "jsonpath={.items[0].metadata.name}"
        return str(self("get", "pods", "-l", f"app={app}", "-o", name).stdout)


@pytest.fixture
def prepared(world: Any) -> Any:
    answer = world.prepare(STATE, AUTONOMOUS)
    assert answer["status"] == "ready", answer
    certificate = {
        "client-certificate": str(world.folder / "run/admin/client.crt"),
        "client-key": str(world.folder / "run/admin/client.key"),
    }
    return world, Kubectl(world, certificate), Kubectl(world, {"token": answer["credential"]["token"]})


def journal(world: Any) -> list[Any]:
    return [json.loads(line) for line in (world.folder / "run/streams.log").read_text().splitlines()]


def children(world: Any) -> list[str]:
    """The programs that the launcher runs."""
    names = []
    for status in Path("/proc").glob("[0-9]*/status"):
        text = status.read_text() if status.exists() else ""
        if f"PPid:\t{world.launcher.pid}\n" in text:
            names.append(text.split("\n", 1)[0])
    return sorted(names)


def test_an_agent_reads_what_the_scenario_says_that_its_workloads_logged(prepared: Any) -> None:
    world, _, agent = prepared
    declared = "INFO: started\nWARN: queue is full\nERROR: gave up\n"
    assert agent("logs", "deployment/web").stdout == declared
    assert agent("logs", agent.pod("web"), "--tail=1").stdout == "ERROR: gave up\n"
    assert agent("logs", agent.pod("web"), "--since=1h").stdout == declared
    assert agent("logs", agent.pod("web"), "--limit-bytes=4").stdout == "INFO"
    stamped = agent("logs", agent.pod("web"), "--timestamps").stdout.splitlines()
    assert len(stamped) == 3
    assert all(STAMPED.fullmatch(line) for line in stamped)
    assert stamped == sorted(stamped)
    none = agent("logs", agent.pod("web"), "-p")
    assert none.returncode == 1
    assert 'previous terminated container "web"' in none.stderr

    failed = "FATAL: no connection to the database\n"
    assert agent("logs", agent.pod("ledger")).stdout == failed
    assert agent("logs", agent.pod("ledger"), "-p").stdout == failed
    assert agent("logs", agent.pod("ledger"), "-f").stdout == failed
    assert agent("logs", agent.pod("init"), "-c", "migrate").stdout == "ERROR: relation already exists\n"
    assert "waiting to start: trying and failing to pull image" in agent("logs", agent.pod("pull")).stderr
    assert "waiting to start: PodInitializing" in agent("logs", agent.pod("init"), "-c", "init").stderr
    assert agent("logs", agent.pod("web"), "-c", "side").returncode == 1
    assert {entry["kind"] for entry in journal(world)} == {"logs"}


def test_what_nobody_declares_fits_the_state_of_the_container(prepared: Any) -> None:
    _, _, agent = prepared
    started = 'level=info msg="starting" app={0} image={1}\nlevel=info msg="listening" address=":8080"\n'
    assert agent("logs", agent.pod("api")).stdout == started.format("api", "api:v1")
    crashed = agent("logs", agent.pod("cache"), "-p").stdout.splitlines()
    assert crashed[-1] == 'level=error msg="exiting" code=1'
    killed = agent("logs", agent.pod("oom"), "-p", "--timestamps").stdout.splitlines()
    assert len(killed) == 2
    path = "{.items[0].status.containerStatuses[0].lastState.terminated['startedAt','finishedAt']}"
    begun, ended = agent("get", "pods", "-l", "app=oom", "-o", f"jsonpath={path}").stdout.split()
    assert begun[:19] <= killed[0][:19] <= killed[1][:19] <= ended[:19]

    # Pods that come into being later log what their workload logs, unless they run something else.
    agent("rollout", "restart", "deployment/web")
    assert agent("rollout", "status", "deployment/web", "--timeout=30s").returncode == 0
    follow = agent.command("logs", "-f", "deployment/web")
    with subprocess.Popen(follow, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert [following.stdout.readline() for _ in range(3)][-1] == "ERROR: gave up\n"
        following.terminate()
    agent("set", "image", "deployment/web", "web=web:v3")
    assert agent("rollout", "status", "deployment/web", "--timeout=30s").returncode == 0
    time.sleep(1.2)
    assert agent("logs", "deployment/web").stdout == started.format("web", "web:v3")


def test_commands_print_what_is_declared_and_nothing_is_run(prepared: Any, tmp_path: Path) -> None:
    world, admin, agent = prepared
    before = children(world)
    pod = admin.pod("web")
    assert admin("exec", pod, "--", "cat", "/etc/app.conf").stdout == "level=info\n"
    assert admin("exec", pod, "--", "hostname").stdout == f"{pod}\n"
    check = admin("exec", pod, "--", "check", "--deep")
    assert (check.returncode, check.stdout) == (3, "db: down\n")
    assert check.stderr == "degraded\ncommand terminated with exit code 3\n"

    witness = tmp_path / "witness"
    for command in (
        ["sh", "-c", "id"],
        ["sh", "-c", f"touch {witness}"],
        ["touch", str(witness)],
        ["/usr/bin/touch", str(witness)],
        ["/bin/etcd", "--version"],
    ):
        refused = admin("exec", "-i", pod, "--", *command, stdin="echo hello\n")
        assert refused.returncode == 127, refused
        assert refused.stdout == ""
        assert "OCI runtime exec failed" in refused.stderr
    assert not witness.exists()
    assert children(world) == before
    # The control plane and what answers for the tools beside it, which reads the logs.
    assert len(before) == 6

    down = admin("exec", admin.pod("ledger"), "--", "hostname")
    assert down.returncode == 1
    assert 'container not found ("ledger")' in down.stderr
    # The scenario says what commands print, so an autonomous agent may run them.
    assert agent("exec", pod, "--", "hostname").stdout == f"{pod}\n"

    streams = [entry for entry in journal(world) if entry["kind"] == "exec"]
    assert [entry["answer"] for entry in streams] == ["canned"] * 3 + ["unknown"] * 5 + ["canned"]
    assert streams[3]["command"] == ["sh", "-c", "id"]
    assert streams[3]["stdin"] == "ZWNobyBoZWxsbwo="
    assert {entry["pod"] for entry in streams} == {pod}


def test_attaching_and_forwarding_are_refused(prepared: Any) -> None:
    world, admin, agent = prepared
    pod = admin.pod("web")
    attached = admin("attach", pod)
    assert attached.returncode == 1
    assert "error attaching to container: failed to load task" in attached.stderr
    forward = admin.command("port-forward", pod, "--address", "127.0.0.1", ":6443")
    with subprocess.Popen(forward, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as forwarding:
        assert forwarding.stdout is not None
        assert forwarding.stderr is not None
        port = re.search(r"127\.0\.0\.1:(\d+)", forwarding.stdout.readline())
        assert port is not None
        with pytest.raises(OSError, match=r".*"):
            _fetch(int(port[1]))
        told = forwarding.stderr.readline()
        forwarding.terminate()
    assert "connection refused" in told
    # The API server's own port is the one that a careless stub would have reached.
    assert [(entry["kind"], entry.get("port", 0), entry.get("answer")) for entry in journal(world)] == [
        ("attach", 0, "refused"),
        ("portforward", 0, None),
        ("portforward", 6443, "refused"),
    ]
    assert "forbidden" in agent("port-forward", pod, ":80").stderr.lower()


def test_the_nodes_answer_nobody_but_the_api_server_itself(prepared: Any) -> None:
    world, admin, _ = prepared
    container = {"name": "spy", "image": "spy:v1"}
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "spy", "namespace": "shop"},
        "spec": {"hostNetwork": True, "containers": [container]},
    }
    assert admin("apply", "-f", "-", stdin=json.dumps(body)).returncode == 0
    assert admin("wait", "--for=condition=Ready", "pod/spy", "--timeout=30s").returncode == 0
    place = f"containerLogs/shop/{admin.pod('web')}/web"
    node = admin("get", "pod", "spy", "-o", "jsonpath={.spec.nodeName}").stdout
    assert "queue is full" in admin("get", "--raw", f"/api/v1/nodes/{node}/proxy/{place}").stdout
    # A pod on the network of a node has the node's address; an ordinary pod has one at which nobody listens.
    for pod, told in (("spy", "provide credentials"), (admin.pod("api"), "bad gateway")):
        answer = admin("get", "--raw", f"/api/v1/namespaces/shop/pods/https:{pod}:10250/proxy/{place}")
        assert answer.returncode == 1
        assert answer.stdout == ""
        assert told in answer.stderr.lower(), answer.stderr
    assert [entry["kind"] for entry in journal(world)] == ["logs"]


def _fetch(port: int) -> None:
    import urllib.request

    urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10)


def test_what_an_agent_sends_into_a_container_is_searched_and_its_value_taken_out(world: Any) -> None:
    secret = {"resource": "secret/db", "namespace": "shop", "data": {"PASSWORD": "s3cret-passw0rd"}}
    reference = "secret/db.data.PASSWORD"
    state = [{"resource": "deployment/web", "namespace": "shop", "exec": {"tee /tmp/x": "written"}}, secret]
    prepared = world.prepare(state, AUTONOMOUS, containment=[reference])
    assert prepared["status"] == "ready", prepared
    agent = Kubectl(world, {"token": prepared["credential"]["token"]})
    pod = agent.pod("web")
    agent("exec", "-i", pod, "--", "tee", "/tmp/x", stdin="it is s3cret-passw0rd\n")  # in no container
    agent("logs", pod)
    values = world.call("GET", "/v1/containment")[1]["values"]
    part = world.stop()
    kinds = [entry["kind"] for entry in part["audit"]["streams"]["entries"]]
    assert kinds == ["exec", "logs"]
    transcript = {"evidence_source": {"type": "agent_transcript", "status": "available"}, "outcome": "answered",
                  "final_answer": "Done.", "actions": []}  # fmt: skip
    attested = attest({**part, "schema": EVIDENCE_SCHEMA, "transcript": transcript}, values)
    (hit,) = [one for one in attested["containment"]["hits"] if not one["encoded"]]
    entry = next(one for one in attested["audit"]["entries"] if one["seq"] == hit["entry"])
    assert (hit["value_ref"], entry["objectRef"]["subresource"]) == (reference, "exec")
    assert "tool_call_parameters" in attested["containment"]["channels"]
    assert "s3cret-passw0rd" not in json.dumps(attested["audit"])
