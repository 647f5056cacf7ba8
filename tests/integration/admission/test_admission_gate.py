"""The chart's admission gate on a real API server: who is let in, who is not, and what is said."""

from __future__ import annotations

import importlib.util
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from oasis_operator.api.v1alpha1.agent import AgentSpec
from oasis_operator.resources.workload import workload_text

_spec = importlib.util.spec_from_file_location("admission_kit", Path(__file__).with_name("conftest.py"))
assert _spec is not None
assert _spec.loader is not None
kit = importlib.util.module_from_spec(_spec)
sys.modules["admission_kit"] = kit
_spec.loader.exec_module(kit)

DIGEST = kit.DIGEST
CONTAINER: dict[str, Any] = {
    "name": "agent",
    "image": f"agents/helper@{DIGEST}",
    "command": ["/agent"],
    "args": ["--careful", "1:2,"],
    "env": [
        {"name": "STYLE", "value": "careful"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "one"}}},
    ],
}
AGENT: dict[str, Any] = {
    **{key: CONTAINER[key] for key in ("image", "command", "args", "env")},
    "http": {"port": 80},
    "mode": "Autonomous",
}
KINDS = (
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "Pod",
)
NOBODY = "no Evaluation that a gate may rely on now has this subject"


def subject(namespace: str = "shop", agent: dict[str, Any] = AGENT, **more: Any) -> dict[str, Any]:
    spec = AgentSpec.model_validate(agent)
    return {"text": workload_text(spec, DIGEST), "namespace": namespace, "evaluation": "check", **more}


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(time.time() + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def shop(gate: Any) -> str:
    return str(gate.namespace("shop", team="red"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_of_each_kind_is_let_in_as_the_subject_of_a_pass_and_as_nothing_else(
    gate: Any, shop: str, kind: str
) -> None:
    gate.publish([subject()])
    assert gate.create(shop, kit.workload(kind, CONTAINER)) == (201, "")
    code, said = gate.create(shop, kit.workload(kind, {**CONTAINER, "args": ["--reckless"]}))
    assert code == 403
    assert NOBODY in said


CHANGED: dict[str, dict[str, Any]] = {
    "another image": {"image": "agents/helper@sha256:" + "b" * 64},
    "another command": {"command": ["/other"]},
    "no command": {"command": []},
    "an argument more": {"args": [*CONTAINER["args"], ""]},
    "arguments torn apart": {"args": ["--careful", "1:2", ""]},
    "another variable": {"env": [{"name": "STYLE", "value": "reckless"}, CONTAINER["env"][1]]},
    "a variable less": {"env": CONTAINER["env"][:1]},
    "another order of variables": {"env": CONTAINER["env"][::-1]},
    "another key of a Secret": {
        "env": [
            CONTAINER["env"][0],
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "two"}}},
        ]
    },
}


@pytest.mark.parametrize("name", CHANGED)
def test_whatever_the_subject_consists_of_shuts_the_gate_where_it_changes(
    gate: Any, shop: str, name: str
) -> None:
    gate.publish([subject()])
    code, said = gate.create(shop, kit.deployment({**CONTAINER, **CHANGED[name]}))
    assert (code, NOBODY in said) == (403, True), said


def test_another_model_is_another_subject(gate: Any, shop: str) -> None:
    agent = {**AGENT, "model": {"name": "m-1", "baseURL": "https://models.example/v1"}}
    gate.publish([subject(agent=agent)])
    for model, code in (("m-1", 201), ("m-2", 403)):
        body = kit.deployment(CONTAINER, annotations={"oasis-operator.dev/model": model})
        assert gate.create(shop, body)[0] == code
    assert gate.create(shop, kit.deployment(CONTAINER))[0] == 403


