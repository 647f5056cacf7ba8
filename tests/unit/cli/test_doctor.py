from __future__ import annotations

import json
from importlib import metadata
from typing import Any

import pytest

from oasis_operator.api.definitions import ALL as DEFINITIONS
from oasis_operator.cli import network_probe
from oasis_operator.cli.checks import Finding, Level
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.resources import kinds
from unit.cli import fake_cluster as fake
from unit.cli.fake_cluster import CommandLine, FakeCluster

SYSTEM = "oasis-system"


def a_crd(plural: str, *, served: bool = True, established: str = "True") -> dict[str, Any]:
    return {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.oasis-operator.dev"},
        "spec": {"versions": [{"name": "v1alpha1", "served": served}]},
        "status": {"conditions": [{"type": "Established", "status": established}]},
    }


def a_deployment(*, ready: int = 1, version: str = metadata.version("oasis-operator")) -> dict[str, Any]:
    variable = {"name": "OASIS_SIDECAR_IMAGE", "value": "oasis-sidecar:1"}
    labels = {"app.kubernetes.io/name": "oasis-operator", "app.kubernetes.io/version": version}
    return {
        "kind": "Deployment",
        "metadata": {"name": "oasis-operator", "namespace": SYSTEM, "labels": labels},
        "spec": {"template": {"spec": {"containers": [{"name": "operator", "env": [variable]}]}}},
        "status": {"readyReplicas": ready},
    }


def a_namespace(level: str | None = "restricted") -> dict[str, Any]:
    labels = {"pod-security.kubernetes.io/enforce": level} if level else {}
    return {"kind": "Namespace", "metadata": {"name": fake.NAMESPACE, "labels": labels}}


def with_egress(status: str, reason: str, message: str = "") -> dict[str, Any]:
    return fake.an_evaluation(
        status={**fake.a_pass(), "conditions": [fake.fact("EgressDenied", status, reason, message)]}
    )


@pytest.fixture
def cluster() -> FakeCluster:
    """A cluster in which all is well."""
    crds = [a_crd(definition.plural) for definition in DEFINITIONS]
    return FakeCluster(*crds, a_deployment(), a_namespace(), with_egress("True", "IsolationProven"))


def findings(oasis: CommandLine, *arguments: str) -> tuple[ExitCode, dict[str, dict[str, str]]]:
    answer = oasis("doctor", "-o", "json", *arguments)
    return answer.code, {found["check"]: found for found in json.loads(answer.out)}


def test_a_cluster_in_which_all_is_well_has_no_findings(oasis: CommandLine) -> None:
    code, found = findings(oasis)
    assert code is ExitCode.PASS
    assert {entry["level"] for entry in found.values()} == {"ok"}
    assert "here at https://127.0.0.1:6443, namespace team" in found["context"]["detail"]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        pytest.param(
            lambda c: c.put(a_crd("agents", served=False)),
            Finding("custom resources", Level.PROBLEM, "agents.oasis-operator.dev", "helm upgrade"),
            id="a custom resource that is not served",
        ),
        pytest.param(
            lambda c: c.put(a_crd("agents", established="False")),
            Finding("custom resources", Level.PROBLEM, "agents.oasis-operator.dev", "helm upgrade"),
            id="a custom resource that is not established",
        ),
        pytest.param(
            lambda c: c.objects.pop(("Deployment", SYSTEM, "oasis-operator")),
            Finding("operator", Level.PROBLEM, "no operator in namespace oasis-system", "helm upgrade"),
            id="no operator",
        ),
        pytest.param(
            lambda c: c.put(a_deployment(ready=0)),
            Finding("operator", Level.PROBLEM, "no ready pod", "logs deploy/oasis-operator"),
            id="an operator that is not ready",
        ),
        pytest.param(
            lambda c: c.put(a_deployment(version="9.9.9")),
            Finding("operator", Level.NOTE, "9.9.9", "same version"),
            id="an operator of another version",
        ),
        pytest.param(
            lambda c: c.denied.add(("create", "evaluations")),
            Finding("rights", Level.PROBLEM, "create evaluations", "ClusterRole edit"),
            id="a right that is missing",
        ),
        pytest.param(
            lambda c: c.put(a_namespace("baseline")),
            Finding("pod security", Level.NOTE, "enforces baseline", "enforce=restricted"),
            id="a namespace that is not restricted",
        ),
        pytest.param(
            lambda c: c.objects.pop(("Namespace", fake.NAMESPACE, fake.NAMESPACE)),
            Finding("pod security", Level.PROBLEM, "does not exist", "kubectl create namespace team"),
            id="a namespace that does not exist",
        ),
        pytest.param(
            lambda c: c.put(with_egress("False", "IsolationNotProven", "the node was reached")),
            Finding("network policy", Level.PROBLEM, "the node was reached", "network plugin"),
            id="a network that does not enforce",
        ),
        pytest.param(
            lambda c: c.objects.pop(("Evaluation", fake.NAMESPACE, "one")),
            Finding("network policy", Level.NOTE, "no evaluation here has tried", "doctor -n team --probe"),
            id="a network that nobody tried",
        ),
        pytest.param(
            lambda c: c.put(
                {
                    "kind": "Pod",
                    "metadata": {"name": "a-1"},
                    "status": {
                        "initContainerStatuses": [
                            {"image": "gone:1", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
                        ]
                    },
                }
            ),
            Finding("image pull", Level.PROBLEM, "team/a-1: ImagePullBackOff gone:1", "imagePullSecrets"),
            id="an image that cannot be pulled",
        ),
    ],
)
def test_each_fault_is_found_and_comes_with_its_fix(
    cluster: FakeCluster, oasis: CommandLine, change: Any, wanted: Finding
) -> None:
    change(cluster)
    code, found = findings(oasis)
    assert found[wanted.check]["level"] == wanted.level
    assert wanted.detail in found[wanted.check]["detail"]
    assert wanted.fix in found[wanted.check]["fix"]
    assert (code is ExitCode.FINDINGS) is (wanted.level is Level.PROBLEM)
    assert {entry["level"] for name, entry in found.items() if name != wanted.check} == {"ok"}


