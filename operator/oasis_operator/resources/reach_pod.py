"""The two pods that prove on this cluster, before a run, that the network denies hold.

Both try the same targets with the same program. The control pod stands outside the deny policy and must reach
each of them; the canary stands inside and must reach none. A deny without its control proves nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.resources import labels, manifests
from oasis_operator.resources.environment_pod import merged_resources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.settings import Settings

CONTAINER = "reach"
_DEADLINE_SECONDS = 120
# Policies are programmed some time after a pod has its address; until then a canary gets through.
_CANARY_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Target:
    """An address that a sandbox must not reach; the host may be empty for the pod's own node."""

    name: str
    host: str
    port: int


def denied_targets(settings: Settings, node_ip: str) -> tuple[Target, ...]:
    """Return what no sandbox may reach: the operator, the host cluster's API server and the node.

    Args:
        settings: Where operator and API server are.
        node_ip: Address of the node that the pod in question runs on.
    """
    return (
        Target("operator", settings.pod_ip, settings.reachability_port),
        Target("api-server", settings.api_server.host, settings.api_server.port),
        Target("node", node_ip, settings.node_port),
    )


def build_reach_pod(
    name: str,
    namespace: str,
    marks: Mapping[str, str],
    owner: Mapping[str, Any],
    settings: Settings,
) -> dict[str, Any]:
    """Return a control pod or a canary; which of the two it is depends on its labels alone."""
    targets = denied_targets(settings, "$(HOST_IP)")
    is_canary = labels.SANDBOX in marks
    arguments = ["reach", *(["--until-blocked", str(_CANARY_SECONDS)] if is_canary else [])]
    for target in targets:
        arguments += ["--target", f"{target.name}={_host(target.host)}:{target.port}"]
    return manifests.pod(
        manifests.metadata(name, namespace, marks, owner),
        {
            "containers": [
                {
                    "name": CONTAINER,
                    "image": settings.images.sidecar,
                    "imagePullPolicy": settings.images.pull_policy,
                    "args": arguments,
                    "env": [manifests.field_env("HOST_IP", "status.hostIP")],
                    "resources": merged_resources(settings.resources.sidecar, {}),
                    "securityContext": manifests.container_security(),
                }
            ],
            "activeDeadlineSeconds": _DEADLINE_SECONDS,
            "terminationGracePeriodSeconds": 1,
            **manifests.pull_secrets(settings.images.pull_secrets),
        },
    )


@dataclass(frozen=True, slots=True)
class Reached:
    """What one pod found: names of the targets it reached and of those it did not."""

    reached: tuple[str, ...]
    blocked: tuple[str, ...]


def parse_reach(message: str, expected: Sequence[str]) -> Reached | None:
    """Read a pod's termination message; None where it does not tell of every expected target."""
    try:
        results = json.loads(message)["results"]
        found = {str(entry["name"]): bool(entry["reached"]) for entry in results}
    except (ValueError, KeyError, TypeError):
        return None
    if not set(expected) <= set(found):
        return None
    return Reached(
        reached=tuple(name for name in expected if found[name]),
        blocked=tuple(name for name in expected if not found[name]),
    )


def is_sandboxed(manifest: Mapping[str, Any]) -> bool:
    """Tell whether the deny policy selects this pod."""
    return labels.SANDBOX in (manifest["metadata"].get("labels") or {})


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address
