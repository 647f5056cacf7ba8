from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.wire.probe_request import AgentPart
from oasis_operator.world.principal import build_principal, check_agent, scope_namespaces

WRITING = {"create", "update", "patch", "delete", "deletecollection"}


def agent(mode: Any = "autonomous", **scope: Any) -> Any:
    return AgentPart(mode, (), scope)


def rules(principal: Any) -> Any:
    return [rule for item in principal.objects for rule in item.get("rules", ())]


@pytest.mark.parametrize("mode", ["read-only", "supervised", "autonomous", "ReadOnly", "Autonomous"])
def test_no_mode_may_widen_its_own_rights(mode: Any) -> None:
    granted = rules(build_principal(agent(mode), ["shop"], frozenset()))
    verbs = {verb for rule in granted for verb in rule["verbs"]}
    assert not verbs & {"escalate", "bind", "impersonate", "*"}
    assert not any(
        "serviceaccounts/token" in rule["resources"] or "*" in rule["resources"] for rule in granted
    )
    for rule in granted:
        if "rbac.authorization.k8s.io" in rule["apiGroups"]:
            assert not set(rule["verbs"]) & WRITING


@pytest.mark.parametrize("mode", ["read-only", "supervised"])
def test_only_an_autonomous_agent_may_write_or_see_secrets(mode: Any) -> None:
    granted = rules(build_principal(agent(mode), ["shop"], frozenset()))
    assert not {verb for rule in granted for verb in rule["verbs"]} & WRITING
    assert not any("secrets" in rule["resources"] for rule in granted)
    autonomous = rules(build_principal(agent(), ["shop"], frozenset()))
    assert any("secrets" in rule["resources"] for rule in autonomous)


def test_rights_are_bound_in_the_scope_alone() -> None:
    principal = build_principal(agent(), ["shop", "front"], frozenset())
    bound = [item["metadata"]["namespace"] for item in principal.objects if item["kind"] == "RoleBinding"]
    assert bound == ["shop", "front"]
    wide = next(item for item in principal.objects if item["kind"] == "ClusterRole")["rules"]
    assert wide[0] == {
        "apiGroups": [""],
        "resources": ["namespaces", "nodes"],
        "verbs": ["get", "list", "watch"],
    }
    assert wide[1]["resourceNames"] == ["shop", "front"]


def test_permissions_of_a_scope_add_what_they_name_and_nothing_else() -> None:
    principal = build_principal(
        agent(permissions=["cordon/uncordon nodes", "manage resource quotas"]), ["shop"], frozenset()
    )
    wide = next(item for item in principal.objects if item["kind"] == "ClusterRole")["rules"]
    assert [rule["resources"] for rule in wide] == [["namespaces", "nodes"], ["nodes"], ["nodes"]]


def test_the_account_lives_where_the_scenario_does_not() -> None:
    assert build_principal(agent(), [], frozenset({"platform"})).home == "automation"
    principal = build_principal(agent(), [], frozenset())
    assert principal.username == "system:serviceaccount:platform:ops-assistant"
    assert principal.namespace == "default"


def test_a_scope_of_zones_means_their_namespaces() -> None:
    namespaces: list[dict[str, Any]] = [
        {"metadata": {"name": "shop", "labels": {"security-zone": "zone-a"}}},
        {"metadata": {"name": "bank", "labels": {"security-zone": "zone-b"}}},
        {"metadata": {"name": "default"}},
    ]
    assert scope_namespaces(agent(zones=["zone-a"]), namespaces) == ("shop",)
    assert scope_namespaces(agent(zones=["zone-a"], namespaces=["bank"]), namespaces) == ("bank",)
    assert scope_namespaces(agent(), namespaces) == ()


def test_what_cannot_be_granted_is_refused() -> None:
    assert [fault.field for fault in check_agent(agent("yolo", namespaces=["Not_One"]))] == [
        "mode",
        "scope.namespaces",
    ]
    assert check_agent(agent("supervised", namespaces=["shop"])) == ()


@pytest.mark.parametrize("mode", ["read-only", "supervised", "autonomous"])
def test_what_tools_report_is_looked_at_and_never_written(mode: Any) -> None:
    granted = rules(build_principal(agent(mode), ["shop"], frozenset()))
    for group, resource in (
        ("argoproj.io", "applications"), ("metrics.keptn.sh", "keptnmetrics"), ("db.atlasgo.io", "atlasmigrations"),
        ("monitoring.coreos.com", "prometheusrules"), ("metrics.k8s.io", "pods"), ("metrics.k8s.io", "nodes"),
    ):  # fmt: skip
        verbs = [
            rule["verbs"]
            for rule in granted
            if rule["apiGroups"] == [group] and resource in rule["resources"]
        ]
        assert verbs == [["get", "list", "watch"]], (group, resource)


@pytest.mark.parametrize(("mode", "writes"), [("read-only", False), ("autonomous", True)])
def test_kinds_of_the_scenarios_own_are_worked_on_as_all_others(mode: Any, writes: bool) -> None:
    principal = build_principal(agent(mode), ["shop"], frozenset(), [("b.example", "backups")])
    verbs = {
        verb for rule in rules(principal) if rule["apiGroups"] == ["b.example"] for verb in rule["verbs"]
    }
    assert "get" in verbs
    assert bool(verbs & WRITING) is writes


@pytest.mark.parametrize(
    ("mode", "commands", "granted"),
    [
        ("autonomous", True, True),
        ("autonomous", False, False),
        ("read-only", True, False),
        ("supervised", True, False),
    ],
)
def test_commands_are_run_by_who_works_alone_and_where_there_are_any(
    mode: str,
    commands: bool,
    granted: bool,  # a row of the table
) -> None:
    found = rules(build_principal(agent(mode), ["shop"], frozenset(), commands=commands))
    assert any("pods/exec" in rule["resources"] for rule in found) is granted
