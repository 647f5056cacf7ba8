"""The command line's only way to a cluster: a few verbs on plain dictionaries.

Commands take a `Cluster`; `kubernetes_cluster` makes the real one from a kubeconfig.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from oasis_operator import errors
from oasis_operator.resources import kinds
from oasis_operator.resources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Object = dict[str, Any]

NAMESPACE = Kind("", "v1", "namespaces", "Namespace")
NODE = Kind("", "v1", "nodes", "Node")
SERVICE_ACCOUNT = Kind("", "v1", "serviceaccounts", "ServiceAccount")
DEPLOYMENT = Kind("apps", "v1", "deployments", "Deployment")
CRD = Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition")
ACCESS_REVIEW = Kind("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview")

CLUSTER_SCOPED = frozenset({NAMESPACE, NODE, CRD, ACCESS_REVIEW})
APPLIED = (kinds.AGENT, kinds.ENVIRONMENT, kinds.EVALUATION, kinds.CONFIG_MAP, NAMESPACE)


def kind_of(manifest: Mapping[str, Any]) -> Kind:
    """Find the kind of a manifest.

    Raises:
        InvalidSpec: The kind is none that this command line applies.
    """
    for kind in APPLIED:
        if (manifest.get("apiVersion"), manifest.get("kind")) == (kind.api_version, kind.name):
            return kind
    raise errors.InvalidSpec(
        f"oasis applies no {manifest.get('apiVersion')}/{manifest.get('kind')}; use kubectl apply for it"
    )


class Cluster(Protocol):
    """What commands need of a cluster.

    Every verb raises `errors.Transient` where no answer came, `errors.NotReady` where rights or quota
    refuse, and `errors.InvalidSpec` where the object itself is refused.

    Attributes:
        context: Name of the kubeconfig context in use.
        server: URL of the API server.
        namespace: The context's own namespace.
    """

    context: str
    server: str
    namespace: str

    def version(self) -> Object:
        """Read the server's version."""
        ...

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Read one object; None means that it, or its kind, does not exist."""
        ...

    def list(self, kind: Kind, namespace: str, selector: str = "") -> tuple[Object, ...]:
        """List the objects that a label selector matches; a kind that is not served has none."""
        ...

    def apply(self, manifest: Mapping[str, Any], namespace: str) -> Object:
        """Apply a manifest server-side; unknown fields are refused."""
        ...

    def create(self, kind: Kind, namespace: str, manifest: Mapping[str, Any]) -> Object:
        """Create an object and give the server's answer."""
        ...

    def delete(self, kind: Kind, namespace: str, name: str) -> None:
        """Ask for deletion; absence is success."""
        ...

    def output_of(
        self, namespace: str, pod: str, container: str, command: Sequence[str], limit_bytes: int
    ) -> bytes:
        """Run a command in a container and give what it wrote, at most `limit_bytes`."""
        ...
