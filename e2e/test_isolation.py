"""What a hostile agent can reach from inside its own pod: its scenario's API, by its own rights, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build, deploy
from e2e.kubectl import Cluster, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
# Enough, since the agent stays in its first scenario.
ONE = build.only("infra.safety.sa.foreign-restart-001")
GUARD = "oasis-operator.dev/sandbox-guard"
LISTENER = "listener"
LISTENER_PORT = 8000
REACH = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).close()
    print("reached")
except OSError as error:
    print("unreachable", error)
"""
# Asks the scenario's API server with the agent's own credential and prints status and body.
ASK = """
import json, os, ssl, sys, urllib.error, urllib.request
folder = "/var/run/secrets/kubernetes.io/serviceaccount"
host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
request = urllib.request.Request(
    f"https://{host}:{port}{sys.argv[2]}",
    method=sys.argv[1],
    data=sys.argv[3].encode() if len(sys.argv) > 3 else None,
    headers={"Authorization": "Bearer " + open(f"{folder}/token").read(), "Content-Type": "application/json"},
)
context = ssl.create_default_context(cafile=f"{folder}/ca.crt")
try:
    with urllib.request.urlopen(request, context=context, timeout=20) as answer:
        print(json.dumps({"status": answer.status, "body": answer.read().decode()}))
except urllib.error.HTTPError as error:
    print(json.dumps({"status": error.code, "body": error.read().decode()}))
"""
LOOK = """
import os, socket
print(socket.gethostname(), dict(os.environ))
for path in ("/etc/hosts", "/etc/resolv.conf", "/proc/mounts", "/proc/self/cgroup"):
    print(open(path).read())
"""
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "mine"},
    "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
}


class Inside:
    """The agent's container of a run that is under way."""

    def __init__(self, cluster: Cluster, pod: dict[str, Any], world: dict[str, Any]) -> None:
        self.cluster = cluster
        self.pod = pod
        self.world = world

    def python(self, code: str, *arguments: str) -> str:
        """Run Python in the agent's container."""
        name = self.pod["metadata"]["name"]
        return self.cluster.must("exec", name, "-c", "agent", "--", "python3", "-c", code, *arguments)

    def reaches(self, host: str, port: int) -> bool:
        """Tell whether a connection stands."""
        return self.python(REACH, host, str(port)).startswith("reached")

    @property
    def namespace(self) -> str:
        """The namespace that the agent finds itself in."""
        return self.python(f"print(open('{ACCOUNT}/namespace').read())").strip()

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request to the scenario's API server as the agent."""
        extra = [json.dumps(body)] if body is not None else []
        return dict(json.loads(self.python(ASK, method, path, *extra)))


@pytest.fixture(scope="module")
def inside(cluster: Cluster, images: dict[str, str]) -> Iterator[Inside]:
    """An agent that hangs, so that there is time to look around from its place."""
    start_listener(cluster, images["referenceAgent"])
    cluster.apply(
        build.an_environment(),
        build.a_reference_agent("captive", images["referenceAgent"], "hang"),
        build.an_evaluation("captive", "captive", select=ONE, timeouts={"running": "10m"}),
    )
    pod = wait_for(lambda: running_agent(cluster), 420, "agent that was given its prompt")
    run = pod["metadata"]["labels"]["oasis-operator.dev/run"]
    (world,) = cluster.items(
        "pods", "-l", f"oasis-operator.dev/role=environment,oasis-operator.dev/run={run}"
    )
    _open_for_debugging(cluster, pod["metadata"]["name"])
    yield Inside(cluster, pod, world)
    cluster.kubectl("patch", "evaluation", "captive", "--type=merge", "-p", '{"spec":{"state":"Cancel"}}')


def _open_for_debugging(cluster: Cluster, pod: str) -> None:
    """Let people into the pods of the namespace, after it was seen that even an administrator is kept out."""
    attempts = {
        "exec": ("exec", pod, "-c", "agent", "--", "true"),
        "ephemeral container": (
            "debug",
            pod,
            "--image=none",
            "--profile=restricted",
            "--target=adapter",
            "-c",
            "look",
            "-q",
        ),
        "label": ("label", "pod", pod, "oasis-operator.dev/sandbox-"),
        "image": ("set", "image", f"pod/{pod}", "agent=none"),
        "policy": ("delete", "networkpolicy", "oasis-sandbox-default-deny"),
    }
    for name, attempt in attempts.items():
        answer = cluster.kubectl(*attempt)
        assert answer.code != 0, name
        assert GUARD in answer.err, (name, answer.err)
    cluster.must("label", "namespace", cluster.namespace, f"{GUARD}=off")
    wait_for(lambda: cluster.kubectl(*attempts["exec"][:-1], "python3", "-c", "").code == 0, 20, "way in")


def start_listener(cluster: Cluster, image: str) -> None:
    """Start a pod that accepts connections and is no part of any run."""
    code = f"import http.server as h; h.HTTPServer(('', {LISTENER_PORT}), h.BaseHTTPRequestHandler).serve_forever()"
    security = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {
        "name": "listen",
        "image": image,
        "command": ["python3", "-c", code],
        "securityContext": security,
    }
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": LISTENER, "labels": {"app": LISTENER}},
            "spec": {"containers": [container], "automountServiceAccountToken": False},
        }
    )
    cluster.must("wait", "pod", LISTENER, "--for=condition=Ready", "--timeout=120s")


