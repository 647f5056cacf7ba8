"""The kinds that a cluster gets from its tools: GitOps applications, metrics, alert rules, migrations.

Each is declared by the definition that the tool installs, with the columns and the members that people and
agents look at. A definition is made only in a world that has an object of its kind.

Status is a subresource where it is one for the tool itself: an Application's is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oasis_operator.world.manifests import Json, build_object

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFINITION: Final = "CustomResourceDefinition"
_OPEN: Final[Json] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Final[Json] = {"type": "string"}
_MOMENT: Final[Json] = {"type": "string", "format": "date-time"}


@dataclass(frozen=True, slots=True)
class CustomKind:
    """A kind that is defined by an object rather than by the API server.

    Attributes:
        group: Its API group.
        version: The version that is served and stored.
        kind: As objects say it.
        plural: As paths say it.
        columns: What ``kubectl get`` shows beside the name, as (title, path in the object).
        members: Schema of the object's members; members that a tool leaves open stand open here as well.
        namespaced: Whether its objects live in namespaces.
        short: Other names of it.
        status: Whether status is a subresource.
        writer: Who writes the status, as the API server notes it.
    """

    group: str
    version: str
    kind: str
    plural: str
    columns: tuple[tuple[str, str], ...] = ()
    members: tuple[tuple[str, Json], ...] = (("spec", _OPEN), ("status", _OPEN))
    namespaced: bool = True
    short: tuple[str, ...] = ()
    status: bool = True
    writer: str = "manager"

    @property
    def api_version(self) -> str:
        """Group and version as objects say them."""
        return f"{self.group}/{self.version}"


def _record(required: Iterable[str], **members: Json) -> Json:
    return {"type": "object", "required": list(required), "properties": members}


_RANGE: Final = _record((), interval=_TEXT, step=_TEXT, aggregation=_TEXT, storedResults={"type": "integer"})
_RESULT: Final = _record(
    ("lastUpdated", "value"), value=_TEXT, lastUpdated=_MOMENT, errMsg=_TEXT, range=_RANGE
)
_METRIC_SPEC: Final = _record(
    ("fetchIntervalSeconds", "provider", "query"),
    fetchIntervalSeconds={"type": "integer"},
    provider=_record(("name",), name=_TEXT),
    query=_TEXT,
    range=_RANGE,
)
_METRIC_STATUS: Final = _record(
    ("lastUpdated", "rawValue", "value"),
    value=_TEXT,
    rawValue={"type": "string", "format": "byte"},
    lastUpdated=_MOMENT,
    errMsg=_TEXT,
    intervalResults={"type": "array", "items": _RESULT},
)
_USAGE: Final[Json] = {"type": "object", "additionalProperties": _TEXT}

APPLICATION: Final = CustomKind(
    "argoproj.io", "v1alpha1", "Application", "applications",
    columns=(("Sync Status", ".status.sync.status"), ("Health Status", ".status.health.status")),
    members=(
        ("operation", _OPEN),
        ("spec", {**_OPEN, "required": ["destination", "project"], "properties": {"project": _TEXT}}),
        ("status", _OPEN),
    ),
    short=("app", "apps"),
    status=False,
    writer="argocd-application-controller",
)  # fmt: skip
METRIC: Final = CustomKind(
    "metrics.keptn.sh", "v1", "KeptnMetric", "keptnmetrics",
    columns=(("Provider", ".spec.provider.name"), ("Query", ".spec.query"), ("Value", ".status.value")),
    members=(("spec", _METRIC_SPEC), ("status", _METRIC_STATUS)),
)  # fmt: skip
RULE: Final = CustomKind(
    "monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules",
    members=(("spec", _OPEN),), short=("promrule",), status=False,
)  # fmt: skip
MIGRATION: Final = CustomKind(
    "db.atlasgo.io", "v1alpha1", "AtlasMigration", "atlasmigrations",
    columns=(
        ("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        ("Reason", '.status.conditions[?(@.type=="Ready")].reason'),
    ),
)  # fmt: skip
POD_USAGE: Final = CustomKind(
    "metrics.k8s.io", "v1beta1", "PodMetrics", "pods",
    members=(
        ("timestamp", _MOMENT), ("window", _TEXT),
        ("containers", {"type": "array", "items": _record(("name",), name=_TEXT, usage=_USAGE)}),
    ),
    status=False,
)  # fmt: skip
NODE_USAGE: Final = CustomKind(
    "metrics.k8s.io", "v1beta1", "NodeMetrics", "nodes",
    members=(("timestamp", _MOMENT), ("window", _TEXT), ("usage", _USAGE)),
    namespaced=False, status=False,
)  # fmt: skip

#: All of them by kind.
KINDS: Final = {each.kind: each for each in (APPLICATION, METRIC, RULE, MIGRATION, POD_USAGE, NODE_USAGE)}


def build_definition(kind: CustomKind) -> Json:
    """Build the object that makes an API server serve a kind."""
    names: Json = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
    }
    if kind.short:
        names["shortNames"] = list(kind.short)
    version: Json = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": dict(kind.members)}},
    }
    if kind.columns:
        columns = [{"name": title, "type": "string", "jsonPath": path} for title, path in kind.columns]
        age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
        version["additionalPrinterColumns"] = [*columns, age]
    if kind.status:
        version["subresources"] = {"status": {}}
    # The API server asks for a word about names in its own domain.
    approved = {"api-approved.kubernetes.io": "https://github.com/kubernetes/metrics"}
    return build_object(
        "apiextensions.k8s.io/v1", DEFINITION, f"{kind.plural}.{kind.group}", None,
        annotations=approved if kind.group.endswith(".k8s.io") else None,
        spec={
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [version],
        },
    )  # fmt: skip


def build_custom(kind: CustomKind, name: str, namespace: str | None, **members: object) -> Json:
    """Build an object of a kind; its definition follows from it."""
    return build_object(kind.api_version, kind.kind, name, namespace, **members)
