"""Files that an Agent has placed into its container.

They travel as annotations of the pod, which the kubelet shows as files: no object more, and nothing that the
agent's container could read besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.resources import manifests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1 import agent

_VOLUME = "files"


def annotated(metadata: Mapping[str, Any], spec: agent.AgentSpec) -> dict[str, Any]:
    """Return a pod's metadata with what its files hold; the same where there are none."""
    if not spec.files:
        return dict(metadata)
    held = {_key(number): file.content for number, file in enumerate(spec.files)}
    return {**metadata, "annotations": {**metadata.get("annotations", {}), **held}}


def volumes(spec: agent.AgentSpec) -> list[dict[str, Any]]:
    """Return the volume of the files; none where there are none."""
    if not spec.files:
        return []
    items = [
        {"path": _key(number), "fieldRef": {"fieldPath": f"metadata.annotations['{_key(number)}']"}}
        for number in range(len(spec.files))
    ]
    return [{"name": _VOLUME, "downwardAPI": {"items": items, "defaultMode": 0o444}}]


def agent_mounts(spec: agent.AgentSpec) -> list[dict[str, Any]]:
    """Return one mount for each file."""
    return [
        {**manifests.mount(_VOLUME, file.path, read_only=True), "subPath": _key(number)}
        for number, file in enumerate(spec.files or ())
    ]


def _key(number: int) -> str:
    return f"file-{number}"
