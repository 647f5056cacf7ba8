"""The model gateway of an Evaluation's attempt: its pod, Secret and policy, and what runs are told of it.

It is the one pod that holds a model's key. It is no sandbox pod, since it must reach the model; agents' pods
alone may reach it, each with the token of its own run.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.api.v1alpha1.model import MODEL_KEY
from oasis_operator.resources import kinds, labels, manifests, names
from oasis_operator.resources.environment_pod import merged_resources
from oasis_operator.wire import gateway as wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.agent import AgentSpec
    from oasis_operator.api.v1alpha1.harness import HarnessBudget
    from oasis_operator.api.v1alpha1.model import Model
    from oasis_operator.resources.pod_state import PodState
    from oasis_operator.settings import Settings

CONTAINER: Final = "gateway"
_DNS_PORT: Final = 53
# No attempt lasts longer; a gateway that nobody removed ends by itself.
_DEADLINE_SECONDS: Final = 7 * 24 * 3600
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


def build_secret(token: str, evaluation: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, Any]:
    """Return the gateway's Secret: its certificate, and the secret that tokens of runs follow from."""
    kept = {name: data[name] for name in ("ca.crt", "adapter.crt", "adapter.key", "adapter-token")}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "metadata": _metadata(names.secret(token), token, evaluation, role=None),
        "data": kept,
    }


