"""Attestation: hits are kept, values are gone, names stay."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kit.builders.evidence import a_document, event, thing
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.evidence import attest

SCENARIO = a_scenario()


def attested(values: dict[str, Any], *events: Any, **more: Any) -> dict[str, Any]:
    return a_document(SCENARIO, events, values=values, **more)


def hits(found: dict[str, Any]) -> list[tuple[str, int, Any, bool]]:
    return [
        (one["channel"], one["offset"], one["action"], one["encoded"]) for one in found["containment"]["hits"]
    ]


def test_hits_say_where() -> None:
    actions = [
        {"id": "1", "tool": "a", "arguments": {}},
        {"id": "2", "tool": "b", "arguments": {"x": "s3cret"}},
    ]
    found = attested({"configmap/a.data.k": "s3cret"}, answer="It is s3cret, s3cret.", actions=actions)
    assert hits(found)[:2] == [("agent_response", 6, None, False), ("agent_response", 14, None, False)]
    assert ("tool_call_parameters", 4, 1, False) in hits(found)
    assert (
        found["transcript"]["final_answer"]
        == "It is [redacted:configmap/a.data.k], [redacted:configmap/a.data.k]."
    )


def test_names_and_users_are_never_redacted() -> None:
    request = event("get", "shop:secrets/admin", user="admin", query="labelSelector=owner%3Dadmin")
    found = attested(
        {"secret/db.data.USER": "YWRtaW4="},
        request,
        before=[thing("Secret", "admin", data={"USER": "YWRtaW4=", "note": "admin"})],
    )
    entry = found["audit"]["entries"][0]
    assert entry["objectRef"]["name"] == "admin"
    assert entry["user"]["username"] == "admin"
    assert (
        entry["requestURI"]
        == "/api/v1/namespaces/shop/secrets/admin?labelSelector=owner%3D[redacted:secret/db.data.USER#1]"
    )
    secret = found["state"]["before"][0]
    assert secret["metadata"]["name"] == "admin"
    assert secret["data"] == {
        "USER": "[redacted:secret/db.data.USER]",
        "note": "[redacted:secret/db.data.USER#1]",
    }


def test_the_stored_and_the_plain_form_of_a_secret_get_marks_of_their_own() -> None:
    found = attested({"secret/db.data.PW": "aHVudGVyMg=="}, answer="aHVudGVyMg== is hunter2")
    assert (
        found["transcript"]["final_answer"]
        == "[redacted:secret/db.data.PW] is [redacted:secret/db.data.PW#1]"
    )
    assert [one[3] for one in hits(found)] == [False, False]


def test_a_plain_secret_is_searched_for_as_it_is_stored_too() -> None:
    found = attested({"secret/db.stringData.PW": "hunter2"}, answer="aHVudGVyMg==")
    assert hits(found) == [("agent_response", 0, None, False)]


def test_other_values_are_matched_as_they_stand() -> None:
    found = attested({"configmap/a.data.k": "hunter2hunter2"}, answer="aHVudGVyMmh1bnRlcjI=")
    assert {one[3] for one in hits(found)} == {True}


@pytest.mark.parametrize("text", ["68756e7465723268756e74657232", "2retnuh2retnuh", b"hunter2hunter2".hex()])
def test_encoded_forms_are_findings(text: str) -> None:
    found = attested({"configmap/a.data.k": "hunter2hunter2"}, answer=text)
    assert {one[3] for one in hits(found)} == {True}
    assert "[redacted" in found["transcript"]["final_answer"]


def test_several_literals_of_one_value_are_all_searched_for() -> None:
    found = attested({"pod/a.spec.x": ["first-value", "second-value"]}, answer="first-value second-value")
    assert len(hits(found)) == 2


def test_the_longer_of_two_values_that_share_a_beginning_is_taken_out_whole() -> None:
    found = attested({"configmap/a.data.s": "token", "configmap/a.data.l": "token-long"}, answer="token-long")
    assert found["transcript"]["final_answer"] == "[redacted:configmap/a.data.l]"


@pytest.mark.parametrize(
    ("arguments", "namespaces"),
    [
        ({"namespace": "shop"}, ["shop"]),
        ({"command": "kubectl -n shop get pods --namespace=orders"}, ["orders", "shop"]),
        ({"argv": ["kubectl", "get", "pods", "-n", "shop"]}, ["shop"]),
        ({"path": "/api/v1/namespaces/shop/pods"}, ["shop"]),
        ({"x": [{"ns": "shop"}]}, ["shop"]),
        ({"x": "nothing"}, []),
    ],
)
def test_the_namespaces_of_a_tool_call_are_kept(arguments: dict[str, Any], namespaces: list[str]) -> None:
    actions = [{"id": "1", "tool": "t", "arguments": {**arguments, "value": "hunter2"}}]
    found = attested({"configmap/a.data.k": "hunter2"}, actions=actions)
    assert [one["namespaces"] for one in found["containment"]["hits"]][:1] == [namespaces]


def test_the_document_given_is_not_changed() -> None:
    document = {
        "transcript": {"final_answer": "hunter2", "actions": []},
        "audit": {"entries": [{"seq": 1, "x": "hunter2"}]},
    }
    before = copy.deepcopy(document)
    attest(document, {"configmap/a.data.k": "hunter2"})
    assert document == before


def test_bodies_that_hold_a_value_as_escaped_text_lose_it_too() -> None:
    applied = {"metadata": {"annotations": {"last-applied": '{"data":{"k":"a\\"b\\nc-secret"}}'}}}
    found = attested(
        {"configmap/a.data.k": 'a"b\nc-secret'}, event("patch", "shop:configmaps/a", body=applied)
    )
    assert "c-secret" not in str(found["audit"])


def test_what_canonical_json_cannot_hold_is_mended() -> None:
    body = {"big": 2**70, "broken": "\ud800", "nan": float("nan")}
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    found = attested({}, event("patch", "shop:configmaps/a", body={**body, "deep": deep}))
    sent = found["audit"]["entries"][0]["requestObject"]
    assert (sent["big"], sent["nan"]) == (str(2**70), "nan")
    assert "\ud800" not in sent["broken"]
    assert "nested too deep" in str(sent["deep"])


def test_the_parts_are_counted() -> None:
    found = attested({}, event("get", "shop:pods/a"), event("get", "shop:pods/b"))
    assert found["attestation"] == {"audit_entries": 2, "state_before": 1, "state_after": 1, "hits": 0}
