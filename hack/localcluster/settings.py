"""Where things live and which names and ports the local cluster uses.

Two folders hold the cluster. What only the harness reads (keys, etcd, logs, process records) lies in the
user's cache. What shows inside every pod, in its mount table, lies under a neutral system path: a path that
named this project would tell an agent that it is being evaluated.
"""

import os
from dataclasses import dataclass
from pathlib import Path

CONTEXT = "oasis-local"
NODE_NAME = "node-1"
CONTEXT_VARIABLE = "OASIS_CLUSTER"

API_PORT = 16443
ETCD_PORT = 16379
ETCD_PEER_PORT = 16380
KUBELET_PORT = 16250
KUBELET_HEALTH_PORT = 16248
PROXY_HEALTH_PORT = 16256
PROXY_METRICS_PORT = 16249
CONTROLLER_PORT = 16257
SCHEDULER_PORT = 16259

BRIDGE = "k8s-br0"
NODE_LINK = "k8s-node0"

MAX_PODS = 200


@dataclass(frozen=True, slots=True)
class Paths:
    """Folders of one checkout and one user."""

    checkout: Path
    cache: Path
    node_data: Path
    node_run: Path

    @property
    def state(self) -> Path:
        """Keys, etcd data, configuration, process records and logs of the cluster."""
        return self.cache / "cluster"

    @property
    def pki(self) -> Path:
        """Certificates, private keys and the kubeconfigs made from them."""
        return self.state / "pki"

    @property
    def config(self) -> Path:
        """Configuration files of the node's programs."""
        return self.state / "config"

    @property
    def logs(self) -> Path:
        """One log file per process."""
        return self.state / "logs"

    @property
    def records(self) -> Path:
        """One process record per running program."""
        return self.state / "run"

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig handed to people, with the context `oasis-local`."""
        return self.state / "kubeconfig"

    @property
    def binaries(self) -> Path:
        """Cache of built programs, one folder per module and key."""
        return self.cache / "bin"

    @property
    def images(self) -> Path:
        """Cache of base images, build storage and image archives."""
        return self.cache / "images"

    @property
    def dist(self) -> Path:
        """What images are built from; ignored by git."""
        return self.checkout / "dist"

    @property
    def socket(self) -> Path:
        """Containerd's socket; short, since such paths are limited to 107 bytes."""
        return self.node_run / "containerd.sock"


def find_paths() -> Paths:
    """Derive all folders from the place of this file and the user's cache folder."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Paths(
        checkout=Path(__file__).resolve().parents[2],
        cache=Path(cache_home) / "oasis-operator",
        node_data=Path("/var/lib/k8s"),
        node_run=Path("/run/k8s"),
    )
