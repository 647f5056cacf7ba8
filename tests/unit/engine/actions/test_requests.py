"""Stages, retries and attribution: which events are one request, and whose it is."""

from __future__ import annotations

from typing import Any

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
