"""Brings the single-node cluster up, in order, from whatever state it is in."""

import http.client
import os
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from localcluster import (
    archive,
    binaries,
    command,
    components,
    network,
    nodeconfig,
    packages,
    pki,
    selfcheck,
    settings,
)
from localcluster.api import Api, has_condition
from localcluster.errors import ClusterError
from localcluster.processes import Processes, is_dead
from localcluster.settings import NODE_NAME, Paths

NAMES = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "containerd",
    "kubelet",
    "kube-proxy",
    "kube-router",
)
NETCHECK_IMAGE = "localhost/netcheck:1"
_START_SECONDS = 90
_ROUTER_ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "kube-router"},
    "rules": [
        {
            "apiGroups": ["", "networking.k8s.io", "discovery.k8s.io"],
            "resources": [
                "namespaces",
                "pods",
                "services",
                "nodes",
                "endpoints",
                "endpointslices",
                "networkpolicies",
            ],
            "verbs": ["get", "list", "watch"],
        }
    ],
}
_ROUTER_BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "kube-router"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kube-router"},
    "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "kube-router"}],
}


@dataclass(frozen=True, slots=True)
class _Cluster:
    """What every step of `up` needs."""

    paths: Paths
    net: network.Network
    processes: Processes
    api: Api
    programs: dict[str, Path]


def up(paths: Paths, *, check: bool = False) -> None:
    """Start what does not run and wait until the cluster works.

    Args:
        paths: Folders of the cluster.
        check: Try the network also where it passed before.

    Raises:
        ClusterError: Rights or programs lack, a port is taken, or a part did not come up.
    """
    require_root()
    packages.ensure(packages.NODE)
    programs = binaries.ensure(paths, binaries.NODE)
    _refuse_second_node(paths)
    net = network.load_or_choose(paths.state / "network.json")
    pki.ensure(paths, net)
    cluster = _Cluster(paths, net, Processes(paths.records, paths.logs), Api(paths, net), programs)
    network.save_sysctls(paths.state / "sysctls.json")
    network.ensure(net)
    nodeconfig.write(paths, net)
    _start_control_plane(cluster)
    _start_node(cluster)
    _start_network(cluster)
    checked = paths.state / "checked"
    if check or not checked.exists():
        selfcheck.run(paths, net, cluster.api, programs["kubectl"], NETCHECK_IMAGE)
        checked.touch()
    command.say(f"cluster is up; KUBECONFIG={paths.kubeconfig} (context {settings.CONTEXT})")


def require_root() -> None:
    """Stop early, with the ways round it, where the rights of a node are missing."""
    if os.geteuid() != 0:
        raise ClusterError(
            "a node needs root (namespaces, mounts, packet filter): run this with sudo, "
            f"or use a cluster of your own: {settings.CONTEXT_VARIABLE}=<kube context>"
        )


def _refuse_second_node(paths: Paths) -> None:
    """Two node agents on one machine fight over packet filter chains and control groups."""
    ours = Processes(paths.records, paths.logs).pid("kubelet")
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == ours:
            continue
        try:
            name = (entry / "comm").read_text().strip()
            is_ours = "/kubepods/" in (entry / "cgroup").read_text() or is_dead(int(entry.name))
        except OSError:
            continue
        if name in {"kubelet", "k3s-server", "k3s-agent"} and not is_ours:
            raise ClusterError(
                f"process {entry.name} ({name}) makes this machine a node: stop it, or use its cluster: "
                f"{settings.CONTEXT_VARIABLE}=<kube context>"
            )


def _start(cluster: _Cluster, name: str, argv: list[str], port: int, ready: Callable[[], bool]) -> None:
    """Start one program and wait until it is ready.

    Raises:
        ClusterError: Its port is taken, it ended, or it was not ready in time; with the
        end of its log.
    """
    processes = cluster.processes
    program = cluster.programs.get(name, Path(name))
    host = cluster.net.node_address if name in {"kube-apiserver", "kubelet"} else "127.0.0.1"
    if port and not processes.is_running(name) and _listens(host, port):
        raise ClusterError(f"port {port} on {host}, which {name} needs, is taken by another program")
    processes.start(name, [program, *argv])

    def settled() -> bool:
        if not processes.is_running(name):
            raise ClusterError(f"{name} ended; {processes.log(name)} says:\n  {processes.last_lines(name)}")
        return ready()

    try:
        command.wait_until(f"{name} (log: {processes.log(name)})", settled, seconds=_START_SECONDS)
    except ClusterError:
        processes.stop(name)
        raise


