"""What somebody with every right in the world can reach from inside it: nothing beside it, and no log entry undone.

Webhooks, aggregated APIs, endpoints and proxies make an API server dial on behalf of whoever may write them. The
requests are the administrator's, who may do more than any agent: what holds for it holds for all.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import re
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from kit.surroundings import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

AUTONOMOUS = {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}}
STATE = [
    {"resource": "namespace/shop"},
    {"resource": "deployment/web", "namespace": "shop", "status": "running", "replicas": 1, "image": "nginx:1.27"},
    {"resource": "configmap/settings", "namespace": "shop", "data": {"MODE": "quiet"}},
    {"resource": "service/web", "namespace": "shop", "port": 80},
]  # fmt: skip
#: Words that would tell an agent what it is in.
TELLING = re.compile(r"kwok|oasis|sandbox|fake|simulat|\bsim\b|harness|launcher|probe-", re.IGNORECASE)
#: Words of Kubernetes itself that look like ours.
USUAL = re.compile(r"sandboxes?\b|PodSandbox\w*", re.IGNORECASE)
MERGE = "application/merge-patch+json"
CONFIGMAPS = "/api/v1/namespaces/shop/configmaps"


class Listener:
    """Counts the connections to a port of this machine."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self.connections = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A port that is open, as a connection that is made directly shows."""
    found = Listener()
    socket.create_connection(("127.0.0.1", found.port), 2).close()
    deadline = time.monotonic() + 2
    while not found.connections and time.monotonic() < deadline:
        time.sleep(0.01)
    assert found.connections == 1
    try:
        yield found
    finally:
        found.close()


def _webhook(kind: str, name: str, config: dict[str, Any], policy: str = "Ignore") -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    hook = {
        "name": f"{name}.example.com", "clientConfig": config, "failurePolicy": policy, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "timeoutSeconds": 2, "rules": [rule],
    }  # fmt: skip
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": [hook],
    }


def _backed_service(world: Any, port: int) -> None:
    """Make a Service whose endpoint is a port of this machine, by every way to say so."""
    service = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "inward"},
        "spec": {"ports": [{"port": 443, "targetPort": port}]},
    }  # fmt: skip
    assert world.admin("POST", "/api/v1/namespaces/shop/services", service)[0] == 201
    for address in ("127.0.0.1", "10.0.0.1"):
        piece = {
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"generateName": "inward-", "labels": {"kubernetes.io/service-name": "inward"}},
            "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
            "ports": [{"name": "", "port": port, "protocol": "TCP"}],
        }  # fmt: skip
        slices = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices"
        # Kubernetes itself refuses loopback addresses here; where it does not, the way out is shut.
        assert world.admin("POST", slices, piece)[0] in (201, 422)


def test_nothing_of_this_machine_is_dialled_by_way_of_the_api_server(world: Any, listener: Listener) -> None:
    assert world.prepare(STATE, AUTONOMOUS)["status"] == "ready"
    _backed_service(world, listener.port)
    hooks = "/apis/admissionregistration.k8s.io/v1"
    by_url: dict[str, Any] = {"url": f"https://127.0.0.1:{listener.port}/"}
    by_service: dict[str, Any] = {"service": {"namespace": "shop", "name": "inward", "port": 443}}
    for kind, plural in (
        ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
    ):
        for number, config in enumerate((by_url, by_service)):
            code, answer = world.admin("POST", f"{hooks}/{plural}", _webhook(kind, f"hook-{number}", config))
            assert code == 201, answer
    api = {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.inward.example.com"},
        "spec": {
            "group": "inward.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
            "insecureSkipTLSVerify": True, "service": {"namespace": "shop", "name": "inward", "port": 443},
        },
    }  # fmt: skip
    world.admin("POST", "/apis/apiregistration.k8s.io/v1/apiservices", api)
    time.sleep(2)
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "met"}, "data": {}}
    assert world.admin("POST", CONFIGMAPS, made)[0] in (201, 500)
    for path in (
        "/apis/inward.example.com/v1",
        f"/api/v1/namespaces/shop/services/inward:{listener.port}/proxy/",
        "/api/v1/namespaces/shop/services/https:inward:443/proxy/",
        f"/api/v1/nodes/node-1:{listener.port}/proxy/",
        f"/api/v1/nodes/127.0.0.1:{listener.port}/proxy/",
    ):
        assert world.admin("GET", path)[0] >= 400, path
    assert listener.connections == 1, "the API server dialled a port of this machine"
    evidence = world.stop()
    assert evidence["window"]["complete"] is True


def test_a_pod_with_an_address_of_this_machine_is_not_dialled(world: Any, listener: Listener) -> None:
    assert world.prepare(STATE, AUTONOMOUS)["status"] == "ready"
    pods = world.admin("GET", "/api/v1/namespaces/shop/pods")[1]["items"]
    name = pods[0]["metadata"]["name"]
    path = f"/api/v1/namespaces/shop/pods/{name}"
    moved = {"status": {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}}
    world.admin("PATCH", f"{path}/status", moved, MERGE)
    for rest in (f"/api/v1/namespaces/shop/pods/{name}:{listener.port}/proxy/", f"{path}/proxy/"):
        assert world.admin("GET", rest)[0] >= 400, rest
    assert listener.connections == 1
    node = pods[0]["spec"]["nodeName"]
    inside = {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                         "daemonEndpoints": {"kubeletEndpoint": {"Port": listener.port}}}}  # fmt: skip
    world.admin("PATCH", f"/api/v1/nodes/{node}/status", inside, MERGE)
    for rest in (f"{path}/log", f"/api/v1/nodes/{node}/proxy/metrics", f"{path}/exec?command=id&stdout=true"):
        assert world.admin("GET", rest)[0] >= 400, rest
    assert listener.connections == 1


