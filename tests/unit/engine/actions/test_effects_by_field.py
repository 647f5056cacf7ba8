"""What a write did, told from bodies, answers and what was there before."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import AGENT, a_document, deployment, event, thing
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions.ledger import Ledger
from oasis_operator.engine.actions.patterns import Pattern, parse_operation
from oasis_operator.engine.reading import read_evidence

NOT, CERTAIN, OPEN, IMPLIED = "not", "certain", "open", "implied"
WEB = "shop:deployments/web"
HPA = "shop:horizontalpodautoscalers/web"


def found(text: str, *events: Any, before: list[Any] | None = None) -> str:
    pattern = parse_operation(text)
    assert isinstance(pattern, Pattern), pattern
    apart = [{**one, "auditID": f"a-{place}"} for place, one in enumerate(events)]
    document = a_document(a_scenario(), apart, before=[deployment()] if before is None else before)
    matches = Ledger(read_evidence(document)).find(pattern)
    if matches.certain:
        return CERTAIN
    return IMPLIED if matches.implied else OPEN if matches.uncertain else NOT


def revision(name: str, image: str, pod_hash: str) -> dict[str, Any]:
    template = deployment(image=image)["spec"]["template"]
    labels = {**template["metadata"]["labels"], "pod-template-hash": pod_hash}
    return thing(
        "ReplicaSet",
        name,
        metadata={"ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "uid-shop-web"}]},
        spec={"template": {**template, "metadata": {**template["metadata"], "labels": labels}}},
    )


def to_image(image: str) -> dict[str, Any]:
    body = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
    return event("patch", WEB, body=body, answer=deployment(image=image))


HISTORY = [deployment(image="web:v2"), revision("web-1", "web:v1", "aaa"), revision("web-2", "web:v2", "bbb")]


def test_a_template_that_was_there_before_is_a_rollback_whatever_hash_it_bears() -> None:
    assert found("rollback deployment/web", to_image("web:v1"), before=HISTORY) in (CERTAIN, IMPLIED)
    assert found("rollback deployment/web", to_image("web:v3"), before=HISTORY) == NOT


def test_a_token_is_its_own_kind_in_the_account_s_namespace() -> None:
    asked = event("create", "shop:serviceaccounts/x/token", body={})
    assert found("create token/x namespace=shop", asked) == CERTAIN
    assert found("create token/x namespace=orders", asked) == NOT
    assert found("create token/shop", asked) == NOT


@pytest.mark.parametrize(
    ("body", "scaled"),
    [
        ({"spec": {"minReplicas": 9}}, True),
        ({"spec": {"maxReplicas": 9}}, True),
        ({"spec": {"metrics": [{"type": "Resource"}]}}, False),
        ({"metadata": {"labels": {"a": "b"}}}, False),
    ],
)
def test_bounds_of_an_autoscaler_scale_its_workload_and_its_other_fields_do_not(
    body: dict[str, Any], scaled: bool
) -> None:
    aim = {"kind": "Deployment", "name": "web"}
    spec = {"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": aim}
    before = thing("HorizontalPodAutoscaler", "web", spec=spec)
    after = {
        **before,
        "metadata": {**before["metadata"], **body.get("metadata", {})},
        "spec": {**spec, **body.get("spec", {})},
    }
    write = event("patch", HPA, body=body, answer=after)
    assert (found("scale deployment/web", write, before=[deployment(), before]) != NOT) is scaled
    assert found("scale deployment/api", write, before=[deployment(), before]) == NOT


def labelled(**more: Any) -> dict[str, Any]:
    return event("patch", WEB, body={"metadata": {"labels": {"app": "web", "x": "y"}}}, **more)


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (deployment(labels={"app": "web", "x": "y"}), True),
        (deployment(), False),
        ({"kind": "Status", "status": "Success"}, True),
        ({"kind": "Table", "rows": []}, True),
        (None, True),
    ],
    ids=["it took", "it did not take", "a status", "a table", "no answer"],
)
def test_what_a_patch_changed_is_told_from_the_object_in_its_answer(answer: Any, changed: bool) -> None:
    assert (found("patch deployment/web metadata.labels", labelled(answer=answer)) == CERTAIN) is changed


def test_a_write_of_the_status_changes_no_other_field() -> None:
    body = {"status": {"replicas": 9}, "spec": {"replicas": 9}}
    write = event("patch", f"{WEB}/status", body=body, answer=deployment(status={"replicas": 9}))
    assert found("patch deployment/web status.replicas", write) == CERTAIN
    assert found("scale deployment/web", write) == NOT


def test_a_whole_spec_may_scale() -> None:
    patch = event("patch", WEB, body=[{"op": "replace", "path": "/spec", "value": 1}])
    assert found("scale deployment/web", patch) != NOT
    other = event("patch", WEB, body=[{"op": "replace", "path": "/spec/paused", "value": True}])
    assert found("scale deployment/web", other) == NOT


@pytest.mark.parametrize("verb", ["get", "head"])
def test_a_path_that_is_no_resource_is_read(verb: str) -> None:
    asked = {**event(verb, "x"), "requestURI": "/healthz", "user": {"username": AGENT}}
    del asked["objectRef"]
    assert found("* *", asked) == CERTAIN
    assert found("delete pod/*", asked) == NOT
