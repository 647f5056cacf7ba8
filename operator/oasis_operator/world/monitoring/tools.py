"""The tools beside a cluster, by what a state speaks of, and where they are found.

They stand outside the cluster, as they do where one monitoring serves several clusters: a Service without a
selector leads to each. A tool that a scenario has no use for does not listen, and nothing speaks of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world.definitions import METRIC, RULE
from oasis_operator.world.entries import canonical_kind
from oasis_operator.world.manifests import Json, Manifest, build_object
from oasis_operator.world.registry import BUILDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NAMESPACE: Final = "monitoring"
#: Where the tools are, as the cluster knows it: an address of the nodes' network that no node has.
ADDRESS: Final = "10.0.255.10"
DASHBOARD_LABEL: Final = "grafana_dashboard"
TRACE_KEY: Final = "trace.json"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that answers reads.

    Attributes:
        name: What it is.
        service: The name of its Service.
        port: Where it listens, on every address of the environment.
    """

    name: str
    service: str
    port: int

    @property
    def host(self) -> str:
        """The name by which others in the cluster speak to it."""
        return f"{self.service}.{NAMESPACE}.svc"

    @property
    def hosts(self) -> tuple[str, ...]:
        """All names by which it can be spoken to."""
        within = f"{self.service}.{NAMESPACE}"
        return (within, self.host, f"{self.host}.cluster.local")


PROMETHEUS: Final = Tool("prometheus", "prometheus", 9090)
ALERTMANAGER: Final = Tool("alertmanager", "alertmanager", 9093)
LOKI: Final = Tool("loki", "loki", 3100)
JAEGER: Final = Tool("jaeger", "jaeger-query", 16686)
GRAFANA: Final = Tool("grafana", "grafana", 3000)
TOOLS: Final = (PROMETHEUS, ALERTMANAGER, LOKI, JAEGER, GRAFANA)

_BY_ENTRY: Final[Mapping[str, tuple[Tool, ...]]] = {
    "metrics": (PROMETHEUS,),
    "alert": (PROMETHEUS, ALERTMANAGER),
    "dashboard": (PROMETHEUS, GRAFANA),
    "traces": (JAEGER,),
    "logs": (LOKI,),
}


def find_tools(
    manifests: Iterable[Manifest], entries: Iterable[Mapping[str, Any]], *, has_logs: bool
) -> tuple[Tool, ...]:
    """Give the tools that a world needs, in the order of their declaration here.

    Args:
        manifests: The objects of the world.
        entries: State entries, those of later stimuli included.
        has_logs: Whether log lines are declared, be it by an entry of another kind.
    """
    found = {LOKI} if has_logs else set()
    for manifest in manifests:
        if manifest.body["kind"] == METRIC.kind:
            found.add(PROMETHEUS)
        elif manifest.body["kind"] == RULE.kind:
            found |= {PROMETHEUS, ALERTMANAGER}
    for entry in entries:
        written = str(entry.get("resource") or entry.get("kind") or "").partition("/")[0]
        found.update(_BY_ENTRY.get(canonical_kind(written, BUILDERS), ()))
    return tuple(tool for tool in TOOLS if tool in found)


def build_services(tools: Sequence[Tool], manifests: Iterable[Manifest]) -> list[Manifest]:
    """Build the Services that lead to tools; one that the scenario declares itself stays as it is."""
    declared = {
        manifest.body["metadata"]["name"]
        for manifest in manifests
        if manifest.body["kind"] == "Service" and manifest.body["metadata"].get("namespace") == NAMESPACE
    }
    return [
        Manifest(-1, body)
        for tool in tools
        if tool.service not in declared
        for body in (_service(tool), _endpoints(tool))
    ]


def listening(tools: Iterable[Tool]) -> Json:
    """Give where tools listen, as the environment's programs read it."""
    return {tool.name: {"host": tool.host, "port": tool.port} for tool in tools}


def _service(tool: Tool) -> Json:
    return build_object(
        "v1", "Service", tool.service, NAMESPACE, labels=_labels(tool),
        spec={"ports": [{"name": "http", "port": tool.port, "targetPort": tool.port}]},
    )  # fmt: skip


def _endpoints(tool: Tool) -> Json:
    labels = {
        **_labels(tool),
        "kubernetes.io/service-name": tool.service,
        "endpointslice.kubernetes.io/managed-by": "cluster-admins",
    }
    return build_object(
        "discovery.k8s.io/v1", "EndpointSlice", f"{tool.service}-external", NAMESPACE,
        labels=labels, addressType="IPv4",
        ports=[{"name": "http", "port": tool.port, "protocol": "TCP"}],
        endpoints=[{"addresses": [ADDRESS], "conditions": {"ready": True}}],
    )  # fmt: skip


def _labels(tool: Tool) -> dict[str, str]:
    return {"app.kubernetes.io/name": tool.name}
