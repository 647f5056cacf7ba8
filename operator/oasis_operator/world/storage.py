"""PersistentVolumeClaims, with a volume where they are bound, and StorageClasses."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING

from oasis_operator.world.manifests import (
    Built,
    Condition,
    Expectation,
    Json,
    Kind,
    Manifest,
    Surroundings,
    build_object,
)

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

#: The class that every world has; volumes of it are made by a driver that the nodes' cloud offers.
DEFAULT_CLASS = "gp3"
DRIVER = "ebs.csi.aws.com"


def build_pvc(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a claim; bound it gets a volume of its own, unbound it waits for one that never comes."""
    size = reader.quantity("storage") or "10Gi"
    bound = reader.flag("bound", default=True)
    storage_class = reader.text("storage_class", DEFAULT_CLASS)
    modes = reader.names("access_modes") or ["ReadWriteOnce"]
    policy = reader.choice("reclaim_policy", ("Delete", "Retain"), "Delete")
    name, namespace = reader.entry.name, reader.namespace
    spec: Json = {
        "accessModes": modes,
        "resources": {"requests": {"storage": size}},
        "storageClassName": storage_class,
        "volumeMode": "Filesystem",
    }
    manifests = []
    if bound:
        volume = _volume(namespace, name, spec, policy)
        spec["volumeName"] = volume["metadata"]["name"]
        manifests.append(Manifest(reader.entry.index, volume))
    body = build_object(
        "v1", "PersistentVolumeClaim", name, namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), spec=spec,
    )  # fmt: skip
    manifests.append(Manifest(reader.entry.index, body))
    condition = Condition.BOUND if bound else Condition.UNBOUND
    return Built(manifests, [Expectation(Kind.CLAIM, namespace, name, condition)])


def build_storageclass(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a StorageClass."""
    body = build_object(
        "storage.k8s.io/v1", "StorageClass", reader.entry.name, None,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"),
        provisioner=reader.text("provisioner", DRIVER),
        reclaimPolicy=reader.choice("reclaim_policy", ("Delete", "Retain"), "Delete"),
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def _volume(namespace: str, name: str, spec: Json, policy: str) -> Json:
    """Build the volume of a claim as a driver would have made it; its names are the same every time."""
    digest = hashlib.sha256(f"{namespace}/{name}".encode()).hexdigest()
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name}
    return build_object(
        "v1", "PersistentVolume", f"pvc-{uuid.UUID(digest[:32])}", None,
        annotations={"pv.kubernetes.io/provisioned-by": DRIVER},
        spec={
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": claim,
            "csi": {"driver": DRIVER, "fsType": "ext4", "volumeHandle": f"vol-0{digest[32:48]}"},
            "persistentVolumeReclaimPolicy": policy,
            "storageClassName": spec["storageClassName"],
            "volumeMode": "Filesystem",
        },
    )  # fmt: skip
