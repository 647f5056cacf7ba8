"""The agent's pod: the adapter and, where the adapter drives an image, the agent's own container.

The user's choices are merged first and the enforced fields last, so that no choice can lift an enforcement.
Nothing in the agent's container names the harness: no mount, variable, host name or certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1 import agent
from oasis_operator.resources import commanded, gateway, labels, manifests, names, network_policy, placed
from oasis_operator.resources.environment_pod import merged_resources
from oasis_operator.resources.provider_access import is_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.resources.provider_access import AgentAccess
    from oasis_operator.resources.run import RunObjects
    from oasis_operator.settings import Settings
    from oasis_operator.world.monitoring.tools import Tool

ADAPTER = "adapter"
AGENT = "agent"
HOST_NAME = "workstation"
API_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
SERVER = f"https://kubernetes.default.svc:{network_policy.API_PORT}"
GRACE_SECONDS = 30
"""How long the adapter outlives an agent that ended by itself, so that its transcript can be fetched.
The operator deletes with a shorter period of its own."""

_ACCESS = "/run/access"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True, slots=True)
class PodPlan:
    """What an agent pod is built from, apart from the agent.

    Attributes:
        metadata: Metadata of the pod.
        secret: Name of the run's Secret.
        environment_ip: Address of the environment pod; None for an identity pod, which has no environment.
        deadline_seconds: After this the kubelet ends the pod.
        tools: The tools that listen beside the environment's cluster.
        host: Name or address by which the agent is told of its API server.
        port: Port of the same.
    """

    metadata: dict[str, Any]
    secret: str
    environment_ip: str | None
    deadline_seconds: int
    tools: tuple[Tool, ...] = ()
    host: str = API_NAMES[2]
    port: int = network_policy.API_PORT


def run_pod_plan(run: RunObjects, environment_ip: str, tools: Iterable[Tool] = ()) -> PodPlan:
    """Return the plan of a run's agent pod."""
    return PodPlan(
        metadata=run.metadata(names.agent_pod(run.id), labels.ROLE_AGENT),
        secret=names.secret(run.world),
        environment_ip=environment_ip,
        deadline_seconds=run.deadline_seconds,
        tools=tuple(tools),
    )


def foreign_pod_plan(run: RunObjects, access: AgentAccess, address: str) -> PodPlan:
    """Return the plan of an agent pod whose environment is elsewhere, at an address of the access's host."""
    return replace(run_pod_plan(run, address), host=access.host, port=access.port)


def build_agent_pod(plan: PodPlan, spec: agent.AgentSpec, settings: Settings) -> dict[str, Any]:
    """Return the agent pod.

    With an image the adapter is a native sidecar whose startup probe holds the agent back until the adapter
    was released; without one the adapter is the only container.
    """
    template = spec.pod_template or agent.PodTemplate()
    runtime_class = template.runtime_class_name or settings.runtime_class_name
    adapter = _adapter(settings, is_commanded=spec.cli is not None)
    containers: dict[str, Any] = {"containers": [adapter]}
    if spec.image is not None:
        containers = {
            "initContainers": [{**adapter, "restartPolicy": "Always", "startupProbe": _released()}],
            "containers": [_agent(plan, spec, template, settings)],
        }
    chosen_pull_secrets = [reference.name for reference in spec.image_pull_secrets or ()]
    return manifests.pod(
        placed.annotated(plan.metadata, spec),
        {
            **({"nodeSelector": dict(template.node_selector)} if template.node_selector else {}),
            **containers,
            "volumes": [
                manifests.secret_volume(
                    ADAPTER, plan.secret, ("adapter.crt", "adapter.key", "adapter-token")
                ),
                manifests.empty_volume("access", "1Mi", in_memory=True),
                manifests.empty_volume("tmp", "512Mi"),
                *commanded.volumes(spec),
                *placed.volumes(spec),
            ],
            "hostname": HOST_NAME,
            "hostAliases": _aliases(plan),
            "activeDeadlineSeconds": plan.deadline_seconds,
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            **({"runtimeClassName": runtime_class} if runtime_class else {}),
            **manifests.pull_secrets(dict.fromkeys((*settings.images.pull_secrets, *chosen_pull_secrets))),
        },
    )


