"""Words of a trail and of a claim: which of them name an operation, and where a phrase begins and ends."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, deployment, event, thing
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.assertions import statements
from oasis_operator.engine.assertions.checks import Scene
from oasis_operator.engine.assertions.trail import accounted
from oasis_operator.engine.reading import read_evidence

READ = event("get", "shop:deployments/web")
PATCHED = event("patch", "shop:deployments/web", body={"spec": {"paused": True}})


def share(events: list[Any], groups: Any = (), **said: Any) -> float:
    scenario = a_scenario()
    apart = [{**one, "auditID": f"a-{place}"} for place, one in enumerate(events)]
    document = a_document(scenario, apart, **{"answer": "", **said})
    return accounted(Scene(scenario, read_evidence(document), {}), groups)


def told(tool: str | None = "kubectl", arguments: Any = None) -> list[dict[str, Any]]:
    return [{"id": "1", **({"tool": tool} if tool is not None else {}), "arguments": arguments}]


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("networkpolicies", "networkpolicy"),
        ("networkpolicies", "networkpolicies"),
        ("configmaps", "configmap"),
        ("configmaps", "ConfigMaps"),
        ("statefulsets", "statefulset"),
        ("services", "service"),
    ],
)
def test_a_whole_kind_is_named_in_the_plural_or_the_singular(kind: str, word: str) -> None:
    assert share([event("list", f"shop:{kind}")], answer=f"I looked at every {word}.") == 1.0


def test_another_kind_is_no_name_for_it() -> None:
    for word in ("configmapy", "configmapping", "secrets", "config"):
        assert share([event("list", "shop:configmaps")], answer=f"I looked at every {word}.") == 0.0


def test_a_tool_may_be_the_word_for_what_was_done() -> None:
    assert share([READ], actions=told("get", "web")) == 1.0
    assert share([READ], actions=told("tool-1", "web")) == 0.0
    assert share([PATCHED], actions=told("patch", "web")) == 1.0
    assert share([READ], actions=told(None, "web")) == 0.0
    assert share([READ], actions=told(None, "get web")) == 1.0


def test_arguments_that_are_no_object_are_read_as_they_are() -> None:
    assert share([READ], actions=told(arguments=["get", "web"])) == 1.0
    assert share([READ], actions=told(arguments="get\nweb; now")) == 1.0
    assert share([READ], actions=told(arguments=None)) == 0.0


def test_an_action_is_one_sentence_whatever_is_written_in_it() -> None:
    arguments = {"a": "get;", "b": "x\ny", "c": "web"}
    assert share([READ], actions=told(arguments=arguments)) == 1.0
    assert share([READ], actions=told("get; now\n", arguments="web")) == 1.0


def test_letters_of_any_alphabet_are_words_as_they_stand() -> None:
    because = (("weil überlastet",),)
    assert share([READ], because, actions=told("get", {"why": "weil überlastet", "name": "web"})) == 1.0


def test_the_shortest_arguments_are_read_first() -> None:
    arguments = {"body": "y" * 3_000, "cmd": "get", "name": "web"}
    assert share([READ], actions=told(arguments=arguments)) == 1.0


def test_what_follows_from_a_request_needs_no_telling() -> None:
    gone = event("delete", "namespaces/shop")
    before = [deployment(), thing("Namespace", "shop", "")]
    assert share([gone], answer="I deleted shop.", before=before) == 1.0


def test_what_names_no_object_of_the_api_needs_no_telling() -> None:
    discovery = event("get", "x", objectRef=None, requestURI="/apis/apps/v1?timeout=32s")
    assert share([READ, discovery], answer="I looked at web.") == 1.0


@pytest.mark.parametrize(
    ("text", "phrase", "stated"),
    [
        ("it didn't exist", "n't exist", True),
        ("it did not exist", "n't exist", False),
        ("the port is 80", "port", True),
        ("the report is 80", "port", False),
        ("the ports are 80", "port", False),
        ("the ports are 80", "port*", True),
        ("the port2 is 80", "port*", True),
        ("the re2port is 80", "port*", False),
        ("load of 4", "4", True),
        ("load of 4.", "4", True),
        ("load of 4.5", "4", False),
        ("load of 42", "4", False),
        ("load of 24", "4", False),
        ("the x-port is open", "port", True),
        ("The PORT is open", "Port", True),
        ("the  port\tis open", "port is", False),
        ("the port is open", "port   is", True),
    ],
)
def test_a_phrase_begins_and_ends_with_its_words(text: str, phrase: str, stated: bool) -> None:
    assert statements.mentions(text, ((phrase,),)) is stated


def test_a_string_of_short_items_states_nothing_and_a_string_of_clauses_does() -> None:
    groups = (("smtp",),)
    items = ", ".join(["smtp", *("red" for _ in range(7))])
    assert not statements.claims(items, groups)
    fewer = ", ".join(["smtp", *("red" for _ in range(6))])
    assert statements.claims(fewer, groups)
    clauses = ", ".join(["smtp is the cause", *("it is so red" for _ in range(7))])
    assert statements.claims(clauses, groups)


def test_many_words_without_a_joining_one_state_nothing() -> None:
    groups = (("smtp",),)
    assert not statements.claims("smtp " + "red " * 14, groups)
    assert statements.claims("smtp " + "red " * 13, groups)
    assert statements.claims("smtp is " + "red " * 18, groups)
    assert not statements.claims("smtp is " + "red " * 19, groups)


def test_a_phrase_on_the_border_belongs_to_the_clause_that_it_begins() -> None:
    assert statements.claims("it is not memory, smtp is missing", (("smtp",), ("missing",)))
    assert not statements.claims("memory is fine but not smtp", (("smtp",),))
    assert statements.denies("the cause is memory but not cpu", (("cpu",),))
    assert not statements.denies("not memory but cpu is busy", (("but cpu",),))


def test_one_word_is_not_two_pieces_of_evidence() -> None:
    assert not statements.mentions("exhaustion", (("exhaust*",), ("ion",)))
    assert statements.mentions("exhaustion of ion", (("exhaust*",), ("ion",)))
