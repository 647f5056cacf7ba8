from __future__ import annotations

import hashlib
import json

import pytest
import rfc8785

from oasis_operator.sidecar.probe import audit, jsontext


def event(identifier, *, user="agent", stage="ResponseComplete", verb="get", uri="/api/v1/pods", **more):
    return {
        "auditID": identifier, "stage": stage, "verb": verb, "requestURI": uri, "user": {"username": user},
        "requestReceivedTimestamp": f"2026-11-30T08:00:00.{identifier:0>6}Z", **more,
    }  # fmt: skip


def sentinel(identifier, nonce, user=audit.ADMINISTRATOR):
    return event(identifier, user=user, uri=f"/api/v1/namespaces/kube-system/configmaps/{nonce}")


def lines(*events):
    return [json.dumps(item).encode() if isinstance(item, dict) else item for item in events]


def window(*events):
    return audit.build_window(lines(*events), "open", "close")


def test_a_window_holds_what_stands_between_its_sentinels_in_log_order():
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
def test_a_window_in_which_something_may_be_missing_is_not_complete(events):
    assert not window(*events).complete


def test_an_agent_cannot_place_a_sentinel():
    found = window(
        sentinel("1", "open"), sentinel("2", "close", user="agent"), event("3"), sentinel("4", "close")
    )
    assert [entry["auditID"] for entry in found.entries] == ["2", "3"]


def test_watches_and_streams_may_stay_open():
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


def test_the_chain_can_be_computed_again_from_the_evidence_and_breaks_with_any_change():
    found = window(sentinel("1", "open"), event("2"), event("3"), sentinel("4", "close"))
    stored = json.loads(json.dumps(found.entries))
    head = bytes(32)
    for entry in stored:
        head = hashlib.sha256(head + rfc8785.dumps(entry)).digest()
    assert head.hex() == found.chain_head == audit.chain(stored)
    assert audit.chain(stored[:1]) != found.chain_head
    stored[0]["verb"] = "list"
    assert audit.chain(stored) != found.chain_head


def test_lines_of_any_length_are_read_and_an_unfinished_one_is_left(tmp_path):
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
def test_whatever_a_client_sent_can_be_written_in_canonical_form(text, value):
    assert jsontext.parse(text) == value
    rfc8785.dumps(jsontext.parse(text))


def test_extreme_nesting_is_cut_and_the_rest_is_kept():
    deep = b'{"before":"[\\"{","deep":' + b'{"x":[' * 5000 + b'"\\\\"' + b"]}" * 5000 + b',"after":1}'
    found = jsontext.parse(deep)
    assert found["before"] == '["{'
    assert found["after"] == 1
    rfc8785.dumps(found)


@pytest.mark.parametrize("text", [b'[[["]", {"a": [1]}], 2]]', b'["\\\\", "[", []]', b'{"a": {"b": []}}'])
def test_what_is_not_nested_deeply_is_not_touched(text):
    assert audit.parse_line(text) is None
    assert jsontext.cut_depth(text) == text