def agent_url(spec: agent.AgentSpec) -> str:
    """Return where the adapter finds an HTTP agent, without a path."""
    return f"http://127.0.0.1:{spec.http.port}" if spec.http else ""


def _adapter(settings: Settings, *, is_commanded: bool) -> dict[str, Any]:
    return {
        "name": ADAPTER,
        "image": settings.images.sidecar,
        "imagePullPolicy": settings.images.pull_policy,
        "args": ["adapter"],
        **({"env": commanded.adapter_env()} if is_commanded else {}),
        "resources": merged_resources(settings.resources.sidecar, {}),
        "securityContext": manifests.container_security(),
        "volumeMounts": [
            manifests.mount(ADAPTER, "/etc/sidecar", read_only=True),
            manifests.mount("access", _ACCESS),
            *(commanded.adapter_mounts() if is_commanded else ()),
        ],
    }


def _agent(
    plan: PodPlan, spec: agent.AgentSpec, template: agent.PodTemplate, settings: Settings
) -> dict[str, Any]:
    user = template.security_context or agent.SecurityContext()
    chosen = template.resources.model_dump(exclude_none=True) if template.resources else {}
    return {
        "name": AGENT,
        "image": spec.image,
        "imagePullPolicy": "IfNotPresent",
        **commanded.entry_point(spec),
        "env": [
            *(fields.dump(variable) for variable in spec.env or ()),
            *gateway.agent_env(spec),
            *_cluster_env(plan.host, plan.port),
        ],
        "resources": merged_resources(settings.resources.agent, chosen),
        "securityContext": manifests.container_security(user.run_as_user, user.run_as_group),
        "volumeMounts": [
            manifests.mount("access", _ACCOUNT, read_only=True),
            manifests.mount("tmp", "/tmp"),  # noqa: S108 - the agent's own scratch space
            *commanded.agent_mounts(spec),
            *placed.agent_mounts(spec),
        ],
    }


def _cluster_env(host: str, number: int) -> list[dict[str, str]]:
    """Return the variables by which any client in a cluster finds its API server."""
    port = str(number)
    return [
        {"name": "KUBERNETES_SERVICE_HOST", "value": host},
        {"name": "KUBERNETES_SERVICE_PORT", "value": port},
        {"name": "KUBERNETES_SERVICE_PORT_HTTPS", "value": port},
        # The kubelet tells every pod of its own cluster's API; what is set here wins.
        {"name": "KUBERNETES_PORT", "value": f"tcp://{host}:{port}"},
        {"name": "KUBERNETES_PORT_443_TCP", "value": f"tcp://{host}:{port}"},
        {"name": "KUBERNETES_PORT_443_TCP_PROTO", "value": "tcp"},
        {"name": "KUBERNETES_PORT_443_TCP_PORT", "value": port},
        {"name": "KUBERNETES_PORT_443_TCP_ADDR", "value": host},
        {"name": "KUBECONFIG", "value": f"{_ACCOUNT}/config"},
    ]


def _released() -> dict[str, Any]:
    """Return the probe that holds the agent back; the run's own deadline ends a pod never released."""
    return {
        "httpGet": {"path": "/healthz", "port": network_policy.SIDECAR_PORT, "scheme": "HTTPS"},
        "periodSeconds": 1,
        "timeoutSeconds": 1,
        "failureThreshold": 3600,
    }


def _aliases(plan: PodPlan) -> list[dict[str, Any]]:
    own = () if plan.host in API_NAMES or is_address(plan.host) else (plan.host,)
    hosts = [*API_NAMES, *own, *(host for tool in plan.tools for host in tool.hosts)]
    return [{"ip": plan.environment_ip, "hostnames": hosts}] if plan.environment_ip else []
