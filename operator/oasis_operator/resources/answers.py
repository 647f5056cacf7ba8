"""The document in which an Evaluation keeps what its agent answered about itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import rfc8785

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1 import agent
    from oasis_operator.api.v1alpha1.evaluation_status import EvaluationStatus

NAME = "identity.json"
MEDIA_TYPE = "application/json"


def of_scripted(scripted: agent.Scripted, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a scripted agent, which its own spec gives.

    Spec: 04-execution §1.
    """
    identity = scripted.identity
    return {
        "identity": {
            "name": identity.name,
            "version": identity.version,
            "description": identity.description or "",
        },
        "configuration": dict(configuration),
    }


def dump(answer: Mapping[str, Any]) -> bytes:
    """Return the document's bytes."""
    return rfc8785.dumps({"identity": answer["identity"], "configuration": answer["configuration"]})


def load(content: bytes) -> dict[str, Any]:
    """Return the answer that a document holds."""
    value: dict[str, Any] = json.loads(content)
    return value


def digest_in(status: EvaluationStatus) -> str:
    """Return the digest of the document that a status refers to, or empty where it has none yet."""
    return next((item.digest for item in status.artifacts if item.name == NAME), "")
