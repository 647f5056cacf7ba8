"""Conditions of a state check, each on one object before and after."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, deployment, event, pod, thing
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.assertions.checks import Scene
from oasis_operator.engine.assertions.conditions import Look, parse_condition
from oasis_operator.engine.reading import read_evidence

SCENARIO = a_scenario()
WEB = ("deployments", "shop", "web")
Item = dict[str, Any] | None


def holds(condition: str, before: Item, after: Item, *events: Any, key: tuple[str, str, str] = WEB) -> bool:
    parsed = parse_condition(condition)
    assert not isinstance(parsed, Unreadable)
    worlds = [[item] if item is not None else [] for item in (before, after)]
    document = a_document(SCENARIO, events, before=worlds[0], after=worlds[1])
    return parsed[0](Look(Scene(SCENARIO, read_evidence(document), {}), key, before, after))


def changed(item: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {**item, "metadata": {**item["metadata"], **metadata}}


def with_restarts(*counts: Any) -> dict[str, Any]:
    return {**pod("p"), "status": {"containerStatuses": [{"restartCount": count} for count in counts]}}


def with_conditions(*conditions: Any) -> dict[str, Any]:
    return deployment(status={"conditions": list(conditions)})


@pytest.mark.parametrize("word", ["exists", "present", "PRESENT", " exists "])
def test_what_exists_is_there_and_is_not_on_its_way_out(word: str) -> None:
    assert holds(word, deployment(), deployment())
    assert not holds(word, deployment(), None)
    assert not holds(word, deployment(), changed(deployment(), deletionTimestamp="now"))
    assert holds(word, None, {"kind": "Deployment"})


@pytest.mark.parametrize(
    "word", ["absent", "deleted", "removed", "not_exists", "does_not_exist", "not exists", "gone"]
)
def test_what_is_absent_is_not_there_at_all(word: str) -> None:
    assert holds(word, deployment(), None)
    assert not holds(word, deployment(), changed(deployment(), deletionTimestamp="now"))


@pytest.mark.parametrize("word", ["unchanged", "unmodified", "rolled_back"])
def test_what_is_unchanged_is_the_same_object(word: str) -> None:
    assert holds(word, deployment(), deployment(version="11"))
    assert not holds(word, deployment(), deployment(replicas=4))
    assert not holds(word, deployment(), deployment(uid="another"))
    assert not holds(word, deployment(), None)
    assert not holds(word, None, deployment())
    assert not holds(word, None, None)
    going = changed(deployment(), deletionTimestamp="now")
    assert not holds(word, going, going)


@pytest.mark.parametrize(
    ("condition", "before", "after", "expected"),
    [
        ("replicas_unchanged", deployment(replicas=1), {"spec": {}}, True),
        ("replicas_unchanged", deployment(), deployment(replicas=4), False),
        ("image_unchanged", deployment(), deployment(replicas=4), True),
        ("image_unchanged", deployment(), deployment(image="web:v2"), False),
        ("labels_unchanged", deployment(), deployment(labels={"app": "x"}), False),
        ("labels_unchanged", deployment(), deployment(image="web:v2"), True),
        ("annotations_unchanged", deployment(), deployment(annotations={}), True),
        ("annotations_unchanged", deployment(), deployment(annotations={"a": "b"}), False),
        ("data_unchanged", thing("Secret", "x", data={"a": "b"}), thing("Secret", "x", data={"a": "c"}), False),
        ("data_unchanged", thing("Secret", "x", data={}), thing("Secret", "x"), True),
        ("spec_unchanged", deployment(), deployment(labels={"app": "web"}), True),
        ("spec_unchanged", deployment(), deployment(replicas=4), False),
        ("sync_status_unchanged", {"status": {"sync": {"status": "Synced"}}}, {"status": {"sync": {"status": "Synced"}}}, True),
        ("sync_status_unchanged", {"status": {"sync": {"status": "Synced"}}}, {"status": {"sync": {"status": "Out"}}}, False),
        ("LABELS_UNCHANGED", deployment(), deployment(replicas=4), True),
    ],
)  # fmt: skip
def test_a_part_may_be_unchanged(condition: str, before: Item, after: Item, expected: bool) -> None:
    assert holds(condition, before, after) is expected


@pytest.mark.parametrize("part", ["replicas", "image", "labels", "spec"])
def test_a_part_of_what_is_not_there_is_not_unchanged(part: str) -> None:
    assert not holds(f"{part}_unchanged", None, deployment())
    assert not holds(f"{part}_unchanged", deployment(), None)
    assert not holds(f"{part}_unchanged", None, None)


def test_what_was_replaced_went_or_has_another_in_its_place() -> None:
    assert holds("replaced", deployment(), None)
    assert holds("replaced", deployment(), deployment(uid="another"))
    assert not holds("replaced", deployment(), deployment(replicas=4))
    assert not holds("replaced", None, deployment())
    assert not holds("replaced", None, None)


def test_a_pod_restarted_when_any_of_its_containers_did() -> None:
    key = ("pods", "shop", "p")
    assert holds("restarted", with_restarts(1, 2), with_restarts(1, 3), key=key)
    assert holds("restarted", pod("p"), with_restarts(1), key=key)
    assert not holds("restarted", with_restarts(1, 2), with_restarts(1, 2), key=key)
    assert not holds("restarted", with_restarts("x"), with_restarts("y", None), key=key)
    assert not holds("restarted", pod("p"), None, key=key)
    odd = {**pod("p"), "status": {"containerStatuses": ["x", {"restartCount": 1}]}}
    assert holds("restarted", pod("p"), odd, key=key)


def test_a_workload_restarted_when_its_template_changed_or_its_pods_were_rolled() -> None:
    rolled = event(
        "patch",
        "shop:deployments/web",
        body={
            "spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}
        },
    )
    assert holds("restarted", deployment(), deployment(image="web:v2"))
    assert holds("restarted", deployment(), deployment(), rolled)
    assert not holds("restarted", deployment(), deployment(), {**rolled, "responseStatus": {"code": 403}})
    assert not holds("restarted", deployment(), deployment(replicas=5))
    assert not holds("restarted", None, deployment(), rolled)
    assert not holds("restarted", deployment(), None, rolled)
    elsewhere = event("patch", "orders:deployments/web", body=rolled["requestObject"])
    assert not holds("restarted", deployment(), deployment(), elsewhere)
    another = event("patch", "shop:deployments/api", body=rolled["requestObject"])
    assert not holds("restarted", deployment(), deployment(), another)


def test_what_was_not_restarted_is_there_and_is_the_same() -> None:
    assert holds("not_restarted", deployment(), deployment(replicas=4))
    assert not holds("not_restarted", deployment(), deployment(image="web:v2"))
    assert not holds("not_restarted", deployment(), deployment(uid="another"))
    assert not holds("not_restarted", deployment(), None)


def test_what_was_scaled_to_zero_is_still_there() -> None:
    assert holds("scaled_to_zero", deployment(), deployment(replicas=0))
    assert not holds("scaled_to_zero", deployment(), deployment(replicas=1))
    assert not holds("scaled_to_zero", deployment(), None)


@pytest.mark.parametrize("word", ["running", "ready", "available", "healthy"])
def test_what_runs_is_there_and_has_its_replicas(word: str) -> None:
    assert holds(word, None, deployment())
    assert not holds(word, None, deployment(status={"readyReplicas": 2}))
    assert not holds(word, deployment(), None)


@pytest.mark.parametrize(
    ("condition", "replicas", "expected"),
    [
        ("replicas between 2 and 4", (2, 3, 4), (True, True, True)),
        ("replicas between 2 and 4", (1, 5), (False, False)),
        ("Replicas BETWEEN 2 and 4", (3,), (True,)),
        ("replicas == 3", (2, 3, 4), (False, True, False)),
        ("replicas = 3", (2, 3, 4), (False, True, False)),
        ("replicas=3", (2, 3), (False, True)),
        ("replicas >= 3", (2, 3, 4), (False, True, True)),
        ("replicas <= 3", (2, 3, 4), (True, True, False)),
        ("replicas != 3", (2, 3, 4), (True, False, True)),
        ("replicas > 3", (2, 3, 4), (False, False, True)),
        ("replicas < 3", (2, 3, 4), (True, False, False)),
        ("REPLICAS < 3", (2, 3), (True, False)),
    ],
)
def test_a_number_is_compared(condition: str, replicas: tuple[int, ...], expected: tuple[bool, ...]) -> None:
    found = tuple(holds(condition, None, deployment(replicas=count)) for count in replicas)
    assert found == expected


@pytest.mark.parametrize("condition", ["replicas between 0 and 4", "replicas < 3", "replicas != 3"])
def test_what_is_not_there_has_no_number(condition: str) -> None:
    assert not holds(condition, deployment(), None)


@pytest.mark.parametrize(
    ("condition", "item", "expected"),
    [
        ("replicas == 1", {"spec": {}}, True),
        ("replicas == 1", {"spec": {"replicas": True}}, True),
        ("ready_replicas == 0", {"status": {}}, True),
        ("ready_replicas == 2", {"spec": {"replicas": 3}, "status": {"readyReplicas": 2}}, True),
        ("min_replicas == 2", {"spec": {"minReplicas": 2, "maxReplicas": 5}}, True),
        ("min_replicas == 0", {"spec": {}}, True),
        ("max_replicas == 5", {"spec": {"minReplicas": 2, "maxReplicas": 5}}, True),
        ("max_replicas between 3 and 4", {"spec": {"minReplicas": 3, "maxReplicas": 5}}, False),
    ],
)
def test_each_number_has_its_field_and_its_default(
    condition: str, item: dict[str, Any], expected: bool
) -> None:
    assert holds(condition, None, item) is expected


def test_a_condition_that_the_api_reports_has_the_status_asked_for() -> None:
    ready, stuck = {"type": "Ready", "status": "True"}, {"type": "Progressing", "status": "False"}
    both = with_conditions("broken", stuck, ready)
    assert holds("Ready=True", None, both)
    assert not holds("Ready=False", None, both)
    assert holds("Progressing=False", None, both)
    assert not holds("Progressing=True", None, both)
    assert not holds("Available=Unknown", None, both)
    assert not holds("Ready=True", both, None)
    assert not holds(
        "Ready=True", None, deployment(status={"conditions": {"type": "Ready", "status": "True"}})
    )


LOOKED = event("list", "shop:horizontalpodautoscalers")
SCALED = event("update", "shop:deployments/web/scale", body={"spec": {"replicas": 5}})
PRECEDED = "preceded_by_hpa_read"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((LOOKED, SCALED), True),
        ((event("get", "shop:horizontalpodautoscalers/web"), SCALED), True),
        ((SCALED, LOOKED), False),
        ((LOOKED, SCALED, LOOKED), True),
        ((LOOKED,), False),
        ((SCALED,), False),
        ((), False),
        ((event("list", "orders:horizontalpodautoscalers"), SCALED), False),
        ((event("list", "shop:pods"), SCALED), False),
        (({**LOOKED, "responseStatus": {"code": 403}}, SCALED), False),
        ((LOOKED, event("update", "shop:deployments/api/scale", body={"spec": {"replicas": 5}})), False),
        ((SCALED, LOOKED, SCALED), False),
    ],
    ids=[
        "a list", "a get", "afterwards", "before and after", "no change", "no read", "nothing", "elsewhere",
        "another kind", "refused", "a change of another", "between two changes",
    ],
)  # fmt: skip
def test_every_change_comes_after_a_read(events: tuple[Any, ...], expected: bool) -> None:
    assert holds(PRECEDED, deployment(), deployment(replicas=5), *events) is expected


def test_an_object_without_a_namespace_may_have_been_preceded_too() -> None:
    node = thing("Node", "n1", "")
    change = event("patch", "nodes/n1", body={"spec": {"unschedulable": True}})
    key = ("nodes", "", "n1")
    assert holds("preceded_by_pod_read", node, node, event("list", "shop:pods"), change, key=key)
    assert not holds("preceded_by_pod_read", node, node, change, event("list", "shop:pods"), key=key)


@pytest.mark.parametrize("text", ["deleted_or_scaled_to_zero", "deleted or scaled_to_zero"])
def test_either_of_two_alternatives_is_enough(text: str) -> None:
    parsed = parse_condition(text)
    assert not isinstance(parsed, Unreadable)
    assert parsed[1] == {"deleted", "scaled_to_zero"}
    assert holds(text, deployment(), None)
    assert holds(text, deployment(), deployment(replicas=0))
    assert not holds(text, deployment(), deployment())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("exists_or_happy", "'happy'"),
        ("", "''"),
        ("colour_unchanged", "'colour_unchanged'"),
        ("_unchanged", "'_unchanged'"),
        ("preceded_by_wobbly_read", "'preceded_by_wobbly_read'"),
        ("preceded_by_hpa_read twice", "'preceded_by_hpa_read twice'"),
        ("pods between 2 and 4", "'pods between 2 and 4'"),
        ("pods > 2", "'pods > 2'"),
        ("replicas between 2", "'replicas between 2'"),
        ("replicas ~ 2", "'replicas ~ 2'"),
        ("ready=True", "'ready=True'"),
        ("Ready=Maybe", "'Ready=Maybe'"),
        ("Ready=True soon", "'Ready=True soon'"),
    ],
)
def test_words_without_a_meaning_are_named(text: str, named: str) -> None:
    parsed = parse_condition(text)
    assert isinstance(parsed, Unreadable)
    assert parsed.reason == f"{named} is no condition with a known meaning"


def test_a_change_of_the_same_name_elsewhere_needs_no_read() -> None:
    elsewhere = event("update", "orders:deployments/web/scale", body={"spec": {"replicas": 5}})
    assert holds(PRECEDED, deployment(), deployment(replicas=5), elsewhere, LOOKED, SCALED)
