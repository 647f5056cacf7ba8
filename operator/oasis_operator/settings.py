"""Settings of the operator process: a frozen value built from a mapping of variables with one prefix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from oasis_operator.errors import InvalidSpec

T = TypeVar("T")

ARTIFACTS_DIR = "/var/lib/oasis/artifacts"
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
PREFIX = "OASIS_"
LOOPBACK = ("127.0.0.1", "::1")

Quantities = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host and a TCP port; the host is an address or a DNS name, or empty where unknown."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Images:
    """Container images of what the operator starts.

    Attributes:
        sidecar: Image with the `oasis-sidecar` command: adapter, probe and reachability control.
        sandbox: Image of the nested control plane.
        pull_policy: One of `PULL_POLICIES`, for both.
        pull_secrets: Names of Secrets of a sandbox's namespace; may be empty.
    """

    sidecar: str
    sandbox: str
    pull_policy: str = "IfNotPresent"
    pull_secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StageTimeouts:
    """Longest time of each stage of a scenario, in seconds, where an Evaluation names none."""

    provisioning: float = 180
    preparing: float = 180
    running: float = 900
    observing: float = 120
    judging: float = 120


@dataclass(frozen=True, slots=True)
class SandboxResources:
    """Compute resources of sandbox containers, in the shape of a container's `resources`.

    Attributes:
        control_plane: The nested control plane, where an Environment names none.
        agent: The agent container, where an Agent names none.
        sidecar: Adapter, probe and reachability control.
    """

    control_plane: Quantities = field(
        default_factory=lambda: {
            "requests": {"cpu": "100m", "memory": "512Mi"},
            "limits": {"cpu": "2", "memory": "1536Mi"},
        }
    )
    agent: Quantities = field(
        default_factory=lambda: {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        }
    )
    sidecar: Quantities = field(
        default_factory=lambda: {
            "requests": {"cpu": "20m", "memory": "64Mi"},
            "limits": {"cpu": "1", "memory": "512Mi"},
        }
    )


@dataclass(frozen=True, slots=True)
class ProviderApi:
    """How the operator serves environments to other evaluators.

    Exactly one way of telling who asks is set: an audience, a token file, or nobody at all on loopback.

    Attributes:
        namespace: Where the environments are.
        environment: Name of the Environment there that they are made from; empty for an ordinary one.
        host: Address to listen on; empty for all.
        port: HTTPS port.
        certificate_dir: Folder with `tls.crt` and `tls.key`; empty for a certificate of the operator's own.
        server_names: DNS names of the own certificate, the first one for people to use.
        audience: Audience of the cluster tokens that are taken; empty for none.
        users: Users and groups that may ask, by their names in the cluster; empty for all with such a token.
        token_file: File with the one bearer token that is taken; empty for none.
        anonymous: Whether everyone is served; on loopback only.
        agent_peers: NetworkPolicyPeers that agents come from, in the shape of that API.
        provisions: Provisions at once.
        environments: Environments at once.
        max_age_seconds: After this an environment is removed, whoever still wants it.
    """

    namespace: str
    environment: str = ""
    host: str = ""
    port: int = 8444
    certificate_dir: str = ""
    server_names: tuple[str, ...] = ("localhost",)
    audience: str = ""
    users: tuple[str, ...] = ()
    token_file: str = ""
    anonymous: bool = False
    agent_peers: tuple[Mapping[str, Any], ...] = ()
    provisions: int = 4
    environments: int = 12
    max_age_seconds: int = 7200


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set on the operator.

    Attributes:
        namespace: The operator's own namespace.
        watch_namespaces: Namespaces with evaluations, sorted; empty means the whole cluster.
        images: Images of what the operator starts.
        artifacts_dir: Folder of evidence and reports.
        parallelism: Scenario runs at once over all Evaluations, at least 1.
        namespace_parallelism: The same in any one namespace; 0 for no limit of its own.
        runtime_class_name: RuntimeClass of sandbox pods where neither Agent nor Environment names one;
            empty means the cluster's default.
        api_server: The host cluster's API server as pods see it; sandboxes must not reach it.
        pod_ip: The operator pod's own address; empty where unknown.
        node_ip: Address of the node the operator runs on; empty where unknown.
        node_port: Port on which every node takes connections, by default the kubelet's.
        health_port: Port of livez, readyz and metrics.
        reachability_port: Port of the listener that proves that a denied address is alive.
        timeouts: Longest time of each stage.
        settle_seconds: How long a prepared state must hold before the agent starts.
        resources: Compute resources of sandbox containers.
        resync_seconds: Time between two full passes over every object.
        log_level: One of `LOG_LEVELS`.
        reads_policies: Whether the operator has the rights to read EvaluationPolicies and namespaces.
        warm_boots: Environments that are booted ahead at once, over all warm pools.
        provider_api: How environments are served to other evaluators; None where they are not.
        admission_list: Name of the AdmissionList that is published; empty for none.
        model_origins: Origins of model APIs to which a gateway may send a key; empty for none.
    """

    namespace: str
    images: Images
    watch_namespaces: tuple[str, ...] = ()
    artifacts_dir: str = ARTIFACTS_DIR
    parallelism: int = 4
    namespace_parallelism: int = 0
    runtime_class_name: str = ""
    api_server: Endpoint = Endpoint(host="", port=443)
    pod_ip: str = ""
    node_ip: str = ""
    node_port: int = 10250
    health_port: int = 8080
    reachability_port: int = 9444
    timeouts: StageTimeouts = StageTimeouts()
    settle_seconds: int = 2
    resources: SandboxResources = field(default_factory=SandboxResources)
    resync_seconds: int = 300
    log_level: str = "INFO"
    reads_policies: bool = True
    warm_boots: int = 2
    provider_api: ProviderApi | None = None
    admission_list: str = ""
    model_origins: tuple[str, ...] = ()


