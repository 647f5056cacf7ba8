"""The disposable world of one run: the nested control plane and the probe beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.api.v1alpha1 import environment
from oasis_operator.resources import labels, manifests, names, network_policy

if TYPE_CHECKING:
    from oasis_operator.resources.run import RunObjects
    from oasis_operator.settings import Settings

CONTROL_PLANE = "control-plane"
PROBE = "probe"
DEFAULT_NODES = 3
_RUN_PATH = "/run/cluster"


def build_environment_pod(
    run: RunObjects, spec: environment.EnvironmentSpec, settings: Settings
) -> dict[str, Any]:
    """Return the environment pod of a run.

    The key of the nested cluster's CA is mounted into the control plane alone, the probe's key and token
    into the probe alone.
    """
    meta = run.metadata(names.environment_pod(run.id), labels.ROLE_ENVIRONMENT)
    return manifests.pod(meta, environment_spec(run.id, run.deadline_seconds, spec, settings))


def environment_spec(
    world: str, deadline_seconds: int, spec: environment.EnvironmentSpec, settings: Settings
) -> dict[str, Any]:
    """Return the pod spec of an environment whose Secret is named by the token `world`."""
    kubernetes = spec.kubernetes or environment.Kubernetes()
    secret = names.secret(world)
    runtime_class = kubernetes.runtime_class_name or settings.runtime_class_name
    return {
        "containers": [_control_plane(kubernetes, settings), _probe(settings)],
        "volumes": [
            manifests.empty_volume("run", "2Gi"),
            manifests.empty_volume("data", "4Gi"),
            manifests.secret_volume("pki", secret, ("cluster-ca.crt", "cluster-ca.key"), prefix="cluster-"),
            manifests.secret_volume("probe", secret, ("probe.crt", "probe.key", "probe-token")),
        ],
        # A port below 1024, for a user that is not root.
        "sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": str(network_policy.API_PORT)}],
        "activeDeadlineSeconds": deadline_seconds,
        "terminationGracePeriodSeconds": 1,
        **({"runtimeClassName": runtime_class} if runtime_class else {}),
        **manifests.pull_secrets(settings.images.pull_secrets),
    }


def _control_plane(kubernetes: environment.Kubernetes, settings: Settings) -> dict[str, Any]:
    chosen = kubernetes.resources
    nodes = DEFAULT_NODES if kubernetes.nodes is None else kubernetes.nodes
    return {
        "name": CONTROL_PLANE,
        "image": settings.images.sandbox,
        "imagePullPolicy": settings.images.pull_policy,
        "env": [
            manifests.field_env("POD_IP", "status.podIP"),
            {"name": "CLUSTER_NODES", "value": str(nodes)},
            {"name": "CLUSTER_PORT", "value": str(network_policy.API_PORT)},
        ],
        "resources": merged_resources(
            settings.resources.control_plane, chosen.model_dump(exclude_none=True) if chosen else {}
        ),
        "securityContext": manifests.container_security(),
        "volumeMounts": [
            manifests.mount("run", _RUN_PATH),
            manifests.mount("data", "/var/lib/cluster"),
            manifests.mount("pki", "/etc/cluster/pki", read_only=True),
        ],
    }


def _probe(settings: Settings) -> dict[str, Any]:
    return {
        "name": PROBE,
        "image": settings.images.sidecar,
        "imagePullPolicy": settings.images.pull_policy,
        "args": ["probe"],
        "env": [{"name": "CLUSTER_SERVER", "value": f"https://127.0.0.1:{network_policy.API_PORT}"}],
        "resources": merged_resources(settings.resources.sidecar, {}),
        "securityContext": manifests.container_security(),
        "volumeMounts": [
            manifests.mount("run", _RUN_PATH),
            manifests.mount("probe", "/etc/sidecar", read_only=True),
        ],
    }


def merged_resources(base: Any, chosen: Any) -> dict[str, dict[str, str]]:
    """Return requests and limits: the chosen amounts over the base's, each a text."""
    return {
        part: {
            name: str(amount) for name, amount in {**base.get(part, {}), **(chosen.get(part) or {})}.items()
        }
        for part in ("requests", "limits")
    }
