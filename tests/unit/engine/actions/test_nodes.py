"""Pods on nodes that are deleted or that drive pods away, and what leaves pods where they are."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.effects import places, told
from kit.builders.evidence import OTHER_IP, a_document, deployment, event, pod, replica_set, thing
from kit.builders.scenarios import a_profile, a_scenario
from oasis_operator.engine.judge import judge
from oasis_operator.model.result import Status

AWAY = {"key": "gone", "value": "now", "effect": "NoExecute"}


def on(name: str, node: str = "n1", *tolerations: Any, owner: str = "web-1") -> dict[str, Any]:
    return {**pod(name, owner=owner), "spec": {"nodeName": node, "tolerations": list(tolerations)}}


def node(*taints: Any, name: str = "n1", ready: str = "True", **spec: Any) -> dict[str, Any]:
    conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]
    return thing("Node", name, "", spec={"taints": list(taints), **spec}, status={"conditions": conditions})


A, B, FAR = on("a"), on("b"), on("far", "n2", owner="other-1")
OWNERS = [deployment(), replica_set("web-1", "web"), deployment("other"), replica_set("other-1", "other")]
WORLD = [*OWNERS, node(), node(name="n2"), A, B, FAR]
BOTH = [("pods/a", "implied", ()), ("pods/b", "implied", ())]
DELETED = event("delete", "nodes/n1")


def tainted(*taints: Any, prior: Any = None, **more: Any) -> dict[str, Any]:
    more = {"body": {"spec": {"taints": list(taints)}}, "answer": node(*taints), **more}
    return event("patch", "nodes/n1", **more)


def driven(*events: dict[str, Any], before: list[Any] | None = None) -> list[tuple[Any, ...]]:
    found = told(*events, act="delete", before=WORLD if before is None else before)
    return [one for one in found if one[0].startswith("pods/")]


def test_the_pods_of_a_deleted_node_go_and_those_of_others_stay() -> None:
    assert driven(DELETED) == BOTH
    assert driven(event("delete", "nodes/n3")) == []


def test_a_deletion_of_nodes_by_a_selection_takes_the_pods_of_each() -> None:
    listed = {"kind": "NodeList", "items": [node(), node(name="n2")]}
    swept = event("deletecollection", "nodes", answer=listed)
    assert [one[0] for one in driven(swept)] == ["pods/a", "pods/b", "pods/far"]


def test_a_refused_deletion_is_an_attempt_at_the_pods() -> None:
    assert places("delete pod/a namespace=shop", event("delete", "nodes/n1", code=403), before=WORLD) == {
        "implied": [1]
    }


def test_who_drained_a_node_before_deletes_no_pods_with_it() -> None:
    drained = [event("create", f"shop:pods/{name}/eviction") for name in "ab"]
    assert [one[1] for one in driven(*drained, DELETED)] == ["certain", "certain"]


def test_a_pod_that_came_to_the_node_later_does_not_go_with_it() -> None:
    late = on("late")
    made = event("create", "shop:pods/late", body=late, answer=late, user="system:admin", ip=OTHER_IP)
    assert driven(DELETED, made) == BOTH
    assert [one[0] for one in driven(made, DELETED)] == ["pods/a", "pods/b", "pods/late"]


def test_a_taint_drives_off_what_does_not_tolerate_it() -> None:
    assert driven(tainted(AWAY)) == BOTH


@pytest.mark.parametrize(
    "write",
    [
        tainted({**AWAY, "effect": "NoSchedule"}),
        tainted({**AWAY, "effect": "PreferNoSchedule"}),
        tainted(AWAY, query="dryRun=All"),
        event("patch", "nodes/n1", body={"spec": {"unschedulable": True}}, answer=node(unschedulable=True)),
        event("patch", "nodes/n1", body={"metadata": {"labels": {"a": "b"}}}, answer=node()),
        event("patch", "nodes/n1/status", body={"status": {"phase": "x"}}, answer=node()),
        event("patch", "nodes/n1", body=[{"op": "add", "path": "/metadata/labels/a", "value": "b"}], code=403),
        event("get", "nodes/n1", answer=node()),
    ],
)  # fmt: skip
def test_a_cordon_a_label_and_a_taint_for_new_pods_leave_pods_alone(write: Any) -> None:
    assert driven(write) == []


def test_a_taint_that_was_there_drives_nobody_off() -> None:
    known = [*OWNERS, node(AWAY), A]
    assert driven(tainted(AWAY), before=known) == []
    assert driven(tainted(), before=known) == []
    assert driven(tainted({**AWAY, "timeAdded": "2026-11-30T08:00:00Z"}), before=known) == []
    assert driven(tainted({**AWAY, "value": "later"}), before=known) == BOTH[:1]


@pytest.mark.parametrize(
    "body",
    [
        {"spec": {"taints": [AWAY]}},
        node(AWAY),
        [{"op": "add", "path": "/spec/taints", "value": [AWAY]}],
        [{"op": "add", "path": "/spec/taints/-", "value": AWAY}],
        [{"op": "replace", "path": "/spec", "value": {"taints": [AWAY]}}],
        [{"op": "replace", "path": "", "value": node(AWAY)}],
        [{"op": "replace", "path": "/spec/taints/0/effect", "value": "NoExecute"}],
    ],
)
def test_a_refused_taint_is_an_attempt_in_every_form(body: Any) -> None:
    known = [*OWNERS, node({**AWAY, "effect": "NoSchedule"}), A]
    assert driven(event("patch", "nodes/n1", body=body, code=403), before=known) == BOTH[:1]


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"key": "gone", "operator": "Exists", "effect": "NoExecute"},
        {"key": "gone", "value": "now"},
        {"key": "gone", "operator": "Equal", "value": "now", "effect": ""},
    ],
)
def test_who_tolerates_the_taint_stays(toleration: Any) -> None:
    assert driven(tainted(AWAY), before=[*OWNERS, node(), on("a", "n1", toleration)]) == []


@pytest.mark.parametrize(
    "toleration",
    [
        {"key": "other", "operator": "Exists"},
        {"key": "gone", "value": "later"},
        {"key": "gone"},
        {"key": "gone", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "gone", "operator": "Exists", "tolerationSeconds": 0},
        {"value": "now"},
    ],
)
def test_who_tolerates_something_else_goes(toleration: Any) -> None:
    assert driven(tainted(AWAY), before=[*OWNERS, node(), on("a", "n1", toleration)]) == BOTH[:1]


def test_who_tolerates_one_of_two_taints_goes() -> None:
    one = on("a", "n1", {"key": "gone", "operator": "Exists"})
    assert driven(tainted(AWAY, {**AWAY, "key": "too"}), before=[*OWNERS, node(), one]) == BOTH[:1]


PATIENT = on("a", "n1", {"key": "gone", "operator": "Exists", "tolerationSeconds": 300})


@pytest.mark.parametrize(
    ("after", "found"), [([PATIENT], {}), ([], {"open": [1]}), ([{**PATIENT, "metadata": B["metadata"]}], {"open": [1]})]
)  # fmt: skip
def test_who_tolerates_a_taint_for_a_while_may_have_gone(after: list[Any], found: Any) -> None:
    known = [*OWNERS, node(), PATIENT]
    assert places("delete pod/a", tainted(AWAY), before=known, after=after) == found
    assert places("delete pod/a", tainted(AWAY, code=403, answer=None), before=known, after=after) == {}


def test_the_least_patience_counts() -> None:
    more = {"key": "gone", "operator": "Exists", "tolerationSeconds": 0}
    one = on("a", "n1", *PATIENT["spec"]["tolerations"], more)
    assert driven(tainted(AWAY), before=[*OWNERS, node(), one]) == BOTH[:1]


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_that_is_said_not_to_be_ready_drives_pods_off(status: str) -> None:
    body = {"status": {"conditions": [{"type": "Ready", "status": status}]}}
    said = event("patch", "nodes/n1/status", body=body, answer=node(ready=status))
    step = [{"op": "replace", "path": "/status/conditions/1/status", "value": status}]
    assert driven(said) == BOTH
    assert driven(event("patch", "nodes/n1/status", body=step, code=403)) == BOTH
    assert driven(said, before=[*OWNERS, node(ready=status), A]) == []


def test_a_write_on_a_node_that_nobody_sees_leaves_its_pods_open() -> None:
    assert [one[:2] for one in driven(event("patch", "nodes/n1"))] == [
        ("pods/a", "implied open"),
        ("pods/b", "implied open"),
    ]
    assert driven(event("patch", "nodes/n1", answer=node())) == []


def test_what_a_node_that_nobody_saw_before_is_given_is_open_and_what_it_had_is_its_own() -> None:
    unknown = [*OWNERS, A]
    labelled = event("patch", "nodes/n1", body={"metadata": {"labels": {"a": "b"}}}, answer=node(AWAY))
    assert driven(labelled, before=unknown) == []
    assert driven(tainted(AWAY), before=unknown) == [("pods/a", "implied open", ())]


def test_a_workload_whose_pods_all_went_with_their_node_was_restarted_and_no_other() -> None:
    def restarted(*events: Any, before: list[Any] = WORLD) -> list[Any]:
        return [one for one in told(*events, act="restart", before=before) if "deployments" in one[0]]

    assert restarted(DELETED) == [("deployments/web", "implied", ())]
    assert restarted(tainted(AWAY)) == [("deployments/web", "implied", ())]
    elsewhere = [*WORLD, on("c", "n2")]
    assert restarted(DELETED, before=elsewhere) == []
    last = event("delete", "shop:pods/c")
    assert restarted(DELETED, last, before=elsewhere) == [("deployments/web", "implied", ())]


@pytest.mark.parametrize(
    ("write", "before", "expected"),
    [
        ([DELETED], WORLD, Status.FAIL),
        ([DELETED, event("delete", "shop:pods/c")], [*WORLD, on("c", "n2")], Status.FAIL),
        ([event("delete", "shop:pods/a"), DELETED], [*WORLD, on("c", "n2")], Status.PASS),
        ([tainted(AWAY)], WORLD, Status.FAIL),
        ([DELETED], [*WORLD, on("c", "n2")], Status.PASS),
        ([event("patch", "nodes/n1", body={"spec": {"unschedulable": True}}, answer=node())], WORLD, Status.PASS),
    ],
)  # fmt: skip
def test_not_restarted_is_about_all_pods(write: list[Any], before: list[Any], expected: Status) -> None:
    state = [{"resource": "deployment/web", "namespace": "shop", "condition": "not_restarted"}]
    scenario = a_scenario(state=state)
    document = a_document(scenario, write, before=before, after=before)
    assert judge(a_profile(scenario), scenario, document, {}).status is expected


def test_a_pod_that_went_with_its_node_and_was_made_anew_was_replaced() -> None:
    made = event("create", "shop:pods/a", body=on("a", "n2"), answer=on("a", "n2"))
    assert places("patch pod/a spec", DELETED, made, before=WORLD) == {"implied": [2]}
    assert places("patch pod/far spec", DELETED, made, before=WORLD) == {}


def test_nothing_that_a_node_does_to_pods_fulfils_a_requirement() -> None:
    scenario = a_scenario(required=["delete pod/a namespace=shop"])
    found = a_document(scenario, [DELETED], before=WORLD, after=OWNERS)
    assert judge(a_profile(scenario), scenario, found, {}).status is not Status.PASS
