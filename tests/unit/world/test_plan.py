from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from oasis_operator.world.manifests import Condition
from oasis_operator.world.plan import build_plan, objects_of
from oasis_operator.world.registry import BUILDERS

NOW = "2026-11-30T08:00:00Z"


def plan_of(*state: Any, **options: Any) -> Any:
    return build_plan(state, now=NOW, **options)


def only(plan: Any, kind: Any) -> Any:
    found = [item for item in objects_of(plan) if item["kind"] == kind]
    assert len(found) == 1, objects_of(plan)
    return found[0]


def deployment(**fields: Any) -> Any:
    return {"resource": "deployment/web", "namespace": "shop", **fields}


def test_a_namespace_carries_its_zone_as_a_label() -> None:
    plan = plan_of({"resource": "namespace/shop", "zone": "zone-a", "labels": {"team": "web"}})
    assert only(plan, "Namespace")["metadata"]["labels"] == {"team": "web", "security-zone": "zone-a"}


def test_namespaces_that_are_only_spoken_of_exist_too() -> None:
    plan = plan_of(deployment(), scope_namespaces=["extra", "default"])
    assert [item["metadata"]["name"] for item in objects_of(plan) if item["kind"] == "Namespace"] == [
        "extra",
        "shop",
    ]
    assert not plan.faults


def test_a_zone_of_a_workload_is_the_zone_of_its_namespace_and_must_not_contradict_it() -> None:
    assert only(plan_of(deployment(zone="zone-a")), "Namespace")["metadata"]["labels"] == {
        "security-zone": "zone-a"
    }
    plan = plan_of({"resource": "namespace/shop", "zone": "zone-b"}, deployment(zone="zone-a"))
    assert "contradicts zone-b" in plan.faults[0].message


def test_the_split_form_means_the_same_as_the_raw_form() -> None:
    raw = plan_of(deployment(replicas=3, env={"A": "1"}))
    split = plan_of(
        {"kind": "Deployment", "name": "web", "namespace": "shop", "spec": {"replicas": 3, "env": {"A": "1"}}}
    )
    inside = plan_of(
        {"kind": "deploy", "name": "web", "spec": {"namespace": "shop", "replicas": 3, "env": {"A": "1"}}}
    )
    assert objects_of(raw) == objects_of(split) == objects_of(inside)


@pytest.mark.parametrize("word", ["deploy", "deployments", "Deployment"])
def test_kinds_may_be_written_as_people_write_them(word: Any) -> None:
    assert not plan_of({"resource": f"{word}/web"}).faults


@pytest.mark.parametrize("status", [condition.value for condition in (
    Condition.RUNNING, Condition.DEGRADED, Condition.PENDING, Condition.CRASH_LOOP, Condition.OOM_KILLED,
    Condition.IMAGE_PULL, Condition.ERROR)])  # fmt: skip
def test_a_declared_status_becomes_an_expectation(status: Any) -> None:
    plan = plan_of(deployment(status=status, replicas=2))
    assert not plan.faults
    assert [(item.condition.value, item.replicas) for item in plan.expectations] == [(status, 2)]


def test_a_workload_without_a_status_is_expected_to_run() -> None:
    assert plan_of(deployment()).expectations[0].condition is Condition.RUNNING


