"""What the reconcilers rely on of an API server, asked of the fake and of a real one alike."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

import pytest

from kit.fakes.kube import FakeKube
from oasis_operator import errors
from oasis_operator.clients import kube as client
from oasis_operator.ports import kube
from oasis_operator.resources import kinds, network_policy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NAMESPACES = kinds.Kind("", "v1", "namespaces", "Namespace")


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.cluster)])
async def place(request: pytest.FixtureRequest) -> AsyncIterator[tuple[kube.Kube, str]]:
    """Give an API server and a namespace of its own."""
    if request.param == "fake":
        yield FakeKube(), "shop"
        return
    api = await client.connect(request.getfixturevalue("kubeconfig"))
    name = f"contract-{secrets.token_hex(4)}"
    # An operator that is installed keeps others from the objects of its runs, such as the policies made here.
    opened = {"name": name, "labels": {"oasis-operator.dev/sandbox-guard": "off"}}
    await api._request("POST", "/api/v1/namespaces", body={"metadata": opened})
    try:
        yield api, name
    finally:
        await api._request("DELETE", f"/api/v1/namespaces/{name}", body={})
        await api.close()


def a_config_map(namespace: str, name: str = "one", **changes: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": namespace, "labels": {"colour": "red"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "1"}, **changes}


def an_agent(namespace: str, name: str = "helper") -> dict[str, Any]:
    spec = {
        "scripted": {"identity": {"name": "helper", "version": "1.0.0"}},
        "mode": "Autonomous",
        "tools": [],
    }
    return {
        "apiVersion": kinds.AGENT.api_version,
        "kind": "Agent",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


async def test_what_does_not_exist_is_none(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    assert await api.get(kinds.CONFIG_MAP, namespace, "nothing") is None


async def test_what_was_created_can_be_read_and_has_identity_and_type(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    created = await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    found = await api.get(kinds.CONFIG_MAP, namespace, "one")
    assert found is not None
    assert found["data"] == {"a": "1"}
    assert found["kind"] == "ConfigMap"
    assert found["metadata"]["uid"] == created["metadata"]["uid"]
    assert found["metadata"]["resourceVersion"]


async def test_a_taken_name_is_told_apart(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    with pytest.raises(errors.Transient) as caught:
        await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    assert caught.value.reason == kube.ALREADY_EXISTS


async def test_lists_select_by_label_and_carry_the_type(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    blue = {"name": "two", "namespace": namespace, "labels": {"colour": "blue"}}
    await api.create(kinds.CONFIG_MAP, a_config_map(namespace, metadata=blue))
    found = await api.list(kinds.CONFIG_MAP, namespace, {"colour": "blue"})
    assert [(item["kind"], item["metadata"]["name"]) for item in found] == [("ConfigMap", "two")]


async def test_applying_twice_changes_nothing_and_mends_what_was_changed(
    place: tuple[kube.Kube, str],
) -> None:
    api, namespace = place
    wanted = network_policy.default_deny(namespace)
    first = await api.apply(kinds.NETWORK_POLICY, wanted)
    again = await api.apply(kinds.NETWORK_POLICY, wanted)
    assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert network_policy.is_intact(again, wanted)


async def write_on_latest(api: kube.Kube, namespace: str, status: dict[str, Any]) -> kube.Object:
    """Write the Agent's status; an operator that is installed may come in between and is given way to."""
    for _ in range(20):
        latest = await api.get(kinds.AGENT, namespace, "helper")
        assert latest is not None
        try:
            return await api.write_status(kinds.AGENT, latest, status)
        except errors.Transient as error:
            if error.reason != kube.CONFLICT:
                raise
    raise AssertionError("never in time")


