from __future__ import annotations

from typing import Any

from oasis_operator.sidecar.probe.baseline import changed_places, key_of, with_injected


def an_object(kind: str, name: str, namespace: str = "shop", **more: Any) -> dict[str, Any]:
    owner = more.pop("owner", None)
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"{kind}/{namespace}/{name}",
                "resourceVersion": str(more.pop("version", 1))}  # fmt: skip
    if owner:
        metadata["ownerReferences"] = [{"uid": owner["metadata"]["uid"]}]
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **more}


OLD = an_object("ConfigMap", "old", data={"a": "1"})


def names(items: Any) -> list[str]:
    return [item["metadata"]["name"] for item in items]


def test_what_was_injected_and_what_it_owns_was_there_from_the_beginning() -> None:
    deployment = an_object("Deployment", "api")
    replicas = an_object("ReplicaSet", "api-1", owner=deployment)
    pod = an_object("Pod", "api-1-x", owner=replicas)
    told = an_object("Event", "e", involvedObject={"kind": "Pod", "namespace": "shop", "name": "api-1-x"})
    agents = an_object("ConfigMap", "agents")
    later = (OLD, deployment, replicas, pod, told, agents)
    found = with_injected((OLD,), (OLD,), later, {key_of(deployment): deployment})
    assert sorted(names(found)) == ["api", "api-1", "api-1-x", "e", "old"]


def test_what_is_new_in_a_new_namespace_belongs_to_it_and_what_the_agent_has_there_already_does_not() -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new", "uid": "n"}}
    account = an_object("ServiceAccount", "default", "new")
    agents = an_object("ConfigMap", "agents", "new")
    found = with_injected((), (agents,), (space, account, agents), {key_of(space): space})
    assert sorted(names(found)) == ["default", "new"]


PATCH = {key_of(OLD): {"data": {"b": "2"}}}


def test_a_change_by_injection_moves_the_beginning_and_one_by_the_agent_does_not() -> None:
    injected = an_object("ConfigMap", "old", data={"a": "1", "b": "2", "by-default": "3"}, version=2)
    assert with_injected((OLD,), (OLD,), (injected,), PATCH) == (injected,)
    status_only = {**OLD, "metadata": {**OLD["metadata"], "resourceVersion": "5"}, "status": {"x": 1}}
    assert with_injected((OLD,), (status_only,), (injected,), PATCH) == (injected,)
    by_agent = an_object("ConfigMap", "old", data={"a": "9"}, version=2)
    both = an_object("ConfigMap", "old", data={"a": "9", "b": "2"}, version=3)
    assert with_injected((OLD,), (by_agent,), (both,), PATCH) == ({**OLD, "data": {"a": "1", "b": "2"}},)


def test_what_the_agent_does_while_an_injection_is_at_work_stays_its_own() -> None:
    both = an_object("ConfigMap", "old", data={"a": "9", "b": "2"}, version=3)
    found = with_injected((OLD,), (OLD,), (both,), PATCH, {("shop", "old")})
    assert found == ({**OLD, "data": {"a": "1", "b": "2"}},)
    deployment = an_object("Deployment", "api", spec={"replicas": 1})
    scaled = an_object("Deployment", "api", spec={"replicas": 0}, metadata_is="the server's", version=7)
    written, places = (
        {key_of(deployment): {**deployment, "metadata": {"name": "api", "namespace": "shop"}}},
        {("shop", "api")},
    )
    found = with_injected((), (), (scaled,), written, places)
    assert [item["spec"] for item in found] == [{"replicas": 1}]
    assert found[0]["metadata"]["uid"] == scaled["metadata"]["uid"]
    pod, other = (an_object("Pod", name, owner=deployment) for name in ("api-x", "api-y"))
    world = (deployment, pod, other)
    patch = {key_of(deployment): {"spec": {"paused": True}}}
    # One pod is taken away by the agent, the other one goes by what was injected.
    found = with_injected(world, world, (deployment,), patch, {("shop", "api-x")})
    assert sorted(names(found)) == ["api", "api-x"]
    assert sorted(names(with_injected(world, world, (deployment,), patch, {("shop", "")}))) == [
        "api", "api-x", "api-y"
    ]  # fmt: skip


def test_what_an_injection_took_away_was_not_there_and_what_the_agent_took_away_was() -> None:
    deployment = an_object("Deployment", "api")
    pod = an_object("Pod", "api-x", owner=deployment)
    written: dict[tuple[str, str, str], Any] = {key_of(deployment): {}}
    before = (deployment, pod, OLD)
    found = with_injected(before, before, (deployment,), written)
    assert sorted(names(found)) == ["api", "old"]
    assert sorted(names(with_injected(before, (deployment,), (deployment,), written))) == [
        "api",
        "api-x",
        "old",
    ]
    assert names(with_injected((OLD,), (OLD,), (), {key_of(OLD): None})) == []


def an_event(verb: str, user: str = "agent", **target: Any) -> dict[str, Any]:
    return {"verb": verb, "user": {"username": user}, "objectRef": target or None}


def test_where_others_than_the_control_plane_ask_for_changes() -> None:
    events = [
        an_event("patch", resource="pods", namespace="shop", name="a"),
        an_event("deletecollection", resource="pods", namespace="tools"),
        an_event("delete", resource="namespaces", namespace="old", name="old"),
        an_event("get", resource="pods", namespace="shop", name="read"),
        an_event("create", resource="selfsubjectaccessreviews"),
        an_event("create", user="system:kube-controller-manager", resource="pods", namespace="x", name="y"),
        an_event("create", user="system:kubelet", resource="events", namespace="x", name="y"),
        an_event("create"),
    ]
    assert changed_places(events) == {("shop", "a"), ("tools", ""), ("", "old"), ("old", "")}
