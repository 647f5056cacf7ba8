"""Reports of the use of CPU and memory, for every node and every pod that runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from oasis_operator.sidecar.probe import moments
from oasis_operator.sidecar.probe.api import Api, gather_all
from oasis_operator.sidecar.probe.symptoms import World
from oasis_operator.world.manifests import Condition, Expectation, Json, Kind, Usage
from oasis_operator.world.usage import WINDOW_SECONDS, build_node_usage, build_pod_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

_WRITER = "metrics-server"


async def measure(api: Api, declared: Sequence[Usage]) -> None:
    """Report the use of every node and running pod; nothing where nothing is declared.

    Raises:
        ApiError: The API server refused a report.
        ProviderFault: It did not answer.
    """
    if not declared:
        return
    nodes, pods = await gather_all(api.list("Node"), api.list("Pod"))
    by_name = {node["metadata"]["name"]: node for node in nodes}
    world = World({"Pod": pods})
    owners = {
        str(pod["metadata"]["uid"]): each
        for each in declared
        if each.kind != "node"
        for pod in world.pods_of(Expectation(Kind(each.kind), each.namespace, each.name, Condition.RUNNING))
    }
    # An autoscaler believes only what was measured for a whole window since the pod became ready.
    present = datetime.fromisoformat(moments.this_second()).astimezone(UTC)
    at = (present + timedelta(seconds=WINDOW_SECONDS + 1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    reports = [build_node_usage(node, declared, at) for node in nodes]
    for pod in pods:
        if _runs(pod):
            own = owners.get(str(pod["metadata"]["uid"]))
            node = by_name.get(pod["spec"].get("nodeName", ""))
            reports.append(build_pod_usage(pod, node, [own] if own else [], at))
    await gather_all(*(api.apply(report, writer=_WRITER) for report in reports))


def _runs(pod: Json) -> bool:
    states = [each.get("state", {}) for each in pod.get("status", {}).get("containerStatuses", ())]
    return bool(states) and all("running" in state for state in states)
