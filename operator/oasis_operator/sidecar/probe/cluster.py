"""The blank world: nodes, a storage class and the accounts that every namespace has."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe import moments
from oasis_operator.sidecar.probe.api import NODE, Api, ApiError, gather_all
from oasis_operator.world.manifests import Json, build_object
from oasis_operator.world.nodes import build_node, node_name
from oasis_operator.world.storage import DEFAULT_CLASS, DRIVER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

#: A machine on which many worlds boot at once is slow; the operator's own limit is 180 s.
_PATIENCE_SECONDS = 170.0


async def wait_for(
    what: str, ask: Callable[[], Awaitable[bool]], *, patience_seconds: float, every: float = 0.05
) -> None:
    """Ask until the answer is true.

    Raises:
        ProviderFault: It was not within the patience.
    """
    deadline = time.monotonic() + patience_seconds
    while not await ask():
        if time.monotonic() > deadline:
            raise ProviderFault(f"{what}: not within {patience_seconds:g} s", reason="EnvironmentFault")
        await asyncio.sleep(every)


async def boot_world(api: Api, folder: Path, nodes: int | None) -> tuple[str, int]:
    """Wait for the control plane and give the world its nodes.

    Args:
        api: The nested API server.
        folder: What the control plane shares with the probe.
        nodes: Number of nodes, None to take the control plane's word.

    Returns:
        The Kubernetes version and the number of nodes.

    Raises:
        ProviderFault: The control plane did not come up, or refused.
    """

    async def is_up() -> bool:
        return (folder / "ready").exists()

    await wait_for("control plane", is_up, patience_seconds=_PATIENCE_SECONDS)
    version = str((await api.get("/version"))["gitVersion"])
    count = nodes or int((folder / "nodes").read_text())
    storage_class = build_object(
        "storage.k8s.io/v1", "StorageClass", DEFAULT_CLASS, None,
        annotations={"storageclass.kubernetes.io/is-default-class": "true"},
        provisioner=DRIVER, reclaimPolicy="Delete", allowVolumeExpansion=True,
    )  # fmt: skip
    await gather_all(
        ensure(api, storage_class), *(add_node(api, position, version) for position in range(count))
    )
    await wait_for("nodes", lambda: are_nodes_ready(api, count), patience_seconds=_PATIENCE_SECONDS)
    await wait_for("accounts", lambda: _has_account(api, "default"), patience_seconds=_PATIENCE_SECONDS)
    return version, count


async def add_node(
    api: Api, position: int, version: str, allocatable: Mapping[str, str] | None = None
) -> None:
    """Create the node at a position; one that is there already stays as it is."""
    node = build_node(node_name(position), position, moments.this_second(), allocatable, version)
    await ensure(api, node, writer=NODE)


async def are_nodes_ready(api: Api, count: int) -> bool:
    """Tell whether at least so many nodes are ready and without the taint that new nodes have."""
    ready = 0
    for node in await api.list("Node"):
        conditions = {item["type"]: item["status"] for item in node["status"].get("conditions", ())}
        taints = {item["key"] for item in node["spec"].get("taints", ())}
        ready += conditions.get("Ready") == "True" and "node.kubernetes.io/not-ready" not in taints
    return ready >= count


async def resize_nodes(
    api: Api, current: int, wanted: int | None, allocatable: Mapping[str, str], version: str
) -> int:
    """Bring the world to a number of nodes of a size.

    Returns:
        The number of nodes.
    """
    count = current if wanted is None else wanted
    surplus = [build_object("v1", "Node", node_name(position), None) for position in range(count, current)]
    missing = range(current, count)
    await gather_all(
        *(api.delete(node) for node in surplus),
        *(add_node(api, position, version, allocatable) for position in missing),
    )
    if allocatable:
        change = {"status": {"allocatable": dict(allocatable), "capacity": dict(allocatable)}}
        kept = [
            build_object("v1", "Node", node_name(position), None) for position in range(min(count, current))
        ]
        await gather_all(*(api.patch(node, change, subresource="status", writer=NODE) for node in kept))
    await wait_for("nodes", lambda: are_nodes_ready(api, count), patience_seconds=_PATIENCE_SECONDS)
    return count


async def ensure(api: Api, body: Json, *, writer: str = "kubectl") -> Json:
    """Create an object, or bring one that the cluster has by itself to what is declared.

    Raises:
        ApiError: The API server refused it.
    """
    try:
        created = await api.create(body, writer=writer)
    except ApiError as error:
        if error.status != 409:
            raise
        change = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "status")}
        created = await api.patch(body, change, writer=writer)
    return dict(created)


async def _has_account(api: Api, namespace: str) -> bool:
    accounts = await api.list("ServiceAccount", namespace)
    return any(item["metadata"]["name"] == "default" for item in accounts)
