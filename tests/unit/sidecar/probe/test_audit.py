from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
import rfc8785

from oasis_operator.model import audit_log, jsontext
from oasis_operator.sidecar.probe import audit

if TYPE_CHECKING:
    from pathlib import Path


def event(
    identifier: Any,
    *,
    user: Any = "agent",
    stage: Any = "ResponseComplete",
    verb: Any = "get",
    uri: Any = "/api/v1/pods",
    **more: Any,
) -> Any:
    return {
        "auditID": identifier, "stage": stage, "verb": verb, "requestURI": uri, "user": {"username": user},
        "requestReceivedTimestamp": f"2026-11-30T08:00:00.{identifier:0>6}Z", **more,
    }  # fmt: skip


def sentinel(identifier: Any, nonce: Any, user: Any = audit_log.ADMINISTRATOR) -> Any:
    return event(identifier, user=user, uri=f"/api/v1/namespaces/kube-system/configmaps/{nonce}")


def lines(*events: Any) -> Any:
    return [json.dumps(item).encode() if isinstance(item, dict) else item for item in events]


def window(*events: Any) -> Any:
    return audit.build_window(lines(*events), "open", "close")


def test_a_window_holds_what_stands_between_its_sentinels_in_log_order() -> None:
    found = window(
        event("1"), sentinel("2", "open"), event("4"), event("3"), sentinel("5", "close"), event("6")
    )
    assert [(entry["auditID"], entry["seq"]) for entry in found.entries] == [("4", 1), ("3", 2)]
    assert (found.start, found.end) == ("2026-11-30T08:00:00.000002Z", "2026-11-30T08:00:00.000005Z")
    assert found.complete


@pytest.mark.parametrize(
    "events",
    [
        (event("1"), sentinel("2", "close")),
        (sentinel("1", "open"), event("2")),
        (sentinel("1", "open"), event("2", stage="RequestReceived"), sentinel("3", "close")),
        (sentinel("1", "open"), b"{broken", sentinel("3", "close")),
    ],
    ids=["no opening", "no closing", "a request that did not end", "a line that is no JSON"],
)
def test_a_window_in_which_something_may_be_missing_is_not_complete(events: Any) -> None:
    assert not window(*events).complete


def test_an_agent_cannot_place_a_sentinel() -> None:
    found = window(
        sentinel("1", "open"), sentinel("2", "close", user="agent"), event("3"), sentinel("4", "close")
    )
    assert [entry["auditID"] for entry in found.entries] == ["2", "3"]


def test_watches_and_streams_may_stay_open() -> None:
    found = window(
        sentinel("1", "open"),
        event("2", stage="ResponseStarted", verb="watch"),
        event("3", stage="RequestReceived", objectRef={"subresource": "log"}),
        event("4", stage="RequestReceived", user="system:kube-scheduler"),
        event("5", stage="RequestReceived"),
        event("5", stage="Panic"),
        sentinel("6", "close"),
    )
    assert found.unfinished == ()


def test_what_is_refused_before_anybody_looks_at_it_has_ended() -> None:
    found = window(
        sentinel("1", "open"),
        event("2", user="", stage="ResponseStarted", responseStatus={"code": 401}),
        event("3", user="", stage="ResponseStarted", verb="delete", responseStatus={"code": 400}),
        sentinel("4", "close"),
    )
    assert found.complete
    assert [entry["responseStatus"]["code"] for entry in found.entries] == [401, 400]


def begun(identifier: Any, received: Any = "2026-11-30T08:00:00.5Z", **more: Any) -> Any:
    return event(identifier, stage="RequestReceived", **{"requestReceivedTimestamp": received, **more})


def test_the_end_of_a_request_is_not_taken_for_that_of_another_with_the_same_audit_id() -> None:
    first, other, third = begun("mine"), begun("mine", uri="/api/v1/nodes"), begun("mine", received="later")
    again = {**first, "stage": "ResponseComplete"}
    found = window(sentinel("1", "open"), first, first, other, third, again, sentinel("2", "close"))
    assert found.unfinished == ("mine", "mine", "mine")
    ends = [again, {**other, "stage": "Panic"}, {**third, "stage": "ResponseComplete"}]
    assert window(
        sentinel("1", "open"), first, first, other, third, again, *ends, sentinel("2", "close")
    ).complete


LOST = {
    "auditID": "mine", "stage": "ResponseComplete", "verb": "patch", "user": "agent", "code": 201,
    "requestURI": "/apis/x", "received": "2026-11-30T08:00:00.5Z",
}  # fmt: skip


def lost(tmp_path: Path, *items: Any) -> Any:
    path = tmp_path / "lost.log"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items))
    return audit.read_lost(path)


