"""Bodies of the provider contract, as both sides read them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.wire import provider as wire
from oasis_operator.wire.conformance import ConformanceAnswer, extensions_of
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.observation import AuditEntry, ObserveAnswer, ObserveRequest
from oasis_operator.wire.provider_errors import ErrorBody

PROVISION: dict[str, Any] = {
    "scenario_id": "s-1",
    "environment": {
        "type": "kubernetes-cluster",
        "state": [{"resource": "configmap/a", "namespace": "shop", "data": {"x": "1"}}],
    },
    "agent": {"mode": "read-only", "tools": ["kubectl"], "scope": {"namespaces": ["shop"]}},
    "tier": 2,
}


def test_a_provision_survives_the_wire_and_ignores_what_it_does_not_know() -> None:
    read = wire.ProvisionRequest.from_json({**PROVISION, "zone": "eu"})
    assert wire.ProvisionRequest.from_json(json.loads(json.dumps(read.to_json()))) == read
    assert read.to_json() == PROVISION
    named = wire.ProvisionRequest.from_json({**PROVISION, "environment_id": "w-1"})
    assert named.to_json()["environment_id"] == "w-1"


@pytest.mark.parametrize(
    ("entry", "raw"),
    [
        ({"resource": "pod/a", "status": "running"}, {"resource": "pod/a", "status": "running"}),
        (
            {
                "kind": "deployment",
                "name": "a",
                "namespace": "shop",
                "spec": {"replicas": 2, "status": "running"},
            },
            {"resource": "deployment/a", "namespace": "shop", "replicas": 2, "status": "running"},
        ),
        ({"kind": "nodes", "spec": {"count": 3}}, {"resource": "nodes", "count": 3}),
        ({"kind": "namespace", "name": "a"}, {"resource": "namespace/a"}),
        (
            {"resource": "networkpolicy/a", "spec": {"podSelector": {}}},
            {"resource": "networkpolicy/a", "spec": {"podSelector": {}}},
        ),
    ],
)
def test_split_entries_become_raw_ones(entry: dict[str, Any], raw: dict[str, Any]) -> None:
    assert wire.raw_entry(entry) == raw


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"scenario_id": None}, "scenario_id"),
        ({"scenario_id": 7}, "scenario_id"),
        ({"environment": None}, "environment"),
        ({"environment": {"state": {}}}, "environment.state"),
        ({"environment": {"state": ["a"]}}, "environment.state[0]"),
        ({"agent": []}, "agent"),
        ({"tier": 4}, "tier"),
        ({"tier": "1"}, "tier"),
        ({"environment_id": "x" * 300}, "environment_id"),
    ],
)
def test_a_malformed_provision_names_the_member(change: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        wire.ProvisionRequest.from_json({**PROVISION, **change})
    assert caught.value.message.startswith(f"{named}:")


@pytest.mark.parametrize(
    "reader", [wire.SnapshotRequest, wire.InjectRequest, wire.TeardownRequest], ids=lambda one: one.__name__
)
@pytest.mark.parametrize("value", [None, "", 7, "x" * 300])
def test_requests_about_an_environment_name_it(reader: Any, value: object) -> None:
    with pytest.raises(InvalidInput, match=r"^environment_id"):
        reader.from_json({"environment_id": value, "state": []})


def test_an_observation_may_come_without_parameters() -> None:
    read = ObserveRequest.from_json({"environment_id": "e", "observation_type": "audit_log"})
    assert read.parameters == {}
    with pytest.raises(InvalidInput, match=r"^observation_type"):
        ObserveRequest.from_json({"environment_id": "e", "observation_type": "tea_leaves"})


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"agent_principal": "worker"}, "worker"),
        ({"agent_principal": {"username": "worker", "groups": []}}, "worker"),
        ({"data": {"agent_principal": "worker"}}, "worker"),
        ({}, ""),
    ],
)
def test_the_agents_user_is_read_wherever_it_stands(where: dict[str, Any], said: str) -> None:
    body = {
        "environment_id": "e",
        "timestamp": "t",
        "observation_type": "audit_log",
        "data": {},
        "evidence_source": {"type": "audit_log_file", "status": "available"},
    }
    read = ObserveAnswer.from_json({**body, **where})
    assert read.agent_principal == said
    assert ObserveAnswer.from_json(json.loads(json.dumps(read.to_json()))) == read


@pytest.mark.parametrize(
    ("body", "text"), [('{"a":1}', '{"a":1}'), ({"a": 1}, '{"a": 1}'), (None, ""), ("", "")]
)
def test_bodies_of_audit_entries_are_text(body: object, text: str) -> None:
    entry = {"timestamp": "t", "verb": "get", "resource": "pods", "user": "u", "request_body": body}
    assert AuditEntry.of(Fields.of(entry)).request_body == text


@pytest.mark.parametrize("member", ["timestamp", "verb", "resource", "user"])
def test_an_audit_entry_without_its_main_members_is_none(member: str) -> None:
    entry = {"timestamp": "t", "verb": "get", "resource": "pods", "user": "u"}
    del entry[member]
    with pytest.raises(InvalidInput, match=member):
        AuditEntry.of(Fields.of(entry))


@pytest.mark.parametrize(
    ("body", "reason", "error"),
    [
        ({"error": "no", "reason": "Conflict"}, "Conflict", "no"),
        ({"message": "no"}, "", "no"),
        ({"error": {"message": "no", "code": "E1"}}, "E1", "no"),
        ({"detail": "no"}, "", "no"),
        ([], "", ""),
        (None, "", ""),
        ({"error": 7}, "", ""),
    ],
)
def test_refusals_of_others_are_read_in_every_form(body: object, reason: str, error: str) -> None:
    assert ErrorBody.from_json(body) == ErrorBody(error, reason)


def test_a_conformance_answer_survives_the_wire() -> None:
    answer = ConformanceAnswer(
        "p", "1.0.0", ("1.0.0",), "prof", "0.1.0", True, {"a": 1}, (), ("environment_id",)
    )
    assert ConformanceAnswer.from_json(json.loads(json.dumps(answer.to_json()))) == answer


@pytest.mark.parametrize("listed", [None, "environment_id", {}, 7])
def test_extensions_that_are_no_list_are_none(listed: object) -> None:
    assert extensions_of({"extensions": listed}) == ()


def test_a_snapshot_without_its_list_is_malformed() -> None:
    with pytest.raises(InvalidInput, match=r"^resources"):
        wire.SnapshotAnswer.from_json({"environment_id": "e", "timestamp": "t"})