def from_mapping(env: Mapping[str, str]) -> Settings:
    """Return the settings that the variables give; an absent or empty variable takes its default.

    Raises:
        InvalidSpec: Names every variable that is missing, malformed or unknown.
    """
    reader = _Reader(env)
    settings = Settings(
        namespace=reader.required("NAMESPACE"),
        watch_namespaces=reader.get("WATCH_NAMESPACES", _names, ()),
        images=_images(reader),
        artifacts_dir=reader.get("ARTIFACTS_DIR", str, ARTIFACTS_DIR),
        parallelism=reader.get("PARALLELISM", _integer(1, 64), 4),
        namespace_parallelism=reader.get("NAMESPACE_PARALLELISM", _integer(0, 64), 0),
        runtime_class_name=reader.get("RUNTIME_CLASS_NAME", str, ""),
        api_server=_api_server(reader),
        pod_ip=reader.get("POD_IP", str, ""),
        node_ip=reader.get("NODE_IP", str, ""),
        node_port=reader.get("NODE_PORT", _integer(1, 65535), 10250),
        health_port=reader.get("HEALTH_PORT", _integer(1, 65535), 8080),
        reachability_port=reader.get("REACHABILITY_PORT", _integer(1, 65535), 9444),
        timeouts=_timeouts(reader),
        settle_seconds=reader.get("SETTLE_SECONDS", _integer(0, 120), 2),
        resources=_resources(reader),
        resync_seconds=reader.get("RESYNC_SECONDS", _integer(10, 86_400), 300),
        log_level=reader.get("LOG_LEVEL", _one_of(LOG_LEVELS), "INFO"),
        reads_policies=reader.get("READ_POLICIES", _boolean, True),
        provider_api=_provider_api(reader),
        admission_list=reader.get("ADMISSION_LIST", str, ""),
        warm_boots=reader.get("WARM_BOOTS", _integer(1, 32), 2),
        model_origins=reader.get("MODEL_ORIGINS", _origins, ()),
    )
    reader.finish()
    return settings


