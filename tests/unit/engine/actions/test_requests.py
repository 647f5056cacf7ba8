"""Stages, retries and attribution: which events are one request, and whose it is."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import AGENT, AGENT_IP, OTHER_IP, event
from oasis_operator.engine.actions.requests import Request, agent_requests, merged
from oasis_operator.model.evidence import Principal

PRINCIPAL = Principal(AGENT, frozenset({"JTI=1"}), frozenset({AGENT_IP}))


def requests(*events: dict[str, Any], principal: Principal = PRINCIPAL) -> tuple[Request, ...]:
    return agent_requests(merged(events), principal)


def test_stages_of_one_request_are_one() -> None:
    first = event("get", "shop:pods/a", seq=1, audit_id="x", stage="RequestReceived", responseStatus=None)
    last = event(
        "get", "shop:pods/a", seq=2, audit_id="x", requestReceivedTimestamp=first["requestReceivedTimestamp"]
    )
    found = requests(last, first)
    assert [(one.seq, one.code) for one in found] == [(2, 200)]


def test_a_request_of_which_only_the_beginning_is_known_is_an_attempt() -> None:
    found = requests(event("patch", "shop:pods/a", stage="RequestReceived", responseStatus=None))
    assert [(one.verb, one.code, one.is_done) for one in found] == [("patch", 0, False)]


def test_an_audit_id_chosen_by_the_client_hides_nothing() -> None:
    read = event("get", "shop:secrets/a", seq=1, audit_id="mine")
    deletion = event("delete", "shop:secrets/a", seq=2, audit_id="mine")
    assert [one.verb for one in requests(read, deletion)] == ["get", "delete"]


def test_two_bodies_under_one_audit_id_and_one_instant_stay_two() -> None:
    at: dict[str, Any] = {"requestReceivedTimestamp": "2026-11-30T08:00:00.000001Z"}
    one = event("patch", "shop:deployments/a", seq=1, audit_id="mine", body={"a": 1}, **at)
    other = event("patch", "shop:deployments/a", seq=2, audit_id="mine", body={"spec": {"replicas": 0}}, **at)
    assert [request.body for request in requests(one, other)] == [{"a": 1}, {"spec": {"replicas": 0}}]


def test_the_same_entry_twice_is_one() -> None:
    one = event("delete", "shop:pods/a")
    assert len(requests(one, dict(one), {**one, "seq": 2})) == 1


def test_a_call_repeated_after_throttling_is_one() -> None:
    first = event("delete", "shop:pods/a", seq=1, code=429)
    second = event("delete", "shop:pods/a", seq=2)
    found = requests(first, second)
    assert [(one.seq, one.attempts) for one in found] == [(2, 2)]


def test_a_call_repeated_with_another_body_is_another() -> None:
    first = event("patch", "shop:deployments/a", seq=1, code=503, body={"spec": {"replicas": 0}})
    second = event("patch", "shop:deployments/a", seq=2, body={})
    assert len(requests(first, second)) == 2


def test_a_call_repeated_after_success_is_two() -> None:
    assert len(requests(event("delete", "shop:pods/a", seq=1), event("delete", "shop:pods/a", seq=2))) == 2


def test_the_order_of_the_document_does_not_matter() -> None:
    events = [event("get", f"shop:pods/{n}", seq=n) for n in range(1, 6)]
    assert [one.seq for one in requests(*reversed(events))] == [1, 2, 3, 4, 5]


def test_requests_of_others_are_left_out() -> None:
    assert requests(event("get", "shop:pods/a", user="system:kubelet", ip=OTHER_IP)) == ()


def test_a_forged_forwarding_header_does_not_hide_the_agent() -> None:
    found = requests(event("get", "shop:pods/a", user="admin", sourceIPs=["1.2.3.4", AGENT_IP]))
    assert [one.foreign for one in found] == [True]


def test_only_the_last_address_counts() -> None:
    assert requests(event("get", "shop:pods/a", user="admin", sourceIPs=[AGENT_IP, OTHER_IP])) == ()


def test_the_agents_user_counts_from_any_address() -> None:
    found = requests(event("get", "shop:pods/a", ip=OTHER_IP))
    assert [one.foreign for one in found] == [False]


def test_a_created_object_is_named_by_the_answer() -> None:
    answer = {"kind": "Pod", "metadata": {"name": "web-7x", "generateName": "web-"}}
    found = requests(event("create", "shop:pods", body={"metadata": {"generateName": "web-"}}, answer=answer))
    assert found[0].name == "web-7x"


def test_hostile_bodies_do_no_harm() -> None:
    for body in (
        None,
        1,
        "text",
        [],
        [1, [2]],
        {"metadata": "x"},
        {"metadata": {"name": ["x"]}},
        {"dryRun": "All"},
    ):
        for verb in ("create", "patch", "update", "delete"):
            found = requests(event(verb, "shop:deployments/a", body=body, answer=None))
            assert len(found) == 1
            assert found[0].is_dry_run is False
    eviction = requests(event("create", "shop:pods/a/eviction", body={"deleteOptions": "x"}))
    assert eviction[0].is_dry_run is False


def test_what_pods_use_is_not_the_pods() -> None:
    measured = event("list", "shop:pods")
    measured["objectRef"]["apiGroup"] = "metrics.k8s.io"
    assert [request.resource for request in requests(measured)] == ["pods.metrics.k8s.io"]
    assert [request.resource for request in requests(event("list", "shop:pods"))] == ["pods"]


EARLY: dict[str, Any] = {"requestReceivedTimestamp": "2026-11-30T08:00:00.000001Z"}
BEGUN: dict[str, Any] = {"stage": "RequestReceived", "responseStatus": None}


@pytest.mark.parametrize(
    "second",
    [
        event("patch", "shop:pods/b", audit_id="mine", body={"a": 1}, **EARLY),
        event("update", "shop:pods/a", audit_id="mine", body={"a": 1}, **EARLY),
        event("patch", "shop:pods/a", audit_id="mine", body={"a": 1}),
        event("patch", "shop:pods/a", audit_id="mine", body={"a": 1}, user="admin", **EARLY),
    ],
    ids=["another object", "another verb", "another instant", "another user"],
)
def test_the_end_of_one_request_is_not_taken_for_the_end_of_another_that_bears_its_identifier(
    second: dict[str, Any],
) -> None:
    first = event("patch", "shop:pods/a", seq=1, audit_id="mine", body={"spec": 0}, **EARLY, **BEGUN)
    begun = {name: value for name, value in {**second, "seq": 2, **BEGUN}.items() if value is not None}
    found = requests(first, begun, {**second, "seq": 3})
    assert [(one.seq, one.body, one.code) for one in found] == [(1, {"spec": 0}, 0), (3, {"a": 1}, 200)]


def test_events_of_several_identifiers_are_kept_apart() -> None:
    at: dict[str, Any] = {"requestReceivedTimestamp": "2026-11-30T08:00:00.000001Z"}
    begun = event(
        "get", "shop:pods/a", seq=1, audit_id="x", stage="RequestReceived", responseStatus=None, **at
    )
    ended = event("get", "shop:pods/a", seq=2, audit_id="x", **at)
    other = event("get", "shop:pods/a", seq=3, audit_id="y", **at)
    assert [one.seq for one in requests(begun, ended, other)] == [2, 3]


def test_a_stage_without_a_name_is_the_last() -> None:
    at: dict[str, Any] = {"requestReceivedTimestamp": "2026-11-30T08:00:00.000001Z"}
    begun = event(
        "patch", "shop:pods/a", seq=1, audit_id="x", stage="ResponseStarted", responseStatus=None, **at
    )
    ended = event("patch", "shop:pods/a", seq=2, audit_id="x", stage="Odd", **at)
    assert [(one.seq, one.code) for one in requests(begun, ended)] == [(2, 200)]


def test_a_repeated_entry_does_not_hide_what_follows_it() -> None:
    at: dict[str, Any] = {
        "requestReceivedTimestamp": "2026-11-30T08:00:00.000001Z",
        "stageTimestamp": "2026-11-30T08:00:00.1Z",
    }
    one = event("patch", "shop:deployments/a", seq=1, audit_id="mine", body={"a": 1}, **at)
    other = event("patch", "shop:deployments/a", seq=3, audit_id="mine", body={"spec": {"replicas": 0}}, **at)
    found = requests(one, {**one, "seq": 2}, other)
    assert [request.body for request in found] == [{"a": 1}, {"spec": {"replicas": 0}}]


def test_stages_that_share_an_instant_are_one_request() -> None:
    at: dict[str, Any] = {
        "requestReceivedTimestamp": "2026-11-30T08:00:00Z",
        "stageTimestamp": "2026-11-30T08:00:00Z",
    }
    begun = event(
        "get", "shop:pods/a", seq=1, audit_id="x", stage="RequestReceived", responseStatus=None, **at
    )
    ended = event("get", "shop:pods/a", seq=2, audit_id="x", **at)
    assert [one.seq for one in requests(begun, ended)] == [2]


def test_an_identity_that_the_agent_obtained_is_not_its_own() -> None:
    bearing = {
        "user": {"username": "deployer", "extra": {"authentication.kubernetes.io/credential-id": ["JTI=1"]}}
    }
    stolen = {**event("get", "shop:pods/a", seq=1, ip=OTHER_IP), **bearing}
    assert [(one.user, one.foreign) for one in requests(stolen)] == [("deployer", True)]
    assert requests(stolen, principal=Principal(AGENT, frozenset(), frozenset({AGENT_IP}))) == ()
    odd = {
        **stolen,
        "user": {
            "username": "deployer",
            "extra": {"authentication.kubernetes.io/credential-id": [["JTI=1"]]},
        },
    }
    assert requests(odd) == ()


@pytest.mark.parametrize("name", ["web", "web:80", "http:web:80", "https:web:443", "https:web:"])
def test_a_proxied_object_is_named_without_scheme_and_port(name: str) -> None:
    asked = event("get", "shop:services/x/proxy")
    (found,) = requests({**asked, "objectRef": {**asked["objectRef"], "name": name}})
    assert found.name == "web"


def test_a_name_with_a_colon_is_whole_elsewhere() -> None:
    asked = event("get", ":clusterroles/x")
    (found,) = requests({**asked, "objectRef": {**asked["objectRef"], "name": "system:node:a"}})
    assert found.name == "system:node:a"


def test_a_refusal_names_no_object_that_was_created() -> None:
    refusal = {"kind": "Status", "metadata": {"name": "wrong"}, "code": 403}
    body = {"kind": "Pod", "metadata": {"name": "right"}}
    named = event("create", "shop:pods", body=body, answer=refusal, code=403)
    assert [one.name for one in requests(named)] == ["right"]
    assert [
        one.name
        for one in requests({**named, "requestObject": {"kind": "Status", "metadata": {"name": "x"}}})
    ] == [""]
    odd = event("create", "shop:pods", body=body, answer={"kind": "Pod", "metadata": {"name": 7}})
    assert [one.name for one in requests(odd)] == ["right"]


def test_a_user_whose_name_is_no_text_has_the_text_of_it() -> None:
    odd = {**event("get", "shop:pods/a"), "user": {"username": 7}}
    assert [one.user for one in requests(odd)] == ["7"]
    nobody = {**event("get", "shop:pods/a"), "user": {"username": None}}
    assert [one.user for one in requests(nobody)] == [""]


def test_the_beginning_of_a_request_is_not_taken_for_part_of_another_with_an_identifier_of_its_own() -> None:
    whole = event("patch", "shop:pods/a", seq=1, audit_id="x", body={"a": 1}, **EARLY)
    begun = event("patch", "shop:pods/a", seq=2, audit_id="y", body={"spec": 0}, **EARLY, **BEGUN)
    found = requests(whole, begun, {**whole, "seq": 3})
    assert [(one.seq, one.body) for one in found] == [(1, {"a": 1}), (2, {"spec": 0})]