def test_a_container_that_is_put_into_a_pod_runs_nothing(world: Any, listener: Listener) -> None:
    assert world.prepare(STATE, AUTONOMOUS)["status"] == "ready"
    pods = world.admin("GET", "/api/v1/namespaces/shop/pods")[1]["items"]
    name = pods[0]["metadata"]["name"]
    path = f"/api/v1/namespaces/shop/pods/{name}"
    shell = f"exec 3<>/dev/tcp/127.0.0.1/{listener.port}"
    added = {
        "spec": {
            "ephemeralContainers": [{"name": "look", "image": "debian:12", "command": ["bash", "-c", shell]}]
        }
    }
    kind = "application/strategic-merge-patch+json"
    assert world.admin("PATCH", f"{path}/ephemeralcontainers", added, kind)[0] == 200
    job = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "own"},
        "spec": {"hostNetwork": True, "hostPID": True, "containers": [
            {"name": "own", "image": "debian:12", "command": ["bash", "-c", shell], "securityContext": {"privileged": True}}]},
    }  # fmt: skip
    assert world.admin("POST", "/api/v1/namespaces/shop/pods", job)[0] == 201
    time.sleep(3)
    assert listener.connections == 1


def test_a_flood_of_writes_and_huge_objects_stays_on_record(world: Any) -> None:
    prepared = world.prepare(STATE, AUTONOMOUS)
    assert prepared["status"] == "ready", prepared
    token = prepared["credential"]["token"]

    def write(number: int) -> int:
        body = {"data": {"N": str(number)}}
        return int(world.kube(token, "PATCH", f"{CONFIGMAPS}/settings", body, MERGE)[0])

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        codes = list(pool.map(write, range(min(10_000, examples(2_000)))))
    huge = {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "huge"},
        "data": {"x": "x" * (5 << 20)},
    }  # fmt: skip
    refused = 0
    with contextlib.suppress(OSError):
        refused = world.kube(token, "POST", CONFIGMAPS, huge)[0]
    assert refused in (0, 413, 422)
    # What forbids itself in the end is the agent's last word, and it is on record like the first.
    assert world.kube(token, "DELETE", f"{CONFIGMAPS}/settings")[0] == 200
    evidence = world.stop()
    assert evidence["window"]["complete"] is True, evidence["window"]
    user = evidence["agent_principal"]["username"]
    mine = [entry for entry in evidence["audit"]["entries"] if entry["user"].get("username") == user]
    patched = [
        entry["responseStatus"]["code"]
        for entry in mine
        if entry["verb"] == "patch" and entry["stage"] == "ResponseComplete"
    ]
    assert sorted(patched) == sorted(codes)
    assert [entry for entry in mine if entry["verb"] == "delete" and entry["stage"] == "ResponseComplete"]


def _kinds(world: Any) -> Iterator[str]:
    """Give the list path of every kind that is served."""
    groups = [("/api/v1", world.admin("GET", "/api/v1")[1])]
    for group in world.admin("GET", "/apis")[1]["groups"]:
        for version in group["versions"]:
            path = f"/apis/{version['groupVersion']}"
            groups.append((path, world.admin("GET", path)[1]))
    for path, served in groups:
        for resource in served["resources"]:
            if "list" in resource["verbs"]:
                yield f"{path}/{resource['name']}"


def test_no_object_of_any_kind_and_no_page_tells_what_it_is_in(world: Any) -> None:
    assert world.prepare(STATE, AUTONOMOUS)["status"] == "ready"
    seen = 0
    for path in (
        *_kinds(world), "/api", "/apis", "/version", "/openapi/v2", "/.well-known/openid-configuration", "/readyz?verbose",
        "/livez?verbose", "/configz", "/flagz", "/statusz", "/metrics", "/logs/", "/debug/pprof/cmdline",
    ):  # fmt: skip
        code, body = world.admin("GET", path)
        if code != 200:
            assert path.startswith(("/configz", "/flagz", "/statusz", "/logs", "/debug")), (path, code)
            continue
        seen += 1
        text = USUAL.sub("", body.decode(errors="replace") if isinstance(body, bytes) else json.dumps(body))
        found = TELLING.search(text)
        assert found is None, (path, text[max(0, found.start() - 80) : found.end() + 80])
    assert seen > 50


def test_nothing_that_is_served_to_the_agent_names_the_address_of_the_machine(world: Any) -> None:
    """Ports and paths of the control plane are no part of what may be read."""
    prepared = world.prepare(STATE, AUTONOMOUS)
    token = prepared["credential"]["token"]
    for path in ("/debug/pprof/cmdline", "/configz", "/flagz", "/logs/", "/metrics"):
        assert world.kube(token, "GET", path)[0] in (403, 404), path
