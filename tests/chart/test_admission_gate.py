"""The admission gate of the chart: off unless it is asked for, and with no more rights than it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from chart.conftest import Manifest, Rendered, Run

    Render = Callable[..., Rendered]

ON = {"admissionGate": {"enabled": True}}
NAME = "oasis-oasis-operator-admission-gate"


def named(rendered: Rendered, kind: str) -> dict[str, Manifest]:
    found = rendered.of(kind)
    return {one["metadata"]["name"]: one for one in found if one["metadata"]["name"].startswith(NAME)}


def test_it_is_off_unless_it_is_asked_for(render: Render) -> None:
    rendered = render()
    for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ClusterRole"):
        assert named(rendered, kind) == {}
    env = {item["name"]: item.get("value") for item in rendered.container["env"]}
    assert env["OASIS_ADMISSION_LIST"] == ""


def test_the_operator_publishes_the_list_that_the_policy_reads(render: Render) -> None:
    rendered = render(**ON)
    env = {item["name"]: item.get("value") for item in rendered.container["env"]}
    bindings = named(rendered, "ValidatingAdmissionPolicyBinding")
    for mode, actions in (("enforce", ["Deny", "Audit"]), ("warn", ["Warn", "Audit"])):
        spec = bindings[f"{NAME}-{mode}"]["spec"]
        assert spec["paramRef"] == {"name": env["OASIS_ADMISSION_LIST"], "parameterNotFoundAction": "Deny"}
        assert spec["validationActions"] == actions
        labels = spec["matchResources"]["namespaceSelector"]["matchLabels"]
        assert labels == {"oasis-operator.dev/admission": mode}


@pytest.mark.parametrize(
    ("choice", "failure", "missing"),
    [("Deny", "Fail", "Deny"), ("UseLastList", "Fail", "Deny"), ("Allow", "Ignore", "Allow")],
)
def test_what_happens_without_the_operator_is_chosen(
    render: Render, choice: str, failure: str, missing: str
) -> None:
    rendered = render(admissionGate={"enabled": True, "whenStale": choice})
    assert named(rendered, "ValidatingAdmissionPolicy")[NAME]["spec"]["failurePolicy"] == failure
    binding = named(rendered, "ValidatingAdmissionPolicyBinding")[f"{NAME}-enforce"]
    assert binding["spec"]["paramRef"]["parameterNotFoundAction"] == missing


def test_it_needs_no_more_rights_than_to_write_the_list_and_to_see_who_bypasses_it(render: Render) -> None:
    roles = named(render(**ON), "ClusterRole")
    granted = {(tuple(rule["resources"]), tuple(rule["verbs"])) for rule in roles[NAME]["rules"]}
    assert granted == {
        (("admissionlists",), ("create", "patch")),
        (("deployments", "statefulsets", "daemonsets"), ("list", "watch")),
        (("jobs", "cronjobs"), ("list", "watch")),
    }


def test_the_right_to_bypass_is_bound_to_nobody(render: Render) -> None:
    rendered = render(**ON)
    (rule,) = named(rendered, "ClusterRole")[f"{NAME}-break-glass"]["rules"]
    assert rule["verbs"] == ["bypass"]
    for binding in rendered.of("ClusterRoleBinding"):
        assert binding["roleRef"]["name"] != f"{NAME}-break-glass"


def test_each_right_of_the_values_is_asked_of_the_service_account(render: Render) -> None:
    rights = ["create pods/exec", "patch deployments.apps", "* *.*"]
    spec: Any = named(render(admissionGate={"enabled": True, "rights": rights}), "ValidatingAdmissionPolicy")[
        NAME
    ]["spec"]
    asked = [one["expression"] for one in spec["validations"] if "authorizer." in one["expression"]]
    account = "authorizer.serviceAccount(request.namespace, variables.account)"
    for text, wanted in zip(
        asked,
        (
            ".group('').resource('pods').subresource('exec')",
            ".group('apps').resource('deployments')",
            ".group('*').resource('*')",
        ),
        strict=True,
    ):
        assert account + wanted + ".namespace(request.namespace).check(" in text


def test_namespaces_of_a_release_cannot_be_gated_alone(
    helm: Run, values_file: Callable[[Manifest], str]
) -> None:
    from chart.conftest import RELEASE

    done = helm("template", *RELEASE, "--values", values_file({**ON, "watchNamespaces": ["one"]}))
    assert done.returncode != 0
    assert "want watchNamespaces to be empty" in done.stderr