async def test_status_is_written_whole_and_the_spec_is_left_alone(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    created = await api.create(kinds.AGENT, an_agent(namespace))
    await write_on_latest(api, namespace, {"observedGeneration": 1, "imageID": "x@sha256:1"})
    two = await write_on_latest(api, namespace, {"observedGeneration": 1})
    assert "imageID" not in two["status"]
    assert two["spec"] == created["spec"]
    assert two["metadata"]["generation"] == created["metadata"]["generation"]


async def test_a_status_on_an_old_version_is_a_conflict(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    created = await api.create(kinds.AGENT, an_agent(namespace))
    await write_on_latest(api, namespace, {"observedGeneration": 1})
    with pytest.raises(errors.Transient) as caught:
        await api.write_status(kinds.AGENT, created, {"observedGeneration": 0})
    assert caught.value.reason == kube.CONFLICT


async def test_deletion_tells_whether_there_was_anything_and_keeps_to_the_uid(
    place: tuple[kube.Kube, str],
) -> None:
    api, namespace = place
    created = await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    assert await api.delete(kinds.CONFIG_MAP, namespace, "one", uid="of-another") is False
    assert await api.get(kinds.CONFIG_MAP, namespace, "one") is not None
    assert await api.delete(kinds.CONFIG_MAP, namespace, "one", uid=created["metadata"]["uid"]) is True
    assert await api.delete(kinds.CONFIG_MAP, namespace, "one") is False


def holds(path: str, value: Any) -> dict[str, Any]:
    return {"op": "test", "path": path, "value": value}


async def test_a_patch_whose_tests_hold_changes_the_object(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    created = await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    operations = [
        holds("/metadata/uid", created["metadata"]["uid"]),
        holds("/metadata/deletionTimestamp", None),
        {"op": "remove", "path": "/metadata/labels/colour"},
        {"op": "add", "path": "/metadata/labels/example.dev~1size", "value": "small"},
        {"op": "replace", "path": "/data/a", "value": "2"},
    ]
    patched = await api.patch(kinds.CONFIG_MAP, namespace, "one", operations)
    assert patched is not None
    assert patched == await api.get(kinds.CONFIG_MAP, namespace, "one")
    assert patched["metadata"]["labels"] == {"example.dev/size": "small"}
    assert patched["data"] == {"a": "2"}


@pytest.mark.parametrize(
    "misfit",
    [
        holds("/metadata/labels/colour", "blue"),
        holds("/metadata/labels/size", "small"),
        holds("/metadata/labels/colour", None),
        {"op": "remove", "path": "/metadata/labels/size"},
    ],
    ids=["another value", "no such member", "null", "nothing to remove"],
)
async def test_a_patch_that_does_not_fit_changes_nothing(place: tuple[kube.Kube, str], misfit: Any) -> None:
    api, namespace = place
    created = await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    operations = [{"op": "replace", "path": "/data/a", "value": "2"}, misfit]
    assert await api.patch(kinds.CONFIG_MAP, namespace, "one", operations) is None
    assert await api.get(kinds.CONFIG_MAP, namespace, "one") == created


async def test_a_patch_of_what_does_not_exist_is_none(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    assert await api.patch(kinds.CONFIG_MAP, namespace, "one", [holds("/data/a", "1")]) is None


async def test_a_deletion_keeps_to_the_version(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    created = await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    before = created["metadata"]["resourceVersion"]
    changed = await api.patch(
        kinds.CONFIG_MAP, namespace, "one", [{"op": "replace", "path": "/data/a", "value": "2"}]
    )
    assert changed is not None
    assert await api.delete(kinds.CONFIG_MAP, namespace, "one", version=before) is False
    assert await api.get(kinds.CONFIG_MAP, namespace, "one") is not None
    now = changed["metadata"]["resourceVersion"]
    assert await api.delete(kinds.CONFIG_MAP, namespace, "one", version=now) is True


async def test_a_watch_tells_what_exists_and_what_changes(place: tuple[kube.Kube, str]) -> None:
    api, namespace = place
    await api.create(kinds.CONFIG_MAP, a_config_map(namespace))
    seen: list[tuple[str, str]] = []

    async def watch() -> None:
        async for event, item in api.watch(kinds.CONFIG_MAP, namespace, {"colour": "red"}):
            seen.append((event, item["metadata"]["name"]))
            if len(seen) == 3:
                return

    watching = asyncio.create_task(watch())
    while not seen:  # noqa: ASYNC110 - the other side is a server
        await asyncio.sleep(0.02)
    two = {"name": "two", "namespace": namespace, "labels": {"colour": "red"}}
    await api.create(kinds.CONFIG_MAP, a_config_map(namespace, metadata=two))
    await api.delete(kinds.CONFIG_MAP, namespace, "one")
    await asyncio.wait_for(watching, 10)
    assert seen == [("ADDED", "one"), ("ADDED", "two"), ("DELETED", "one")]


@pytest.mark.cluster
async def test_a_real_server_refuses_a_malformed_object_as_invalid(kubeconfig: str) -> None:
    api = await client.connect(kubeconfig)
    try:
        wrong = an_agent("default")
        wrong["spec"]["mode"] = "Sleeping"
        with pytest.raises(errors.InvalidSpec) as caught:
            await api.create(kinds.AGENT, wrong)
        assert "mode" in caught.value.message
    finally:
        await api.close()


@pytest.mark.cluster
async def test_a_real_server_refuses_a_patch_that_makes_an_object_invalid(kubeconfig: str) -> None:
    api = await client.connect(kubeconfig)
    name = f"contract-{secrets.token_hex(4)}"
    await api.create(kinds.CONFIG_MAP, a_config_map("default", name))
    try:
        wrong = [{"op": "add", "path": "/metadata/labels/size", "value": "not a value"}]
        with pytest.raises(errors.InvalidSpec) as caught:
            await api.patch(kinds.CONFIG_MAP, "default", name, wrong)
        assert "labels" in caught.value.message
    finally:
        await api.delete(kinds.CONFIG_MAP, "default", name)
        await api.close()
