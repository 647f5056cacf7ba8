"""State diffs: which object a field belongs to, and what must have held before and hold after."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, deployment, event, thing
from kit.builders.scenarios import a_scenario, deployment_entry
from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.assertions import diff
from oasis_operator.engine.assertions.checks import Finding, Scene
from oasis_operator.engine.reading import read_evidence
from oasis_operator.model.result import Outcome

S, V, U = Outcome.SATISFIED, Outcome.VIOLATED, Outcome.UNASSESSABLE
DECLARED = [{"resource": "configmap/app", "namespace": "shop"}, deployment_entry()]
WRITE = event("patch", "shop:configmaps/app", body={"data": {"LEVEL": "debug"}})


def world(level: str = "info", replicas: int = 3, **marks: Any) -> list[Any]:
    return [
        thing("ConfigMap", "app", data={"LEVEL": level, "KEEP": "x"}, metadata=marks),
        deployment(replicas=replicas),
        thing("Secret", "db", data={"PW": "eA=="}),
    ]


def found(
    before: Any, after: Any, *, then: list[Any], first: list[Any] | None = None, **more: Any
) -> Finding:
    scenario = a_scenario(declared=more.get("declared", DECLARED))
    decide = diff.read({"before": before, "after": after}, scenario)
    assert not isinstance(decide, Unreadable), decide
    document = a_document(scenario, [WRITE], before=world() if first is None else first, after=then)
    return decide(Scene(scenario, read_evidence(document), {}))


def unreadable(before: Any, after: Any, declared: list[Any] | None = None) -> str:
    read = diff.read({"before": before, "after": after}, a_scenario(declared=declared or DECLARED))
    assert isinstance(read, Unreadable)
    return read.reason


def test_bare_fields_are_the_data_of_the_only_config_map() -> None:
    before, after = {"LEVEL": "info"}, {"LEVEL": "debug", "KEEP": "x"}
    assert found(before, after, then=world("debug")).outcome is S
    assert found(before, after, then=world("warn")).outcome is V


def test_fields_stand_under_a_kind_or_under_a_name() -> None:
    for name in ("deployment", "deployment/web", "deploy/web", "deployments"):
        before, after = {name: {"replicas": 3}}, {name: {"replicas": 4}}
        assert found(before, after, then=world(replicas=4)).outcome is S
        assert found(before, after, then=world(replicas=5)).outcome is V


def test_bare_fields_and_objects_may_stand_side_by_side() -> None:
    before = {"LEVEL": "info", "deployment": {"replicas": 3}}
    after = {"LEVEL": "debug", "deployment": {"replicas": 4}}
    assert found(before, after, then=world("debug", 4)).outcome is S
    assert found(before, after, then=world("debug", 3)).outcome is V
    assert found(before, after, then=world("info", 4)).outcome is V


def test_marks_of_a_config_map_are_no_data() -> None:
    first, then = world(labels={"a": "b"}), world(labels={"a": "c"})
    for words in ({"labels": {"a": "b"}}, {"data": {"KEEP": "x"}, "labels": {"a": "b"}}):
        after = {"configmap": {"labels": {"a": "c"}}}
        assert found({"configmap": words}, after, then=then, first=first).outcome is S
    annotated = world(annotations={"a": "b"})
    told = {"configmap": {"annotations": {"a": "b"}}}
    assert found(told, told, then=annotated, first=annotated).outcome is S
    assert found(told, told, then=world(), first=annotated).outcome is V


def test_fields_of_a_secret_are_its_data() -> None:
    declared = [*DECLARED, {"resource": "secret/db", "namespace": "shop"}]
    told = {"secret": {"PW": "x"}}
    assert found(told, told, then=world(), declared=declared).outcome is S
    assert found(told, {"secret": {"PW": "y"}}, then=world(), declared=declared).outcome is V


@pytest.mark.parametrize(
    "before",
    [
        {"LEVEL": "warn"},
        {"LEVEL": "info", "KEEP": "y"},
        {"NONE": "x"},
        {"deployment": {"replicas": 9}},
        {"deployment/web": {"spec.replicas": 9}},
        {"LEVEL": "info", "deployment": {"replicas": 9}},
    ],
)
def test_what_was_otherwise_at_the_start_leaves_it_open(before: dict[str, Any]) -> None:
    open_ = found(before, {"LEVEL": "debug"}, then=world("debug"))
    assert open_.outcome is U
    assert open_.reason.endswith("was not at the start as the diff says")
    assert open_.reason.startswith(("configmaps/app", "deployments/web"))


def test_what_was_not_there_at_the_start_leaves_it_open() -> None:
    assert (
        found({"LEVEL": "info"}, {"LEVEL": "debug"}, then=world("debug"), first=[deployment()]).outcome is U
    )


def test_the_object_is_looked_for_where_the_state_declares_it() -> None:
    elsewhere = [thing("ConfigMap", "app", "orders", data={"LEVEL": "info"}), deployment()]
    assert found({"LEVEL": "info"}, {"LEVEL": "debug"}, then=world("debug"), first=elsewhere).outcome is U


def test_what_already_was_so_is_hollow_and_what_became_so_is_not() -> None:
    scenario = a_scenario(declared=DECLARED)
    decide = diff.read({"before": {"LEVEL": "info"}, "after": {"KEEP": "x"}}, scenario)
    assert not isinstance(decide, Unreadable)
    assert decide(
        Scene(scenario, read_evidence(a_document(scenario, before=world(), after=world())), {})
    ).vacuous


@pytest.mark.parametrize("side", [None, {}, [], "LEVEL", 3])
def test_a_side_without_fields_cannot_be_evaluated(side: Any) -> None:
    assert unreadable(side, {"LEVEL": "debug"}) == "a state diff needs fields before and after"
    assert unreadable({"LEVEL": "info"}, side) == "a state diff needs fields before and after"


def test_a_kind_that_means_no_single_object_cannot_be_evaluated() -> None:
    two = [*DECLARED, {"resource": "configmap/other", "namespace": "shop"}]
    assert (
        unreadable({"LEVEL": "info"}, {"LEVEL": "debug"}, two)
        == "'configmap' means no single object of the scenario"
    )
    fine = {"LEVEL": "info"}
    assert unreadable(fine, {"service": {"x": 1}}) == "'service' means no single object of the scenario"
    assert unreadable(fine, {"wobbly": {"x": 1}}) == "'wobbly' means no single object of the scenario"
    assert unreadable({"service": {"x": 1}}, fine) == "'service' means no single object of the scenario"


def test_a_field_without_a_meaning_cannot_be_evaluated_on_either_side() -> None:
    good, bad = {"deployment": {"replicas": 3}}, {"deployment": {"colour": "red"}}
    for sides in ((good, bad), (bad, good)):
        assert unreadable(*sides) == "colour: 'red' has no known meaning for an object of the API"


def test_data_may_be_named_as_data() -> None:
    told = {"configmap": {"data": {"LEVEL": "info"}}}
    assert found(told, {"configmap": {"data": {"LEVEL": "debug"}}}, then=world("debug")).outcome is S
    assert found(told, {"configmap": {"data": {"LEVEL": "debug"}}}, then=world("warn")).outcome is V


def test_a_word_that_has_a_meaning_for_some_values_is_read_with_its_value() -> None:
    told = {"deployment": {"status": "running"}}
    assert found(told, told, then=world()).outcome is S


def test_a_diff_may_name_the_namespace_of_its_object() -> None:
    worlds = [deployment(), deployment(namespace="orders", replicas=7)]
    told = {"deployment/web": {"namespace": "orders", "replicas": 7}}
    kept = found(told, told, first=worlds, then=worlds)
    assert kept.outcome is S
    moved = [deployment(replicas=7), deployment(namespace="orders", replicas=1)]
    assert found(told, told, first=worlds, then=moved).outcome is V
    assert (
        found(
            {"deployment/web": {"namespace": "orders", "replicas": 3}}, told, first=worlds, then=worlds
        ).outcome
        is U
    )