def _listens(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def _is_healthy(port: int, *, tls: bool = False, path: str = "/healthz") -> bool:
    """Whether a program's local health endpoint answers 200; its certificate is its own and not checked."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = (
        http.client.HTTPSConnection("127.0.0.1", port, timeout=3, context=context)
        if tls
        else http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    )
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _start_control_plane(cluster: _Cluster) -> None:
    paths, net = cluster.paths, cluster.net
    _start(
        cluster,
        "etcd",
        components.etcd(paths, net),
        settings.ETCD_PORT,
        lambda: _listens("127.0.0.1", settings.ETCD_PORT),
    )
    _start(
        cluster,
        "kube-apiserver",
        components.kube_apiserver(paths, net),
        settings.API_PORT,
        cluster.api.is_ready,
    )
    for name, argv, port in (
        ("kube-controller-manager", components.kube_controller_manager(paths, net), settings.CONTROLLER_PORT),
        ("kube-scheduler", components.kube_scheduler(paths, net), settings.SCHEDULER_PORT),
    ):
        _start(cluster, name, argv, port, lambda port=port: _is_healthy(port, tls=True))  # type: ignore[misc]


def ctr(paths: Paths, *arguments: str | Path) -> list[str | Path]:
    """A command line of containerd's client for this node's containerd."""
    return ["ctr", "--address", paths.socket, "--namespace", "k8s.io", *arguments]


def _start_node(cluster: _Cluster) -> None:
    """Containerd with its two images, then the kubelet, until the node is Ready and knows its pod network."""
    paths = cluster.paths

    def answers() -> bool:
        return command.attempt(ctr(paths, "version")).returncode == 0

    _start(cluster, "containerd", ["--config", f"{paths.config}/containerd.toml"], 0, answers)
    _import_support_images(cluster)
    _start(
        cluster,
        "kubelet",
        components.kubelet(paths, cluster.net),
        settings.KUBELET_PORT,
        lambda: _is_healthy(settings.KUBELET_HEALTH_PORT),
    )

    def is_ready() -> bool:
        node = cluster.api.read(f"/api/v1/nodes/{NODE_NAME}")
        return has_condition(node, "Ready") and bool((node or {})["spec"].get("podCIDR"))

    command.wait_until("the node to be Ready", is_ready, seconds=_START_SECONDS)


def _import_support_images(cluster: _Cluster) -> None:
    """Give containerd the images of pause and network check, unless it has this build of them."""
    marker = cluster.paths.node_data / "support-images"
    build = cluster.programs["pause"].parent.name
    if marker.exists() and marker.read_text() == build:
        return
    for name, reference in (("pause", nodeconfig.PAUSE_IMAGE), ("netcheck", NETCHECK_IMAGE)):
        file = cluster.paths.images / f"{name}.tar"
        archive.write_single_program(cluster.programs[name], reference, file)
        command.run(ctr(cluster.paths, "images", "import", file))
    marker.write_text(build)


def _start_network(cluster: _Cluster) -> None:
    """Services and network policies; ready when both have written their chains."""
    paths, net = cluster.paths, cluster.net
    _start(
        cluster,
        "kube-proxy",
        components.kube_proxy(paths, net),
        settings.PROXY_HEALTH_PORT,
        lambda: _is_healthy(settings.PROXY_HEALTH_PORT),
    )
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    cluster.api.create(f"{rbac}/clusterroles", _ROUTER_ROLE)
    cluster.api.create(f"{rbac}/clusterrolebindings", _ROUTER_BINDING)

    def enforces() -> bool:
        return command.attempt(["iptables", "-w", "-n", "-L", "KUBE-ROUTER-INPUT"]).returncode == 0

    _start(cluster, "kube-router", components.kube_router(paths, net), 0, enforces)


def status(paths: Paths) -> bool:
    """Print what runs; True when everything does and the node is Ready."""
    processes = Processes(paths.records, paths.logs)
    for name in NAMES:
        pid = processes.pid(name)
        command.say(f"{name:<24} {f'running, pid {pid}' if pid else 'stopped'}")
    if not processes.is_running("kube-apiserver"):
        return False
    api = Api(paths, network.load_or_choose(paths.state / "network.json"))
    ready = has_condition(api.read(f"/api/v1/nodes/{NODE_NAME}"), "Ready")
    command.say(f"node {NODE_NAME} {'is Ready' if ready else 'is not Ready'}; KUBECONFIG={paths.kubeconfig}")
    return ready and all(processes.is_running(name) for name in NAMES)
