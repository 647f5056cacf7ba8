"""Installs the operator on a development cluster: namespaces, a volume for evidence, and the chart.

Usage: python e2e/deploy.py --context NAME [--namespace NAME ...] [--parallelism COUNT]

The images come from dist/images.json. Where the cluster has no default StorageClass, a folder of this machine
serves as the volume, which only fits a single node that runs here. Safe to repeat.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "charts" / "oasis-operator"
IMAGES = ROOT / "dist" / "images.json"
RELEASE = "oasis-operator"
OPERATOR_NAMESPACE = "oasis-system"
OPERATOR_USER = 65532
CLAIM = "oasis-artifacts"
FOLDER = Path("/var/lib/k8s/artifacts")
VOLUME_SIZE = "10Gi"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
# Each module with a model server of its own has a Service of its own, since modules run side by side.
MODELS = ("models", "models-matrix", "models-real", "models-key", "models-killed")
MODEL_PORT = 8000
SERVED_NAMESPACE = "oasis-e2e-served"
PROVIDER = "provider"
PROVIDER_PORT = 8444
# The local cluster has no DNS: whoever asks the provider is told the address of its name.
PROVIDER_HOST = f"{RELEASE}-provider.{OPERATOR_NAMESPACE}.svc"
PATIENCE_SECONDS = 120
PATIENCE = f"{PATIENCE_SECONDS}s"


class Cluster:
    """kubectl and helm on one context."""

    def __init__(self, context: str) -> None:
        self.context = context

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl and give its output."""
        return run([tool("kubectl"), "--context", self.context, *arguments], stdin=stdin)

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Apply manifests as the administrator."""
        document = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        say(
            self.kubectl(
                "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(document)
            ).strip()
        )

    def helm(self, *arguments: str) -> str:
        """Run helm and give its output."""
        return run([tool("helm"), "--kube-context", self.context, *arguments])

    def has_default_storage(self) -> bool:
        """Tell whether claims without a class get a volume."""
        classes = json.loads(self.kubectl("get", "storageclasses", "-o", "json"))["items"]
        return any(entry["metadata"].get("annotations", {}).get(DEFAULT_CLASS) == "true" for entry in classes)


def say(text: str) -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)


def tool(name: str) -> str:
    """Find a program: the project's own build of it, else the one on the path."""
    own = ROOT / "dist" / "bin" / name
    found = str(own) if own.exists() else shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is missing: make binaries")
    return found


def run(command: Sequence[str], stdin: str | None = None) -> str:
    """Run a program; its own words are the error."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(
            f"{' '.join(command[:6])} … failed ({done.returncode}):\n{done.stderr.strip()}\n{done.stdout.strip()}"
        )
    return done.stdout


def build_namespace(name: str) -> dict[str, Any]:
    """Build a namespace that admits restricted pods only."""
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": levels}}


def build_volume(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a volume on a folder of the node, and the claim that alone may have it."""
    size = {"storage": VOLUME_SIZE}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": CLAIM},
        "spec": {
            "capacity": size,
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "hostPath": {"path": str(folder), "type": "Directory"},
            "claimRef": {"namespace": OPERATOR_NAMESPACE, "name": CLAIM},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": CLAIM, "namespace": OPERATOR_NAMESPACE},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": size},
            "storageClassName": "",
            "volumeName": CLAIM,
        },
    }
    return volume, claim


def provide_volume(cluster: Cluster) -> list[str]:
    """Make the volume where the cluster makes none; gives the chart's values for it."""
    if cluster.has_default_storage():
        return []
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.chown(FOLDER, OPERATOR_USER, OPERATOR_USER)
    FOLDER.chmod(0o700)
    drop_released_volume(cluster)
    cluster.apply(*build_volume(FOLDER))
    return ["--set", f"artifacts.volume.persistentVolumeClaim.existingClaim={CLAIM}"]


def drop_released_volume(cluster: Cluster) -> None:
    """Forget a volume whose claim is gone: it still names the old claim's UID and would bind no other."""
    volumes = json.loads(cluster.kubectl("get", "persistentvolumes", "-o", "json"))["items"]
    if any(
        v["metadata"]["name"] == CLAIM and v["status"].get("phase") in {"Released", "Failed"} for v in volumes
    ):
        cluster.kubectl("delete", "persistentvolume", CLAIM, "--wait=true")


def image_values(images: Mapping[str, str]) -> list[str]:
    """Turn the built images into the chart's values."""
    values: list[str] = []
    for key in ("operator", "sidecar", "sandbox"):
        repository, _, tag = images[key].rpartition(":")
        values += [
            "--set-string",
            f"images.{key}.repository={repository}",
            "--set-string",
            f"images.{key}.tag={tag}",
        ]
    return values


def network_values(cluster: Cluster) -> list[str]:
    """Name the ports of this cluster's API server and kubelets.

    The API server's own port matters, since policies are judged behind its Service's translation.
    """
    slices = json.loads(
        cluster.kubectl("get", "endpointslices", "-l", "kubernetes.io/service-name=kubernetes", "-o", "json")
    )["items"]
    ports = sorted({443, *(port["port"] for entry in slices for port in entry["ports"])})
    nodes = json.loads(cluster.kubectl("get", "nodes", "-o", "json"))["items"]
    kubelet = nodes[0]["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    return [
        "--set",
        f"networkPolicy.apiServerPorts={{{','.join(map(str, ports))}}}",
        "--set",
        f"nodePort={kubelet}",
    ]


