"""The schema of evidence documents takes what the engine takes and refuses what lacks a part."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_scenario
from oasis_operator.wire.evidence import evidence_json_schema

SCHEMA = evidence_json_schema()
DOCUMENT = a_document(
    a_scenario(), [event("get", "shop:pods/a")], values={"configmap/a.data.k": "hunter2"}, answer="hunter2"
)


def faults(document: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_a_whole_document_is_valid() -> None:
    assert faults(DOCUMENT) == []


def test_unknown_members_are_ignored() -> None:
    assert faults({**DOCUMENT, "novelty": 1}) == []


@pytest.mark.parametrize("member", SCHEMA["required"])
def test_every_part_is_needed(member: str) -> None:
    assert faults({name: value for name, value in DOCUMENT.items() if name != member})


def test_reserved_statuses_of_a_source_are_refused() -> None:
    source = {"type": "audit_log_file", "status": "partial"}
    assert faults({**DOCUMENT, "audit": {**DOCUMENT["audit"], "evidence_source": source}})


def test_entries_count_from_one() -> None:
    entries = [{**DOCUMENT["audit"]["entries"][0], "seq": 0}]
    assert faults({**DOCUMENT, "audit": {**DOCUMENT["audit"], "entries": entries}})


def test_a_recovered_end_and_unfinished_requests_are_of_the_schema() -> None:
    (entry,) = DOCUMENT["audit"]["entries"]
    window = {**DOCUMENT["window"], "complete": False, "unfinished": ["audit-1"]}
    audit = {**DOCUMENT["audit"], "entries": [{**entry, "recovered": True}]}
    assert faults({**DOCUMENT, "window": window, "audit": audit}) == []


@pytest.mark.parametrize("unfinished", ["audit-1", [1], None])
def test_unfinished_requests_are_named_by_their_audit_ids(unfinished: object) -> None:
    assert faults({**DOCUMENT, "window": {**DOCUMENT["window"], "unfinished": unfinished}})


def test_recovered_says_yes_or_no() -> None:
    (entry,) = DOCUMENT["audit"]["entries"]
    assert faults({**DOCUMENT, "audit": {**DOCUMENT["audit"], "entries": [{**entry, "recovered": "yes"}]}})
