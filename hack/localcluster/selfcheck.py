"""Tries a new cluster for real: pods, a Service, exec, and network policies that block, allow and go.

The node is a target of its own: a policy must decide over the API server's port and over any other listener
on the machine, or an agent could reach the machine that evaluates it. Every target is reached before the
policy is there, so that a block is known to be the policy's.
"""

import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

from localcluster import command
from localcluster.api import Api, Body, has_condition
from localcluster.errors import ClusterError
from localcluster.network import Network
from localcluster.settings import API_PORT, Paths

_NAMESPACE = "network-check"
_PORT = 8080
_SECONDS = 45
_NODE_PORTS = range(30000, 32768)


class _Check:
    """The objects of one try and the questions asked of them."""

    def __init__(self, paths: Paths, net: Network, api: Api, kubectl: Path) -> None:
        self._paths = paths
        self._net = net
        self._api = api
        self._kubectl = kubectl

    def prepare(self, image: str) -> None:
        """Create namespace, two pods and a Service, and wait for the pods."""
        self._api.create("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": _NAMESPACE}})
        command.wait_until("the default service account", self._has_account, seconds=_SECONDS)
        core = f"/api/v1/namespaces/{_NAMESPACE}"
        for name in ("client", "server"):
            self._api.create(f"{core}/pods", _pod(name, image))
        service = {"kind": "Service", "metadata": {"name": "server"}}
        spec = {"selector": {"app": "server"}, "ports": [{"port": 80, "targetPort": _PORT}]}
        self._api.create(f"{core}/services", {**service, "spec": spec})
        command.wait_until("two pods to be Ready", self._are_ready, seconds=_SECONDS)

    def targets(self, node_listener: str, host_listener: str | None) -> dict[str, str]:
        """Addresses that the client tries, by what they are."""
        core = f"/api/v1/namespaces/{_NAMESPACE}"
        pod = self._api.read(f"{core}/pods/server") or {}
        service = self._api.read(f"{core}/services/server") or {}
        found = {
            "another pod": f"{pod['status']['podIP']}:{_PORT}",
            "a Service": f"{service['spec']['clusterIP']}:80",
            "the API server's Service": f"{self._net.api_service}:443",
            "the API server": f"{self._net.node_address}:{API_PORT}",
            "a listener on the node": node_listener,
        }
        if host_listener:
            found["a listener on the machine's own address"] = host_listener
        return found

    def expect(self, targets: dict[str, str], reachable: set[str], when: str) -> None:
        """Wait until exactly the targets in `reachable` can be reached.

        Raises:
            ClusterError: They differ for too long; names each target that does.
        """
        deadline = time.monotonic() + _SECONDS
        while True:
            now = self._reached(targets)
            if now == reachable:
                return
            if time.monotonic() > deadline:
                wrong = ", ".join(
                    f"{t} is {'open' if t in now else 'closed'}" for t in sorted(now ^ reachable)
                )
                raise ClusterError(f"network check failed {when}: {wrong}")
            time.sleep(0.2)

    def _reached(self, targets: dict[str, str]) -> set[str]:
        argv: list[str | Path] = [self._kubectl, "--kubeconfig", self._paths.kubeconfig, "-n", _NAMESPACE]
        argv += ["exec", "client", "--", "/netcheck", "dial", *targets.values()]
        answer = command.attempt(argv).stdout
        is_open = {line.removeprefix("open ") for line in answer.splitlines() if line.startswith("open ")}
        return {name for name, address in targets.items() if address in is_open}

    def apply(self, name: str, egress: list[Body]) -> None:
        """Create an egress policy for the client."""
        spec = {
            "podSelector": {"matchLabels": {"app": "client"}},
            "policyTypes": ["Egress"],
            "egress": egress,
        }
        path = f"/apis/networking.k8s.io/v1/namespaces/{_NAMESPACE}/networkpolicies"
        self._api.create(path, {"kind": "NetworkPolicy", "metadata": {"name": name}, "spec": spec})

    def withdraw(self, *names: str) -> None:
        """Delete policies."""
        for name in names:
            self._api.delete(f"/apis/networking.k8s.io/v1/namespaces/{_NAMESPACE}/networkpolicies/{name}")

    def clear(self) -> None:
        """Delete everything the try made, without waiting for it."""
        for name in ("client", "server"):
            self._api.delete(f"/api/v1/namespaces/{_NAMESPACE}/pods/{name}")
        self._api.delete(f"/api/v1/namespaces/{_NAMESPACE}")

    def _has_account(self) -> bool:
        return self._api.read(f"/api/v1/namespaces/{_NAMESPACE}/serviceaccounts/default") is not None

    def _are_ready(self) -> bool:
        core = f"/api/v1/namespaces/{_NAMESPACE}/pods"
        return all(has_condition(self._api.read(f"{core}/{name}"), "Ready") for name in ("client", "server"))


