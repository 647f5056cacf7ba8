from __future__ import annotations

from collections.abc import Callable

import pytest

from chart.conftest import Manifest, Rendered
from oasis_operator.resources import kinds

Render = Callable[..., Rendered]

FORBIDDEN_VERBS = {"*", "escalate", "bind", "impersonate", "deletecollection", "proxy"}
FORBIDDEN_RESOURCES = {
    "*",
    "nodes",
    "nodes/proxy",
    "pods/exec",
    "pods/attach",
    "pods/portforward",
    "pods/ephemeralcontainers",
    "serviceaccounts",
    "serviceaccounts/token",
    "roles",
    "rolebindings",
    "clusterroles",
    "clusterrolebindings",
}


def _granted(rules: list[Manifest]) -> set[tuple[str, str, str]]:
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def _rules(rendered: Rendered, suffix: str = "") -> list[Manifest]:
    roles = {role["metadata"]["name"]: role["rules"] for role in rendered.of("ClusterRole")}
    rules: list[Manifest] = roles[f"oasis-oasis-operator{suffix}"]
    return rules


def test_the_operator_has_no_dangerous_right(render: Render) -> None:
    for group, resource, verb in _granted(_rules(render())):
        assert group != "*"
        assert verb not in FORBIDDEN_VERBS
        assert resource not in FORBIDDEN_RESOURCES


def test_secrets_cannot_be_listed_or_changed(render: Render) -> None:
    verbs = {verb for _, resource, verb in _granted(_rules(render())) if resource == "secrets"}
    assert verbs == {"create", "get", "delete"}


def test_pods_are_made_watched_claimed_and_deleted(render: Render) -> None:
    verbs = {verb for _, resource, verb in _granted(_rules(render())) if resource == "pods"}
    assert verbs == {"create", "get", "list", "watch", "patch", "delete"}


def test_users_objects_cannot_be_changed_but_for_their_status(render: Render) -> None:
    granted = _granted(_rules(render()))
    for plural in ("agents", "environments", "evaluations"):
        looked_at = {"get", "list", "watch"}
        # An Evaluation is deleted once its time to live is over.
        wanted = looked_at | {"delete"} if plural == "evaluations" else looked_at
        assert {verb for _, resource, verb in granted if resource == plural} == wanted
        assert {verb for _, resource, verb in granted if resource == f"{plural}/status"} == {
            "get",
            "patch",
            "update",
        }


DEFINITIONS = ("apiextensions.k8s.io", "customresourcedefinitions")


def test_rights_are_for_the_kinds_that_the_operator_touches(render: Render) -> None:
    touched = {(kind.group, kind.plural) for kind in kinds.ALL}
    granted = {(group, resource.partition("/")[0]) for group, resource, _ in _granted(_rules(render()))}
    assert granted == touched | {DEFINITIONS}


def test_definitions_are_only_looked_at(render: Render) -> None:
    verbs = {verb for group, resource, verb in _granted(_rules(render())) if (group, resource) == DEFINITIONS}
    assert verbs == {"list", "watch"}


POLICIES = ("oasis-operator.dev", "evaluationpolicies")
LABELS = ("", "namespaces")


def test_policies_and_namespaces_are_only_looked_at(render: Render) -> None:
    for rendered, suffix in (
        (render(), ""),
        (render(watchNamespaces=["one"], policies={"clusterRole": True}), "-policies"),
    ):
        granted = _granted(_rules(rendered, suffix))
        for what in (POLICIES, LABELS):
            verbs = {verb for group, resource, verb in granted if (group, resource) == what}
            assert verbs == {"get", "list", "watch"}


def test_the_role_for_policies_grants_nothing_else_and_is_made_on_request_only(render: Render) -> None:
    rendered = render(watchNamespaces=["one"], policies={"clusterRole": True})
    granted = {(group, resource) for group, resource, _ in _granted(_rules(rendered, "-policies"))}
    assert granted == {POLICIES, LABELS}
    (binding,) = rendered.of("ClusterRoleBinding")
    assert binding["roleRef"]["name"] == "oasis-oasis-operator-policies"
    for other in (render(watchNamespaces=["one"]), render(policies={"clusterRole": True})):
        names = {role["metadata"]["name"] for role in other.of("ClusterRole")}
        assert "oasis-oasis-operator-policies" not in names


@pytest.mark.parametrize(
    ("values", "reads"),
    [
        ({}, "true"),
        ({"watchNamespaces": ["one"]}, "false"),
        ({"watchNamespaces": ["one"], "policies": {"clusterRole": True}}, "true"),
    ],
    ids=["cluster", "namespace", "namespace with the role"],
)
def test_the_operator_reads_policies_where_it_has_the_right(
    render: Render, values: Manifest, reads: str
) -> None:
    env = {item["name"]: item.get("value") for item in render(**values).container["env"]}
    assert env["OASIS_READ_POLICIES"] == reads


def test_namespaces_get_the_same_rights_one_by_one(render: Render) -> None:
    everywhere, some = render(), render(watchNamespaces=["one", "two"])
    roles = {role["metadata"]["namespace"]: role for role in some.of("Role")}
    assert sorted(roles) == ["one", "two"]
    of_the_cluster = [[DEFINITIONS[1]], [POLICIES[1]], [LABELS[1]]]
    whole = [rule for rule in _rules(everywhere) if rule["resources"] not in of_the_cluster]
    assert all(role["rules"] == whole for role in roles.values())
    assert some.of("ClusterRoleBinding") == []
    assert {role["metadata"]["name"] for role in some.of("ClusterRole")} == {
        "oasis-oasis-operator-view",
        "oasis-oasis-operator-edit",
    }


@pytest.mark.parametrize("values", [{}, {"watchNamespaces": ["one"]}], ids=["cluster", "namespace"])
def test_the_rights_go_to_the_operators_account_alone(render: Render, values: Manifest) -> None:
    rendered = render(**values, serviceAccount={"name": "mine"})
    for binding in (*rendered.of("ClusterRoleBinding"), *rendered.of("RoleBinding")):
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": "mine", "namespace": "oasis-system"}
        ]
    assert rendered.pod["serviceAccountName"] == rendered.one("ServiceAccount")["metadata"]["name"] == "mine"


def test_viewers_read_and_editors_write_no_verdict(render: Render) -> None:
    rendered = render()
    view, edit = _granted(_rules(rendered, "-view")), _granted(_rules(rendered, "-edit"))
    assert {verb for _, _, verb in view} == {"get", "list", "watch"}
    assert {resource for _, resource, _ in edit} == {"agents", "environments", "evaluations"}
    assert "*" not in {verb for _, _, verb in edit}


def test_the_usual_roles_can_be_left_alone(render: Render) -> None:
    names = {role["metadata"]["name"] for role in render(rbac={"aggregate": False}).of("ClusterRole")}
    assert names == {"oasis-oasis-operator"}
