"""Parts that every built manifest shares: metadata, owner references, volumes and container hardening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oasis_operator.resources.kinds import Kind

USER_ID = 65532

Manifest = dict[str, Any]


def owner_reference(kind: Kind, owner: Mapping[str, Any]) -> Manifest:
    """Return the controller reference to `owner`, so that the garbage collector takes the rest."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def metadata(
    name: str, namespace: str, labels: Mapping[str, str], owner: Mapping[str, Any] | None = None
) -> Manifest:
    """Return the metadata of an owned object."""
    result: Manifest = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {**result, "ownerReferences": [dict(owner)]} if owner else result


def is_owned_by(manifest: Mapping[str, Any], uid: str) -> bool:
    """Tell whether the controller reference names the owner with this UID."""
    references: Iterable[Mapping[str, Any]] = manifest["metadata"].get("ownerReferences") or ()
    return any(reference.get("controller") and reference["uid"] == uid for reference in references)


def container_security(user: int | None = None, group: int | None = None) -> Manifest:
    """Return the security context of every sandbox container; it passes the `restricted` standard."""
    identity = {"runAsUser": USER_ID if user is None else user}
    if group is not None:
        identity["runAsGroup"] = group
    return {
        **identity,
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "privileged": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def pod_security() -> Manifest:
    """Return the security context of every sandbox pod."""
    return {
        "runAsNonRoot": True,
        "runAsUser": USER_ID,
        "fsGroup": USER_ID,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def secret_volume(name: str, secret: str, keys: Iterable[str], *, prefix: str = "") -> Manifest:
    """Return a volume with the named keys of a Secret and no others; file names lose the prefix."""
    items = [{"key": key, "path": key.removeprefix(prefix)} for key in keys]
    return {"name": name, "secret": {"secretName": secret, "items": items, "defaultMode": 0o440}}


def empty_volume(name: str, size: str, *, in_memory: bool = False) -> Manifest:
    """Return a bounded empty folder."""
    content = {"sizeLimit": size, **({"medium": "Memory"} if in_memory else {})}
    return {"name": name, "emptyDir": content}


def mount(volume: str, path: str, *, read_only: bool = False) -> Manifest:
    """Return a volume mount."""
    return {"name": volume, "mountPath": path, **({"readOnly": True} if read_only else {})}


def field_env(name: str, path: str) -> Manifest:
    """Return an environment variable that the kubelet fills from the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def pod(meta: Mapping[str, Any], spec: Mapping[str, Any]) -> Manifest:
    """Return a pod with what every sandbox pod has; these fields win over `spec`, but for its sysctls."""
    security = {**pod_security(), "sysctls": spec["sysctls"]} if "sysctls" in spec else pod_security()
    own = {name: value for name, value in spec.items() if name != "sysctls"}
    enforced: Manifest = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": False,
        "hostPID": False,
        "hostIPC": False,
        "shareProcessNamespace": False,
        # Names are never resolved: a resolver is a way out, and everything here is reached by address.
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "securityContext": security,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": dict(meta), "spec": {**own, **enforced}}


def pull_secrets(names: Iterable[str]) -> Manifest:
    """Return `imagePullSecrets` for the names, or nothing where there are none."""
    references = [{"name": name} for name in names]
    return {"imagePullSecrets": references} if references else {}