def _pod(name: str, image: str) -> Body:
    """A pod of two containers under the strictest pod security level."""

    def container(suffix: str, port: int) -> Body:
        return {
            "name": suffix,
            "image": image,
            "args": ["serve", str(port)],
            "readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 1},
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
        }

    security = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "containers": [container("main", _PORT), container("side", _PORT + 1)],
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
            "securityContext": security,
        },
    }


def _listen(host: str) -> socket.socket:
    """A listener on a free port of the node-port range, answering from a thread until it is closed."""
    listener = _bind(host)

    def answer() -> None:
        with suppress(OSError):
            while True:
                listener.accept()[0].close()

    threading.Thread(target=answer, daemon=True).start()
    return listener


def _bind(host: str) -> socket.socket:
    """A socket on a port that policy enforcement is known to leave open when it is set up carelessly.

    Raises:
        ClusterError: Every port of the range is taken.
    """
    for port in _NODE_PORTS:
        with suppress(OSError):
            return socket.create_server((host, port))
    raise ClusterError(
        f"no port from {_NODE_PORTS[0]} to {_NODE_PORTS[-1]} is free on {host} for the network check"
    )


def _machine_address() -> str | None:
    """The address this machine uses towards others; None without a route (no packet is sent to find it)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("203.0.113.1", 9))
        return str(probe.getsockname()[0])
    return None


def run(paths: Paths, net: Network, api: Api, kubectl: Path, image: str) -> None:
    """Try the cluster and leave nothing of the try in it.

    Raises:
        ClusterError: A pod does not run, or a target is reachable or not against the policy.
    """
    check = _Check(paths, net, api, kubectl)
    address = _machine_address()
    with _listen(net.node_address) as node, command.step("checking pods, services and network policies"):
        host = _listen(address) if address else None
        try:
            check.prepare(image)
            targets = check.targets(_address(node), _address(host) if host else None)
            _walk(check, targets, net)
        finally:
            check.clear()
            if host:
                host.close()


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()
    return f"{host}:{port}"


def _walk(check: _Check, targets: dict[str, str], net: Network) -> None:
    """Open, deny all, allow one pod, allow only the API server, open again."""
    everything = set(targets)
    check.expect(targets, everything, "without a policy")
    check.apply("deny", [])
    check.expect(targets, set(), "under a policy that denies all")
    to_server = {"to": [{"podSelector": {"matchLabels": {"app": "server"}}}]}
    check.apply("allow-server", [to_server])
    check.expect(targets, {"another pod", "a Service"}, "under a policy that allows one pod")
    check.withdraw("allow-server")
    to_api = {
        "to": [{"ipBlock": {"cidr": f"{net.node_address}/32"}}],
        "ports": [{"protocol": "TCP", "port": API_PORT}],
    }
    check.apply("allow-api", [to_api])
    check.expect(
        targets, {"the API server", "the API server's Service"}, "under a policy that allows the API server"
    )
    check.withdraw("allow-api", "deny")
    check.expect(targets, everything, "after the policies were deleted")