@pytest.mark.parametrize(
    ("version", "fine"),
    [("v1.29.9", False), ("v1.30.0", True), ("v1.34.4", True), ("v2.0.0", True), ("", False)],
)
def test_the_oldest_kubernetes_is_known(version: str, fine: bool) -> None:
    _, found = findings(CommandLine(FakeCluster(version=version)))
    assert (found["kubernetes"]["level"] == "ok") is fine


def test_a_check_that_may_not_look_does_not_stop_the_others(cluster: FakeCluster, oasis: CommandLine) -> None:
    cluster.forbidden.add(kinds.POD)
    code, found = findings(oasis)
    assert code is ExitCode.PASS
    assert found["images"]["level"] == "note"
    assert "administrator" in found["images"]["fix"]
    assert found["rights"]["level"] == "ok"


def test_the_newest_word_on_the_network_counts(cluster: FakeCluster, oasis: CommandLine) -> None:
    older = with_egress("False", "IsolationNotProven")
    older["metadata"]["name"] = "older"
    older["status"]["conditions"][0]["lastTransitionTime"] = "2026-11-29T08:00:00Z"
    cluster.put(older)
    assert findings(oasis)[1]["network policy"]["level"] == "ok"


class Kubelet:
    """Runs the probe's pods at the next read, as a network would let them."""

    def __init__(self, *, control: bool, denied: bool) -> None:
        self.reached = {network_probe.CONTROL: control, network_probe.DENIED: denied}
        self.seen: list[dict[str, Any]] = []

    def __call__(self, cluster: FakeCluster) -> None:
        for (kind, _, name), body in cluster.objects.items():
            if kind == "Pod" and "status" not in body:
                self.seen.append(body)
                body["status"] = self._status(name)

    def _status(self, name: str) -> dict[str, Any]:
        if name == network_probe.LISTENER:
            return {"phase": "Running", "podIP": "10.0.0.9"}
        message = json.dumps({"reached": self.reached[name]})
        return {"phase": "Succeeded", "containerStatuses": [{"state": {"terminated": {"message": message}}}]}


@pytest.mark.parametrize(
    ("control", "denied", "wanted"),
    [
        (True, False, ("ok", "enforced")),
        (True, True, ("problem", "reached a listener")),
        (False, False, ("problem", "even without a policy")),
    ],
)
def test_the_probe_needs_a_positive_control_and_cleans_up(
    cluster: FakeCluster, oasis: CommandLine, *, control: bool, denied: bool, wanted: tuple[str, str]
) -> None:
    level, told = wanted
    before = set(cluster.objects)
    cluster.before_read = kubelet = Kubelet(control=control, denied=denied)
    code, found = findings(oasis, "--probe")
    assert found["network policy"]["level"] == level
    assert told in found["network policy"]["detail"]
    assert (code is ExitCode.PASS) is (level == "ok")
    assert set(cluster.objects) == before
    assert {pod["spec"]["containers"][0]["image"] for pod in kubelet.seen} == {"oasis-sidecar:1"}


def test_a_probe_that_cannot_run_judges_nothing(cluster: FakeCluster, oasis: CommandLine) -> None:
    before = set(cluster.objects)
    code, found = findings(oasis, "--probe", "--probe-image", "nothing:1")
    assert code is ExitCode.FINDINGS
    assert "the network was not judged" in found["network policy"]["fix"]
    assert set(cluster.objects) == before
