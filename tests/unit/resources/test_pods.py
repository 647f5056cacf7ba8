from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from kit.fakes.cluster import SETTINGS
from oasis_operator.api.v1alpha1 import agent
from oasis_operator.api.v1alpha1.agent import AgentSpec
from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
from oasis_operator.resources import (
    agent_pod,
    environment_pod,
    identity_pod,
    kinds,
    labels,
    manifests,
    names,
    network_policy,
    reach_pod,
    run,
)
from oasis_operator.world.monitoring.tools import LOKI, PROMETHEUS

RUN = {"metadata": {"name": "check-1", "namespace": "shop", "uid": "u-1"}}
EVALUATION = {"metadata": {"name": "check", "namespace": "shop", "uid": "u-2"}}
OBJECTS = run.run_objects(RUN, 1, 600)
HTTP = AgentSpec.model_validate(
    {
        "http": {"port": 8080},
        "image": "registry.example/agent:1",
        "mode": "Autonomous",
        "env": [{"name": "MODEL", "value": "x"}],
        "podTemplate": {
            "nodeSelector": {"pool": "agents"},
            "securityContext": {"runAsUser": 1001},
            "resources": {"limits": {"memory": "2Gi"}},
        },
    }
)
COMMAND = AgentSpec.model_validate(
    {
        "cli": {
            "identity": {"name": "helper", "version": "1.0.0"},
            "prompt": {"by": "File", "path": "/work/in/task.md"},
            "answer": {"source": "File", "path": "/tmp/out.txt"},
        },
        "image": "registry.example/agent:1",
        "command": ["/agent"],
        "args": ["$(PROMPT)"],
        "mode": "Autonomous",
    }
)
SCRIPTED = AgentSpec.model_validate(
    {"scripted": {"identity": {"name": "helper", "version": "1.0.0"}}, "mode": "Autonomous"}
)


def an_agent_pod(spec: AgentSpec) -> dict[str, Any]:
    return agent_pod.build_agent_pod(agent_pod.run_pod_plan(OBJECTS, "10.1.0.9"), spec, SETTINGS)


def every_pod() -> dict[str, dict[str, Any]]:
    marks = labels.preflight_labels("t", labels.ROLE_CANARY, evaluation="check", sandboxed=True)
    owner = manifests.owner_reference(kinds.EVALUATION, EVALUATION)
    kubernetes = EnvironmentSpec.model_validate({"kubernetes": {}})
    return {
        "environment": environment_pod.build_environment_pod(OBJECTS, kubernetes, SETTINGS),
        "http agent": an_agent_pod(HTTP),
        "commanded agent": an_agent_pod(COMMAND),
        "scripted agent": an_agent_pod(SCRIPTED),
        "identity": identity_pod.build_identity_pod("t", EVALUATION, HTTP, SETTINGS),
        "reach": reach_pod.build_reach_pod("d-t", "shop", marks, owner, SETTINGS),
    }


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]


@pytest.mark.parametrize("name", sorted(every_pod()))
def test_every_sandbox_pod_passes_the_restricted_standard(name: str) -> None:
    pod = every_pod()[name]
    spec = pod["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    assert not any(spec[field] for field in ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"))
    assert spec["restartPolicy"] == "Never"
    assert spec["dnsPolicy"] == "None"
    assert spec["activeDeadlineSeconds"] > 0
    assert not any("hostPath" in volume for volume in spec.get("volumes", ()))
    for container in containers(pod):
        context = container["securityContext"]
        assert context["runAsNonRoot"] is True
        assert context["runAsUser"] > 0
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["resources"]["limits"]["memory"]
        assert container["resources"]["requests"]["cpu"]
        assert "/" in container["image"]


@pytest.mark.parametrize("name", sorted(every_pod()))
def test_every_sandbox_pod_is_owned_and_marked(name: str) -> None:
    meta = every_pod()[name]["metadata"]
    assert len(meta["ownerReferences"]) == 1
    assert meta["ownerReferences"][0]["controller"] is True
    assert meta["labels"][labels.SANDBOX] == "true"


def test_the_control_pod_escapes_the_deny_policy_and_the_canary_does_not() -> None:
    selector = network_policy.default_deny("shop")["spec"]["podSelector"]["matchLabels"]
    control = labels.preflight_labels("t", labels.ROLE_CONTROL, evaluation="check", sandboxed=False)
    canary = labels.preflight_labels("t", labels.ROLE_CANARY, evaluation="check", sandboxed=True)
    assert not labels.matches(control, selector)
    assert labels.matches(canary, selector)