def build_policy(token: str, evaluation: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the gateway's policy: in from agents of this namespace, out to names and the model's port."""
    agents = {"podSelector": {"matchLabels": {labels.SANDBOX: "true", labels.ROLE: labels.ROLE_AGENT}}}
    dns = [{"protocol": protocol, "port": _DNS_PORT} for protocol in ("UDP", "TCP")]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(names.policy(token), token, evaluation, role=None),
        "spec": {
            "podSelector": {"matchLabels": selector(token)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [agents], "ports": [{"protocol": "TCP", "port": wire.PORT}]}],
            "egress": [{"ports": dns}, {"ports": [{"protocol": "TCP", "port": _port_of(model.base_url)}]}],
        },
    }


def build_pod(
    token: str,
    evaluation: Mapping[str, Any],
    model: Model,
    budget: HarnessBudget | None,
    settings: Settings,
) -> dict[str, Any]:
    """Return the gateway's pod; the model's key is mounted, and in no variable."""
    configuration = wire.Configuration(
        base_url=model.base_url.rstrip("/"),
        model=model.name,
        origins=settings.model_origins,
        run_tokens=(budget.max_tokens or None) if budget else None,
        evaluation_tokens=(budget.max_tokens_together or None) if budget else None,
        hard_stop=bool(budget and budget.hard_stop),
    )
    key = [manifests.secret_volume("model", model.secret_ref.name, (MODEL_KEY,))] if model.secret_ref else []
    pod = manifests.pod(
        _metadata(names.gateway_pod(token), token, evaluation, role=labels.ROLE_GATEWAY),
        {
            "containers": [_container(configuration, settings, has_key=bool(key))],
            "volumes": [
                manifests.secret_volume(
                    "keys", names.secret(token), ("adapter.crt", "adapter.key", "adapter-token")
                ),
                manifests.empty_volume("books", "256Mi"),
                *key,
            ],
            "activeDeadlineSeconds": _DEADLINE_SECONDS,
            "terminationGracePeriodSeconds": 5,
            **manifests.pull_secrets(settings.images.pull_secrets),
        },
    )
    # Unlike a sandbox it reaches names outside, and goes on with its books where it was killed.
    pod["spec"].pop("dnsConfig")
    pod["spec"] |= {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always"}
    return pod


def selector(token: str) -> dict[str, str]:
    """Return the labels by which the gateway's pod is found."""
    return {labels.RUN: token, labels.ROLE: labels.ROLE_GATEWAY}


def opened(policy: Mapping[str, Any], token: str) -> dict[str, Any]:
    """Return a run's policy that lets its pods reach the gateway besides."""
    way = {"to": [{"podSelector": {"matchLabels": selector(token)}}]}
    ports = [{"protocol": "TCP", "port": wire.PORT}]
    spec = {**policy["spec"], "egress": [*policy["spec"]["egress"], {**way, "ports": ports}]}
    return {**policy, "spec": spec}


def reach_of(secret: Mapping[str, Any], pod: PodState, run_id: str) -> wire.Reach:
    """Return how a run reaches the gateway."""
    data = secret["data"]
    own = base64.b64decode(data["adapter-token"]).decode().strip()
    return wire.Reach(
        host=pod.ip,
        port=wire.PORT,
        ca=base64.b64decode(data["ca.crt"]).decode(),
        token=wire.run_token(own, run_id),
    )


def adapter_of(spec: AgentSpec, model: Model) -> dict[str, Any]:
    """Return the `adapter` member for a model in a loop, but for the gateway, which is of a run."""
    loop = spec.openai or spec.anthropic
    given = {
        "instructions": loop.instructions if loop else None,
        "max_output_tokens": loop.max_output_tokens if loop else None,
        "temperature": loop.temperature if loop else None,
    }
    return {
        "kind": "openai" if spec.openai is not None else "anthropic",
        "api": spec.openai.api.value if spec.openai is not None else "Messages",
        "model": model.name,
        "stream": loop.stream if loop else True,
        **{name: value for name, value in given.items() if value is not None},
    }


def agent_env(spec: AgentSpec) -> list[dict[str, str]]:
    """Return the variables by which the clients of either API find the model; what the user set stays.

    The key is none: the gateway has it, and clients only want that there is one.
    """
    if spec.model is None:
        return []
    server = f"http://127.0.0.1:{wire.MODEL_PORT}"
    found = {
        "OPENAI_BASE_URL": f"{server}/v1",
        "OPENAI_API_BASE": f"{server}/v1",
        "OPENAI_API_KEY": "unset",
        "ANTHROPIC_BASE_URL": server,
        "ANTHROPIC_API_KEY": "unset",
    }
    own = {variable.name for variable in spec.env or ()}
    return [{"name": name, "value": value} for name, value in found.items() if name not in own]


def _container(configuration: wire.Configuration, settings: Settings, *, has_key: bool) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/healthz", "port": wire.PORT, "scheme": "HTTPS"}, "timeoutSeconds": 5}
    return {
        "name": CONTAINER,
        "image": settings.images.sidecar,
        "imagePullPolicy": settings.images.pull_policy,
        "args": ["gateway"],
        "env": [
            {
                "name": "GATEWAY_CONFIGURATION",
                "value": json.dumps(configuration.to_json(), sort_keys=True),
            }
        ],
        "resources": merged_resources(settings.resources.sidecar, {}),
        "securityContext": manifests.container_security(),
        "readinessProbe": {**probe, "periodSeconds": 1},
        "livenessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 6},
        "volumeMounts": [
            manifests.mount("keys", "/etc/sidecar", read_only=True),
            manifests.mount("books", "/var/lib/gateway"),
            *([manifests.mount("model", "/etc/model", read_only=True)] if has_key else []),
        ],
    }


def _metadata(name: str, token: str, evaluation: Mapping[str, Any], *, role: str | None) -> dict[str, Any]:
    meta = evaluation["metadata"]
    marks = labels.preflight_labels(token, role or "", evaluation=meta["name"], sandboxed=False)
    if role is None:
        # The gateway's policies select pods by their role; nothing else shall look like one.
        marks.pop(labels.ROLE)
    owner = manifests.owner_reference(kinds.EVALUATION, evaluation)
    return manifests.metadata(name, meta["namespace"], marks, owner)


def _port_of(base_url: str) -> int:
    scheme, _, rest = base_url.partition("://")
    authority = rest.partition("/")[0]
    port = authority.rpartition("]")[2].rpartition(":")[2] if ":" in authority.rpartition("]")[2] else ""
    return int(port) if port else _DEFAULT_PORTS[scheme]
