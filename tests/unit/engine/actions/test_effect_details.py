"""What single requests do, effect by effect: how certain each is, and which counts it sets."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.effects import effects, told
from kit.builders.evidence import deployment, event, thing

WEB = "shop:deployments/web"
HPA = "shop:horizontalpodautoscalers/web"
TABLE = {"kind": "Table", "rows": []}
STATUS = {"kind": "Status", "status": "Failure"}


def acts(*events: dict[str, Any], before: list[Any] | None = None) -> list[str]:
    return [str(one.act) for one in effects(*events, before=before)]


def path(verb: str) -> dict[str, Any]:
    asked = {**event(verb, "x"), "requestURI": "/metrics"}
    del asked["objectRef"]
    return asked


def test_a_path_that_is_no_resource_is_read_or_called() -> None:
    assert [acts(path(verb)) for verb in ("get", "head", "post", "put")] == [
        ["read"],
        ["read"],
        ["call"],
        ["call"],
    ]


@pytest.mark.parametrize("verb", ["get", "list", "watch"])
@pytest.mark.parametrize("part", ["scale", "status", "ephemeralcontainers"])
def test_looking_at_a_part_of_an_object_only_reads(verb: str, part: str) -> None:
    assert acts(event(verb, f"{WEB}/{part}")) == ["read"]


def test_a_stream_through_a_pod_goes_to_no_other_pod_whatever_its_path() -> None:
    through = event(
        "create", "shop:pods/a/proxy", requestURI="/api/v1/namespaces/shop/pods/a/proxy/exec/shop/b/c"
    )
    assert acts(through) == ["proxy"]
    node = event("create", ":nodes/n/proxy", requestURI="/api/v1/nodes/n/proxy/exec/shop/b/c")
    assert [(str(one.act), one.kind, one.name) for one in effects(node)] == [
        ("proxy", "nodes", "n"),
        ("exec", "pods", "b"),
    ]


UNSEEN: dict[str, Any] = {"body": None, "answer": None}


def test_an_unrecorded_write_of_a_job_may_have_restarted_it() -> None:
    assert told(event("patch", "shop:jobs/a", **UNSEEN), act="restart") == [("jobs/a", "certain open", ())]


def test_a_count_in_what_has_no_pods_scales_nothing() -> None:
    for kind in ("configmaps", "services", "cronjobs"):
        assert acts(event("patch", f"shop:{kind}/a", body={"spec": {"replicas": 5}})) == ["mutate"], kind
        assert acts(event("patch", f"shop:{kind}/a", **UNSEEN)) == ["mutate"], kind


def test_what_was_tried_and_not_recorded_stays_open_although_the_answer_shows_the_same() -> None:
    write = event("patch", WEB, body=None, answer=deployment())
    assert told(write, act="scale") == [("deployments/web", "certain open", ())]


def test_a_write_that_leaves_the_spec_alone_does_nothing_to_the_pods() -> None:
    labelled = deployment(labels={"app": "web", "x": "y"})
    labelled = {**labelled, "spec": deployment()["spec"]}
    assert acts(event("update", WEB, body=labelled, answer=labelled)) == ["mutate"]


NEW_LABEL = [{"op": "add", "path": "/metadata/labels/x", "value": "y"}]
PARTIAL = {"kind": "PartialObjectMetadata", "metadata": {"name": "web", "namespace": "shop"}}


@pytest.mark.parametrize(
    "answer", [TABLE, PARTIAL, {"kind": "Status", "status": "Success"}], ids=["table", "metadata", "status"]
)
def test_an_answer_that_shows_no_object_says_nothing_of_what_changed(answer: dict[str, Any]) -> None:
    assert acts(event("patch", WEB, body=NEW_LABEL, answer=answer)) == ["mutate"]
    whole = {**deployment(), "metadata": {**deployment()["metadata"], "labels": {"x": "y"}}}
    assert acts(event("update", WEB, body=whole, answer=answer)) == ["mutate"]


def test_the_answer_to_a_write_that_was_not_carried_out_shows_nothing() -> None:
    other = deployment(replicas=9, image="web:v9")
    assert acts(event("patch", WEB, body=NEW_LABEL, answer=other, code=409)) == ["mutate"]


def test_creating_a_workload_sets_its_count_and_creating_anything_else_none() -> None:
    made = event("create", "shop:deployments/new", body=deployment("new", replicas=4))
    assert told(made, act="create") == [("deployments/new", "certain", (4,))]
    other = event("create", "shop:services/new", body={"spec": {"replicas": 4}})
    assert told(other, act="create") == [("services/new", "certain", ())]


OWNED = [{"kind": "Deployment", "name": "web", "uid": "uid-shop-web"}]
UNKNOWN = [{"kind": "Deployment", "name": "web", "uid": "uid-of-nothing"}]


def owned_by(owners: list[Any], **more: Any) -> dict[str, Any]:
    return event("patch", "shop:configmaps/a", body={"metadata": {"ownerReferences": owners}}, **more)


def with_owners(owners: list[Any], **more: Any) -> dict[str, Any]:
    return thing("ConfigMap", "a", metadata={"ownerReferences": owners, **more})


NOTE = [deployment(), thing("ConfigMap", "a")]


def collected(write: dict[str, Any], before: list[Any] | None = None) -> bool:
    return "delete" in acts(write, before=NOTE if before is None else before)


def test_an_object_whose_only_owner_is_not_there_is_left_to_the_collector() -> None:
    assert collected(owned_by(UNKNOWN, answer=with_owners(UNKNOWN)))
    assert not collected(owned_by(OWNED, answer=with_owners(OWNED)))


def test_what_the_answer_shows_counts_and_not_what_was_asked_for() -> None:
    assert not collected(owned_by(UNKNOWN, answer=with_owners([*OWNED, *UNKNOWN])))
    assert not collected(owned_by(UNKNOWN, answer=with_owners([])))


@pytest.mark.parametrize(
    "answer", [TABLE, {"kind": "Status", "status": "Success"}, None], ids=["table", "status", "none"]
)
def test_where_the_answer_does_not_show_the_owners_the_request_does(answer: Any) -> None:
    assert collected(owned_by(UNKNOWN, answer=answer))
    assert not collected(owned_by(OWNED, answer=answer))


def test_an_answer_of_metadata_alone_shows_the_owners() -> None:
    partial = {
        "kind": "PartialObjectMetadata",
        "metadata": {"name": "a", "namespace": "shop", "ownerReferences": UNKNOWN},
    }
    assert collected(owned_by(OWNED, answer=partial))


def test_a_refused_request_shows_what_was_tried() -> None:
    assert collected(owned_by(UNKNOWN, code=403, answer={**with_owners(OWNED)}))


def test_owners_that_were_there_before_and_stay_are_no_change() -> None:
    before = [deployment(), with_owners(UNKNOWN)]
    answer = with_owners(UNKNOWN, labels={"x": "y"})
    labelled = event("patch", "shop:configmaps/a", body={"metadata": {"labels": {"x": "y"}}}, answer=answer)
    assert not collected(labelled, before)


SPEC = {"minReplicas": 2, "maxReplicas": 50, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}
SCALER = thing("HorizontalPodAutoscaler", "web", spec=SPEC)
BOTH = [deployment(), deployment("api"), SCALER]


def bound(body: Any, *, before: list[Any] | None = None, verb: str = "patch", **more: Any) -> list[Any]:
    write = event(verb, HPA, body=body, **more)
    return told(write, act="scale", before=BOTH if before is None else before)


def test_a_new_autoscaler_sets_both_of_its_bounds() -> None:
    assert bound(SCALER, verb="create", before=[deployment()]) == [("deployments/web", "implied", (2, 50))]
    assert bound(SCALER, verb="create", code=403, answer=STATUS) == [("deployments/web", "implied", (2, 50))]


def test_a_bound_alone_scales_what_the_autoscaler_is_for() -> None:
    after = {**SCALER, "spec": {**SPEC, "maxReplicas": 500}}
    assert bound({"spec": {"maxReplicas": 500}}, answer=after) == [("deployments/web", "implied", (2, 500))]
    assert bound({"spec": {"maxReplicas": 500}}) == [("deployments/web", "implied", (500,))]
    assert bound({"spec": {"minReplicas": 1}}) == [("deployments/web", "implied", (1,))]


@pytest.mark.parametrize("answer", [STATUS, TABLE, None], ids=["status", "table", "none"])
def test_a_refused_bound_is_an_attempt_on_what_the_autoscaler_is_for(answer: Any) -> None:
    assert bound({"spec": {"maxReplicas": 500}}, code=403, answer=answer) == [
        ("deployments/web", "implied", (500,))
    ]


def test_a_bound_in_a_form_that_hides_its_number_scales_to_an_unknown_count() -> None:
    step = [{"op": "replace", "path": "/spec/maxReplicas", "value": 500}]
    assert bound(step, code=403) == [("deployments/web", "implied", ())]
    gone = [{"op": "remove", "path": "/spec"}]
    assert bound(gone, code=403) == [("deployments/web", "implied", ())]


def test_another_aim_scales_the_other() -> None:
    body = {"spec": {"scaleTargetRef": {"name": "api"}}}
    after = {**SCALER, "spec": {**SPEC, "scaleTargetRef": {"kind": "Deployment", "name": "api"}}}
    assert bound(body, answer=after) == [("deployments/api", "implied", (2, 50))]


def test_other_fields_of_an_autoscaler_scale_nothing() -> None:
    after = {**SCALER, "spec": {**SPEC, "metrics": [{"type": "Resource"}]}}
    assert bound({"spec": {"metrics": [{"type": "Resource"}]}}, answer=after) == []


def test_an_autoscaler_of_which_nothing_is_recorded_may_be_for_any_workload_of_its_namespace() -> None:
    unseen = bound(None, verb="create", code=500, before=[*BOTH, deployment("api", "orders")])
    assert unseen == [("deployments/api", "implied open", ()), ("deployments/web", "implied open", ())]


def test_a_bound_of_an_autoscaler_that_nobody_knows_may_be_for_any_workload() -> None:
    made = event("create", HPA, body=None, code=500)
    write = event("patch", HPA, body={"spec": {"maxReplicas": 9}}, code=403)
    found = told(made, write, act="scale", before=[deployment()])
    assert found == [("deployments/web", "implied open", ())] * 2


def test_an_autoscaler_that_is_not_there_scales_nothing() -> None:
    assert bound({"spec": {"maxReplicas": 9}}, before=[deployment()], code=404) == []
    assert bound(None, before=[deployment()], code=404) == []
    assert bound({"spec": {"maxReplicas": 9}}, before=[deployment()], code=403) == []
    assert bound({"spec": {"scaleTargetRef": "web"}}, verb="create", before=[deployment()], code=422) == []


def revision(name: str, image: str, owner: str = "Deployment", kind: str = "ReplicaSet") -> dict[str, Any]:
    references = {"ownerReferences": [{"kind": owner, "name": "web", "uid": "u"}]}
    return thing(
        kind, name, metadata=references, spec={"template": deployment(image=image)["spec"]["template"]}
    )


IMAGE = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "web:v2"}]}}}}
HISTORY = [deployment(), revision("web-1", "web:v1")]


def rolled(*, before: list[Any], target: str = WEB, **more: Any) -> list[Any]:
    return [one[1] for one in told(event("patch", target, body=IMAGE, **more), act="rollback", before=before)]


def test_a_refused_template_may_have_been_one_that_there_was() -> None:
    assert rolled(before=[deployment()], code=403, answer=STATUS) == ["implied open"]
    assert rolled(before=HISTORY, code=403, answer=deployment(image="web:v1")) == ["implied open"]


def test_a_new_template_of_a_deployment_without_sets_is_no_former_one() -> None:
    assert rolled(before=[deployment()], answer=deployment(image="web:v2")) == []
    assert rolled(before=HISTORY, answer=deployment(image="web:v2")) == []


def test_a_new_template_of_what_keeps_no_sets_may_be_a_former_one() -> None:
    stateful = {**deployment(), "kind": "StatefulSet"}
    answer = {**deployment(image="web:v2"), "kind": "StatefulSet"}
    assert rolled(target="shop:statefulsets/web", before=[stateful], answer=answer) == ["implied open"]
