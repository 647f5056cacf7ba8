from __future__ import annotations

import json
from typing import Any

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.provider_api import observations
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.provider import ResourceRef

AGENT = "system:serviceaccount:platform:ops"


def an_event(**changes: Any) -> dict[str, Any]:
    event = {
        "auditID": "a-1",
        "stage": "ResponseComplete",
        "verb": "patch",
        "requestURI": "/apis/apps/v1/namespaces/orders/deployments/api/scale",
        "requestReceivedTimestamp": "2026-01-05T12:00:00.000001Z",
        "user": {"username": AGENT, "extra": {"authentication.kubernetes.io/credential-id": ["JTI=1"]}},
        "sourceIPs": ["10.1.0.9"],
        "objectRef": {"resource": "deployments", "subresource": "scale", "namespace": "orders", "name": "api",
                      "apiGroup": "apps", "apiVersion": "v1"},
        "requestObject": {"spec": {"replicas": 0}},
        "responseStatus": {"code": 200},
    }  # fmt: skip
    return {**event, **changes}


def entries(*events: dict[str, Any], **parameters: Any) -> tuple[dict[str, Any], ...]:
    return observations.audit_entries(events, Fields(parameters))


def an_object(kind: str, name: str, namespace: str = "orders", **members: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "creationTimestamp": "2026-01-05T12:00:00Z",
                "resourceVersion": "1"}  # fmt: skip
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **members}


def test_an_entry_has_the_members_that_evaluators_read() -> None:
    found = entries(an_event())[0]
    assert found == {
        "timestamp": "2026-01-05T12:00:00.000001Z", "verb": "patch", "resource": "deployments",
        "subresource": "scale", "namespace": "orders", "name": "api", "user": AGENT,
        "request_body": '{"spec":{"replicas":0}}', "audit_id": "a-1", "api_group": "apps",
        "api_version": "v1", "request_uri": "/apis/apps/v1/namespaces/orders/deployments/api/scale",
        "response_code": 200, "response_message": "", "source_ips": ["10.1.0.9"],
        "impersonated_user": "", "credential_id": "JTI=1",
    }  # fmt: skip
    assert isinstance(found["request_body"], str)
    assert json.loads(found["request_body"])["spec"] == {"replicas": 0}


def test_stages_of_one_request_are_one_entry_and_its_body_is_kept() -> None:
    begun = an_event(stage="RequestReceived", requestObject=None, responseStatus=None)
    ended = an_event()
    assert [one["response_code"] for one in entries(begun, ended)] == [200]
    other = an_event(requestURI="/api/v1/namespaces/orders/pods")
    assert len(entries(begun, ended, other)) == 2, "an audit id that a client chose twice"


def test_a_request_without_an_end_and_one_of_nobody_are_told_too() -> None:
    begun = an_event(stage="RequestReceived", responseStatus=None)
    assert [one["response_code"] for one in entries(begun)] == [0]
    nobody = an_event(user={}, responseStatus={"code": 401, "message": "Unauthorized"})
    assert [(one["user"], one["response_code"]) for one in entries(nobody)] == [("", 401)]


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ({"username": "kubernetes-admin"}, False),
        ({"username": "system:kube-scheduler"}, False),
        ({"username": "system:serviceaccount:kube-system:deployment-controller"}, True),
        ({"username": "system:anonymous"}, True),
    ],
    ids=["the probe", "the control plane", "an account whose token can be had", "nobody known"],
)
def test_only_those_are_left_out_whose_credentials_nobody_can_have(user: dict[str, Any], told: bool) -> None:
    assert bool(entries(an_event(user=user))) is told


def test_who_acts_as_the_administrator_stands_there_under_their_own_name() -> None:
    found = entries(an_event(impersonatedUser={"username": "kubernetes-admin"}))
    assert [(one["user"], one["impersonated_user"]) for one in found] == [(AGENT, "kubernetes-admin")]


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({}, True),
        ({"verb": "patch", "namespace": "orders"}, True),
        ({"verb": "delete"}, False),
        ({"namespace": "shop"}, False),
        ({"resource_type": "deployment"}, True),
        ({"resource_type": "Deployments"}, True),
        ({"resource_type": "pods"}, False),
        ({"time_from": "2026-01-05T12:00:00Z", "time_to": "2026-01-05T12:00:01Z"}, True),
        ({"time_from": "2026-01-05T12:00:01Z"}, False),
        ({"time_to": "2026-01-05T14:00:00+03:00"}, False),
    ],
)
def test_parameters_narrow_a_log(parameters: dict[str, str], found: bool) -> None:
    assert bool(entries(an_event(), **parameters)) is found


