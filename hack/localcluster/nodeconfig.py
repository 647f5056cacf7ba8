"""Writes the configuration files of containerd, its network plugins and the kubelet."""

import json
from pathlib import Path

from localcluster.network import Network
from localcluster.settings import BRIDGE, KUBELET_HEALTH_PORT, KUBELET_PORT, MAX_PODS, Paths

PAUSE_IMAGE = "localhost/pause:1"
CNI_PLUGINS = "/usr/lib/cni"
NETWORK_NAME = "pods"


def write(paths: Paths, network: Network) -> None:
    """Write all of them; a file that would not change is left, so that its time tells when it last did."""
    files = {
        "containerd.toml": _containerd(paths),
        "cni/10-bridge.conflist": json.dumps(_cni(paths, network), indent=2),
        "kubelet.json": json.dumps(_kubelet(paths, network), indent=2),
    }
    for name, text in files.items():
        target = paths.config / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def _containerd(paths: Paths) -> str:
    """Everything of this containerd is its own, so one that the machine has besides is not disturbed.

    `restrict_oom_score_adj`: the right to lower that score may be missing. Network namespaces under the state
    folder are known to be ours.
    """
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    unused = ["aufs", "btrfs", "devmapper", "zfs"]
    disabled = ", ".join(f'"io.containerd.snapshotter.v1.{name}"' for name in unused)
    return f"""version = 2
root = "{paths.node_data}/containerd"
state = "{paths.node_run}/containerd"
disabled_plugins = [{disabled}]

[grpc]
address = "{paths.socket}"

[plugins."io.containerd.internal.v1.opt"]
path = "{paths.node_data}/opt"

[{cri}]
sandbox_image = "{PAUSE_IMAGE}"
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
stream_server_address = "127.0.0.1"
stream_server_port = "0"

[{cri}.cni]
bin_dir = "{CNI_PLUGINS}"
conf_dir = "{paths.config}/cni"

[{cri}.containerd]
default_runtime_name = "runc"
snapshotter = "overlayfs"

[{cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[{cri}.containerd.runtimes.runc.options]
Root = "{paths.node_run}/runc"
"""


def _cni(paths: Paths, network: Network) -> dict[str, object]:
    """A bridge with addresses from a local pool; one rule of the node masquerades, not a chain per pod."""
    return {
        "cniVersion": "0.4.0",
        "name": NETWORK_NAME,
        "plugins": [
            {
                "type": "bridge",
                "bridge": BRIDGE,
                "isGateway": True,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "dataDir": str(paths.node_data / "cni"),
                    "ranges": [[{"subnet": network.pods}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            },
            {
                "type": "tuning",
                "sysctl": {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}
                if Path("/proc/sys/net/ipv6").exists()
                else {},
            },
        ],
    }


def _kubelet(paths: Paths, network: Network) -> dict[str, object]:
    """A kubelet that reserves no control groups and does not evict for a developer's full disk."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": network.node_address,
        "port": KUBELET_PORT,
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": KUBELET_HEALTH_PORT,
        "tlsCertFile": str(paths.pki / "kubelet-server.crt"),
        "tlsPrivateKeyFile": str(paths.pki / "kubelet-server.key"),
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(paths.pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{paths.socket}",
        "cgroupDriver": "cgroupfs",
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "failCgroupV1": False,
        "oomScoreAdj": 0,
        "maxPods": MAX_PODS,
        "kubeAPIQPS": 100,
        "kubeAPIBurst": 200,
        "eventRecordQPS": 0,
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "podLogsDir": str(paths.node_data / "pod-logs"),
        "volumePluginDir": str(paths.node_data / "volume-plugins"),
    }
