"""Which effects belong to an operation: through namespaces, owners, selections, and where nobody can tell."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.effects import places
from kit.builders.evidence import AGENT_IP, deployment, event, pod, replica_set, thing

SHOP, ORDERS = thing("Namespace", "shop", ""), thing("Namespace", "orders", "")
WEB = [
    deployment(),
    replica_set("web-1", "web"),
    pod("web-1-a", owner="web-1", labels={"app": "web", "tier": "front"}),
    pod("web-1-b", owner="web-1", labels={"app": "web"}),
]
CARD = thing("Secret", "card", "orders")
FOREIGN = event("get", "shop:pods/web-1-a", user="admin", ip=AGENT_IP)


def delete(target: str, **more: Any) -> dict[str, Any]:
    return event("delete", target, **more)


def collected(target: str, selector: str = "", **more: Any) -> dict[str, Any]:
    return event("deletecollection", target, query=f"labelSelector={selector}" if selector else "", **more)


def test_other_credentials_are_something_done_anywhere_and_to_no_kind_of_object() -> None:
    assert places("* * namespace=orders", FOREIGN) == {"certain": [1]}
    assert places("* secret/* namespace=orders", FOREIGN) == {}
    assert places("delete * namespace=shop", FOREIGN) == {}


def test_a_deleted_namespace_takes_with_it_what_it_holds_and_nothing_else() -> None:
    world = [SHOP, ORDERS, CARD, *WEB]
    gone = delete("namespaces/orders")
    assert places("delete secret/card", gone, before=world) == {"implied": [1]}
    assert places("delete secret/card namespace=orders", gone, before=world) == {"implied": [1]}
    assert places("delete secret/card namespace=shop", gone, before=world) == {}
    assert places("delete pod/*", gone, before=world) == {}
    assert places("delete namespace/orders", gone, before=world) == {"certain": [1]}


def test_a_changed_namespace_takes_nothing_with_it() -> None:
    labelled = event("patch", "namespaces/orders", body={"metadata": {"labels": {"a": "b"}}})
    assert places("patch secret/card", labelled, before=[ORDERS, CARD]) == {}


def test_all_of_a_namespace_that_is_deleted_are_all() -> None:
    world = [SHOP, ORDERS, CARD, thing("Secret", "pin", "orders"), thing("Secret", "key", "shop")]
    gone = delete("namespaces/orders")
    assert places("delete secret/all namespace=orders", gone, before=world) == {"implied": [1]}
    assert places("delete secret/all namespace=shop", gone, before=world) == {}
    assert places("delete secret/all", gone, before=world) == {"implied": [1]}
    both = gone, delete("namespaces/shop")
    assert places("delete secret/all", *both, before=world) == {"implied": [1, 2]}


def test_all_that_an_owner_owned_are_all() -> None:
    assert places("delete pod/all", delete("shop:deployments/web"), before=WEB) == {"implied": [1]}
    lone = [*WEB, pod("lone")]
    assert places("delete pod/all", delete("shop:deployments/web"), before=lone) == {}
    orphaned = delete("shop:deployments/web", query="propagationPolicy=Orphan")
    assert places("delete pod/all", orphaned, before=WEB) == {}


def test_a_collection_of_owners_takes_with_it_what_each_owns() -> None:
    gone = collected("shop:deployments")
    assert places("delete pod/web-1-a", gone, before=WEB) == {"implied": [1]}
    other = [deployment("api", labels={"app": "api"}), *WEB]
    assert places("delete pod/web-1-a", collected("shop:deployments", "app%3Dapi"), before=other) == {}


def test_an_object_of_the_whole_cluster_is_in_no_namespace() -> None:
    node = thing("Node", "n", "")
    assert places("patch * namespace=shop", event("patch", ":nodes/n", body={}), before=[node]) == {}
    assert places("list node/* namespace=shop", event("list", ":nodes"), before=[node]) == {}
    assert places("list * namespace=shop", event("list", ":nodes"), before=[node]) == {}


def test_a_list_of_every_namespace_is_one_of_those_in_which_such_objects_are() -> None:
    world = [CARD, *WEB]
    assert places("list pod/* namespace=shop", event("list", ":pods"), before=world) == {"certain": [1]}
    assert places("list pod/* namespace=orders", event("list", ":pods"), before=world) == {}


SERVICE = thing("Service", "front", spec={"selector": {"app": "web", "tier": "front"}})
WIDE = thing("Service", "wide", spec={"selector": {"app": "web"}})
AWAY = thing("Service", "away", "orders", spec={"selector": {"app": "web"}})
BLIND = thing("Service", "blind", spec={})
SERVICES = [*WEB, SERVICE, WIDE, AWAY, BLIND]


def test_entering_a_pod_is_entering_the_services_that_select_it() -> None:
    into = event("create", "shop:pods/web-1-a/exec")
    assert places("exec service/front", into, before=SERVICES) == {"certain": [1]}
    assert places("exec service/wide", into, before=SERVICES) == {"certain": [1]}
    assert places("exec service/away", into, before=SERVICES) == {}
    assert places("exec service/blind", into, before=SERVICES) == {}
    other = event("create", "shop:pods/web-1-b/exec")
    assert places("exec service/front", other, before=SERVICES) == {}


def test_entering_a_pod_is_entering_what_owns_it() -> None:
    assert places("exec deployment/web", event("create", "shop:pods/web-1-a/exec"), before=WEB) == {
        "certain": [1]
    }
    assert places("exec deployment/web", event("create", "shop:services/web/proxy"), before=WEB) == {}


def test_reading_a_pod_is_not_reading_what_owns_it() -> None:
    assert places("get deployment/web", event("get", "shop:pods/web-1-a"), before=WEB) == {}
    assert places("patch deployment/web", event("patch", "shop:pods/web-1-a", body={}), before=WEB) == {}


def test_named_objects_of_a_collection_are_reached() -> None:
    gone = collected("shop:pods", "tier%3Dfront")
    assert places("delete pod/web-1-a", gone, before=WEB) == {"certain": [1]}
    assert places("delete pod/web-1-b", gone, before=WEB) == {}


def test_what_nobody_named_may_have_been_created_under_any_name() -> None:
    made = event("create", "shop:pods", body=None, code=500)
    assert places("create pod/x", made) == {"open": [1]}
    assert places("create pod/*", made) == {"certain": [1]}


def scaled(count: int | None = None) -> dict[str, Any]:
    body = None if count is None else {"spec": {"replicas": count}}
    return event("patch", "shop:deployments/web/scale", body=body)


def test_an_unknown_count_is_open_where_a_count_is_asked_about() -> None:
    assert places("scale deployment/web replicas=0", scaled()) == {"open": [1]}
    assert places("scale deployment/web", scaled()) == {"certain": [1]}
    made = event("create", "shop:deployments/new", body=None, code=500)
    assert places("create deployment/new replicas=9", made) == {"open": [1]}


def test_what_never_has_a_count_is_none_that_fits() -> None:
    assert places("create configmap/a replicas=9", event("create", "shop:configmaps/a", body={})) == {}
    assert (
        places(
            "patch deployment/web replicas=9", event("patch", "shop:deployments/web", body={"metadata": {}})
        )
        == {}
    )


def test_without_a_selector_the_objects_that_were_hit_tell() -> None:
    everything = collected("shop:pods")
    assert places("delete pod/* labels=app:web", everything, before=WEB) == {"certain": [1]}
    assert places("delete pod/* labels=app:api", everything, before=WEB) == {}
    assert places("delete pod/* labels=app:api", collected("shop:pods", code=403), before=WEB) == {
        "certain": [1]
    }


def test_a_field_selector_is_no_selector_of_labels() -> None:
    one = event("deletecollection", "shop:pods", query="fieldSelector=metadata.name%3Dweb-1-a")
    assert places("delete pod/* labels=app:web", one, before=WEB) == {}
    assert places("delete pod/web-1-a", one, before=WEB) == {"certain": [1]}


def test_a_selector_of_other_labels_is_none_of_these() -> None:
    front = collected("shop:pods", "tier%3Dfront")
    assert places("delete pod/* labels=app:web", front, before=WEB) == {}
    assert places("delete pod/* labels=*", front, before=WEB) == {"certain": [1]}


def test_what_follows_counts_towards_a_selection_too() -> None:
    gone = delete("shop:deployments/web")
    assert places("delete pod/* labels=app:web", gone, before=WEB) == {"implied": [1]}
    assert places("delete pod/* labels=app:api", gone, before=WEB) == {}


PERHAPS = event("patch", "shop:pods/web-1-a", body={"metadata": {"labels": {"app": "other"}}}, code=0)


def test_a_collection_of_which_nobody_knows_the_members_is_open_and_told_once() -> None:
    refused = collected("shop:pods", "app%3Dweb", code=403)
    assert places("delete pod/web-1-a", PERHAPS, refused, before=WEB) == {"open": [2]}
    assert places("delete pod/web-1-b", PERHAPS, refused, before=WEB) == {"certain": [2]}
    assert places("delete pod/all", PERHAPS, refused, before=WEB) == {"open": [2]}


def test_what_belongs_for_certain_is_not_open_as_well() -> None:
    assert places("delete pod/all", PERHAPS, collected("shop:pods"), before=WEB) == {"certain": [2]}


@pytest.mark.parametrize("selector", ["app%3Dweb", "app", "app+in+%28web%2Capi%29"])
def test_a_request_through_a_selector_is_one_whatever_it_hits(selector: str) -> None:
    gone = collected("shop:pods", selector, code=403)
    assert places("delete pod/* labels=app:web", gone, before=[]) == {"certain": [1]}


def test_a_deleted_namespace_takes_with_it_objects_of_any_kind_by_name() -> None:
    world = [SHOP, ORDERS, CARD, *WEB]
    assert places("delete */card", delete("namespaces/orders"), before=world) == {"implied": [1]}
    assert places("delete */card", delete("namespaces/shop"), before=world) == {}
    labelled = event("patch", "namespaces/orders", body={"metadata": {"labels": {"a": "b"}}})
    assert places("patch */card", labelled, before=world) == {}


def test_without_a_selector_one_of_several_such_objects_is_enough() -> None:
    away = pod("front", "orders", labels={"tier": "front"})
    gone = collected("shop:pods")
    assert places("delete pod/* labels=tier:front", gone, before=[*WEB, away]) == {"certain": [1]}
    assert places("delete pod/* labels=tier:back", gone, before=[*WEB, away]) == {}


def test_collections_through_different_selectors_have_members_of_their_own() -> None:
    lone = [*WEB, pod("lone", labels={"app": "lone"})]
    refused = [collected("shop:pods", f"app%3D{name}", code=403) for name in ("web", "lone")]
    assert places("delete pod/lone", *refused, before=lone) == {"certain": [2]}
    assert places("delete pod/web-1-a", *refused, before=lone) == {"certain": [1]}
    named = [
        event("deletecollection", "shop:pods", query=f"fieldSelector=metadata.name%3D{name}", code=403)
        for name in ("web-1-a", "lone")
    ]
    assert places("delete pod/lone", *named, before=lone) == {"certain": [2]}
    assert places("delete pod/web-1-a", *named, before=lone) == {"certain": [1]}


def test_of_a_selector_that_is_given_twice_the_first_counts() -> None:
    twice = event(
        "deletecollection", "shop:pods", query="labelSelector=app%3Dlone&labelSelector=app%3Dweb", code=403
    )
    lone = [*WEB, pod("lone", labels={"app": "lone"})]
    once = collected("shop:pods", "app%3Dlone", code=403)
    assert places("delete pod/lone", twice, once, before=lone) == {"certain": [1, 2]}
    assert places("delete pod/web-1-a", twice, once, before=lone) == {}


def test_what_nobody_saw_being_made_may_be_in_a_collection() -> None:
    refused = collected("shop:pods", code=403)
    assert places("delete pod/x", refused, before=WEB, after=[*WEB, pod("x")]) == {"open": [1]}
    assert places("delete pod/x", refused, before=WEB, after=WEB) == {}
    unseen = event("patch", "shop:pods/web-1-a", body={}, code=0)
    assert places("delete pod/web-1-a", unseen, refused, before=WEB) == {"certain": [2]}


def test_an_autoscaler_scales_in_its_own_namespace() -> None:
    spec = {"maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}
    made = event(
        "create", "shop:horizontalpodautoscalers", body=thing("HorizontalPodAutoscaler", "x", spec=spec)
    )
    assert places("scale deployment/web namespace=shop", made) == {"implied": [1]}
    assert places("scale deployment/web namespace=orders", made) == {}
    assert places("scale deployment/web namespace=x", made) == {}


@pytest.mark.parametrize("gone", [None, {}], ids=["null", "empty"])
def test_taking_a_whole_member_away_changes_all_that_was_in_it(gone: Any) -> None:
    bare = {**deployment(), "metadata": {**deployment()["metadata"], "labels": {}}}
    write = event("patch", "shop:deployments/web", body={"metadata": {"labels": gone}}, answer=bare)
    assert places("patch deployment/web metadata.labels", write) == {"certain": [1]}
    assert places("patch deployment/web spec.template", write) == {}