def test_each_container_sees_only_its_own_keys() -> None:
    pod = every_pod()["environment"]
    keys = {
        volume["name"]: {item["key"] for item in volume["secret"]["items"]}
        for volume in pod["spec"]["volumes"]
        if "secret" in volume
    }
    mounted = {
        container["name"]: set().union(
            *(keys.get(mount["name"], set()) for mount in container["volumeMounts"])
        )
        for container in containers(pod)
    }
    assert mounted == {
        "control-plane": {"cluster-ca.crt", "cluster-ca.key"},
        "probe": {"probe.crt", "probe.key", "probe-token"},
    }


def test_no_key_of_the_harness_reaches_the_agents_container() -> None:
    pod = an_agent_pod(HTTP)
    agent = pod["spec"]["containers"][0]
    secret_volumes = {volume["name"] for volume in pod["spec"]["volumes"] if "secret" in volume}
    assert not secret_volumes & {mount["name"] for mount in agent["volumeMounts"]}
    account = next(mount for mount in agent["volumeMounts"] if mount["name"] == "access")
    assert account["readOnly"] is True


@pytest.mark.parametrize("spec", [HTTP, COMMAND], ids=["http", "command"])
def test_nothing_within_the_agents_reach_names_the_harness(spec: AgentSpec) -> None:
    pod = an_agent_pod(spec)
    seen = [pod["spec"]["hostname"], str(pod["spec"]["hostAliases"]), str(pod["spec"]["containers"][0])]
    for word in ("oasis", "sandbox", "probe", "scenario", "eval", "adapter"):
        assert not any(word in text.lower() for text in seen), word


def test_a_commanded_agents_container_waits_for_its_order() -> None:
    pod = an_agent_pod(COMMAND)["spec"]
    adapter, container = pod["initContainers"][0], pod["containers"][0]
    assert (container["command"], container["args"]) == (["/run/init/entry"], ["/run/task"])
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert mounts["/run/init"]["readOnly"] is True
    assert {"/run/task", "/work/in"} <= set(mounts)
    assert "/" not in mounts
    theirs = {mount["mountPath"]: mount["name"] for mount in adapter["volumeMounts"]}
    assert (theirs["/run/init"], theirs["/run/task"]) == ("init", "task")
    assert {"name": "SIDECAR_ENTRY_DIR", "value": "/run/init"} in adapter["env"]
    assert {mount["name"] for mount in container["volumeMounts"]} <= {item["name"] for item in pod["volumes"]}
    assert "$(PROMPT)" not in str(pod), "a kubelet would fill it in"


def test_no_other_agent_has_anything_of_it() -> None:
    pod = an_agent_pod(HTTP)["spec"]
    assert "env" not in pod["initContainers"][0]
    assert not {"init", "task"} & {item["name"] for item in pod["volumes"]}
    assert "command" not in pod["containers"][0]


def test_the_agent_waits_for_the_adapter_and_the_scripted_one_has_no_container() -> None:
    adapter = an_agent_pod(HTTP)["spec"]["initContainers"][0]
    assert adapter["restartPolicy"] == "Always"
    assert adapter["startupProbe"]["httpGet"]["scheme"] == "HTTPS"
    assert [item["name"] for item in containers(an_agent_pod(SCRIPTED))] == ["adapter"]


def test_choices_of_the_user_are_merged_and_cannot_lift_an_enforcement() -> None:
    pod = an_agent_pod(HTTP)
    agent = pod["spec"]["containers"][0]
    assert pod["spec"]["nodeSelector"] == {"pool": "agents"}
    assert agent["securityContext"]["runAsUser"] == 1001
    assert agent["resources"]["limits"]["memory"] == "2Gi"
    assert agent["resources"]["requests"]["memory"]
    assert agent["env"][0] == {"name": "MODEL", "value": "x"}
    assert {item["name"] for item in agent["env"][1:]} >= {"KUBERNETES_SERVICE_HOST", "KUBECONFIG"}


def test_an_identity_pod_has_no_environment() -> None:
    assert every_pod()["identity"]["spec"]["hostAliases"] == []


def test_reach_pods_try_operator_api_server_and_their_own_node() -> None:
    arguments = every_pod()["reach"]["spec"]["containers"][0]["args"]
    targets = [after for before, after in itertools.pairwise(arguments) if before == "--target"]
    assert arguments[0] == "reach"
    assert targets == ["operator=10.1.0.1:9444", "api-server=10.96.0.1:443", "node=$(HOST_IP):10250"]


def test_only_the_canary_waits_for_the_block() -> None:
    owner = manifests.owner_reference(kinds.EVALUATION, EVALUATION)
    marks = labels.preflight_labels("t", labels.ROLE_CONTROL, evaluation="check", sandboxed=False)
    control = reach_pod.build_reach_pod("c-t", "shop", marks, owner, SETTINGS)
    assert "--until-blocked" not in control["spec"]["containers"][0]["args"]
    assert "--until-blocked" in every_pod()["reach"]["spec"]["containers"][0]["args"]


