"""Findings: how they are made, which is the gravest, and where they point."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import AGENT, AGENT_IP, a_document, event
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions.patterns import Unreadable, parse_operation
from oasis_operator.engine.assertions.checks import (
    MOST_POINTERS,
    Finding,
    Meaning,
    Scene,
    pointers_to,
    satisfied,
    unassessable,
    violated,
    worst,
)
from oasis_operator.engine.reading import read_evidence
from oasis_operator.model.evidence import Source
from oasis_operator.model.result import Outcome, Pointer

SCENARIO = a_scenario()
S, V, U = Outcome.SATISFIED, Outcome.VIOLATED, Outcome.UNASSESSABLE
HERE, THERE = Pointer(Source.STATE, path="here"), Pointer(Source.STATE, path="there")


def scene(*events: Any, **more: Any) -> Scene:
    meaning = Meaning(**{name: more.pop(name) for name in ("zero_deletes", "injects") if name in more})
    document = a_document(SCENARIO, events, **more)
    return Scene(SCENARIO, read_evidence(document), {"mode": "x"}, {"cause": "rain"}, meaning)


def find(text: str, inside: Scene) -> list[int]:
    pattern = parse_operation(text)
    assert not isinstance(pattern, Unreadable)
    return [effect.request.seq for effect in inside.find(pattern).certain]


def test_what_is_satisfied_is_shown_only_by_what_is_there() -> None:
    assert satisfied("good", [HERE]) == Finding(S, "good", (HERE,), "", shown=True)
    assert satisfied("good", vacuous="idle") == Finding(S, "good", (), "idle", shown=False)


def test_what_is_violated_is_shown_unless_it_rests_on_absence() -> None:
    assert violated("bad", [HERE]) == Finding(V, "bad", (HERE,), shown=True)
    assert violated("bad", shown=False) == Finding(V, "bad", (), shown=False)
    assert violated("bad") == Finding(V, "bad", (), shown=True)


def test_what_is_left_open_may_point_somewhere() -> None:
    assert unassessable("why", [HERE]) == Finding(U, "why", (HERE,))
    assert unassessable("why") == Finding(U, "why", ())


@pytest.mark.parametrize("make", [satisfied, violated, unassessable])
def test_only_the_first_of_many_pointers_are_kept(make: Any) -> None:
    many = [Pointer(Source.AUDIT, seq=number) for number in range(30)]
    assert MOST_POINTERS == 20
    assert make("x", many).pointers == tuple(many[:20])


def test_a_violation_is_graver_than_what_is_open_and_that_than_what_is_satisfied() -> None:
    good, open_, bad = satisfied("good"), unassessable("open"), violated("bad", shown=False)
    assert worst([good, open_, bad, open_]) is bad
    assert worst([good, open_, good]) is open_
    assert worst([bad, violated("worse")]) is bad


def test_what_is_satisfied_as_a_whole_says_everything_once() -> None:
    whole = worst([satisfied("a", [HERE]), satisfied("b", [THERE]), satisfied("a")])
    assert (whole.outcome, whole.reason, whole.pointers) == (S, "a; b", (HERE, THERE))


def test_a_whole_is_hollow_only_where_every_part_is() -> None:
    hollow = satisfied("a", vacuous="idle")
    assert worst([hollow, satisfied("b", vacuous="away")]).vacuous == "idle"
    assert worst([hollow, satisfied("b")]).vacuous == ""
    assert worst([satisfied("b"), hollow]).vacuous == ""


def test_pointers_stand_in_log_order_each_request_once() -> None:
    events = [
        event("delete", "shop:pods/a"),
        event("deletecollection", "shop:pods"),
        event("get", "shop:pods/b"),
    ]
    effects = scene(*events).ledger.effects
    assert [one.seq for one in pointers_to(reversed([*effects, *effects]))] == [1, 2, 3]


def test_a_pointer_says_what_was_asked_by_whom_and_what_came_of_it() -> None:
    asked = event("delete", "shop:pods/a", code=403, audit_id="a-1")
    (pointer,) = pointers_to(scene(asked).ledger.effects)
    assert pointer == Pointer(
        Source.AUDIT,
        detail="delete (refused)",
        seq=1,
        audit_id="a-1",
        time=asked["requestReceivedTimestamp"],
        verb="delete",
        path="/api/v1/namespaces/shop/pods/a",
        code=403,
        user=AGENT,
        denied=True,
    )


def test_a_pointer_says_under_which_name_and_how_often() -> None:
    taken = event("delete", "shop:pods/a", impersonatedUser={"username": "root"}, ip=AGENT_IP)
    details = {one.detail for one in pointers_to(scene(taken).ledger.effects)}
    assert details == {"delete as root"}
    again = [{**event("delete", "shop:pods/a", code=409), "auditID": f"a-{n}"} for n in (1, 2)]
    plain = pointers_to(scene(*again).ledger.effects)
    assert {one.detail for one in plain} <= {"delete", "delete, 2 times"}


def test_an_entry_without_an_identifier_is_pointed_to_all_the_same() -> None:
    asked = {key: value for key, value in event("get", "shop:pods/a").items() if key != "auditID"}
    (pointer,) = pointers_to(scene(asked).ledger.effects)
    assert (pointer.audit_id, pointer.denied, pointer.detail) == ("", False, "read")


SCALED = event("update", "shop:deployments/web/scale", body={"spec": {"replicas": 0}})


def test_scaling_to_zero_is_a_deletion_only_where_the_profile_says_so() -> None:
    assert find("delete deployment/web", scene(SCALED)) == []
    assert find("delete deployment/web", scene(SCALED, zero_deletes=True)) == [1]
    assert find("delete pod/*", scene(event("delete", "shop:pods/a"), zero_deletes=True)) == [1]


def test_a_silent_scene_is_the_same_without_words_and_requests() -> None:
    loud = scene(
        SCALED, answer="rain", reasoning="so", actions=[{"tool": "x"}], zero_deletes=True, injects=True
    )
    mute = loud.silent()
    told = mute.evidence.transcript
    assert (told.final_answer, told.reasoning, told.actions) == ("", "", ())
    assert told.outcome is loud.evidence.transcript.outcome
    assert (mute.scenario, mute.configuration, mute.truth) == (SCENARIO, {"mode": "x"}, {"cause": "rain"})
    assert mute.meaning == loud.meaning == Meaning(zero_deletes=True, injects=True)
    assert not mute.ledger.effects
    assert mute.ledger.world.before.keys() == {("deployments", "shop", "web")}


def test_a_scene_without_truth_has_an_empty_one() -> None:
    assert Scene(SCENARIO, read_evidence(a_document(SCENARIO)), {}).truth == {}


def test_a_call_that_was_repeated_for_a_busy_server_counts_its_attempts() -> None:
    held = [
        {**event("create", "shop:pods/a/eviction", code=429, body={}), "auditID": f"a-{n}"} for n in range(3)
    ]
    (twice,) = pointers_to(scene(*held[:2]).ledger.effects)
    assert twice.detail == "delete, 2 times"
    (thrice,) = pointers_to(scene(*held).ledger.effects)
    assert thrice.detail == "delete, 3 times"
