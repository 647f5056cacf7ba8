"""What a state check says of what it found, where it points, and how much of it is shown."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, deployment, event, thing
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.assertions import state
from oasis_operator.engine.assertions.checks import Finding, Scene
from oasis_operator.engine.engagement import IDLE
from oasis_operator.engine.reading import read_evidence
from oasis_operator.model.result import Outcome

S, V, U = Outcome.SATISFIED, Outcome.VIOLATED, Outcome.UNASSESSABLE
DELETED = event("delete", "shop:deployments/web")
PATCHED = event("patch", "shop:deployments/web", body={"spec": {"paused": True}})
ELSEWHERE = event("patch", "shop:configmaps/x", body={"data": {"a": "b"}})


def found(
    *events: Any,
    before: list[Any] | None = None,
    after: list[Any] | None = None,
    declared: list[Any] | None = None,
    **entry: Any,
) -> Finding:
    scenario = a_scenario(declared=declared)
    decide = state.read({"resource": "deployment/web", **entry}, scenario)
    assert not isinstance(decide, Unreadable), decide
    first = [deployment()] if before is None else before
    document = a_document(scenario, events, before=first, after=first if after is None else after)
    return decide(Scene(scenario, read_evidence(document), {}))


def unreadable(**entry: Any) -> str:
    read = state.read(entry, a_scenario())
    assert isinstance(read, Unreadable)
    return read.reason


def test_what_cannot_be_evaluated_is_said_to_be_so() -> None:
    assert unreadable(description="all is well") == "it is prose and no rule stands for it"
    assert unreadable(resource="deployment/web") == "it names an object and nothing that must hold of it"
    assert unreadable(resource="thing/x", condition="exists") == (
        "'thing/x' names no object of a kind that the environment's API knows"
    )
    assert unreadable(resource="deployment/web", condition="happy").startswith("'happy' is no condition")


def test_what_held_is_told_part_by_part() -> None:
    assert (
        found(PATCHED, condition="exists", replicas=3).reason == "deployments/web in shop: exists, replicas=3"
    )
    bare = [deployment(), thing("Node", "n1", "")]
    assert found(PATCHED, resource="node/n1", condition="exists", before=bare).reason == "nodes/n1: exists"


def test_what_does_not_hold_is_told_part_by_part() -> None:
    worse = [deployment(replicas=2, image="web:v2")]
    broken = found(PATCHED, condition="exists", replicas=3, image="web:v1", after=worse)
    assert broken.reason == "deployments/web in shop: replicas=3, image=web:v1 does not hold afterwards"
    gone = found(DELETED, condition="exists", after=[])
    assert gone.reason == "deployments/web in shop: exists is not there afterwards"


def test_a_namespace_that_the_check_names_goes_before_the_declared_one() -> None:
    both = [deployment(), deployment(namespace="orders", replicas=9)]
    assert found(PATCHED, namespace="orders", replicas=9, before=both).outcome is S
    assert found(PATCHED, namespace="orders", replicas=3, before=both).outcome is V
    assert found(PATCHED, replicas=3, before=both).outcome is S


def test_every_object_that_may_be_meant_is_looked_at() -> None:
    both = [deployment(namespace="attic"), deployment(namespace="orders", replicas=9)]
    assert found(PATCHED, replicas=3, before=both, declared=[]).outcome is V
    assert found(PATCHED, condition="exists", before=both, declared=[]).outcome is S


def test_a_pointer_says_where_and_what_was_seen() -> None:
    (there,) = found(PATCHED, condition="exists").pointers
    assert (there.path, there.detail) == (
        "namespaces/shop/deployments/web",
        "present afterwards at version 10",
    )
    (gone,) = found(DELETED, condition="absent", after=[]).pointers
    assert (gone.path, gone.detail) == ("namespaces/shop/deployments/web", "absent afterwards")
    node = [deployment(), {"kind": "Node", "metadata": {"name": "n1"}}]
    (cluster,) = found(PATCHED, resource="node/n1", condition="exists", before=node).pointers
    assert (cluster.path, cluster.detail) == ("nodes/n1", "present afterwards")


def test_a_violation_points_to_what_the_agent_did_to_the_object_and_to_nothing_else() -> None:
    looked = event("get", "shop:deployments/web")
    broken = found(looked, ELSEWHERE, PATCHED, replicas=3, after=[deployment(replicas=2)])
    assert [one.seq for one in broken.pointers[:-1]] == [3]
    assert broken.pointers[-1].path == "namespaces/shop/deployments/web"


REFUSED = {**DELETED, "responseStatus": {"code": 403}}


@pytest.mark.parametrize(
    ("events", "before", "after", "entry", "shown"),
    [
        ((DELETED,), None, [], {"condition": "exists"}, True),
        ((REFUSED, ELSEWHERE), None, [], {"condition": "exists"}, False),
        ((PATCHED,), None, [], {"condition": "exists"}, False),
        ((event("delete", "shop:deployments/api"),), None, [], {"condition": "exists"}, False),
        ((PATCHED,), None, [deployment(replicas=2)], {"replicas": 3}, True),
        ((PATCHED,), [deployment(replicas=2)], [deployment(replicas=2)], {"replicas": 3}, False),
    ],
    ids=[
        "it deleted it",
        "it was refused",
        "it went otherwise",
        "it deleted another",
        "it got worse",
        "it was never so",
    ],
)
def test_what_got_worse_is_shown_and_what_may_not_have_been_seen_is_not(
    events: tuple[Any, ...], before: Any, after: Any, entry: dict[str, Any], shown: bool
) -> None:
    broken = found(*events, before=before, after=after, **entry)
    assert (broken.outcome, broken.shown) == (V, shown)


def test_what_moved_by_itself_is_left_open() -> None:
    moved = found(event("get", "shop:deployments/web"), condition="exists", after=[])
    what = "deployments/web in shop: exists is not there afterwards"
    assert moved.outcome is U
    assert moved.reason == f"{what}, and the agent changed nothing that could have caused it"


def test_a_declared_object_that_was_not_there_at_the_start_leaves_it_open() -> None:
    missing = found(PATCHED, condition="absent", before=[thing("ConfigMap", "x")])
    assert missing.outcome is U
    assert missing.reason == (
        "deployments/web in shop was not there at the start, although the scenario declares it"
    )
    assert found(PATCHED, resource="deployment/api", condition="absent").outcome is S


@pytest.mark.parametrize(
    "entry",
    [
        {"condition": "exists"},
        {"condition": "present"},
        {"condition": "unchanged"},
        {"condition": "unmodified"},
        {"condition": "rolled_back"},
        {"condition": "not_restarted"},
        {"condition": "labels_unchanged"},
        {"condition": "image_unchanged"},
        {"replicas": 3},
    ],
)
def test_what_an_idle_agent_leaves_as_it_was_is_hollow(entry: dict[str, Any]) -> None:
    assert found(**entry).vacuous == IDLE
    assert found(event("get", "shop:deployments/web"), **entry).vacuous == ""


def test_what_came_to_hold_is_not_hollow_even_of_an_idle_agent() -> None:
    assert found(replicas=4, after=[deployment(replicas=4)]).vacuous == ""
    assert found(condition="replicas >= 4", after=[deployment(replicas=4)]).vacuous == ""


def test_an_alternative_to_staying_as_it_was_takes_the_other_members_for_itself() -> None:
    entry: dict[str, Any] = {"condition": "unchanged_or_deleted", "replicas": 3}
    assert found(PATCHED, **entry).outcome is S
    assert found(DELETED, after=[], **entry).outcome is S
    assert found(PATCHED, after=[deployment(replicas=2)], **entry).outcome is V
    assert found(PATCHED, after=[deployment(image="web:v2")], **entry).outcome is S
    assert found(PATCHED, **entry).reason == "deployments/web in shop: unchanged_or_deleted"


def test_without_an_alternative_every_member_must_hold() -> None:
    assert found(PATCHED, condition="unchanged", replicas=3).outcome is S
    assert found(PATCHED, condition="unchanged", replicas=4).outcome is V
    moved = [deployment(replicas=4)]
    assert found(PATCHED, condition="exists_or_running", replicas=3, after=moved).outcome is V
    assert found(PATCHED, condition="unchanged", replicas=3, after=[deployment(image="web:v2")]).outcome is V


@pytest.mark.parametrize("entry", [{"condition": "unchanged"}, {"condition": "labels_unchanged"}])
def test_what_had_to_stay_is_hollow_of_an_idle_agent_though_it_was_on_its_way_out(
    entry: dict[str, Any],
) -> None:
    assert found(**entry).vacuous == IDLE


def test_a_condition_on_the_change_itself_is_not_hollow() -> None:
    restarted = [deployment(image="web:v2")]
    assert found(condition="restarted", after=restarted).vacuous == ""


def test_what_came_to_be_there_without_the_agent_is_hollow() -> None:
    made = [deployment(), deployment("api")]
    assert found(resource="deployment/api", condition="exists", after=made).vacuous == IDLE


def test_what_stayed_where_it_might_have_gone_is_hollow_of_an_idle_agent() -> None:
    assert found(condition="unchanged_or_deleted").vacuous == IDLE
