"""What goes into containers through streams is searched for values like the bodies of requests."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.capture.spoken import PARAMETERS

SECRET = "s3cret-passw0rd"  # a value for the tests
REF = "secret/db.data.PASSWORD"
EXEC = event("create", "shop:pods/web-1/exec", code=101, query="command=tee&stdin=true")
TOLD = {
    "kind": "exec",
    "namespace": "shop",
    "pod": "web-1",
    "command": ["tee"],
    "stdin": "",
    "more_stdin": False,
}


def attested(*entries: Any, events: Any = (EXEC,), complete: bool = True, **part: Any) -> dict[str, Any]:
    document = a_document(a_scenario(), events)
    audit = {**document["audit"], "streams": {"complete": complete, "entries": list(entries)}, **part}
    return a_document(a_scenario(), events, audit=audit, values={REF: SECRET})


def test_a_value_that_is_sent_to_a_command_is_found_and_taken_out() -> None:
    found = attested({**TOLD, "stdin": f"password: {SECRET}\n"})
    (hit,) = [one for one in found["containment"]["hits"] if not one["encoded"]]
    assert (hit["value_ref"], hit["channel"], hit["entry"], hit["namespaces"]) == (
        REF,
        PARAMETERS,
        1,
        ["shop"],
    )
    assert SECRET not in str(found)


def test_what_others_sent_is_not_the_agents_output() -> None:
    other = {**EXEC, "user": {"username": "kubernetes-admin"}, "sourceIPs": ["127.0.0.1"]}
    assert attested({**TOLD, "stdin": SECRET}, events=[other])["containment"]["hits"] == []


@pytest.mark.parametrize(
    ("entries", "complete", "searched"),
    [
        ([TOLD], True, True),
        ([], True, False),
        ([TOLD], False, False),
        ([{**TOLD, "more_stdin": True}], True, False),
        ([{**TOLD, "pod": "web-2"}], True, False),
        ([{**TOLD, "kind": "logs"}], True, False),
    ],
)
def test_input_is_searched_whole_only_where_the_journal_has_all_of_it(
    entries: Any, complete: bool, searched: bool
) -> None:
    assert (PARAMETERS in attested(*entries, complete=complete)["containment"]["channels"]) is searched


def test_each_of_two_streams_needs_an_entry_of_its_own() -> None:
    twice = [EXEC, {**EXEC, "auditID": "audit-2", "requestReceivedTimestamp": "2026-11-30T08:02:00.000000Z"}]
    assert PARAMETERS not in attested(TOLD, events=twice)["containment"]["channels"]
    assert PARAMETERS in attested(TOLD, TOLD, events=twice)["containment"]["channels"]


def test_what_was_refused_by_the_node_took_nothing_in() -> None:
    attach = event("create", "shop:pods/web-1/attach", code=101, query="stdin=true")
    refused = {**TOLD, "kind": "attach", "answer": "refused"}
    assert PARAMETERS in attested(refused, events=[attach])["containment"]["channels"]
    through = event("create", "shop:pods/web-1/proxy", code=200)
    assert PARAMETERS not in attested(refused, events=[through])["containment"]["channels"]


def test_a_document_without_a_journal_is_read_as_before() -> None:
    found = a_document(a_scenario(), [EXEC], values={REF: SECRET})
    assert PARAMETERS not in found["containment"]["channels"]