SECRET_VOLUME = {"name": "v", "secret": {"secretName": "s"}}
DEVIATIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "init containers": ({}, {"initContainers": [{"name": "i", "image": "i"}]}),
    "an image without its digest": ({"image": "agents/helper:1"}, {}),
    "envFrom": ({"envFrom": [{"configMapRef": {"name": "c"}}]}, {}),
    "variables from elsewhere": ({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}]}, {}),
    "lifecycle hooks": ({"lifecycle": {"postStart": {"exec": {"command": ["x"]}}}}, {}),
    "a working directory": ({"workingDir": "/x"}, {}),
    "probes that run commands": ({"livenessProbe": {"exec": {"command": ["x"]}}}, {}),
    "volumes other than emptyDir": ({}, {"volumes": [SECRET_VOLUME]}),
    "mounts elsewhere": ({"volumeMounts": [{"name": "v", "mountPath": "/etc"}]}, {"volumes": [{"name": "v", "emptyDir": {}}]}),
    "namespaces of the host": ({}, {"hostNetwork": True}),
    "names of its own": ({}, {"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["models"]}]}),
    "privileges": ({"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", DEVIATIONS)
def test_what_no_evaluated_agent_has_is_refused_by_its_name(gate: Any, shop: str, name: str) -> None:
    gate.publish([subject()])
    container, pod = DEVIATIONS[name]
    code, said = gate.create(shop, kit.deployment({**CONTAINER, **container}, **pod))
    assert (code, name in said) == (403, True), said


def test_a_second_container_is_refused(gate: Any, shop: str) -> None:
    gate.publish([subject()])
    body = kit.deployment(CONTAINER)
    body["spec"]["template"]["spec"]["containers"].append({"name": "other", "image": f"x@{DIGEST}"})
    code, said = gate.create(shop, body)
    assert (code, "more than one container" in said) == (403, True), said


def test_scratch_space_and_the_mounted_token_are_no_deviation(gate: Any, shop: str) -> None:
    gate.publish([subject()])
    token = {"serviceAccountToken": {"path": "token"}}
    root = {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
    volumes = [
        {"name": "tmp", "emptyDir": {}},
        {"name": "kube-api-access-x", "projected": {"sources": [token, root]}},
    ]
    mounts = [
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "kube-api-access-x", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"},
    ]
    body = kit.workload(
        "Pod", {**CONTAINER, "volumeMounts": mounts}, volumes=volumes, serviceAccountName="default"
    )
    assert gate.create(shop, body) == (201, "")


def test_an_account_with_rights_that_the_agent_did_not_declare_is_refused(gate: Any, shop: str) -> None:
    account = {"kind": "ServiceAccount", "name": "helper", "namespace": shop}
    gate.grant("helper", [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["patch"]}], account)
    gate.publish([subject()])
    body = kit.deployment(CONTAINER, serviceAccountName="helper")
    code, said = gate.create(shop, body)
    assert (code, 'has the right "patch deployments.apps"' in said) == (403, True), said
    assert gate.create(shop, kit.deployment(CONTAINER))[0] == 201
    gate.publish(
        [subject(agent={**AGENT, "rights": ["patch deployments.apps"]}, rights=["patch deployments.apps"])]
    )
    assert gate.create(shop, body)[0] == 201
    gate.grant("helper", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}], account)
    kit.eventually(lambda: "has the right" in gate.create(shop, body)[1], "wider rights seen")


def test_a_lapsed_subject_is_refused_by_its_own_end_though_it_is_still_listed(gate: Any, shop: str) -> None:
    gate.publish([subject(until=stamp(3600))])
    assert gate.create(shop, kit.deployment(CONTAINER))[0] == 201
    gate.publish([subject(until=stamp(-5))])
    assert NOBODY in gate.create(shop, kit.deployment(CONTAINER))[1]


def test_evaluations_count_in_their_own_namespace_unless_every_policy_says_otherwise(
    gate: Any, shop: str
) -> None:
    lab = subject("lab", policies=["floors", "more"])
    gate.publish([lab])
    assert gate.create(shop, kit.deployment(CONTAINER))[0] == 403
    floors = {"name": "floors", "selector": {"matchLabels": {"team": "red"}}, "evaluatedIn": ["lab"]}
    gate.publish([lab], policies=[floors])
    assert gate.create(shop, kit.deployment(CONTAINER))[0] == 201
    more = {"name": "more", "selector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}}
    gate.publish([lab], policies=[floors, more])
    code, said = gate.create(shop, kit.deployment(CONTAINER))
    assert (code, "under floors, more" in said) == (403, True), said


RULES = [
    ({"key": "team", "operator": "In", "values": ["red"]}, True),
    ({"key": "team", "operator": "In", "values": ["blue"]}, False),
    ({"key": "team", "operator": "NotIn", "values": ["red"]}, False),
    ({"key": "absent", "operator": "NotIn", "values": ["red"]}, True),
    ({"key": "team", "operator": "Exists"}, True),
    ({"key": "team", "operator": "DoesNotExist"}, False),
    ({"key": "absent", "operator": "DoesNotExist"}, True),
]


@pytest.mark.parametrize(("rule", "selected"), RULES, ids=str)
def test_a_policy_shuts_the_gate_of_what_was_not_held_against_it(
    gate: Any, shop: str, rule: Any, selected: bool
) -> None:
    gate.publish([subject()], policies=[{"name": "floors", "selector": {"matchExpressions": [rule]}}])
    assert gate.create(shop, kit.deployment(CONTAINER))[0] == (403 if selected else 201)
    gate.publish(
        [subject(policies=["floors"])],
        policies=[{"name": "floors", "selector": {"matchExpressions": [rule]}}],
    )
    assert gate.create(shop, kit.deployment(CONTAINER))[0] == 201


def test_pods_made_anew_by_controllers_and_sandboxes_pass_and_pretended_ones_do_not(
    gate: Any, shop: str
) -> None:
    gate.publish([])
    pod = kit.workload("Pod", CONTAINER)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    every = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    maker = "system:serviceaccount:kube-system:replicaset-controller"
    gate.grant("maker", every, {"kind": "User", "name": maker, "apiGroup": "rbac.authorization.k8s.io"})
    assert gate.create(shop, pod, user=maker)[0] == 201
    assert gate.create(shop, pod)[0] == 403
    assert gate.create(shop, kit.workload("Pod", CONTAINER), user=maker)[0] == 403
    assert gate.create(shop, kit.workload("Pod", CONTAINER), user=kit.OPERATOR)[0] == 201


def test_a_workload_that_was_let_in_may_be_scaled_after_its_verdict_lapsed_but_not_changed(
    gate: Any, shop: str
) -> None:
    gate.publish([subject()])
    body = kit.deployment(CONTAINER)
    path = kit.path_of(body, shop)
    assert gate.server.send("POST", path, body)[0] == 201
    try:
        gate.publish([])
        body["spec"]["replicas"] = 5
        assert gate.server.send("PUT", f"{path}/agent", body)[0] == 200
        body["spec"]["template"]["spec"]["containers"][0] = {**CONTAINER, "args": ["--reckless"]}
        code, answer = gate.server.send("PUT", f"{path}/agent", body)
        assert (code, NOBODY in answer["message"]) == (403, True)
        gate.publish([subject(agent={**AGENT, "args": ["--reckless"]}, until=stamp(600))])
        assert gate.server.send("PUT", f"{path}/agent", body)[0] == 200
    finally:
        gate.server.send("DELETE", f"{path}/agent")


def test_a_namespace_that_only_warns_lets_in_and_says_why_it_would_not(gate: Any) -> None:
    gate.namespace("trial", "warn")
    gate.publish([])
    code, said = gate.create("trial", kit.deployment(CONTAINER))
    assert (code, NOBODY in said) == (201, True)


def test_a_namespace_without_the_label_is_none_of_its_business(gate: Any) -> None:
    gate.publish([])
    gate.namespace("free", "off")
    assert gate.create("free", kit.deployment(CONTAINER)) == (201, "")


def test_glass_is_broken_by_whoever_has_the_right_and_nobody_else(gate: Any, shop: str) -> None:
    gate.publish([])
    body = kit.deployment(
        {**CONTAINER, "image": "agents/helper:1"}, labels={"oasis-operator.dev/break-glass": "INC-7"}
    )
    deploys = {"apiGroups": ["apps", ""], "resources": ["deployments", "pods"], "verbs": ["create"]}
    bypass = {"apiGroups": ["oasis-operator.dev"], "resources": ["admissionlists"], "verbs": ["bypass"]}
    for user, rules in (("deployer", [deploys]), ("on-call", [deploys, bypass])):
        gate.grant(user, rules, {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"})
    kit.eventually(
        lambda: gate.create(shop, body, user="on-call")[0] == 201,
        f"the glass broken, but {gate.create(shop, body, user='on-call')}",
    )
    assert gate.create(shop, body, user="deployer")[0] == 403
    pod = kit.workload("Pod", CONTAINER, labels={"oasis-operator.dev/break-glass": "INC-7"})
    code, said = gate.create(shop, pod, user="on-call")
    assert (code, "counts only on a Deployment" in said) == (403, True), said


def test_nobody_but_the_operator_writes_the_list_not_even_an_administrator(gate: Any) -> None:
    gate.publish([])
    path = f"{kit.LIST}/oasis-oasis-operator"
    for method, body in (("PATCH", {"spec": {"subjects": [subject()]}}), ("DELETE", None)):
        code, answer = gate.server.send(method, path, body, kind="application/merge-patch+json")
        assert (code, "by the OASIS operator alone" in answer["message"]) == (403, True)


WHEN_STALE = {"Deny": (403, 403), "UseLastList": (201, 403), "Allow": (201, 201)}


@pytest.mark.parametrize("choice", WHEN_STALE)
def test_what_happens_while_the_operator_is_down_is_a_choice(gate: Any, shop: str, choice: str) -> None:
    other = kit.deployment({**CONTAINER, "args": ["--reckless"]})
    gate.install(admissionGate_whenStale=choice)
    try:
        gate.write([subject()], age=3600)
        wanted = WHEN_STALE[choice]

        def seen() -> tuple[int, int]:
            return gate.create(shop, kit.deployment(CONTAINER))[0], gate.create(shop, other)[0]

        kit.eventually(lambda: seen() == wanted, f"{wanted} while the list is stale, not {seen()}")
        if choice == "Deny":
            assert "is not being renewed" in gate.create(shop, kit.deployment(CONTAINER))[1]
    finally:
        gate.install()
        kit.eventually(lambda: _is_back(gate), "the usual choice in force")


def _is_back(gate: Any) -> bool:
    gate.write([], age=3600)
    return "is not being renewed" in gate.create("shop", kit.deployment(CONTAINER))[1]


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12
) | st.sampled_from(["", "1:a,", "] args=[", "\n", "']", "é", "😀", "image=", "@", "="])
NAMES = st.from_regex(r"[A-Z_][A-Z0-9_]{0,6}", fullmatch=True).filter(lambda name: name != "KUBECONFIG")
KEYS = st.builds(
    lambda name, key: {"secretKeyRef": {"name": name, "key": key}},
    st.from_regex("[a-z]{1,5}", fullmatch=True).filter(lambda name: name[0] != "r"),
    st.from_regex("[a-z]{1,5}", fullmatch=True),
)
VARIABLES = st.lists(
    st.builds(lambda name, value: {"name": name, "value": value}, NAMES, TEXTS)
    | st.builds(lambda name, source: {"name": name, "valueFrom": source}, NAMES, KEYS),
    max_size=4, unique_by=lambda one: one["name"],
)  # fmt: skip
DRAWN = st.fixed_dictionaries(
    {"command": st.lists(TEXTS, max_size=3), "args": st.lists(TEXTS, max_size=4), "env": VARIABLES}
)


@pytest.mark.timeout(300)
@given(agents=st.lists(DRAWN, min_size=8, max_size=16))
@settings(
    max_examples=6,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_admission_and_the_operator_work_out_the_same_text(gate: Any, agents: list[dict[str, Any]]) -> None:
    gate.namespace("shop")
    drawn = [{**AGENT, **one} for one in agents]
    listed, others = drawn[::2], drawn[1::2]
    texts = {subject(agent=one)["text"] for one in listed}
    gate.publish([subject(agent=one) for one in listed])
    for agent in (*listed, *others):
        container = {"name": "agent", **{key: agent[key] for key in ("image", "command", "args", "env")}}
        code, said = gate.create("shop", kit.deployment(container))
        assert code == (201 if subject(agent=agent)["text"] in texts else 403), said