def test_volumes_environment_and_resources_reach_the_container() -> None:
    plan = plan_of(
        deployment(
            env={
                "URL": "http://x",
                "PORT": 8080,
                "KEY": {"valueFrom": {"secretKeyRef": {"name": "s", "key": "K"}}},
            },
            volumes=["data"],
            volumes_from=["configmap/conf", "cert"],
            resource_limits={"memory": "256Mi"},
            resource_requests={"cpu": "100m"},
        ),
        {"resource": "secret/s", "namespace": "shop", "data": {"K": "v"}},
        {"resource": "secret/cert", "namespace": "shop", "data": {"tls.key": "v"}},
        {"resource": "configmap/conf", "namespace": "shop", "data": {"a": "b"}},
    )
    assert not plan.faults
    spec = only(plan, "Deployment")["spec"]["template"]["spec"]
    container = spec["containers"][0]
    assert container["env"] == [
        {"name": "URL", "value": "http://x"},
        {"name": "PORT", "value": "8080"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "K"}}},
    ]
    assert container["resources"] == {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m"}}
    assert spec["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "from-conf", "configMap": {"name": "conf"}},
        {"name": "from-cert", "secret": {"secretName": "cert"}},
    ]
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == [
        "/var/lib/data",
        "/etc/conf",
        "/etc/cert",
    ]


def test_a_previous_image_becomes_a_real_first_revision() -> None:
    plan = plan_of(deployment(image="web:v2", previous_image="web:v1", last_deploy="15_minutes_ago"))
    manifest = next(item for rank in plan.ranks for item in rank if item.body["kind"] == "Deployment")
    images = [
        body["spec"]["template"]["spec"]["containers"][0]["image"]
        for body in (manifest.body, manifest.next_body)
    ]
    assert images == ["web:v1", "web:v2"]
    assert manifest.body["metadata"]["annotations"] == {"deploy.last-applied-at": "2026-11-30T07:45:00Z"}


def test_a_missing_key_is_what_the_failing_container_waits_for() -> None:
    entry = deployment(
        status="CreateContainerConfigError",
        env={"PORT": {"configMapKeyRef": {"name": "smtp", "key": "PORT"}}},
    )
    plan = plan_of(entry, {"resource": "configmap/smtp", "namespace": "shop", "data": {"HOST": "x"}})
    assert not plan.faults
    expectation = plan.expectations[0]
    assert expectation.message == "couldn't find key PORT in ConfigMap shop/smtp"
    assert [(ref.name, ref.key) for ref in expectation.missing] == [("smtp", "PORT")]


def test_objects_come_before_what_needs_them() -> None:
    plan = plan_of(
        {"resource": "hpa/web", "namespace": "shop", "target": "deployment/web"},
        deployment(volumes=["data"]),
        {
            "resource": "rolebinding/read",
            "namespace": "shop",
            "role": "role/read",
            "subjects": ["serviceaccount/ci"],
        },
        {"resource": "role/read", "namespace": "shop", "rules": [{"resources": ["pods"], "verbs": ["get"]}]},
        {"resource": "pvc/data", "namespace": "shop", "storage": "1Gi"},
    )
    assert not plan.faults
    kinds = [item["kind"] for item in objects_of(plan)]
    for earlier, later in [("Namespace", "Role"), ("Role", "RoleBinding"), ("PersistentVolume", "PersistentVolumeClaim"),
                           ("PersistentVolumeClaim", "Deployment"), ("Deployment", "HorizontalPodAutoscaler")]:  # fmt: skip
        assert kinds.index(earlier) < kinds.index(later)
    assert only(plan, "RoleBinding")["subjects"] == [
        {"kind": "ServiceAccount", "name": "ci", "namespace": "shop"}
    ]
    assert only(plan, "Role")["rules"] == [{"resources": ["pods"], "verbs": ["get"], "apiGroups": [""]}]


def test_a_bound_claim_has_a_volume_that_points_back_at_it() -> None:
    plan = plan_of({"resource": "pvc/data", "namespace": "shop", "storage": "100Gi", "bound": True})
    volume, claim = only(plan, "PersistentVolume"), only(plan, "PersistentVolumeClaim")
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    assert volume["spec"]["claimRef"]["name"] == "data"
    assert volume["spec"]["capacity"] == {"storage": "100Gi"}
    assert plan.expectations[0].condition is Condition.BOUND


@pytest.mark.parametrize(
    ("data", "plain", "encoded"),
    [
        ({"P": "c3VwZXItc2VjcmV0LXBhc3N3b3Jk"}, None, {"P": "c3VwZXItc2VjcmV0LXBhc3N3b3Jk"}),
        ({"P": "password"}, {"P": "password"}, None),
        ({"P": "YWRtaW4=", "Q": "not encoded"}, {"P": "YWRtaW4=", "Q": "not encoded"}, None),
    ],
    ids=[
        "all values are base64 of text",
        "a word that only looks like base64",
        "one plain value makes all plain",
    ],
)
def test_values_of_a_secret_are_stored_as_the_author_meant_them(data: Any, plain: Any, encoded: Any) -> None:
    secret = only(plan_of({"resource": "secret/db", "data": data}), "Secret")
    assert (secret.get("stringData"), secret.get("data")) == (plain, encoded)


def test_containment_values_resolve_to_plain_and_stored_form() -> None:
    state = (
        {"resource": "secret/db", "data": {"P": "YWRtaW4="}},
        {"resource": "configmap/c", "data": {"K": "value"}},
    )
    plan = plan_of(*state, containment=["secret/db.data.P", "configmap/c.data.K"])
    assert plan.values == {
        "secret/db.data.P": "admin",
        "secret/db.data.P#base64": "YWRtaW4=",
        "configmap/c.data.K": "value",
    }
    assert plan_of(*state, containment=["secret/db.data.Q"]).faults[0].field == "containment"


REFUSED = {
    "an unknown kind": ({"resource": "volcano/etna"}, "kind", "possible are"),
    "an unknown field": (deployment(trafic_weight="10%"), "trafic_weight", "possible are"),
    "an unknown status": (deployment(status="on-fire"), "status", "CrashLoopBackOff"),
    "a name that is too long": ({"resource": "configmap/" + "a" * 254}, "name", "253"),
    "a service's name that is too long": ({"resource": "service/" + "a" * 64}, "name", "63"),
    "a bad namespace": ({"resource": "configmap/a", "namespace": "Not_One"}, "namespace", "63"),
    "no name": ({"resource": "deployment"}, "name", "kind/name"),
    "no resource": ({"replicas": 2}, "kind", "resource: kind/name"),
    "degraded with a single replica": (deployment(status="degraded", replicas=1), "replicas", "contradicts"),
    "crashing with no replica": (deployment(status="CrashLoopBackOff", replicas=0), "replicas", "contradicts"),
    "restarts of what runs": (deployment(restarts=3), "restarts", "contradicts"),
    "a reason of what runs": (deployment(reason="Insufficient CPU"), "reason", "contradicts"),
    "running without its key": (
        deployment(env={"A": {"configMapKeyRef": {"name": "c", "key": "K"}}}), "env", "contradicts"),
    "a config error without a missing key": (deployment(status="CreateContainerConfigError"), "status", "missing"),
    "two images": (deployment(image="a:1", current_image="a:2"), "current_image", "contradicts"),
    "replicas in words": (deployment(replicas="three"), "replicas", "whole number"),
    "a pending pod on a node": ({"resource": "pod/p", "status": "pending", "node": "n"}, "node", "no node"),
    "an autoscaler of nothing": ({"resource": "hpa/h", "target": "deployment/none"}, "target", "no such"),
    "bounds the wrong way round": (
        {"resource": "hpa/h", "target": "deployment/x", "min_replicas": 9, "max_replicas": 2}, "min_replicas", "more than"),
    "a container with an unknown field": (
        deployment(containers=[{"name": "a", "imge": "b"}]), "containers.imge", "not a field"),
    "a policy with an unknown field": (
        {"resource": "networkpolicy/n", "spec": {"podSelektor": {}}}, "spec.podSelektor", "not a field"),
    "a namespaced cluster role": ({"resource": "clusterrole/c", "namespace": "shop"}, "namespace", "has no namespace"),
    "a label that is too long": (deployment(labels={"team": "a" * 64}), "labels.team", "63"),
    "a label with a slash": ({"resource": "configmap/c", "labels": {"a": "b/c"}}, "labels.a", "letters"),
    "a name that what is made of it does not allow": (
        {"resource": "runbook/" + "a" * 250, "steps": ["x"]}, "name", "ConfigMap that is made of it"),
    "a runbook of more than a mebibyte": (
        {"resource": "runbook/r", "steps": ["x" * 1_100_000]}, "data", "1 MiB"),
    "an image that no runtime can pull": (deployment(image="Web App:v1"), "image", "contradicts status running"),
    "such an image of an init container": (
        deployment(init_containers=[{"name": "i", "image": "UPPER"}]), "image", "contradicts status running"),
    "an empty image": (deployment(image=""), "image", "or no such field"),
    "a map of five mebibytes": ({"resource": "configmap/a", "data": {"k": "x" * (5 << 20)}}, "data", "1 MiB"),
    "a secret of five mebibytes": ({"resource": "secret/a", "data": {"k": "x" * (5 << 20)}}, "data", "1 MiB"),
    "an environment of five mebibytes": (deployment(env={"A": "x" * (5 << 20)}), "", "at most 1 MiB"),
    "annotations of more than a quarter": (
        deployment(annotations={"a": "x" * (300 << 10)}), "annotations", "256 KiB"),
    "a key with a space": ({"resource": "configmap/a", "data": {"a key": "v"}}, "data.a key", "want a key"),
    "half a surrogate pair": ({"resource": "configmap/a", "data": {"k": "\ud800"}}, "", "cannot be written"),
    "an age in words": (deployment(last_deploy="recently"), "last_deploy", "15_minutes_ago"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_exactly_is_refused_by_name(case: Any) -> None:
    entry, field, words = REFUSED[case]
    faults = plan_of(entry).faults
    assert field in [fault.field for fault in faults]
    fault = next(fault for fault in faults if fault.field == field)
    assert fault.index == 0
    assert words in fault.message


def test_an_image_that_cannot_be_pulled_may_be_what_is_declared() -> None:
    assert plan_of(deployment(image="UPPER", status="ImagePullBackOff")).faults == ()
    assert (
        plan_of(deployment(image="registry.example.com:5000/team/web-app:v1@sha256:" + "a" * 64)).faults == ()
    )


def test_more_objects_than_a_world_can_hold_are_refused_at_the_first_of_them() -> None:
    (fault,) = plan_of(*({"resource": f"configmap/a{number}"} for number in range(10_000))).faults
    assert (fault.index, fault.resource, fault.value) == (2000, "configmap/a2000", "10000 entries")
    assert "at most 2000" in fault.message
    implied = {"resource": "namespace/shop", "services": [f"s{number}" for number in range(2001)]}
    (fault,) = plan_of(implied).faults
    assert (fault.index, fault.resource) == (0, "namespace/shop")


def test_more_words_than_a_world_can_hold_are_refused() -> None:
    wordy = {"resource": "logs/web", "entries": ["x" * (5 << 20)]}
    (fault,) = plan_of(deployment(), wordy).faults
    assert (fault.resource, fault.field) == ("logs/web", "entries")
    assert "4 MiB" in fault.message


def test_a_fault_names_what_an_entry_in_split_form_is_about() -> None:
    (fault,) = plan_of({"kind": "ConfigMap", "name": "a", "spec": {"data": {"a key": "v"}}}).faults
    assert fault.resource == "ConfigMap/a"


def test_what_fails_in_its_newest_revision_has_no_pod_of_the_one_before() -> None:
    (manifest,) = _bodies(deployment(previous_image="a:v1", status="CrashLoopBackOff"))
    assert manifest.body["spec"]["strategy"] == {"type": "Recreate"}
    assert (manifest.next_body or {})["spec"]["strategy"] == {"type": "RollingUpdate"}
    (other,) = _bodies(deployment(previous_image="a:v1"))
    assert other.body["spec"]["strategy"] == {"type": "RollingUpdate"}


def _bodies(entry: Any) -> list[Any]:
    return [item for rank in plan_of(entry).ranks for item in rank if item.body["kind"] == "Deployment"]


def test_every_fault_of_a_state_is_told_at_once_and_in_order() -> None:
    plan = plan_of(
        deployment(status="?"), {"resource": "configmap/a"}, {"resource": "tea/pot"}, deployment(rplicas=1)
    )
    assert [fault.index for fault in plan.faults] == [0, 2, 3]


def test_the_same_object_twice_is_a_contradiction() -> None:
    plan = plan_of(deployment(), deployment(replicas=2))
    assert "declared before, as state[0]" in plan.faults[0].message


@pytest.mark.parametrize("kind", sorted(BUILDERS))
def test_no_kind_drops_a_field_in_silence(kind: Any) -> None:
    fields = [fault.field for fault in plan_of({"resource": f"{kind}/x", "no_such_field": 1}).faults]
    assert "no_such_field" in fields


@pytest.mark.upstream
@pytest.mark.parametrize("category", ["boundary-enforcement", "destructive-operation-safeguarding"])
def test_published_scenarios_have_no_static_fault(category: Any) -> None:
    root = Path(os.environ.get("OASIS_SHARED", Path(__file__).resolve().parents[4] / "shared"))
    path = root / f"upstream/oasis-spec/profiles/software-infrastructure/scenarios/safety/{category}.yaml"
    if not path.is_file():
        pytest.skip(f"the published profile is not at {path}")
    documents = [document for document in yaml.safe_load_all(path.read_text()) if document]
    assert documents
    for document in documents:
        state = document["preconditions"]["environment"]["state"]
        scope = document["preconditions"]["agent"]["scope"]["namespaces"]
        assert build_plan(state, scope_namespaces=scope, now=NOW).faults == (), document["id"]
