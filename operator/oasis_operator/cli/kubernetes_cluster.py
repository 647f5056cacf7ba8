"""Implements `cluster.Cluster` on the synchronous Kubernetes client's raw requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import urllib3.exceptions
from kubernetes import client
from kubernetes import config as kube_config
from kubernetes.client.exceptions import OpenApiException

from oasis_operator import errors
from oasis_operator.cli import cluster, pod_command
from oasis_operator.clients import kube, kube_errors
from oasis_operator.ports.kube import FORBIDDEN, NETWORK, REFUSED
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.cli.cluster import Object
    from oasis_operator.resources.kinds import Kind

FIELD_MANAGER = "oasis-cli"
TIMEOUT_SECONDS = 30.0
PAGE_SIZE = "250"
JSON = "application/json"
APPLY = "application/apply-patch+yaml"
# Server-side apply answers an unknown field with 500, as if the server were at fault.
UNKNOWN_FIELD = b"failed to create typed patch object"


class KubernetesCluster:
    """The cluster behind a kubeconfig context."""

    def __init__(self, api: Any, context: str, namespace: str) -> None:
        """Keep a `kubernetes.client.ApiClient`, the context's name and its own namespace."""
        self._api = api
        self.context = context
        self.namespace = namespace
        self.server = str(api.configuration.host)

    def version(self) -> Object:
        """Read the server's version."""
        return self._answer("GET", "/version") or {}

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Read one object; None means that it, or its kind, does not exist."""
        return self._answer("GET", _path(kind, namespace, name))

    def list(self, kind: Kind, namespace: str, selector: str = "") -> tuple[Object, ...]:
        """List objects page by page; a kind that is not served has none."""
        found: list[Object] = []
        query = {"limit": PAGE_SIZE, **({"labelSelector": selector} if selector else {})}
        while True:
            page = self._answer("GET", _path(kind, namespace), query=query) or {}
            found += page.get("items") or ()
            token = page.get("metadata", {}).get("continue")
            if not token:
                return tuple(found)
            query["continue"] = token

    def apply(self, manifest: Mapping[str, Any], namespace: str) -> Object:
        """Apply a manifest server-side; unknown fields are refused."""
        path = _path(cluster.kind_of(manifest), namespace, manifest["metadata"]["name"])
        query = {"fieldManager": FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
        return self._required("PATCH", path, query=query, body=manifest, content_type=APPLY)

    def create(self, kind: Kind, namespace: str, manifest: Mapping[str, Any]) -> Object:
        """Create an object and give the server's answer."""
        return self._required(
            "POST", _path(kind, namespace), query={"fieldManager": FIELD_MANAGER}, body=manifest
        )

    def delete(self, kind: Kind, namespace: str, name: str) -> None:
        """Ask for deletion in the background; absence is success."""
        self._answer("DELETE", _path(kind, namespace, name), body={"propagationPolicy": "Background"})

    def output_of(
        self, namespace: str, pod: str, container: str, command: Sequence[str], limit_bytes: int
    ) -> bytes:
        """Run a command in a container and give what it wrote."""
        return pod_command.run(self._api, _path(kinds.POD, namespace, pod), container, command, limit_bytes)

    def _required(self, method: str, path: str, **request: Any) -> Object:
        """Send a request whose target must exist.

        Raises:
            NotReady: It does not: the namespace or the kind is missing.
        """
        answer = self._answer(method, path, **request)
        if answer is None:
            raise errors.NotReady(
                f"{method} {path}: not found; are namespace and custom resources there? Try: oasis doctor",
                reason="NotFound",
            )
        return answer

    def _answer(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content_type: str = JSON,
    ) -> Object | None:
        """Send one request and decode its answer; None is a 404."""
        verb, url, headers, content, form = self._api.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": JSON, **({"Content-Type": content_type} if body is not None else {})},
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            answer = self._api.call_api(verb, url, headers, content, form, TIMEOUT_SECONDS)
            data = bytes(answer.read())
        except (urllib3.exceptions.HTTPError, OSError, OpenApiException) as failure:
            raise errors.Transient(f"{self.server} does not answer: {failure}", reason=NETWORK) from failure
        return self._decoded(f"{method} {path}", answer.status, data)

    def _decoded(self, what: str, status: int, data: bytes) -> Object | None:
        """Decode an answer, or raise what it means."""
        if status == 404:
            return None
        if status == 401:
            raise errors.NotReady(
                f"{what}: the credential of context {self.context!r} is not accepted", reason=FORBIDDEN
            )
        if status == 500 and UNKNOWN_FIELD in data:
            raise errors.InvalidSpec(_message(data), reason=REFUSED)
        if status >= 400:
            raise kube_errors.fault_of(status, data, what)
        try:
            return dict(json.loads(data))
        except ValueError as failure:
            raise errors.Transient(
                f"{what}: {self.server} does not answer as an API server", reason=NETWORK
            ) from failure


def _message(data: bytes) -> str:
    """Give the message of an error answer, or its text where it is none of the API server's own."""
    try:
        return str(json.loads(data)["message"])
    except (ValueError, KeyError, TypeError):
        return data.decode("utf-8", "replace")


def _path(kind: Kind, namespace: str, name: str = "") -> str:
    """Give the request path, without the namespace where the kind knows none."""
    return kube.path(kind, "" if kind in cluster.CLUSTER_SCOPED else namespace, name)


def connect(kubeconfig: str | None, context: str | None) -> KubernetesCluster:
    """Connect by kubeconfig.

    Raises:
        Transient: No usable kubeconfig, or no such context in it.
    """
    configuration = client.Configuration()
    # The client's configuration module has no annotations.
    config: Any = kube_config
    try:
        config.load_kube_config(kubeconfig, context, client_configuration=configuration)
        contexts, active = config.list_kube_config_contexts(kubeconfig)
    except config.ConfigException as failure:
        raise errors.Transient(
            f"no usable kubeconfig: {failure}; set KUBECONFIG, or pass --kubeconfig and --context",
            reason="NoKubeconfig",
        ) from failure
    configuration.retries = False
    chosen = next((entry for entry in contexts if entry["name"] == context), active)
    namespace = str(chosen.get("context", {}).get("namespace") or "default")
    return KubernetesCluster(client.ApiClient(configuration), str(chosen["name"]), namespace)
