"""Reads stored evidence from the operator's volume, through a command in the operator's pod."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from oasis_operator import errors, settings
from oasis_operator.cli import checks
from oasis_operator.clients import artifact_store
from oasis_operator.ports.kube import FORBIDDEN
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from oasis_operator.api import fields
    from oasis_operator.cli.cluster import Cluster

CONTAINER = "operator"
VOLUME_VARIABLE = "OASIS_ARTIFACTS_DIR"
# What packing may add to bytes that do not get smaller.
PACKING_BYTES = 64 * 1024


class Store:
    """Reads documents from the operator's volume through its pod."""

    def __init__(self, port: Cluster, namespace: str) -> None:
        """Find the operator's pod in a namespace.

        Raises:
            NotReady: None runs there.
        """
        self._port, self._namespace = port, namespace
        pods = self._port.list(kinds.POD, namespace, checks.OPERATOR_SELECTOR)
        running = [pod for pod in pods if _is_running(pod)]
        if not running:
            raise errors.NotReady(
                f"no pod of the operator runs in namespace {namespace}; see --operator-namespace",
                reason="NotFound",
            )
        self._pod = str(running[0]["metadata"]["name"])
        self._folder = _folder(running[0])

    def fetch(self, reference: fields.ArtifactRef) -> bytes:
        """Give the verified bytes of a document.

        Raises:
            NotReady: The caller may not, or the document is not there.
            ProviderFault: The bytes are not those that the digest names.
        """
        path = f"{self._folder}/{artifact_store.place_of(reference.digest)}"
        limit = reference.size_bytes + PACKING_BYTES
        try:
            packed = self._port.output_of(self._namespace, self._pod, CONTAINER, ("cat", path), limit)
        except errors.NotReady as refusal:
            if refusal.reason != FORBIDDEN:
                raise
            raise errors.NotReady(
                f"{refusal.message}; fetching evidence needs pods/exec (get and create) in namespace "
                f"{self._namespace}: ask whoever runs the operator",
                reason=FORBIDDEN,
            ) from refusal
        return artifact_store.unpack(io.BytesIO(packed), reference.digest, reference.size_bytes)


def _is_running(pod: dict[str, Any]) -> bool:
    return pod.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]


def _folder(pod: dict[str, Any]) -> str:
    """Give the folder of the operator's volume, as its container is told it."""
    containers = pod.get("spec", {}).get("containers", ())
    variables = (entry for one in containers if one["name"] == CONTAINER for entry in one.get("env", ()))
    told = next((entry.get("value") for entry in variables if entry["name"] == VOLUME_VARIABLE), None)
    return str(told or settings.ARTIFACTS_DIR).rstrip("/")