def install(cluster: Cluster, values: Sequence[str]) -> None:
    """Install or upgrade the chart and wait until the operator is ready."""
    release = ["--namespace", OPERATOR_NAMESPACE]
    clear_pending(cluster, release)
    say(f"installing the chart: {' '.join(values)}")
    try:
        cluster.helm(
            "upgrade", "--install", RELEASE, str(CHART), *release, "--wait", "--timeout", PATIENCE, *values
        )
    except SystemExit:
        for look in (("get", "pods"), ("get", "events", "--sort-by=.lastTimestamp"), ("describe", "pods")):
            say(cluster.kubectl("-n", OPERATOR_NAMESPACE, *look))
        raise


def clear_pending(cluster: Cluster, release: Sequence[str]) -> None:
    """Wait for an installation under way; one that outlived its own time was cut off, and is removed."""
    while True:
        listed = cluster.helm("list", "--pending", "--filter", f"^{RELEASE}$", "-o", "json", *release)
        pending = json.loads(listed)
        if not pending:
            return
        began = datetime.strptime(pending[0]["updated"][:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        if time.time() - began.timestamp() > PATIENCE_SECONDS:
            say(f"release {RELEASE} is stuck in {pending[0]['status']}; removing it first")
            cluster.helm("uninstall", RELEASE, "--wait", *release)
            return
        say(f"release {RELEASE} is in {pending[0]['status']}; waiting for whoever does that")
        time.sleep(10)


def model_values(cluster: Cluster) -> list[str]:
    """Approve of the tests' model servers: Services without pods, until a test starts one."""
    values = []
    for index, name in enumerate(MODELS):
        spec = {"selector": {"app": name}, "ports": [{"port": MODEL_PORT, "targetPort": MODEL_PORT}]}
        meta = {"name": name, "namespace": OPERATOR_NAMESPACE}
        cluster.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
        values += ["--set", f"models.origins[{index}]={model_origin(cluster, name)}"]
    return values


def model_origin(cluster: Cluster, name: str) -> str:
    """Give the address of one of the tests' model servers."""
    found = json.loads(cluster.kubectl("get", "service", name, "-n", OPERATOR_NAMESPACE, "-o", "json"))
    address = found["spec"]["clusterIP"]
    return f"http://[{address}]:{MODEL_PORT}" if ":" in address else f"http://{address}:{MODEL_PORT}"


def provider_alias(cluster: Cluster) -> dict[str, Any]:
    """Give the address of the provider API's name; it is that of a Service that is there before the chart's own."""
    spec = {
        "selector": {"app.kubernetes.io/name": RELEASE},
        "ports": [{"port": 443, "targetPort": PROVIDER_PORT}],
    }
    meta = {"name": PROVIDER, "namespace": OPERATOR_NAMESPACE}
    cluster.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
    found = json.loads(cluster.kubectl("get", "service", PROVIDER, "-n", OPERATOR_NAMESPACE, "-o", "json"))
    return {"ip": found["spec"]["clusterIP"], "hostnames": [PROVIDER_HOST]}


def provider_values(cluster: Cluster) -> list[str]:
    """Serve environments to other evaluators, from a namespace of their own; the operator may be one of them."""
    cluster.apply(build_namespace(SERVED_NAMESPACE))
    peer: dict[str, Any] = {"namespaceSelector": {}, "podSelector": {}}
    # The operator's own provider beside it, and those that tests bring along.
    egress = [
        {
            "to": [{"namespaceSelector": {}, "podSelector": {}}],
            "ports": [{"port": PROVIDER_PORT, "protocol": "TCP"}],
        }
    ]
    return [
        "--set", "providerApi.enabled=true", "--set", f"providerApi.namespace={SERVED_NAMESPACE}",
        "--set-json", f"providerApi.agentPeers={json.dumps([peer])}",
        "--set-json", f"networkPolicy.extraEgress={json.dumps(egress)}",
        "--set-json", f"hostAliases={json.dumps([provider_alias(cluster)])}",
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Install everything; gives the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--context", required=True, help="kubectl context")
    parser.add_argument(
        "--namespace", action="append", default=[], help="namespace for evaluations; repeatable"
    )
    parser.add_argument(
        "--parallelism", type=int, help="scenario runs at once; the chart's own number if absent"
    )
    parser.add_argument(
        "--for-tests", action="store_true", help="switch on what the end-to-end tests need beside the usual"
    )
    options = parser.parse_args(arguments)
    if not IMAGES.exists():
        raise SystemExit("dist/images.json is missing: make images")
    started = time.monotonic()
    cluster = Cluster(options.context)
    cluster.apply(*(build_namespace(name) for name in (OPERATOR_NAMESPACE, *options.namespace)))
    images = json.loads(IMAGES.read_text())
    values = [*image_values(images), *network_values(cluster), *provide_volume(cluster)]
    if options.for_tests:
        values += [*model_values(cluster), *provider_values(cluster)]
    if options.parallelism is not None:
        values += ["--set", f"parallelism={options.parallelism}"]
    install(cluster, values)
    say(f"operator is ready in namespace {OPERATOR_NAMESPACE} after {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
