"""The objects of an environment that is served to another evaluator.

Its NetworkPolicy is what makes it exist: it is created first, owns the rest, says whose environment it is
and, by the one rule that lets an agent in, that the state was established. Whatever is known of an
environment stands in the cluster, so that an operator that starts anew goes on with it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator.resources import environment_pod, kinds, labels, manifests, names, network_policy, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
    from oasis_operator.settings import Settings

#: Label of all of them; a served environment belongs to no ScenarioRun.
SERVED = f"{labels.PREFIX}/served"
SELECTOR = {SERVED: "true"}
_ID = f"{labels.PREFIX}/environment-id"
_DIGEST = f"{labels.PREFIX}/request-digest"


def token(environment_id: str) -> str:
    """Return the opaque token that an environment's objects are named by."""
    return names.opaque_token("served", environment_id)


def request_digest(body: Mapping[str, Any]) -> str:
    """Return the digest of what was asked for, by which a repetition is told from another request."""
    try:
        canonical = rfc8785.dumps(dict(body))
    except (ValueError, TypeError):
        canonical = json.dumps(body, sort_keys=True).encode()
    return hashlib.sha256(canonical).hexdigest()


def root(
    environment_id: str, namespace: str, digest: str, peers: Sequence[Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the policy of an environment.

    Args:
        environment_id: As the evaluator knows it.
        namespace: Where.
        digest: Of the request.
        peers: NetworkPolicyPeers that agents come from; None while the state is not established, when nobody
            is let in.
    """
    name = token(environment_id)
    rule = {"from": [dict(peer) for peer in peers or ()], "ports": [_port()]}
    meta = manifests.metadata(names.policy(name), namespace, {**SELECTOR, labels.RUN: name})
    meta["annotations"] = {_ID: environment_id, _DIGEST: digest}
    return {
        "apiVersion": kinds.NETWORK_POLICY.api_version,
        "kind": kinds.NETWORK_POLICY.name,
        "metadata": meta,
        "spec": {
            "podSelector": {"matchLabels": {labels.RUN: name, **SELECTOR}},
            "policyTypes": ["Ingress", "Egress"],
            **({"ingress": [rule]} if peers else {}),
        },
    }


def _port() -> dict[str, Any]:
    return {"protocol": "TCP", "port": network_policy.API_PORT}


def environment_id(policy: Mapping[str, Any]) -> str:
    """Return whose policy it is."""
    return str((policy["metadata"].get("annotations") or {}).get(_ID, ""))


def digest_of(policy: Mapping[str, Any]) -> str:
    """Return the digest of the request that the environment was made for."""
    return str((policy["metadata"].get("annotations") or {}).get(_DIGEST, ""))


def is_ready(policy: Mapping[str, Any]) -> bool:
    """Tell whether the state was established and the agent may come in."""
    return bool(policy["spec"].get("ingress"))


def is_going(policy: Mapping[str, Any]) -> bool:
    """Tell whether it is being deleted."""
    return "deletionTimestamp" in policy["metadata"]


def age_seconds(policy: Mapping[str, Any], now: datetime) -> float:
    """Return how old an environment is."""
    return (now - datetime.fromisoformat(policy["metadata"]["creationTimestamp"])).total_seconds()


def secret(policy: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, Any]:
    """Return the Secret with an environment's keys; `data` is base64-encoded."""
    return run.keys_secret(_meta(policy, names.secret(_token_of(policy)), {}), data)


def pod(
    policy: Mapping[str, Any], spec: EnvironmentSpec, settings: Settings, deadline_seconds: int
) -> dict[str, Any]:
    """Return the environment pod, fenced like every sandbox pod.

    Args:
        policy: The environment's policy as the cluster has it.
        spec: What the environment is made from.
        settings: The operator's settings.
        deadline_seconds: After this the kubelet ends the pod, whatever became of the operator.
    """
    name = _token_of(policy)
    marks = {labels.SANDBOX: "true", labels.ROLE: labels.ROLE_ENVIRONMENT}
    return manifests.pod(
        _meta(policy, names.environment_pod(name), marks),
        environment_pod.environment_spec(name, deadline_seconds, spec, settings),
    )


def _meta(policy: Mapping[str, Any], name: str, marks: Mapping[str, str]) -> dict[str, Any]:
    reference = manifests.owner_reference(kinds.NETWORK_POLICY, policy)
    # To block its deletion takes a right of its own in some clusters, and serves nobody.
    reference.pop("blockOwnerDeletion")
    marks = {**marks, **SELECTOR, labels.RUN: _token_of(policy)}
    return manifests.metadata(name, policy["metadata"]["namespace"], marks, reference)


def _token_of(policy: Mapping[str, Any]) -> str:
    return token(environment_id(policy))


def kubeconfig(server: str, authority: str, credential: Mapping[str, str]) -> str:
    """Return a kubeconfig for an agent; it is JSON, which every reader of YAML reads.

    Args:
        server: URL of the environment's API server.
        authority: PEM of the authority that signed its certificate.
        credential: `{username, token, namespace}`.
    """
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(authority.encode()).decode()}
    context = {"cluster": "cluster", "user": "user", "namespace": credential["namespace"]}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "cluster", "cluster": cluster}],
            "users": [{"name": "user", "user": {"token": credential["token"]}}],
            "contexts": [{"name": "context", "context": context}],
            "current-context": "context",
        },
        indent=2,
    )
