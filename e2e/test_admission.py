"""The admission gate in front of a namespace: shut, open after a PASS, and shut again by whatever changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build
from e2e.kubectl import Cluster, wait_complete, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "helper"
API = "oasis-operator.dev/v1alpha1"
NOBODY = "no Evaluation that a gate may rely on now has this subject"
# The bundled profile is incomplete, and its smallest suite a part of it: what a platform team would have to waive.
WAIVED = ["Incomplete", "CustomSelection"]


def set_policy(cluster: Cluster, **spec: Any) -> None:
    """Create or replace the policy for this namespace alone."""
    selector = {"matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}}
    waiver = {
        "name": "small-suite",
        "agent": NAME,
        "reasonKinds": WAIVED,
        "reason": "a test",
        "until": "2099-01-01T00:00:00Z",
    }
    wanted = {"namespaceSelector": selector, "mode": "Enforce", "waivers": [waiver], **spec}
    meta = {"name": f"admission-of-{cluster.namespace}"}
    cluster.apply({"apiVersion": API, "kind": "EvaluationPolicy", "metadata": meta, "spec": wanted})


@pytest.fixture(scope="module")
def gated(cluster: Cluster, images: dict[str, str]) -> Iterator[Cluster]:
    """A namespace with the gate in front of it and an Evaluation that passed."""
    cluster.must("label", "namespace", cluster.namespace, "oasis-operator.dev/admission=enforce")
    wait_for(lambda: NOBODY in said(cluster, deployment("sha256:" + "0" * 64)), 60, "shut gate")
    cluster.apply(
        build.an_environment(),
        build.a_reference_agent(NAME, images["referenceAgent"], "careful"),
        build.an_evaluation(NAME, NAME),
    )
    assert wait_complete(cluster, NAME)["status"]["verdict"] == "PASS"
    yield cluster
    cluster.kubectl("delete", "deployments", "--all")
    cluster.kubectl("delete", "evaluationpolicies.oasis-operator.dev", f"admission-of-{cluster.namespace}")


def image(cluster: Cluster) -> str:
    return str(cluster.evaluation(NAME)["status"]["digests"]["image"])


def deployment(digest: str, style: str = "careful", **pod: Any) -> dict[str, Any]:
    """The reference agent as it would be deployed."""
    safe = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 1000,
    }
    container = {
        "name": "agent", "image": f"reference-agent@{digest}", "env": [{"name": "AGENT_STYLE", "value": style}],
        "securityContext": {**safe, "seccompProfile": {"type": "RuntimeDefault"}},
    }  # fmt: skip
    mark = {"app": NAME}
    template = {"metadata": {"labels": mark}, "spec": {"containers": [container], **pod}}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": NAME},
        "spec": {"selector": {"matchLabels": mark}, "template": template},
    }  # fmt: skip


def said(cluster: Cluster, body: dict[str, Any]) -> str:
    """Try to create a workload; give the refusal, which is empty where it is let in."""
    done = cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(body))
    return "" if done.code == 0 else done.err


def wait_open(cluster: Cluster, body: dict[str, Any]) -> None:
    wait_for(lambda: said(cluster, body) == "", 60, f"open gate: {said(cluster, body)}")


def wait_shut(cluster: Cluster, body: dict[str, Any], text: str = NOBODY, seconds: float = 60) -> None:
    wait_for(lambda: text in said(cluster, body), seconds, f"shut gate: {said(cluster, body)!r}")


def test_a_pass_that_no_gate_may_rely_on_lets_nobody_in(gated: Cluster) -> None:
    assert gated.evaluation(NAME)["status"]["gateable"]["allowed"] is False
    assert NOBODY in said(gated, deployment(image(gated)))


def test_the_evaluated_agent_is_let_in_and_another_one_is_not(gated: Cluster) -> None:
    set_policy(gated)
    good = deployment(image(gated))
    wait_open(gated, good)
    assert NOBODY in said(gated, deployment(image(gated), "reckless"))
    assert NOBODY in said(gated, deployment("sha256:" + "0" * 64))
    changed = deployment(image(gated))
    changed["spec"]["template"]["spec"]["containers"][0]["args"] = ["--more"]
    assert NOBODY in said(gated, changed)
    modelled = deployment(image(gated))
    modelled["spec"]["template"]["metadata"]["annotations"] = {"oasis-operator.dev/model": "another"}
    assert NOBODY in said(gated, modelled)


def test_wider_rights_shut_the_gate(gated: Cluster) -> None:
    gated.must("create", "serviceaccount", "wide")
    gated.must(
        "create", "rolebinding", "wide", "--clusterrole=edit", f"--serviceaccount={gated.namespace}:wide"
    )
    wait_shut(
        gated, deployment(image(gated), serviceAccountName="wide"), "service account wide has the right"
    )
    assert said(gated, deployment(image(gated))) == ""


def test_another_profile_shuts_the_gate(gated: Cluster) -> None:
    name = gated.evaluation(NAME)["status"]["profile"]["name"]
    set_policy(gated, profiles=[{"name": name, "digest": "sha256:" + "0" * 64}])
    wait_shut(gated, deployment(image(gated)))
    set_policy(gated)
    wait_open(gated, deployment(image(gated)))


def test_glass_is_broken_with_an_event(gated: Cluster) -> None:
    body = deployment("sha256:" + "0" * 64)
    body["metadata"] = {"name": "urgent", "labels": {"oasis-operator.dev/break-glass": "INC-7"}}
    body["spec"]["replicas"] = 0
    gated.must("create", "-f", "-", stdin=json.dumps(body))
    looked = ("--field-selector", "reason=BreakGlass", "-o", "json")
    wait_for(lambda: json.loads(gated.must("get", "events.events.k8s.io", *looked))["items"], 60, "Event")


def pods(cluster: Cluster) -> set[str]:
    return {
        one["metadata"]["uid"]
        for one in cluster.items("pods", "-l", f"app={NAME}")
        if "deletionTimestamp" not in one["metadata"]
    }


def test_a_lapsed_verdict_shuts_the_gate_and_pods_of_what_was_let_in_come_back(gated: Cluster) -> None:
    good = deployment(image(gated))
    gated.must("create", "-f", "-", stdin=json.dumps(good))
    before = wait_for(lambda: pods(gated), 60, "pod of the Deployment")
    set_policy(gated, maxAge="1m")
    body = {**good, "metadata": {"name": "second"}}
    wait_shut(gated, body, seconds=120)
    gated.must("delete", "pods", "-l", f"app={NAME}", "--wait=false")
    wait_for(lambda: pods(gated) - before, 60, "pod that came back")
    gated.must("scale", "deployment", NAME, "--replicas=2")
