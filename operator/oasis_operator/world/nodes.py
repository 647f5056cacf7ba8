"""The nodes of a world, as a managed cluster in a public cloud shows them."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world.manifests import build_object

if TYPE_CHECKING:
    from collections.abc import Mapping

_ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
_CONDITIONS = (
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
#: Reason and message of a condition in trouble, and the reason of the event that tells of it.
TROUBLES: Final = {
    "MemoryPressure": (
        "KubeletHasInsufficientMemory",
        "kubelet has insufficient memory available",
        "NodeHasInsufficientMemory",
    ),
    "DiskPressure": ("KubeletHasDiskPressure", "kubelet has disk pressure", "NodeHasDiskPressure"),
    "PIDPressure": (
        "KubeletHasInsufficientPID",
        "kubelet has insufficient PID available",
        "NodeHasInsufficientPID",
    ),
    "Ready": ("KubeletNotReady", "container runtime is down", "NodeNotReady"),
}
_CAPACITY = {"cpu": "4", "memory": "16073708Ki", "pods": "58", "ephemeral-storage": "83873772Ki"}
_ALLOCATABLE = {"cpu": "3920m", "memory": "15056876Ki", "pods": "58", "ephemeral-storage": "76224326324"}


def node_name(position: int) -> str:
    """Give the name of the node at a position; names are private host names of one network."""
    third, fourth = _address(position)
    return f"ip-10-0-{third}-{fourth}.eu-west-1.compute.internal"


def build_node(
    name: str, position: int, now: str, allocatable: Mapping[str, str] | None = None, version: str = "v1.34.4"
) -> dict[str, Any]:
    """Build a ready node with its status.

    Args:
        name: The node's name.
        position: Tells nodes apart; decides addresses, zone and pod range.
        now: Time of its conditions, RFC 3339.
        allocatable: Amounts that replace the usual ones, in capacity too.
        version: What the node agent says it is.
    """
    third, fourth = _address(position)
    zone = _ZONES[position % len(_ZONES)]
    digest = hashlib.sha256(f"node/{name}".encode()).hexdigest()
    instance = f"i-0{digest[:16]}"
    sizes = dict(allocatable or {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            "labels": _labels(name, zone),
        },
        "spec": {
            "podCIDR": f"10.244.{position}.0/24",
            "podCIDRs": [f"10.244.{position}.0/24"],
            "providerID": f"aws:///{zone}/{instance}",
        },
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": f"10.0.{third}.{fourth}"},
                {"type": "InternalDNS", "address": name},
                {"type": "Hostname", "address": name},
            ],
            "allocatable": {**_ALLOCATABLE, **sizes},
            "capacity": {**_CAPACITY, **sizes},
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": message,
                    "lastHeartbeatTime": now,
                    "lastTransitionTime": now,
                }
                for kind, status, reason, message in _CONDITIONS
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": _info(digest, version),
        },
    }


def build_trouble_event(node: str, condition: str, now: str) -> dict[str, Any]:
    """Build the event by which a node's agent told that the node got into trouble."""
    reason = TROUBLES[condition][2]
    digest = hashlib.sha256(f"{node}/{reason}".encode()).hexdigest()[:16]
    return build_object(
        "v1", "Event", f"{node}.{digest}", "default",
        type="Normal", reason=reason, message=f"Node {node} status is now: {reason}", count=1,
        involvedObject={"kind": "Node", "name": node, "uid": node},
        source={"component": "kubelet", "host": node}, reportingComponent="kubelet", reportingInstance=node,
        firstTimestamp=now, lastTimestamp=now,
    )  # fmt: skip


def _address(position: int) -> tuple[int, int]:
    digest = hashlib.sha256(f"address/{position}".encode()).digest()
    return 32 * (position % len(_ZONES)) + digest[0] % 32, 4 + position % 50 + 50 * (digest[1] % 5)


def _labels(name: str, zone: str) -> dict[str, str]:
    return {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m5.xlarge",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": zone,
    }


def _info(digest: str, version: str) -> dict[str, Any]:
    return {
        "architecture": "amd64",
        "bootID": str(uuid.UUID(digest[:32])),
        "containerRuntimeVersion": "containerd://1.7.27",
        "kernelVersion": "6.1.141-155.222.amzn2023.x86_64",
        "kubeProxyVersion": "",
        "kubeletVersion": version,
        "machineID": f"ec2{digest[3:32]}",
        "operatingSystem": "linux",
        "osImage": "Amazon Linux 2023.7.20250623",
        "systemUUID": str(uuid.UUID(f"ec2{digest[32:61]}")),
    }
