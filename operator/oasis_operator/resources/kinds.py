"""The Kubernetes kinds that the operator touches, as data for the client and its fake."""

from __future__ import annotations

from dataclasses import dataclass

GROUP = "oasis-operator.dev"
VERSION = "v1alpha1"


@dataclass(frozen=True, slots=True)
class Kind:
    """One served kind.

    Attributes:
        group: API group, empty for the core group.
        version: Served version.
        plural: Path segment.
        name: CamelCase kind.
    """

    group: str
    version: str
    plural: str
    name: str

    @property
    def api_version(self) -> str:
        """The value of `apiVersion` in a manifest."""
        return f"{self.group}/{self.version}" if self.group else self.version


AGENT = Kind(GROUP, VERSION, "agents", "Agent")
ENVIRONMENT = Kind(GROUP, VERSION, "environments", "Environment")
EVALUATION = Kind(GROUP, VERSION, "evaluations", "Evaluation")
EVALUATION_POLICY = Kind(GROUP, VERSION, "evaluationpolicies", "EvaluationPolicy")
SCENARIO_RUN = Kind(GROUP, VERSION, "scenarioruns", "ScenarioRun")
CONFIG_MAP = Kind("", "v1", "configmaps", "ConfigMap")
EVENT = Kind("events.k8s.io", "v1", "events", "Event")
NAMESPACE = Kind("", "v1", "namespaces", "Namespace")
POD = Kind("", "v1", "pods", "Pod")
SECRET = Kind("", "v1", "secrets", "Secret")
NETWORK_POLICY = Kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")

ADMISSION_LIST = Kind(GROUP, VERSION, "admissionlists", "AdmissionList")
"""What the admission gate lets in; the right to write it comes with the gate."""

CLUSTER_SCOPED = (EVALUATION_POLICY, NAMESPACE)
"""Kinds without a namespace; the operator only looks at them."""

ALL = (
    AGENT,
    ENVIRONMENT,
    EVALUATION,
    SCENARIO_RUN,
    CONFIG_MAP,
    EVENT,
    POD,
    SECRET,
    NETWORK_POLICY,
    *CLUSTER_SCOPED,
)
"""Every kind above; the role of the chart grants these and no others."""