class _Reader:
    """Reads variables one by one and keeps every fault, so that all are reported at once."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._known: set[str] = set()
        self._faults: list[str] = []

    def get(self, name: str, parse: Callable[[str], T], default: T) -> T:
        """Return the parsed variable, or the default where it is absent, empty or faulty."""
        key = PREFIX + name
        self._known.add(key)
        text = self._env.get(key, "").strip()
        if not text:
            return default
        try:
            return parse(text)
        except ValueError as error:
            self._faults.append(f"{key}: {error}")
            return default

    def required(self, name: str) -> str:
        """Return the variable; its absence is a fault."""
        text = self.get(name, str, "")
        if not text:
            self._faults.append(f"{PREFIX}{name}: must be set")
        return text

    def refuse(self, name: str, why: str) -> None:
        """Keep the fault of a variable that contradicts another one."""
        self._faults.append(f"{PREFIX}{name}: {why}")

    def host_and_port(self, name: str) -> Endpoint:
        """Return the endpoint of a Kubernetes service as its variables in every pod give it."""
        port = self._env.get(f"{name}_SERVICE_PORT", "") or "443"
        if not port.isdigit():
            self._faults.append(f"{name}_SERVICE_PORT: must be a number")
            port = "443"
        return Endpoint(host=self._env.get(f"{name}_SERVICE_HOST", ""), port=int(port))

    def finish(self) -> None:
        """Raise InvalidSpec with all faults, unknown variables among them."""
        unknown = sorted(key for key in self._env if key.startswith(PREFIX) and key not in self._known)
        faults = [*self._faults, *(f"{key}: unknown variable" for key in unknown)]
        if faults:
            raise InvalidSpec("; ".join(faults), reason="InvalidSettings")


def _images(reader: _Reader) -> Images:
    return Images(
        sidecar=reader.required("SIDECAR_IMAGE"),
        sandbox=reader.required("SANDBOX_IMAGE"),
        pull_policy=reader.get("IMAGE_PULL_POLICY", _one_of(PULL_POLICIES), "IfNotPresent"),
        pull_secrets=reader.get("IMAGE_PULL_SECRETS", _names, ()),
    )


def _api_server(reader: _Reader) -> Endpoint:
    fallback = reader.host_and_port("KUBERNETES")
    return Endpoint(
        host=reader.get("API_SERVER_HOST", str, fallback.host),
        port=reader.get("API_SERVER_PORT", _integer(1, 65535), fallback.port),
    )


def _timeouts(reader: _Reader) -> StageTimeouts:
    default = StageTimeouts()
    return StageTimeouts(
        provisioning=reader.get("PROVISIONING_TIMEOUT_SECONDS", _seconds, default.provisioning),
        preparing=reader.get("PREPARING_TIMEOUT_SECONDS", _seconds, default.preparing),
        running=reader.get("RUNNING_TIMEOUT_SECONDS", _seconds, default.running),
        observing=reader.get("OBSERVING_TIMEOUT_SECONDS", _seconds, default.observing),
        judging=reader.get("JUDGING_TIMEOUT_SECONDS", _seconds, default.judging),
    )


def _resources(reader: _Reader) -> SandboxResources:
    default = SandboxResources()
    return SandboxResources(
        control_plane=reader.get("CONTROL_PLANE_RESOURCES", _quantities, default.control_plane),
        agent=reader.get("AGENT_RESOURCES", _quantities, default.agent),
        sidecar=reader.get("SIDECAR_RESOURCES", _quantities, default.sidecar),
    )


def _provider_api(reader: _Reader) -> ProviderApi | None:
    """Read what is said of serving environments; it is checked even where it is switched off."""
    default = ProviderApi(reader.get("PROVIDER_API_NAMESPACE", str, reader.get("NAMESPACE", str, "")))
    chosen = ProviderApi(
        namespace=default.namespace,
        environment=reader.get("PROVIDER_API_ENVIRONMENT", str, ""),
        host=reader.get("PROVIDER_API_HOST", str, ""),
        port=reader.get("PROVIDER_API_PORT", _integer(1, 65535), default.port),
        certificate_dir=reader.get("PROVIDER_API_CERTIFICATE_DIR", str, ""),
        server_names=reader.get("PROVIDER_API_SERVER_NAMES", _words, default.server_names),
        audience=reader.get("PROVIDER_API_AUDIENCE", str, ""),
        users=reader.get("PROVIDER_API_USERS", _words, ()),
        token_file=reader.get("PROVIDER_API_TOKEN_FILE", str, ""),
        anonymous=reader.get("PROVIDER_API_ANONYMOUS", _boolean, False),
        agent_peers=reader.get("PROVIDER_API_AGENT_PEERS", _objects, ()),
        provisions=reader.get("PROVIDER_API_PROVISIONS", _integer(1, 64), default.provisions),
        environments=reader.get("PROVIDER_API_ENVIRONMENTS", _integer(1, 1000), default.environments),
        max_age_seconds=reader.get(
            "PROVIDER_API_MAX_AGE_SECONDS", _integer(60, 86_400), default.max_age_seconds
        ),
    )
    if not reader.get("PROVIDER_API", _boolean, False):
        return None
    ways = (bool(chosen.audience), bool(chosen.token_file), chosen.anonymous)
    if sum(ways) != 1:
        reader.refuse("PROVIDER_API", "want one of _AUDIENCE, _TOKEN_FILE and _ANONYMOUS, and no other")
    if chosen.anonymous and chosen.host not in LOOPBACK:
        reader.refuse("PROVIDER_API_ANONYMOUS", f"want PROVIDER_API_HOST to be one of {', '.join(LOOPBACK)}")
    return chosen


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in (item.strip() for item in text.split(",")) if word)


def _objects(text: str) -> tuple[Mapping[str, Any], ...]:
    value: Any = json.loads(text)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("must be a JSON list of objects")
    return tuple(value)


def _names(text: str) -> tuple[str, ...]:
    names = {name.strip() for name in text.split(",")} - {""}
    for name in names:
        if not re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", name):
            raise ValueError(f"{name!r} is not an object name")
    return tuple(sorted(names))


def _origins(text: str) -> tuple[str, ...]:
    origins = {origin.strip() for origin in text.split(",")} - {""}
    for origin in origins:
        if not re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?", origin):
            raise ValueError(f"{origin!r} is no origin such as https://models.example")
    return tuple(sorted(origins))


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("must be true or false")
    return text == "true"


def _integer(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return parse


def _seconds(text: str) -> float:
    return float(_integer(1, 86_400)(text))


def _one_of(choices: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return text

    return parse


def _quantities(text: str) -> Quantities:
    value: Any = json.loads(text)
    if not isinstance(value, dict) or not set(value) <= {"requests", "limits"}:
        raise ValueError("must be a JSON object with requests and limits")
    if not all(isinstance(amounts, dict) for amounts in value.values()):
        raise ValueError("requests and limits must be JSON objects")
    return {part: {name: str(amount) for name, amount in amounts.items()} for part, amounts in value.items()}
