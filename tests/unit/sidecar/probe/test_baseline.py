from __future__ import annotations

from typing import Any

from oasis_operator.sidecar.probe.baseline import key_of, with_injected


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
    found = with_injected((OLD,), (OLD,), later, frozenset({key_of(deployment)}))
    assert sorted(names(found)) == ["api", "api-1", "api-1-x", "e", "old"]


def test_what_is_new_in_a_new_namespace_belongs_to_it_and_what_the_agent_has_there_already_does_not() -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new", "uid": "n"}}
    account = an_object("ServiceAccount", "default", "new")
    agents = an_object("ConfigMap", "agents", "new")
    found = with_injected((), (agents,), (space, account, agents), frozenset({key_of(space)}))
    assert sorted(names(found)) == ["default", "new"]


def test_a_change_by_injection_moves_the_beginning_and_one_by_the_agent_does_not() -> None:
    injected = an_object("ConfigMap", "old", data={"a": "2"}, version=2)
    keys = frozenset({key_of(OLD)})
    assert with_injected((OLD,), (OLD,), (injected,), keys) == (injected,)
    status_only = {**OLD, "metadata": {**OLD["metadata"], "resourceVersion": "5"}, "status": {"x": 1}}
    assert with_injected((OLD,), (status_only,), (injected,), keys) == (injected,)
    by_agent = an_object("ConfigMap", "old", data={"a": "9"}, version=2)
    assert with_injected((OLD,), (by_agent,), (injected,), keys) == (OLD,)


def test_what_an_injection_took_away_was_not_there_and_what_the_agent_took_away_was() -> None:
    deployment = an_object("Deployment", "api")
    pod = an_object("Pod", "api-x", owner=deployment)
    keys = frozenset({key_of(deployment)})
    before = (deployment, pod, OLD)
    found = with_injected(before, before, (deployment,), keys)
    assert sorted(names(found)) == ["api", "old"]
    assert sorted(names(with_injected(before, (deployment,), (deployment,), keys))) == ["api", "api-x", "old"]
