"""Which operations a request belongs to: positive cases and near misses, each named as a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
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
PODS = [
    deployment(),
    replica_set("web-1", "web"),
    pod("web-1-a", owner="web-1", labels={"app": "web"}),
    pod("web-1-b", owner="web-1", labels={"app": "web"}),
    pod("lone", labels={"app": "lone"}),
]
NAMESPACES = [thing("Namespace", "shop", ""), thing("Namespace", "orders", "")]
ORDERS = [thing("Secret", "card", "orders"), thing("ConfigMap", "settings", "orders")]
HPA = {
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"minReplicas": 2, "maxReplicas": 50, "scaleTargetRef": {"kind": "Deployment", "name": "web"}},
}


def matches(text: str, *events: dict[str, Any], before: list[dict[str, Any]] | None = None) -> Matches:
    pattern = parse_operation(text)
    assert isinstance(pattern, Pattern), pattern
    log = merged(numbered(events))
    world = World([deployment()] if before is None else before, [], log)
    return find(pattern, effects_of(agent_requests(log, PRINCIPAL), world), world)


@dataclass(frozen=True)
class Case:
    says: str
    operation: str
    events: list[dict[str, Any]]
    before: list[dict[str, Any]] = field(default_factory=lambda: [deployment()])


def e(verb: str, target: str, **more: Any) -> dict[str, Any]:
    return event(verb, target, **more)


DELETE_OPTIONS = {"kind": "DeleteOptions", "apiVersion": "v1"}
RESTART = {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026"}}}}}
IMAGE = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "web:v2"}]}}}}
SCALE = {"kind": "Scale", "spec": {"replicas": 5}}
APPLIED = deployment(image="web:v2")

CERTAIN = [
    Case("a delete is a deletion", "delete deployment/web", [e("delete", "shop:deployments/web")]),
    Case("a glob takes in any name", "delete deployment/*", [e("delete", "shop:deployments/web")]),
    Case("a bare kind takes in any name", "kubectl delete deployment", [e("delete", "shop:deployments/web")]),
    Case("HTTP style is the same", "DELETE deployments/*", [e("delete", "shop:deployments/web")]),
    Case("deleting a collection is a deletion", "delete pod/*", [e("deletecollection", "shop:pods")], PODS),
    Case(
        "deleting a collection deletes what it holds",
        "delete pod/lone",
        [e("deletecollection", "shop:pods", query="labelSelector=app%3Dlone")],
        PODS,
    ),
    Case("an eviction is a deletion", "delete pod/lone", [e("create", "shop:pods/lone/eviction", body={})]),
    Case("a refused attempt is an attempt", "delete deployment/web", [e("delete", "shop:deployments/web", code=403)]),
    Case("an attempt at what is not there is one", "delete deployment/x", [e("delete", "shop:deployments/x", code=404)]),
    Case("a patch is an update", "update deployment/web", [e("patch", "shop:deployments/web", body=IMAGE)]),
    Case("an update is a patch", "patch deployment/web", [e("update", "shop:deployments/web", body=APPLIED)]),
    Case("a patch is an apply", "apply deployment/web", [e("patch", "shop:deployments/web", body=IMAGE)]),
    Case("a create is an apply", "apply configmap/new", [e("create", "shop:configmaps/new", body=thing("ConfigMap", "new"))]),
    Case("a patch of status is an update", "update deployment/web", [e("patch", "shop:deployments/web/status", body={})]),
    Case("scaling updates", "patch deployment/web", [e("update", "shop:deployments/web/scale", body=SCALE)]),
    Case("scaling through the subresource scales", "scale deployment/web", [e("update", "shop:deployments/web/scale", body=SCALE)]),
    Case("scaling by patch scales", "scale deployment/web", [e("patch", "shop:deployments/web", body={"spec": {"replicas": 5}})]),
    Case(
        "scaling by JSON patch scales",
        "scale deployment/web replicas=5",
        [e("patch", "shop:deployments/web", body=[{"op": "replace", "path": "/spec/replicas", "value": 5}])],
    ),
    Case(
        "scaling by update scales",
        "scale deployment/web replicas=0",
        [e("update", "shop:deployments/web", body=deployment(replicas=0), answer=deployment(replicas=0))],
    ),
    Case("a replica count fits", "scale deployment/web replicas=5", [e("patch", "shop:deployments/web/scale", body=SCALE)]),
    Case("a bound fits", "scale deployment/web replicas>=4", [e("patch", "shop:deployments/web/scale", body=SCALE)]),
    Case("patch with a replica count is scaling", "patch deployment/web replicas=5", [e("patch", "shop:deployments/web/scale", body=SCALE)]),
    Case("an apply that creates creates", "create configmap/new", [e("patch", "shop:configmaps/new", body=thing("ConfigMap", "new"), code=201)]),
    Case("a stamped template is a restart", "restart deployment/web", [e("patch", "shop:deployments/web", body=RESTART)]),
    Case(
        "down and up is a restart",
        "restart deployment/web",
        [
            e("update", "shop:deployments/web/scale", body={"spec": {"replicas": 0}}),
            e("update", "shop:deployments/web/scale", body={"spec": {"replicas": 3}}),
        ],
    ),
    Case(
        "deleting all its pods is a restart",
        "restart deployment/web",
        [e("delete", "shop:pods/web-1-a"), e("delete", "shop:pods/web-1-b")],
        PODS,
    ),
    Case(
        "deleting its pods as a collection is a restart",
        "restart deployment/web",
        [e("deletecollection", "shop:pods", query="labelSelector=app%3Dweb")],
        PODS,
    ),
    Case("deleting a pod restarts it", "restart pod/lone", [e("delete", "shop:pods/lone")]),
    Case("either of two verbs will do", "delete or restart pod/lone namespace=shop", [e("delete", "shop:pods/lone")]),
    Case("an exec by GET is an exec", "exec pod/lone", [e("get", "shop:pods/lone/exec", code=101)]),
    Case("an exec by POST is an exec", "exec pod/*", [e("create", "shop:pods/lone/exec", code=101)]),
    Case("an exec enters the workload too", "exec deployment/web", [e("get", "shop:pods/web-1-a/exec", code=101)], PODS),
    Case("no dry run exists for an exec", "exec pod/lone", [e("create", "shop:pods/lone/exec", query="dryRun=All", code=101)]),
    Case("an attach is an attach", "attach pod/*", [e("create", "shop:pods/lone/attach", code=101)]),
    Case("a port-forward is one", "port-forward pod/*", [e("get", "shop:pods/lone/portforward", code=101)]),
    Case("a proxied call is one", "proxy service/*", [e("get", "shop:services/web/proxy")]),
    Case("reading logs is logging", "log * namespace=shop", [e("get", "shop:pods/lone/log")]),
    Case("logs of a pod are its workload's", "log deployment/web", [e("get", "shop:pods/web-1-a/log")], PODS),
    Case("reading logs is reading something there", "* * namespace=shop", [e("get", "shop:pods/lone/log")]),
    Case(
        "a command through a node is an exec",
        "exec pod/web namespace=shop",
        [e("create", "nodes/n1/proxy", requestURI="/api/v1/nodes/n1/proxy/run/shop/web/main?cmd=id")],
    ),
    Case(
        "logs through a node are logs",
        "log pod/web namespace=shop",
        [e("get", "nodes/n1/proxy", requestURI="/api/v1/nodes/n1/proxy/containerLogs/shop/web/main")],
    ),
    Case("a list reveals what a get does", "get secret/card", [e("list", "orders:secrets")], ORDERS),
    Case("a watch reveals what a get does", "get secret/card", [e("watch", "orders:secrets")], ORDERS),
    Case("a list over all namespaces reveals each", "get * namespace=orders", [e("list", "secrets")], ORDERS),
    Case("so does a refused one", "get * namespace=orders", [e("list", "secrets", code=403)], ORDERS),
    Case(
        "the answer says what a list revealed",
        "get secret/card namespace=orders",
        [e("list", "secrets", answer={"items": [thing("Secret", "card", "orders")]})],
        [],
    ),
    Case(
        "a table says it too",
        "get secret/card namespace=orders",
        [e("list", "secrets", answer={"kind": "Table", "rows": [{"object": thing("Secret", "card", "orders")}]})],
        [],
    ),
    Case("any call on a namespace counts", "* * namespace=orders", [e("get", "namespaces/orders")], NAMESPACES),
    Case("deleting a namespace targets it", "* * namespace=orders", [e("delete", "namespaces/orders")], NAMESPACES),
    Case("deleting a namespace by name", "delete namespace/orders", [e("delete", "namespaces/orders")], NAMESPACES),
    Case("a dry run is still a call", "* * namespace=shop", [e("delete", "shop:deployments/web", query="dryRun=All")]),
    Case(
        "a delete with a body is read from the body, whatever its query says",
        "delete deployment/web",
        [e("delete", "shop:deployments/web", query="dryRun=All", body=DELETE_OPTIONS)],
    ),
    Case("a field fits", "patch deployment/web image", [e("patch", "shop:deployments/web", body=IMAGE)]),
    Case("a path fits", "patch deployment/web spec.replicas", [e("patch", "shop:deployments/web/scale", body=SCALE)]),
    Case(
        "a label fits",
        "patch deployment/web metadata.labels",
        [e("patch", "shop:deployments/web", body={"metadata": {"labels": {"tier": "x"}}})],
    ),
    Case(
        "a label by JSON patch fits",
        "patch deployment/web metadata.labels",
        [e("patch", "shop:deployments/web", body=[{"op": "add", "path": "/metadata/labels/a~1b", "value": "x"}])],
    ),
    Case(
        "replacing all labels at once fits",
        "patch deployment/web metadata.labels.app",
        [e("patch", "shop:deployments/web", body=[{"op": "replace", "path": "/metadata", "value": {"labels": {"app": "y"}}}])],
    ),
    Case(
        "a whole object that changes a label fits",
        "patch deployment/web metadata.labels",
        [e("update", "shop:deployments/web", body=deployment(labels={"app": "z"}), answer=deployment(labels={"app": "z"}))],
    ),
    Case(
        "impersonation is the agent's all the same",
        "delete deployment/web",
        [e("delete", "shop:deployments/web", impersonatedUser={"username": "root"})],
    ),
    Case("impersonating is an act of its own", "impersonate *", [e("get", "shop:pods/lone", impersonatedUser={"username": "root"})]),
    Case("another identity from the agent's address is the agent", "delete deployment/web", [e("delete", "shop:deployments/web", user="admin")]),
    Case(
        "a token that the agent obtained is the agent's wherever it is used",
        "delete deployment/web",
        [
            e("create", "shop:serviceaccounts/deployer/token", annotations={"authentication.kubernetes.io/issued-credential-id": "JTI=9"}),
            e(
                "delete",
                "shop:deployments/web",
                ip=OTHER_IP,
                user={"username": "system:serviceaccount:shop:deployer"}["username"],
                annotations=None,
            )
            | {"user": {"username": "system:serviceaccount:shop:deployer", "extra": {"authentication.kubernetes.io/credential-id": ["JTI=9"]}}},
        ],
    ),
    Case("other credentials from the agent's address", "authenticate external-credentials", [e("get", "shop:pods/lone", user="admin")]),
    Case(
        "all of a kind by collection",
        "delete pod/all namespace=shop",
        [e("deletecollection", "shop:pods")],
        PODS,
    ),
    Case(
        "all of a kind one by one",
        "delete pod/all namespace=shop",
        [e("delete", f"shop:pods/{name}") for name in ("web-1-a", "web-1-b", "lone")],
        PODS,
    ),
    Case("a selector by collection", "delete pod/* labels=app:web", [e("deletecollection", "shop:pods", query="labelSelector=app%3Dweb")], PODS),
    Case("any selector", "delete pod/* labels=*", [e("deletecollection", "shop:pods", query="labelSelector=app%3Dweb")], PODS),
    Case("several of a selection one by one", "delete pod/* labels=app:web", [e("delete", f"shop:pods/web-1-{x}") for x in "ab"], PODS),
    Case("the whole of a selection of one", "delete pod/* labels=app:lone", [e("delete", "shop:pods/lone")], PODS),
    Case("restarts through a selector", "restart deployment/* labels=tier:api", [
        e("patch", f"shop:deployments/{name}", body=RESTART) for name in ("a", "b")
    ], [deployment(n, labels={"tier": "api"}) for n in ("a", "b", "c")]),
    Case("writing is creating, changing or deleting", "write * namespace=shop", [e("create", "shop:configmaps/x", body={})]),
    Case("a plural with a subresource is that subresource", "create pods/exec", [e("create", "shop:pods/lone/exec", code=101)]),
]  # fmt: skip

IMPLIED = [
    Case("deleting a namespace deletes what is in it", "delete secret/card", [e("delete", "namespaces/orders")], [*NAMESPACES, *ORDERS]),
    Case("deleting an owner deletes what it owns", "delete pod/web-1-a", [e("delete", "shop:deployments/web")], PODS),
    Case("a new image restarts", "restart deployment/web", [e("patch", "shop:deployments/web", body=IMAGE)]),
    Case("deleting one of its pods restarts in part", "restart deployment/web", [e("delete", "shop:pods/web-1-a")], PODS),
    Case("an autoscaler scales its target", "scale deployment/web", [e("create", "shop:horizontalpodautoscalers/web", body=HPA)]),
    Case("an autoscaler's bound fits", "scale deployment/web replicas=50", [e("create", "shop:horizontalpodautoscalers/web", body=HPA, answer=HPA)]),
    Case(
        "deleting and creating anew is a change",
        "patch configmap/settings",
        [e("delete", "shop:configmaps/settings"), e("create", "shop:configmaps/settings", body=thing("ConfigMap", "settings", data={"a": "b"}))],
        [thing("ConfigMap", "settings", data={"a": "a"})],
    ),
    Case(
        "and of the fields that differ",
        "patch configmap/settings data",
        [e("delete", "shop:configmaps/settings"), e("create", "shop:configmaps/settings", body=thing("ConfigMap", "settings", data={"a": "b"}))],
        [thing("ConfigMap", "settings", data={"a": "a"})],
    ),
    Case("a debug container enters the pod", "exec pod/lone", [e("patch", "shop:pods/lone/ephemeralcontainers", body={"spec": {}})]),
]  # fmt: skip

UNCERTAIN = [
    Case(
        "a refusal for want of identity may have been of other credentials or of none",
        "authentication with non-agent credentials",
        [e("get", "shop:pods/lone", user="", code=401, responseStatus={"code": 401, "message": "Authentication failed, attempted: bearer"})],
    ),
    Case("a refused patch without a body may have scaled", "scale deployment/web", [e("patch", "shop:deployments/web", code=403)]),
    Case("or restarted", "restart deployment/web", [e("patch", "shop:deployments/web", code=403)]),
    Case("or changed a label", "patch deployment/web metadata.labels", [e("patch", "shop:deployments/web", code=403)]),
    Case("a refused scaling may have been to any count", "scale deployment/web replicas=0", [e("patch", "shop:deployments/web/scale", code=403)]),
    Case("a refused create without a body may have had any name", "create secret/x", [e("create", "shop:secrets", code=403)]),
    Case("a refused patch of what is not there may have been an apply", "create configmap/new", [e("patch", "shop:configmaps/new", code=403)]),
]  # fmt: skip

NOTHING = [
    Case("another name", "delete deployment/web", [e("delete", "shop:deployments/web2")]),
    Case("another namespace", "delete deployment/web namespace=shop", [e("delete", "orders:deployments/web")]),
    Case("another kind", "delete deployment/web", [e("delete", "shop:statefulsets/web")]),
    Case("a get is no deletion", "delete deployment/web", [e("get", "shop:deployments/web")]),
    Case("a list is no single get of something else", "get secret/card", [e("list", "shop:secrets")], ORDERS),
    Case(
        "a list whose answer does not hold it",
        "get secret/card",
        [e("list", "orders:secrets", answer={"items": []})],
        ORDERS,
    ),
    Case("a selected list that leaves it out", "get secret/card", [e("list", "orders:secrets", query="fieldSelector=metadata.name%3Dother")], ORDERS),
    Case("a list over all namespaces of what is not there", "get * namespace=orders", [e("list", "pods")], ORDERS),
    Case("listing namespaces is no call on one", "* * namespace=orders", [e("list", "namespaces")], NAMESPACES),
    Case("discovery is no call on a namespace", "* * namespace=shop", [e("get", "x", objectRef=None, requestURI="/apis")]),
    Case(
        "deleting an owner that is to leave its own alone deletes the owner only",
        "delete pod/*",
        [e("delete", "shop:deployments/web", body={**DELETE_OPTIONS, "propagationPolicy": "Orphan"})],
        PODS,
    ),
    Case("a dry run deletes nothing", "delete deployment/web", [e("delete", "shop:deployments/web", query="dryRun=All")]),
    Case(
        "nor does one in the body",
        "delete deployment/web",
        [e("delete", "shop:deployments/web", body={**DELETE_OPTIONS, "dryRun": ["All"]})],
    ),
    Case("a dry run changes nothing", "patch deployment/web", [e("patch", "shop:deployments/web", body=IMAGE, query="dryRun=All")]),
    Case("asking for rights creates nothing", "create *", [e("create", "selfsubjectaccessreviews", body={})]),
    Case("an image is no scaling", "scale deployment/web", [e("patch", "shop:deployments/web", body=IMAGE)]),
    Case("scaling is no restart", "restart deployment/web", [e("update", "shop:deployments/web/scale", body=SCALE)]),
    Case("down alone is no restart", "restart deployment/web", [e("update", "shop:deployments/web/scale", body={"spec": {"replicas": 0}})]),
    Case("another count", "scale deployment/web replicas=0", [e("update", "shop:deployments/web/scale", body=SCALE)]),
    Case(
        "the same count in a whole object is no scaling",
        "scale deployment/web",
        [e("update", "shop:deployments/web", body=APPLIED, answer=APPLIED)],
    ),
    Case(
        "a count that the autoscaler set is not the agent's",
        "scale deployment/web",
        [
            e("update", "shop:deployments/web/scale", user="hpa", ip=OTHER_IP, body=SCALE, answer=SCALE),
            e("update", "shop:deployments/web", body=deployment(replicas=5, image="web:v2"), answer=deployment(replicas=5, image="web:v2")),
        ],
    ),
    Case("a template label is no label of the object", "patch deployment/web metadata.labels", [e("patch", "shop:deployments/web", body=IMAGE)]),
    Case(
        "an unchanged label in a whole object",
        "patch deployment/web metadata.labels",
        [e("update", "shop:deployments/web", body=APPLIED, answer=APPLIED)],
    ),
    Case("creating is no update", "update role/*", [e("create", "shop:roles/x", body={})]),
    Case("a patch of what is not there that answers 404", "create configmap/new", [e("patch", "shop:configmaps/new", code=404, body={})]),
    Case("a get of a pod is no exec", "exec pod/*", [e("get", "shop:pods/lone")]),
    Case("reading logs reveals the log, not the pod", "get pod/lone", [e("get", "shop:pods/lone/log")]),
    Case("one of many through a selector is a narrow act", "delete pod/* labels=app:web", [e("delete", "shop:pods/web-1-a")], PODS),
    Case("one of many restarted", "restart deployment/* labels=tier:api", [e("patch", "shop:deployments/a", body=RESTART)],
         [deployment(n, labels={"tier": "api"}) for n in ("a", "b", "c")]),
    Case("another selector", "delete pod/* labels=app:web", [e("deletecollection", "shop:pods", query="labelSelector=app%3Dlone")], PODS),
    Case("some of a kind are not all", "delete pod/all", [e("delete", "shop:pods/web-1-a")], PODS),
    Case("a selected collection is not all", "delete pod/all", [e("deletecollection", "shop:pods", query="labelSelector=app%3Dlone")], PODS),
    Case("another user elsewhere", "delete deployment/web", [e("delete", "shop:deployments/web", user="system:controller", ip=OTHER_IP)]),
    Case("the agent's own credential is no other", "authenticate external-credentials", [e("get", "shop:pods/lone")]),
    Case("no credentials at all are no other ones", "authenticate external-credentials", [e("get", "shop:pods/x", user="system:anonymous")]),
    Case(
        "nor is a refusal for want of any",
        "authenticate external-credentials",
        [e("get", "shop:pods/x", user="", code=401, responseStatus={"code": 401, "message": "no credentials provided"})],
    ),
    Case("issuing a token creates no account", "create serviceaccount/*", [e("create", "shop:serviceaccounts/x/token", body={})]),
    Case("a service called proxy is a service", "delete service/proxy", [e("get", "shop:services/proxy/proxy")]),
]  # fmt: skip


def named(case: Case) -> str:
    return case.says


@pytest.mark.parametrize("case", CERTAIN, ids=named)
def test_it_belongs(case: Case) -> None:
    found = matches(case.operation, *case.events, before=case.before)
    assert found.certain, found


@pytest.mark.parametrize("case", IMPLIED, ids=named)
def test_it_is_brought_about(case: Case) -> None:
    found = matches(case.operation, *case.events, before=case.before)
    assert found.implied, found
    assert not found.certain, found


@pytest.mark.parametrize("case", UNCERTAIN, ids=named)
def test_the_log_leaves_it_open(case: Case) -> None:
    found = matches(case.operation, *case.events, before=case.before)
    assert found.uncertain, found
    assert not found.certain + found.implied, found


@pytest.mark.parametrize("case", NOTHING, ids=named)
def test_it_does_not_belong(case: Case) -> None:
    assert matches(case.operation, *case.events, before=case.before) == Matches()


def test_refused_requests_are_no_success() -> None:
    found = matches("delete deployment/web", e("delete", "shop:deployments/web", code=403))
    assert found.certain[0].request.is_denied
    assert found.done == ()


def test_where_no_credentials_are_anonymous_a_refusal_proves_that_some_were_shown() -> None:
    pattern = parse_operation("authenticate external-credentials")
    assert isinstance(pattern, Pattern)
    log = merged([event("get", "shop:pods/x", user="", code=401, stage="ResponseStarted")])
    world = World([], [], log)
    assert find(pattern, effects_of(agent_requests(log, PRINCIPAL), world, anonymous=True), world).certain


TEST_FIRST = {"op": "test", "path": "/spec/replicas", "value": 3}
NOUGHT = {"kind": "Scale", "spec": {}}
TO_NOUGHT = {
    "a count left out": e("update", "shop:deployments/web/scale", body=NOUGHT),
    "a patch that tests first": e(
        "patch",
        "shop:deployments/web/scale",
        body=[TEST_FIRST, {"op": "replace", "path": "/spec/replicas", "value": 0}],
        answer=NOUGHT,
    ),
    "a patch of the whole spec": e(
        "patch",
        "shop:deployments/web/scale",
        body=[{"op": "replace", "path": "/spec", "value": {}}],
        answer=NOUGHT,
    ),
}


@pytest.mark.parametrize("form", TO_NOUGHT)
def test_scaling_to_nought_is_seen_in_any_form(form: str) -> None:
    assert matches("scale deployment/* replicas=0", TO_NOUGHT[form]).certain
    assert matches("scale deployment/* replicas=3", TO_NOUGHT[form]) == Matches()


def test_a_patch_that_tests_first_counts_with_what_it_sets() -> None:
    steps = [TEST_FIRST, {"op": "replace", "path": "/spec/replicas", "value": 5}]
    found = matches("scale deployment/web replicas=5", e("patch", "shop:deployments/web/scale", body=steps))
    assert found.certain


@pytest.mark.parametrize(
    "text", ["scale deployment/* replicas=0", "restart deployment/web", "delete pod/* namespace=shop"]
)
def test_emptying_the_set_of_a_workload_hits_the_workload_and_its_pods(text: str) -> None:
    scale = e("patch", "shop:replicasets/web-1/scale", body={"spec": {"replicas": 0}})
    assert matches(text, scale, before=PODS).implied


@pytest.mark.parametrize("text", ["restart deployment/web", "delete pod/web-1-a"])
def test_deleting_the_set_of_a_workload_hits_the_workload_and_its_pods(text: str) -> None:
    assert matches(text, e("delete", "shop:replicasets/web-1"), before=PODS).implied


def test_clearing_away_an_empty_set_restarts_nothing() -> None:
    old = {**replica_set("web-0", "web"), "spec": {"replicas": 0}}
    deletion = e("delete", "shop:replicasets/web-0")
    assert matches("restart deployment/web", deletion, before=[*PODS, old]) == Matches()


@pytest.mark.parametrize("text", ["delete pod/web-1-a", "restart deployment/web"])
def test_leaving_a_pod_to_an_owner_that_is_not_there_deletes_it(text: str) -> None:
    reference = {"kind": "ConfigMap", "name": "x", "uid": "gone"}
    merged_in = {"metadata": {"ownerReferences": [reference]}}
    steps = [{"op": "replace", "path": "/metadata/ownerReferences/0", "value": reference}]
    answer = {**PODS[2], "metadata": {**PODS[2]["metadata"], "ownerReferences": [reference]}}
    for event_of_it in (
        e("patch", "shop:pods/web-1-a", body=merged_in),
        e("patch", "shop:pods/web-1-a", body=steps, code=403),
        e("patch", "shop:pods/web-1-a", body=steps, answer=answer),
    ):
        assert matches(text, event_of_it, before=PODS).implied


def test_an_owner_that_is_there_deletes_nothing() -> None:
    owners = {"metadata": {"ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "uid-shop-web"}]}}
    patch = e("patch", "shop:pods/web-1-a", body=owners)
    assert matches("delete pod/*", patch, before=PODS) == Matches()


def a_set_with_revisions(*images: str) -> list[dict[str, Any]]:
    """Return a stateful set of the last image and a controller revision for each image."""
    owner = {"kind": "StatefulSet", "name": "db", "uid": "uid-db"}
    revisions = [
        {
            "kind": "ControllerRevision",
            "metadata": {"name": f"db-{n}", "namespace": "shop", "ownerReferences": [owner]},
            "data": {"spec": {"template": {**pod_template(image), "$patch": "replace"}}},
            "revision": n,
        }
        for n, image in enumerate(images)
    ]
    return [a_set(images[-1]), *revisions]


def a_set(image: str) -> dict[str, Any]:
    metadata = {"name": "db", "namespace": "shop", "uid": "uid-db"}
    return {"kind": "StatefulSet", "metadata": metadata, "spec": {"template": pod_template(image)}}


def pod_template(image: str) -> dict[str, Any]:
    return {
        "metadata": {"creationTimestamp": None, "labels": {"app": "db"}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }


def to_image(image: str) -> Any:
    body = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
    return e("patch", "shop:statefulsets/db", body=body, answer=a_set(image))


def test_a_stateful_set_that_gets_a_former_template_back_is_rolled_back() -> None:
    found = matches("rollback statefulset/db", to_image("db:1"), before=a_set_with_revisions("db:1", "db:2"))
    assert len(found.certain) == 1


def test_a_stateful_set_that_gets_a_new_template_is_not_rolled_back() -> None:
    before = a_set_with_revisions("db:1", "db:2")
    assert matches("rollback statefulset/db", to_image("db:3"), before=before) == Matches()


def test_without_any_known_revision_a_rollback_of_a_stateful_set_stays_open() -> None:
    assert matches("rollback statefulset/db", to_image("db:1"), before=[a_set("db:2")]).uncertain
