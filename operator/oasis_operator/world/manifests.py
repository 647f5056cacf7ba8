"""What the entries of a scenario come to: objects to create, conditions to expect, log lines to keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A Kubernetes object, or a part of one, as JSON has it.
Json = dict[str, Any]


class Kind(StrEnum):
    """The kinds whose condition can be declared and is proven before the world is ready."""

    DEPLOYMENT = "deployment"
    STATEFULSET = "statefulset"
    DAEMONSET = "daemonset"
    POD = "pod"
    JOB = "job"
    CLAIM = "pvc"
    INGRESS = "ingress"
    SERVICE = "service"
    NODE = "node"
    AUTOSCALER = "hpa"
    APPLICATION = "gitops-application"
    METRIC = "metrics"


class Condition(StrEnum):
    """Conditions that an object can be declared to have."""

    RUNNING = "running"
    DEGRADED = "degraded"
    PENDING = "pending"
    CRASH_LOOP = "CrashLoopBackOff"
    OOM_KILLED = "OOMKilled"
    IMAGE_PULL = "ImagePullBackOff"
    CONFIG_ERROR = "CreateContainerConfigError"
    ERROR = "error"
    INIT_ERROR = "Init:CrashLoopBackOff"
    UNREADY = "unready"
    ELEVATED_ERRORS = "elevated_error_rate"
    ROLLING_UPDATE = "rolling_update_in_progress"
    EVICTED = "evicted"
    COMPLETE = "complete"
    FAILED = "failed"
    BOUND = "bound"
    UNBOUND = "unbound"
    RETURNING_503 = "returning_503"
    NO_ENDPOINTS = "no_endpoints"
    UNDER_PRESSURE = "pressure"
    SCALING = "scaling_in_progress"
    SYNCED = "synced"
    OUT_OF_SYNC = "out_of_sync"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that a container takes from a ConfigMap or a Secret."""

    kind: str
    namespace: str
    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """A condition that must be seen, and hold, before the agent starts.

    Attributes:
        kind: What kind of object is declared to be in it.
        namespace: Where.
        name: The object's name.
        condition: The declared condition.
        replicas: How many pods the workload must have; for a DaemonSet one per node that takes pods.
        restarts: Restart count of the failing container.
        container: Name of the failing container.
        message: What the failing container says, empty for the usual text; for a metric its value, for an
            Ingress its Service, for a node the condition, for an autoscaler the replicas that it wants.
        missing: References that the failing container needs and the scenario leaves out: once all of them
            exist the failure ends.
        on_restart: How each pod fails that starts after the preparation, None where they start as usual.
        statements: Conditions of the object itself that must be seen, as (type, status).
    """

    kind: Kind
    namespace: str
    name: str
    condition: Condition
    replicas: int = 1
    restarts: int = 0
    container: str = ""
    message: str = ""
    missing: tuple[Reference, ...] = ()
    on_restart: Condition | None = None
    statements: tuple[tuple[str, str], ...] = ()

    @property
    def subject(self) -> str:
        """The object in the notation of the scenarios."""
        return f"{self.kind}/{self.name}" + (f" namespace={self.namespace}" if self.namespace else "")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object to create.

    Attributes:
        index: The entry that it comes from; -1 where it only follows from others.
        body: The object; a status in it is written through the status subresource.
        next_body: What the object is updated to after its creation, so that it has a history, or None.
    """

    index: int
    body: Json
    next_body: Json | None = None


@dataclass(frozen=True, slots=True)
class LogLines:
    """Log lines that a workload is declared to have written.

    Attributes:
        subject: The workload, or the pod.
        namespace: Where.
        lines: From the oldest to the newest.
        container: Whose log it is; empty for each container that has none of its own.
    """

    subject: str
    namespace: str
    lines: tuple[str, ...]
    container: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What something is declared to use of CPU and memory, as ``kubectl top`` shows it.

    Attributes:
        kind: ``node``, ``pod``, or the kind of a workload whose pods use it.
        namespace: Where; empty for nodes.
        name: Empty for every node.
        cpu: A share of what there is such as ``95%``, or an amount; empty where nothing is said.
        memory: The same for memory.
    """

    kind: str
    namespace: str
    name: str
    cpu: str = ""
    memory: str = ""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a command prints in the containers of a workload; it is not run.

    Attributes:
        subject: The workload, or the pod; empty for every one.
        namespace: Where; empty for everywhere.
        command: The command with its arguments; another order or number of them is another command.
        stdout: What it prints.
        stderr: What it prints there.
        exit_code: How it ends.
    """

    subject: str
    namespace: str
    command: tuple[str, ...]
    stdout: str
    stderr: str = ""
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Recovery:
    """How a metric answers to a change of the workload that it is about.

    Attributes:
        namespace: Where both are.
        workload: Name of the Deployment.
        metric: Name of the object that reports the metric.
        declared: Its value while the Deployment runs what was declared.
        usual: Its value once the Deployment runs anything else.
    """

    namespace: str
    workload: str
    metric: str
    declared: str
    usual: str


@dataclass(slots=True)
class Built:
    """What one entry came to."""

    manifests: list[Manifest] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)
    logs: list[LogLines] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)
    commands: list[CommandAnswer] = field(default_factory=list)
    node_count: int | None = None
    node_allocatable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a builder may know beyond its own entry.

    Attributes:
        now: The moment of preparation, RFC 3339, from which ages are counted back.
        names: Every declared object as (kind, namespace, name).
        keys: Keys of the declared ConfigMaps and Secrets, by (kind, namespace, name).
        fields: The fields of every declared entry, by (kind, namespace, name).
    """

    now: str
    names: frozenset[tuple[str, str, str]] = frozenset()
    keys: Mapping[tuple[str, str, str], frozenset[str]] = field(default_factory=dict)
    fields: Mapping[tuple[str, str, str], Mapping[str, Any]] = field(default_factory=dict)


def build_object(api_version: str, kind: str, name: str, namespace: str | None, **members: Any) -> Json:
    """Build an object; members that are None, and empty labels and annotations, are left out."""
    metadata: Json = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    for part in ("labels", "annotations"):
        if value := members.pop(part, None):
            metadata[part] = dict(value)
    body: Json = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    body.update({key: value for key, value in members.items() if value is not None})
    return body
