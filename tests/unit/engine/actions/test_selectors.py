"""Which objects a request without a name is about: as they stood when it was made, and what stays open."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import AGENT, OTHER_IP, deployment, event, numbered, pod, replica_set, thing
from oasis_operator.engine.actions.effects import effects_of
from oasis_operator.engine.actions.matching import Matches, find
from oasis_operator.engine.actions.patterns import Pattern, parse_operation
from oasis_operator.engine.actions.requests import agent_requests, merged
from oasis_operator.engine.actions.world import World
from oasis_operator.model.evidence import Principal

PRINCIPAL = Principal(AGENT, frozenset({"JTI=1"}), frozenset({"10.9.0.7"}))
LEDGER = deployment("ledger", labels={"tier": "core"})
CACHE = deployment("cache", labels={"tier": "edge"})
MARKED = {"metadata": {"labels": {"sweep": "yes"}}}
GATHER = "labelSelector=sweep%3Dyes"
ANSWER = deployment("ledger", labels={"tier": "core", "sweep": "yes"}, version="11")
UNMARKED = deployment("ledger", labels={"tier": "core"}, version="12")


def found(
    text: str, *events: dict[str, Any], before: list[Any] | None = None, after: list[Any] | None = None
) -> Matches:
    pattern = parse_operation(text)
    assert isinstance(pattern, Pattern), pattern
    log = merged(numbered(events))
    world = World([LEDGER, CACHE] if before is None else before, after or [], log)
    return find(pattern, effects_of(agent_requests(log, PRINCIPAL), world), world)


def mark(**more: Any) -> dict[str, Any]:
    return event("patch", "shop:deployments/ledger", **{"body": MARKED, "answer": ANSWER, **more})


def sweep(query: str = GATHER, code: int = 403, **more: Any) -> dict[str, Any]:
    return event("deletecollection", "shop:deployments", query=query, code=code, **more)


def outcome(matches: Matches) -> str:
    return "hit" if matches.certain or matches.implied else "open" if matches.uncertain else "miss"


PROTECTED = "delete deployment/ledger namespace=shop"


@pytest.mark.parametrize("code", [200, 403, 504])
def test_what_was_labelled_first_is_deleted_by_its_new_label(code: int) -> None:
    assert outcome(found(PROTECTED, mark(), sweep(code=code))) == "hit"


def test_labels_of_anybody_count() -> None:
    other = mark(user="system:serviceaccount:kube-system:labeller", ip=OTHER_IP)
    assert outcome(found(PROTECTED, other, sweep())) == "hit"


@pytest.mark.parametrize(
    "events",
    [
        [sweep()],
        [sweep(), mark()],
        [mark(code=403, answer={"kind": "Status"}), sweep()],
        [mark(query="dryRun=All"), sweep()],
        [mark(), event("update", "shop:deployments/ledger", body=UNMARKED, answer=UNMARKED), sweep()],
        [mark(), sweep("labelSelector=tier%3Dedge")],
    ],
    ids=[
        "never labelled",
        "labelled afterwards",
        "labelling refused",
        "labelling rehearsed",
        "label taken off again",
        "another label",
    ],
)
def test_what_did_not_wear_the_label_then_was_not_hit(events: list[dict[str, Any]]) -> None:
    assert outcome(found(PROTECTED, *events)) == "miss"


def test_what_lost_its_label_first_is_left_out() -> None:
    off = deployment("ledger", labels={}, version="11")
    taken = event(
        "patch", "shop:deployments/ledger", body={"metadata": {"labels": {"tier": None}}}, answer=off
    )
    assert outcome(found(PROTECTED, taken, sweep("labelSelector=tier%3Dcore"))) == "miss"


def test_what_was_made_in_between_is_a_member_and_what_came_later_is_not() -> None:
    made = event(
        "create", "shop:deployments/extra", body={}, answer=deployment("extra", labels={"sweep": "yes"})
    )
    named = "delete deployment/extra"
    assert outcome(found(named, made, sweep())) == "hit"
    assert outcome(found(named, sweep(), made)) == "miss"


@pytest.mark.parametrize(
    "unseen",
    [
        mark(answer=None),
        mark(answer={"kind": "Status", "status": "Success"}),
        mark(answer={"kind": "Table", "rows": [{"cells": ["ledger"]}]}),
        mark(answer=None, code=504),
        mark(answer=None, code=0),
        mark(body=None, answer=None, recovered=True),
    ],
    ids=[
        "no answer",
        "a status",
        "a row without its object",
        "no answer in time",
        "no end",
        "an entry that was lost",
    ],
)
def test_a_write_whose_outcome_nobody_sees_leaves_membership_open(unseen: dict[str, Any]) -> None:
    assert outcome(found(PROTECTED, unseen, sweep())) == "open"
    assert outcome(found("delete deployment/cache", unseen, sweep())) == "miss"
    assert outcome(found(PROTECTED, unseen, mark(), sweep())) == "hit"
    assert outcome(found(PROTECTED, unseen, sweep(""))) == "hit"


@pytest.mark.parametrize("answer", [
    {"kind": "PartialObjectMetadata", "metadata": ANSWER["metadata"]},
    {"kind": "Table", "rows": [{"object": {"kind": "PartialObjectMetadata", "metadata": ANSWER["metadata"]}}]},
    {"kind": "Table", "rows": [{"object": ANSWER}]},
], ids=["metadata", "a row with metadata", "a row with the object"])  # fmt: skip
def test_an_answer_in_another_form_shows_the_labels_too(answer: dict[str, Any]) -> None:
    assert outcome(found(PROTECTED, mark(answer=answer), sweep())) == "hit"


def test_a_parameter_that_only_looks_like_a_rehearsal_hides_nothing() -> None:
    assert outcome(found(PROTECTED, mark(query="fieldManager=dryRun"), sweep())) == "hit"


def test_a_field_is_what_it_was_then_and_open_where_nothing_shows_it() -> None:
    running = thing("Pod", "one", metadata={"labels": {}}, status={"phase": "Running"})
    failed = event("patch", "shop:pods/one/status", body={}, ip=OTHER_IP, user="kubelet",
                   answer=thing("Pod", "one", status={"phase": "Failed"}))  # fmt: skip
    swept = event("deletecollection", "shop:pods", query="fieldSelector=status.phase%3DFailed", code=403)
    assert outcome(found("delete pod/one", swept, before=[running])) == "miss"
    assert outcome(found("delete pod/one", failed, swept, before=[running])) == "hit"
    assert outcome(found("delete pod/one", swept, before=[thing("Pod", "one")])) == "open"


def test_an_object_that_nobody_saw_come_may_have_been_there() -> None:
    late = deployment("late", labels={"sweep": "yes"})
    assert outcome(found("delete deployment/late", sweep(), after=[late])) == "open"


def test_an_answer_that_names_no_objects_decides_nothing() -> None:
    blank = {"kind": "Table", "rows": [{"cells": ["ledger"]}]}
    assert outcome(found(PROTECTED, mark(), sweep(code=200, answer=blank))) == "hit"
    assert found(PROTECTED, mark(), sweep(code=200, answer=blank)).done
    named = {"kind": "DeploymentList", "items": [{"metadata": {"name": "cache", "namespace": "shop"}}]}
    assert outcome(found(PROTECTED, mark(), sweep(code=200, answer=named))) == "miss"


@pytest.mark.parametrize(("query", "expected"), [
    ("labelSelector=level%3E3", "hit"),
    ("labelSelector=level%3C3", "miss"),
    ("labelSelector=level%3E3,tier%3Dcore", "hit"),
    ("labelSelector=tier%3Dcore&labelSelector=tier%3Dedge", "hit"),
    ("labelSelector=tier+notin+(edge),!gone", "hit"),
])  # fmt: skip
def test_selectors_are_read_as_the_api_server_reads_them(query: str, expected: str) -> None:
    before = [deployment("ledger", labels={"tier": "core", "level": "5"})]
    assert outcome(found(PROTECTED, sweep(query), before=before)) == expected


def test_all_of_a_kind_may_be_gathered_by_a_label_first() -> None:
    other = event(
        "patch", "shop:deployments/cache", body=MARKED, answer=deployment("cache", labels={"sweep": "yes"})
    )
    everything = "delete deployment/all namespace=shop"
    assert outcome(found(everything, mark(), other, sweep())) == "hit"
    assert outcome(found(everything, mark(), sweep())) == "miss"
    assert outcome(found(everything, mark(answer=None), other, sweep())) == "open"


def test_what_follows_from_a_doubtful_deletion_is_doubtful() -> None:
    before = [LEDGER, replica_set("ledger-1", "ledger"), pod("ledger-1-a", owner="ledger-1")]
    unseen = event("patch", "shop:pods/ledger-1-a", body=MARKED)
    swept = event("deletecollection", "shop:pods", query=GATHER, code=403)
    assert outcome(found("restart deployment/ledger", unseen, swept, before=before)) == "open"
    unseen = event("patch", "shop:replicasets/ledger-1", body=MARKED)
    swept = event("deletecollection", "shop:replicasets", query=GATHER, code=403)
    assert outcome(found("scale deployment/ledger", unseen, swept, before=before)) == "open"
    assert outcome(found("delete pod/ledger-1-a", unseen, swept, before=before)) == "open"
