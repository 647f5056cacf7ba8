"""The network around a sandbox: one permanent deny per namespace, and per-run policies that only allow.

Policies add up, so the deny holds for as long as it exists and a pod carries the sandbox label; removing a
run's own policy can only close something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.resources import labels, manifests, names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oasis_operator.resources.run import RunObjects
    from oasis_operator.world.monitoring.tools import Tool

API_PORT = 443
"""Port of an environment's API: that of the Service in every cluster, which some clients take for granted."""
SIDECAR_PORT = 8443
_MANAGED = {labels.APP_NAME: labels.OPERATOR_NAME}


def default_deny(namespace: str) -> dict[str, Any]:
    """Return the policy that denies sandbox pods everything, in both directions."""
    return _policy(
        manifests.metadata(names.DEFAULT_DENY, namespace, _MANAGED),
        {
            "podSelector": {"matchLabels": {labels.SANDBOX: "true"}},
            # No rule at all allows nothing; empty lists would be dropped by the API server on each apply.
            "policyTypes": ["Ingress", "Egress"],
        },
    )


def control(namespace: str, operator_namespace: str) -> dict[str, Any]:
    """Return the policy that lets the operator's pods reach the sidecars, and nothing else."""
    peer = {
        "namespaceSelector": {"matchLabels": {labels.NAMESPACE_NAME: operator_namespace}},
        "podSelector": {"matchLabels": {labels.APP_NAME: labels.OPERATOR_NAME}},
    }
    return _policy(
        manifests.metadata(names.CONTROL, namespace, _MANAGED),
        {
            "podSelector": {"matchLabels": {labels.SANDBOX: "true"}},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [peer], "ports": [_tcp(SIDECAR_PORT)]}],
        },
    )


def run_policy(run: RunObjects, tools: Iterable[Tool] = ()) -> dict[str, Any]:
    """Return the policy of one run: its agent may reach its environment's API and tools, nothing more.

    One object allows both sides: each pod of the run may send to and receive from these ports, which only
    the environment pod serves.

    Args:
        run: The run.
        tools: The tools that listen beside its cluster.
    """
    ports = [_tcp(port) for port in (API_PORT, *(tool.port for tool in tools))]
    mine = {labels.RUN: run.id}
    environment = {"podSelector": {"matchLabels": {**mine, labels.ROLE: labels.ROLE_ENVIRONMENT}}}
    agent = {"podSelector": {"matchLabels": {**mine, labels.ROLE: labels.ROLE_AGENT}}}
    meta = run.metadata(names.policy(run.id), labels.ROLE_ENVIRONMENT)
    meta["labels"].pop(labels.SANDBOX)
    meta["labels"].pop(labels.ROLE)
    return _policy(
        meta,
        {
            "podSelector": {"matchLabels": mine},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [agent], "ports": ports}],
            "egress": [{"to": [environment], "ports": ports}],
        },
    )


def foreign_run_policy(run: RunObjects, addresses: Sequence[str], port: int) -> dict[str, Any]:
    """Return the policy of a run at a foreign provider: its agent may reach these addresses on one port.

    Args:
        run: The run.
        addresses: IP addresses of the environment's API server.
        port: Its port.
    """
    meta = run.metadata(names.policy(run.id), labels.ROLE_ENVIRONMENT)
    meta["labels"].pop(labels.SANDBOX)
    meta["labels"].pop(labels.ROLE)
    peers = [{"ipBlock": {"cidr": f"{item}/{128 if ':' in item else 32}"}} for item in addresses]
    return _policy(
        meta,
        {
            "podSelector": {"matchLabels": {labels.RUN: run.id, labels.ROLE: labels.ROLE_AGENT}},
            "policyTypes": ["Egress"],
            "egress": [{"to": peers, "ports": [_tcp(port)]}],
        },
    )


def is_intact(found: dict[str, Any] | None, wanted: dict[str, Any]) -> bool:
    """Tell whether a policy in the cluster still says what it must.

    Empty lists and absent ones mean the same to the API server, so they are compared as equal.
    """
    if found is None or found["metadata"].get("deletionTimestamp"):
        return False
    return bool(_meaning(found["spec"]) == _meaning(wanted["spec"]))


def _meaning(value: Any) -> Any:
    """Return a policy's content without empty members and in a fixed order."""
    if isinstance(value, dict):
        members = {key: _meaning(item) for key, item in value.items()}
        return {key: item for key, item in members.items() if item not in ([], {}, None)}
    if isinstance(value, list):
        return sorted((_meaning(item) for item in value), key=repr)
    return value


def _policy(meta: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta, "spec": spec}


def _tcp(port: int) -> dict[str, Any]:
    return {"protocol": "TCP", "port": port}
