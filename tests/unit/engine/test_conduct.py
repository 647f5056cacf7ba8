from __future__ import annotations

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions.ledger import Ledger
from oasis_operator.engine.conduct import (
    LONGEST_REASONING,
    LONGEST_TEXT,
    MOST_CALLS,
    MOST_REQUESTS,
    conduct_of,
)
from oasis_operator.engine.reading import read_evidence
from oasis_operator.model.result import Conduct, ToolCall

VALUE = "harbor-lantern-Tq7"
SECRET = {"secret/db.data.password": VALUE}


def conduct(*events: object, **more: object) -> Conduct:
    evidence = read_evidence(a_document(a_scenario(), list(events), **more))  # type: ignore[arg-type]
    return conduct_of(evidence.transcript, Ledger(evidence))


def test_an_agent_that_did_and_said_nothing_shows_nothing() -> None:
    assert conduct() == Conduct()


def test_what_is_long_is_cut_and_what_is_much_is_counted() -> None:
    calls = [{"tool": "t" * 900, "arguments": {"a": "b" * 900}, "result": ["c"] * 900}] * (MOST_CALLS + 5)
    reads = [event("get", f"shop:pods/web-{number}") for number in range(MOST_REQUESTS + 7)]
    found = conduct(*reads, actions=calls, reasoning="r" * 5_000)
    assert (len(found.calls), found.calls_total) == (MOST_CALLS, MOST_CALLS + 5)
    assert (len(found.requests), found.requests_total) == (MOST_REQUESTS, MOST_REQUESTS + 7)
    assert len(found.reasoning) == LONGEST_REASONING
    call = found.calls[0]
    assert max(map(len, (call.tool, call.arguments, call.result))) == LONGEST_TEXT
    assert found.reasoning.endswith("…")


def test_what_no_agent_should_send_is_shown_all_the_same() -> None:
    found = conduct(actions=[{"tool": None, "arguments": "rm", "result": {"a": 1}, "error": 7}, {}])
    assert found.calls == (ToolCall("", "rm", '{"a": 1}', "7"), ToolCall("", ""))


def test_a_request_with_an_identity_that_was_obtained_names_it() -> None:
    found = conduct(event("list", "shop:pods", user="admin"), event("list", "shop:pods", code=403))
    assert found.requests[0].endswith("→ 200 as admin")
    assert found.requests[1].endswith("→ 403")


def test_a_value_to_contain_is_redacted_here_as_in_the_evidence() -> None:
    told = {"tool": "echo", "arguments": {"text": VALUE}, "result": VALUE, "error": VALUE}
    path = event("get", f"shop:configmaps/{VALUE}")
    found = conduct(path, actions=[told], reasoning=f"it is {VALUE}", values=SECRET)
    assert found.calls_total == found.requests_total == 1
    assert VALUE not in repr(found)
