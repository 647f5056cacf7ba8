from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from oasis_operator import errors
from oasis_operator.sidecar.probe.snapshot import cleaned, in_order, take_snapshot, without_untouched
from oasis_operator.world.nodes import build_node, node_name

if TYPE_CHECKING:
    from collections.abc import Callable

START = "2026-11-30T08:00:00Z"


def item(uid: Any, version: Any = "1", created: Any = "2026-11-30T07:59:59Z", name: Any = None) -> Any:
    metadata = {"uid": uid, "resourceVersion": version, "creationTimestamp": created, "name": name or uid}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def test_what_the_cluster_had_and_nobody_touched_is_left_out_of_both() -> None:
    before = [item("old"), item("changed"), item("deleted"), item("prepared", created=START)]
    after = [item("old"), item("changed", "2"), item("prepared", created=START), item("new", created=START)]
    kept_before, kept_after, untouched = without_untouched(before, after, START)
    assert [entry["metadata"]["uid"] for entry in kept_before] == ["changed", "deleted", "prepared"]
    assert [entry["metadata"]["uid"] for entry in kept_after] == ["changed", "prepared", "new"]
    assert untouched == 1


def test_objects_of_a_list_are_told_what_they_are_and_lose_their_managed_fields() -> None:
    found = cleaned({"metadata": {"name": "a", "managedFields": [{}]}, "data": {}}, "v1", "ConfigMap")
    assert found == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}}


def test_snapshots_are_ordered() -> None:
    assert [entry["metadata"]["name"] for entry in in_order([item("b"), item("a")])] == ["a", "b"]


def test_nodes_differ_in_all_that_tells_nodes_apart() -> None:
    nodes = [build_node(node_name(position), position, START) for position in range(50)]
    paths: list[Callable[[dict[str, Any]], str]] = [
        lambda node: node["metadata"]["name"],
        lambda node: node["spec"]["podCIDR"],
        lambda node: node["spec"]["providerID"],
        lambda node: node["status"]["addresses"][0]["address"],
        lambda node: node["status"]["nodeInfo"]["machineID"],
    ]
    for path in paths:
        assert len({path(node) for node in nodes}) == 50
    assert nodes[0] == build_node(node_name(0), 0, START)


class Served:
    """An API server with one group beside the core, with or without resources."""

    def __init__(self, group: str, *, declared: bool = False) -> None:
        self._group = {"metadata": {"name": group}, "versions": [{"version": "v1", "freshness": "Stale"}]}
        self._declared = [{"spec": {"group": group}}] if declared else []

    async def request(self, method: str, path: str, **_: Any) -> Any:
        assert method == "GET"
        resource = {"resource": "configmaps", "verbs": ["list"]}
        core = {"metadata": {}, "versions": [{"version": "v1", "resources": [resource]}]}
        return {"items": [core if path == "/api" else self._group]}

    async def get(self, path: str) -> Any:
        if path.endswith("/customresourcedefinitions"):
            return {"kind": "CustomResourceDefinitionList", "items": self._declared}
        assert path == "/api/v1/configmaps"
        return {"kind": "ConfigMapList", "items": [{"metadata": {"name": "a", "namespace": "b"}}]}


async def test_a_group_that_somebody_else_serves_and_does_not_is_left_out() -> None:
    found = await take_snapshot(cast("Any", Served("elsewhere.example.com")))
    assert [entry["kind"] for entry in found] == ["ConfigMap"]


@pytest.mark.parametrize(
    "served", [Served("apps"), Served("networking.k8s.io"), Served("argoproj.io", declared=True)]
)
async def test_a_group_that_is_stored_here_and_hidden_leaves_no_snapshot(served: Served) -> None:
    with pytest.raises(errors.ProviderFault, match="does not serve"):
        await take_snapshot(cast("Any", served))
