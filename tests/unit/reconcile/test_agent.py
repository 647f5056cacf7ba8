from __future__ import annotations

from typing import Any

from kit.fakes.cluster import HTTP, NAMESPACE, Cluster
from kit.kubelet import image_id_of
from oasis_operator.reconcile.agent.reconciler import AgentReconciler
from oasis_operator.resources import kinds


async def an_agent_after(cluster: Cluster) -> dict[str, Any]:
    """Return the Agent's status after everything is over."""
    await cluster.settle()
    await AgentReconciler(cluster.deps).reconcile(NAMESPACE, "helper")
    return dict(cluster.kube.one(kinds.AGENT, NAMESPACE, "helper")["status"])


async def test_an_agent_tells_who_it_is_and_the_subject_that_its_evaluation_was_about() -> None:
    cluster = Cluster()
    cluster.user_evaluates(HTTP)
    status = await an_agent_after(cluster)
    assert status["identity"]["name"] == "helper"
    assert status["subjectDigest"] == cluster.status()["digests"]["subject"]
    assert status["lastVerdicts"][0]["subjectDigest"] == status["subjectDigest"]


async def test_the_latest_evaluation_tells_what_the_image_is_now() -> None:
    cluster = Cluster()
    cluster.user_evaluates(HTTP)
    before = await an_agent_after(cluster)
    cluster.kubelet.image_id = lambda image: image_id_of(f"{image}-pushed-anew")
    cluster.user_evaluates(HTTP, name="again")
    after = await an_agent_after(cluster)
    assert after["subjectDigest"] == cluster.status("again")["digests"]["subject"]
    assert after["subjectDigest"] != before["subjectDigest"]


async def test_an_agent_that_was_declared_anew_is_nobody_yet() -> None:
    cluster = Cluster()
    cluster.user_evaluates(HTTP)
    before = await an_agent_after(cluster)
    cluster.user_applies(kinds.AGENT, "helper", {**HTTP, "image": "registry.example/agent:2"})
    after = await an_agent_after(cluster)
    assert "identity" not in after
    assert after["subjectDigest"] != before["subjectDigest"]