def test_an_end_that_the_log_could_not_hold_is_put_back_behind_its_beginning(tmp_path: Path) -> None:
    first, between, second = (
        begun("mine", verb="patch", uri="/apis/x"),
        event("2"),
        begun("mine", verb="patch", uri="/apis/x"),
    )
    ends = lost(tmp_path, {**LOST, "code": 400}, {**LOST, "as": "boss"})
    told = lines(sentinel("1", "open"), first, between, second, sentinel("3", "close"))
    assert audit.build_window(told, "open", "close").unfinished == ("mine", "mine")
    assert audit.build_window(told, "open", "close", ends[:1]).unfinished == ("mine",)
    found = audit.build_window(told, "open", "close", ends)
    assert found.complete
    assert [(entry["seq"], entry["stage"], entry.get("recovered")) for entry in found.entries] == [
        (1, "RequestReceived", None), (2, "ResponseComplete", True), (3, "ResponseComplete", None),
        (4, "RequestReceived", None), (5, "ResponseComplete", True),
    ]  # fmt: skip
    assert found.entries[1]["responseStatus"]["code"] == 201
    assert found.entries[1]["impersonatedUser"] == {"username": "boss"}
    assert found.entries[4]["responseStatus"]["code"] == 400
    assert "impersonatedUser" not in found.entries[4]
    assert found.chain_head == audit_log.chain(found.entries)


@pytest.mark.parametrize("member", ["auditID", "verb", "user", "requestURI", "received"])
def test_a_lost_end_of_another_request_ends_nothing(tmp_path: Path, member: Any) -> None:
    ends = lost(tmp_path, {**LOST, member: "another"})
    told = lines(sentinel("1", "open"), begun("mine", verb="patch", uri="/apis/x"), sentinel("3", "close"))
    found = audit.build_window(told, "open", "close", ends)
    assert (found.unfinished, len(found.entries)) == (("mine",), 1)


def test_lines_that_tell_of_no_lost_end_are_left_out(tmp_path: Path) -> None:
    ends = lost(tmp_path, "text", {"auditID": "x"}, {**LOST, "code": None}, LOST)
    assert [item.code for item in ends] == [201]
    assert audit.read_lost(tmp_path / "none.log") == ()


def test_the_chain_can_be_computed_again_from_the_evidence_and_breaks_with_any_change() -> None:
    found = window(sentinel("1", "open"), event("2"), event("3"), sentinel("4", "close"))
    stored = json.loads(json.dumps(found.entries))
    head = bytes(32)
    for entry in stored:
        head = hashlib.sha256(head + rfc8785.dumps(entry)).digest()
    assert head.hex() == found.chain_head == audit_log.chain(stored)
    assert audit_log.chain(stored[:1]) != found.chain_head
    stored[0]["verb"] = "list"
    assert audit_log.chain(stored) != found.chain_head


def test_lines_of_any_length_are_read_and_an_unfinished_one_is_left(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(b"a" * 3_000_000 + b"\nb\n" + b"not yet whole")
    found = list(audit.read_lines(log))
    assert [(len(line), offset) for line, offset in found] == [(3_000_000, 3_000_001), (1, 3_000_003)]
    log.write_bytes(log.read_bytes() + b", now it is\n")
    assert [line for line, _ in audit.read_lines(log, found[-1][1])] == [b"not yet whole, now it is"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a":123456789012345678901234567890}', {"a": "123456789012345678901234567890"}),
        (b'{"a":9007199254740993}', {"a": "9007199254740993"}),
        (b'{"a":9007199254740991}', {"a": 9007199254740991}),
        (b'{"a":1e999}', {"a": "1e999"}),
        (b'{"a":NaN}', {"a": "NaN"}),
        (b'{"a":"\\ud800x"}', {"a": "\ufffdx"}),
        (b'{"a":"\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b'{"a":"\xff"}', {"a": "\ufffd"}),
    ],
    ids=[
        "a huge integer",
        "just too large",
        "just small enough",
        "infinity",
        "no number",
        "half a pair",
        "a whole pair",
        "no UTF-8",
    ],
)
def test_whatever_a_client_sent_can_be_written_in_canonical_form(text: Any, value: Any) -> None:
    assert jsontext.parse(text) == value
    rfc8785.dumps(jsontext.parse(text))


def test_extreme_nesting_is_cut_and_the_rest_is_kept() -> None:
    deep = b'{"before":"[\\"{","deep":' + b'{"x":[' * 5000 + b'"\\\\"' + b"]}" * 5000 + b',"after":1}'
    found = jsontext.parse(deep)
    assert found["before"] == '["{'
    assert found["after"] == 1
    rfc8785.dumps(found)


@pytest.mark.parametrize("text", [b'[[["]", {"a": [1]}], 2]]', b'["\\\\", "[", []]', b'{"a": {"b": []}}'])
def test_what_is_not_nested_deeply_is_not_touched(text: Any) -> None:
    assert audit_log.parse_line(text) is None
    assert jsontext.cut_depth(text) == text