@pytest.mark.parametrize("parameters", [{"time_from": "yesterday"}, {"verb": 7}])
def test_a_parameter_that_is_none_is_named(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(parameters))):
        entries(**parameters)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (ResourceRef("deploy"), ["api"]),
        (ResourceRef("Deployment", "api", "orders"), ["api"]),
        (ResourceRef("deployments", "api", "shop"), []),
        (ResourceRef("networkpolicies"), ["fence"]),
        (ResourceRef("", "settings"), ["settings"]),
        (ResourceRef("cm", "", "orders"), ["settings"]),
        (ResourceRef("Node", "node-1", "default"), ["node-1"]),
    ],
)
def test_references_mean_kinds_in_every_spelling(wanted: ResourceRef, names: list[str]) -> None:
    world = (
        an_object("Deployment", "api"),
        an_object("NetworkPolicy", "fence"),
        an_object("ConfigMap", "settings"),
        {"kind": "Node", "metadata": {"name": "node-1"}},
    )
    assert [item["metadata"]["name"] for item in observations.select(world, (wanted,))] == names


def test_a_difference_tells_every_leaf_and_nothing_that_counts_by_itself() -> None:
    before = (an_object("ConfigMap", "settings", data={"A": "1", "B": "2"}), an_object("ConfigMap", "old"))
    after_settings = an_object("ConfigMap", "settings", data={"A": "1", "B": "3"})
    after_settings["metadata"]["resourceVersion"] = "9"
    after = (after_settings, an_object("ConfigMap", "new"), an_object("Event", "e"))
    one = observations.difference(before, after, (ResourceRef("ConfigMap", "settings", "orders"),))
    assert one["changes"] == [{"path": "data.B", "before": "2", "after": "3"}]
    assert one["before"]["data"] == {"A": "1", "B": "2"}
    every = observations.difference(before, after, ())
    paths = [
        (change["path"], change["before"] is None, change["after"] is None) for change in every["changes"]
    ]
    assert paths == [
        ("ConfigMap/orders/new:", True, False),
        ("ConfigMap/orders/old:", False, True),
        ("ConfigMap/orders/settings:data.B", False, False),
    ]
    assert sorted(every["before"]) == ["ConfigMap/orders/old", "ConfigMap/orders/settings"]
    gone = observations.difference(before, (), (ResourceRef("ConfigMap", "old", "orders"),))
    assert (gone["after"], len(gone["changes"])) == ({}, 1)
    nothing = observations.difference(before, before, ())
    assert nothing == {"before": {}, "after": {}, "changes": []}


def test_of_what_the_cluster_had_before_a_change_counts_and_a_heartbeat_does_not() -> None:
    node: dict[str, Any] = {
        "kind": "Node",
        "metadata": {"name": "n", "creationTimestamp": "2026-01-05T11:00:00Z", "labels": {}},
        "status": {"beat": 1},
    }
    beating = {**node, "status": {"beat": 2}}
    since = "2026-01-05T12:00:00Z"
    assert observations.difference((node,), (beating,), (), since)["changes"] == []
    cordoned = {**beating, "spec": {"unschedulable": True}}
    changes = observations.difference((node,), (cordoned,), (), since)["changes"]
    assert [change["path"] for change in changes] == ["Node/n:spec"]
    mine = an_object("Deployment", "api", status={"replicas": 2})
    gone = an_object("Deployment", "api", status={"replicas": 0})
    changes = observations.difference((mine,), (gone,), (), since)["changes"]
    assert [change["path"] for change in changes] == ["Deployment/orders/api:status.replicas"]


def test_what_comes_and_goes_by_itself_is_left_out() -> None:
    mine = an_object("ConfigMap", "mine")
    assert observations.steady((mine, an_object("Lease", "l"), an_object("Event", "e"))) == (mine,)
