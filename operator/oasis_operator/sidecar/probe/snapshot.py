"""Snapshots of the whole world: every object of every kind that the API server serves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.sidecar.probe.api import Api, gather_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oasis_operator.world.manifests import Json

_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#: Other names of what is listed under its first name, and what is no stored object.
_SKIPPED = frozenset({("", "componentstatuses"), ("events.k8s.io", "events")})
_AT_ONCE = 8


async def take_snapshot(api: Api) -> tuple[Json, ...]:
    """List everything, without ``managedFields``, ordered by kind, namespace and name.

    Raises:
        ApiError: A list was refused.
        ProviderFault: The API server did not answer.
    """
    collections = await _collections(api)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def fetch(group_version: str, resource: str) -> list[Json]:
        base = "/api/v1" if group_version == "v1" else f"/apis/{group_version}"
        async with gate:
            answer = await api.get(f"{base}/{resource}")
        kind = str(answer["kind"]).removesuffix("List")
        return [cleaned(item, group_version, kind) for item in answer["items"]]

    lists = await gather_all(*(fetch(*collection) for collection in collections))
    return in_order(item for items in lists for item in items)


async def _collections(api: Api) -> list[tuple[str, str]]:
    """Give (group version, resource) of what can be listed, each group in its preferred version.

    A group of which the API server knows no resources is served by somebody else, who does not answer:
    nothing of it is stored here. Of Kubernetes' own groups and of those that a definition declares that
    cannot be, unless somebody hides them.

    Raises:
        ProviderFault: Such a group is hidden.
    """
    core, groups, definitions = await gather_all(
        api.request("GET", "/api", headers={"Accept": _DISCOVERY}),
        api.request("GET", "/apis", headers={"Accept": _DISCOVERY}),
        api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions"),
    )
    declared = {item["spec"]["group"] for item in definitions["items"]}
    found: list[tuple[str, str]] = []
    for group in (*core["items"], *groups["items"]):
        name = group["metadata"].get("name", "")
        version = group["versions"][0]
        group_version = f"{name}/{version['version']}" if name else version["version"]
        if "resources" not in version and (_is_kubernetes(name) or name in declared):
            raise errors.ProviderFault(f"the API server does not serve {group_version} any more")
        found.extend(
            (group_version, resource["resource"])
            for resource in version.get("resources", ())
            if "list" in resource["verbs"] and (name, resource["resource"]) not in _SKIPPED
        )
    return found


def _is_kubernetes(group: str) -> bool:
    return "." not in group or group.endswith(".k8s.io")


def cleaned(item: Json, api_version: str, kind: str) -> Json:
    """Give an object whole but for ``managedFields``; items of lists do not say what they are."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    return {"apiVersion": api_version, "kind": kind, **item, "metadata": metadata}


def in_order(items: Iterable[Json]) -> tuple[Json, ...]:
    """Order objects by kind, namespace and name."""
    return tuple(sorted(items, key=_order))


def _order(item: Json) -> tuple[str, str, str, str]:
    metadata = item["metadata"]
    return (item["apiVersion"], item["kind"], metadata.get("namespace", ""), metadata["name"])


def without_untouched(
    before: Sequence[Json], after: Sequence[Json], prepared_from: str
) -> tuple[tuple[Json, ...], tuple[Json, ...], int]:
    """Leave out what the cluster had before the preparation and nobody has touched since.

    Args:
        before: Snapshot before the agent.
        after: Snapshot after it.
        prepared_from: When the preparation began, RFC 3339 to the second.

    Returns:
        Both snapshots without these objects, and how many they are.
    """
    versions = {
        item["metadata"]["uid"]: item["metadata"]["resourceVersion"]
        for item in after
        if "uid" in item["metadata"]
    }
    untouched = {
        item["metadata"]["uid"]
        for item in before
        if item["metadata"].get("creationTimestamp", "9") < prepared_from
        and versions.get(item["metadata"].get("uid")) == item["metadata"].get("resourceVersion")
    }
    kept = tuple(
        tuple(item for item in items if item["metadata"].get("uid") not in untouched)
        for items in (before, after)
    )
    return kept[0], kept[1], len(untouched)
