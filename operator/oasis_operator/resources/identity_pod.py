"""The pod in which an agent is asked once who it is: an agent pod without an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.resources import agent_pod, kinds, labels, manifests, names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.agent import AgentSpec
    from oasis_operator.settings import Settings

_DEADLINE_SECONDS = 1800


def identity_id(evaluation_uid: str, attempt: int, subject_digest: str) -> str:
    """Return the identifier of the identity pod's objects; another subject has another pod."""
    return names.opaque_token("identity", evaluation_uid, attempt, subject_digest)


def build_identity_pod(
    token: str, evaluation: Mapping[str, Any], spec: AgentSpec, settings: Settings
) -> dict[str, Any]:
    """Return the identity pod of an Evaluation."""
    plan = agent_pod.PodPlan(
        metadata=_metadata(names.identity_pod(token), token, evaluation, sandboxed=True),
        secret=names.secret(token),
        environment_ip=None,
        deadline_seconds=_DEADLINE_SECONDS,
    )
    return agent_pod.build_agent_pod(plan, spec, settings)


def build_identity_secret(
    token: str, evaluation: Mapping[str, Any], data: Mapping[str, str]
) -> dict[str, Any]:
    """Return the Secret of an identity pod."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "metadata": _metadata(names.secret(token), token, evaluation, sandboxed=False),
        "data": dict(data),
    }


def _metadata(name: str, token: str, evaluation: Mapping[str, Any], *, sandboxed: bool) -> dict[str, Any]:
    meta = evaluation["metadata"]
    marks = labels.preflight_labels(token, labels.ROLE_IDENTITY, evaluation=meta["name"], sandboxed=sandboxed)
    owner = manifests.owner_reference(kinds.EVALUATION, evaluation)
    return manifests.metadata(name, meta["namespace"], marks, owner)