def test_names_are_opaque_and_differ_by_attempt() -> None:
    first, second = names.run_id("u-1", 1), names.run_id("u-1", 2)
    assert first != second
    assert first == names.run_id("u-1", 1)
    assert len(first) == 10
    assert set(first) <= set("abcdefghijklmnopqrstuvwxyz234567")


def test_names_of_runs_fit_a_label_however_long_the_evaluations_is() -> None:
    name = names.scenario_run("a." * 120 + "z", "u", 1, "scenario", 1)
    assert len(name) <= 63
    assert name == name.strip("-").lower()


def test_a_run_policy_allows_the_environments_api_and_nothing_else() -> None:
    spec = network_policy.run_policy(OBJECTS)["spec"]
    assert spec["egress"] == [
        {
            "to": [{"podSelector": {"matchLabels": {labels.RUN: OBJECTS.id, labels.ROLE: "environment"}}}],
            "ports": [{"protocol": "TCP", "port": 443}],
        }
    ]
    assert [rule["ports"][0]["port"] for rule in spec["ingress"]] == [443]


def test_the_tools_of_a_run_are_allowed_and_have_their_names() -> None:
    tools = (PROMETHEUS, LOKI)
    spec = network_policy.run_policy(OBJECTS, tools)["spec"]
    for rule in (spec["egress"][0], spec["ingress"][0]):
        assert [port["port"] for port in rule["ports"]] == [443, 9090, 3100]
    plan = agent_pod.run_pod_plan(OBJECTS, "10.1.0.9", tools)
    alias = agent_pod.build_agent_pod(plan, HTTP, SETTINGS)["spec"]["hostAliases"]
    assert [entry["ip"] for entry in alias] == ["10.1.0.9"]
    assert {"prometheus.monitoring.svc", "loki.monitoring.svc.cluster.local"} <= set(alias[0]["hostnames"])
    without = an_agent_pod(HTTP)["spec"]["hostAliases"][0]["hostnames"]
    assert not [name for name in without if "monitoring" in name]


@pytest.mark.parametrize(
    "change",
    [
        {"policyTypes": ["Ingress"]},
        {"egress": [{}]},
        {"podSelector": {"matchLabels": {"other": "true"}}},
    ],
    ids=["egress no longer governed", "everything allowed", "other pods"],
)
def test_a_deny_policy_that_says_something_else_is_not_intact(change: dict[str, Any]) -> None:
    wanted = network_policy.default_deny("shop")
    found = {**wanted, "spec": {**wanted["spec"], **change}}
    assert network_policy.is_intact(wanted, wanted)
    assert not network_policy.is_intact(found, wanted)
    assert not network_policy.is_intact(None, wanted)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("", None),
        ("[]", None),
        ('{"results": [{"name": "node", "reached": false}]}', None),
        (
            '{"results": [{"name": "node", "reached": false}, {"name": "api-server", "reached": true}]}',
            reach_pod.Reached(("api-server",), ("node",)),
        ),
    ],
    ids=["empty", "no object", "a target is missing", "whole"],
)
def test_a_reachability_message_counts_only_when_it_tells_of_every_target(
    message: str, expected: Any
) -> None:
    assert reach_pod.parse_reach(message, ("node", "api-server")) == expected


def test_no_agent_may_name_the_secret_of_a_run() -> None:
    for number in range(50):
        assert re.search(agent.RUN_OBJECT, names.secret(names.run_id("uid", number)))


def test_files_of_an_agent_are_shown_to_its_container_alone_and_cannot_be_changed() -> None:
    held = [{"path": "/app/conf/a.yaml", "content": "a: 1"}, {"path": "/app/conf/b.yaml", "content": "b: 2"}]
    pod = an_agent_pod(HTTP.model_validate({**HTTP.model_dump(by_alias=True), "files": held}))
    volume = next(v for v in pod["spec"]["volumes"] if v["name"] == "files")
    shown = {
        item["path"]: pod["metadata"]["annotations"][item["fieldRef"]["fieldPath"].split("'")[1]]
        for item in volume["downwardAPI"]["items"]
    }
    mounts = [m for m in pod["spec"]["containers"][0]["volumeMounts"] if m["name"] == "files"]
    assert {m["mountPath"]: shown[m["subPath"]] for m in mounts} == {f["path"]: f["content"] for f in held}
    assert all(m["readOnly"] for m in mounts)
    assert "files" not in {m["name"] for m in pod["spec"]["initContainers"][0]["volumeMounts"]}


def test_an_agent_without_files_has_no_volume_for_them() -> None:
    assert "files" not in {volume["name"] for volume in an_agent_pod(HTTP)["spec"]["volumes"]}