def running_agent(cluster: Cluster) -> dict[str, Any] | None:
    """The agent pod of a run in stage Running."""
    runs = [run for run in cluster.runs_of("captive") if run.get("status", {}).get("stage") == "Running"]
    pods = cluster.items("pods", "-l", "oasis-operator.dev/role=agent")
    names = {run["status"].get("pods", {}).get("agent", {}).get("name") for run in runs}
    ready = (pod for pod in pods if pod["metadata"]["name"] in names and pod["status"]["phase"] == "Running")
    return next(ready, None)


def test_the_positive_control_the_listener_is_alive(inside: Inside) -> None:
    address = inside.cluster.get("pod", LISTENER)["status"]["podIP"]
    system = deploy.OPERATOR_NAMESPACE
    operator = inside.cluster.get("deployment", deploy.RELEASE, "-n", system)
    assert operator["status"]["readyReplicas"] == 1
    code = f"import socket; socket.create_connection(({address!r}, {LISTENER_PORT}), 3); print('reached')"
    assert "reached" in inside.cluster.must("exec", LISTENER, "--", "python3", "-c", code)


def test_a_pod_of_the_same_namespace_is_out_of_reach(inside: Inside) -> None:
    assert not inside.reaches(inside.cluster.get("pod", LISTENER)["status"]["podIP"], LISTENER_PORT)


def test_the_host_clusters_api_is_out_of_reach(inside: Inside) -> None:
    service = inside.cluster.get("service", "kubernetes", "-n", "default")["spec"]
    assert not inside.reaches(service["clusterIP"], 443)
    endpoints = inside.cluster.get(
        "endpointslices", "", "-n", "default", "-l", "kubernetes.io/service-name=kubernetes"
    )
    for entry in endpoints["items"]:
        for address in entry["endpoints"][0]["addresses"]:
            assert not inside.reaches(address, entry["ports"][0]["port"])


def test_the_node_and_its_kubelet_are_out_of_reach(inside: Inside) -> None:
    node = inside.cluster.get("node", inside.pod["spec"]["nodeName"])
    port = node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    for address in (
        entry["address"] for entry in node["status"]["addresses"] if entry["type"] == "InternalIP"
    ):
        assert not inside.reaches(address, port)


def test_the_probe_and_the_other_ports_of_its_own_world_are_out_of_reach(inside: Inside) -> None:
    address = inside.world["status"]["podIP"]
    assert inside.reaches(address, 443), "the scenario's API must be in reach, else nothing is proven here"
    for port in (6443, 8443, 2379, 2380, 10257, 10259, 10250):
        assert not inside.reaches(address, port), port


def test_the_operator_the_metadata_service_and_the_world_outside_are_out_of_reach(inside: Inside) -> None:
    system = deploy.OPERATOR_NAMESPACE
    (operator,) = inside.cluster.items("pods", "-n", system, "-l", "app.kubernetes.io/name=oasis-operator")
    for host, port in (
        (operator["status"]["podIP"], 8080),
        (operator["status"]["podIP"], 9444),
        ("169.254.169.254", 80),
    ):
        assert not inside.reaches(host, port), host


def test_its_credential_works_within_its_scope(inside: Inside) -> None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": inside.namespace},
    }
    answer = inside.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review)
    assert answer["status"] == 201, answer
    assert json.loads(answer["body"])["status"]["resourceRules"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles", ROLE),
        ("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {**ROLE, "kind": "ClusterRole"}),
        ("GET", "/api/v1/namespaces/kube-system/secrets", None),
        ("GET", "/api/v1/namespaces/kube-system/pods", None),
        ("GET", "/api/v1/secrets", None),
        ("POST", "/api/v1/namespaces/{namespace}/serviceaccounts/default/token", {}),
        ("GET", "/api/v1/nodes/node-1/proxy/pods", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_its_credential_cannot_widen_itself(
    inside: Inside, method: str, path: str, body: dict[str, Any] | None
) -> None:
    assert inside.ask(method, path.format(namespace=inside.namespace), body)["status"] == 403


def test_it_cannot_exec_into_a_pod(inside: Inside) -> None:
    collection = f"/api/v1/namespaces/{inside.namespace}/pods"
    pods = inside.ask("GET", collection)
    names = [pod["metadata"]["name"] for pod in json.loads(pods["body"]).get("items", ())] or ["some-pod"]
    answer = inside.ask("POST", f"{collection}/{names[0]}/exec?command=id&stdout=true")
    assert answer["status"] in {400, 403, 404, 500, 501, 502}, answer
    assert "uid=" not in answer["body"]


def test_nothing_tells_it_that_it_is_evaluated(inside: Inside) -> None:
    seen = inside.python(LOOK).lower()
    for word in ("oasis", "sandbox", "evaluat", "scenario", "probe", "eval"):
        assert word not in seen, word


def test_it_runs_without_privileges_and_without_a_token_of_the_host(inside: Inside) -> None:
    spec = inside.pod["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert not any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC"))
    assert all("hostPath" not in volume for volume in spec["volumes"])
    status = inside.python("print(open('/proc/self/status').read())")
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
