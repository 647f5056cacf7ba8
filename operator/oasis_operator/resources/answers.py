"""The document in which an Evaluation keeps what its agent answered about itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator.wire.agent import CONVERSATION_CONTEXT, read_capabilities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.agent import AgentSpec
    from oasis_operator.api.v1alpha1.evaluation_status import EvaluationStatus
    from oasis_operator.api.v1alpha1.script import Scripted, ScriptedIdentity

NAME = "identity.json"
MEDIA_TYPE = "application/json"


def of_loop(spec: AgentSpec) -> dict[str, Any] | None:
    """Return the answer of a model in a loop of ours, None for any other agent.

    Earlier turns are said to the model as such, so that it has the capability to be given some.

    Spec: 04-execution §1, 08-provider-conformance §3.1.
    """
    loop = spec.openai or spec.anthropic
    if loop is None:
        return None
    return {**_declared(loop.identity, spec.configuration), "capabilities": [CONVERSATION_CONTEXT]}


def of_scripted(scripted: Scripted, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a scripted agent, which its own spec gives.

    It has no capabilities: a script is played whatever was said before.

    Spec: 04-execution §1.
    """
    return _declared(scripted.identity, configuration)


def _declared(identity: ScriptedIdentity, configuration: Mapping[str, Any]) -> dict[str, Any]:
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
    body: dict[str, Any] = {"identity": answer["identity"], "configuration": answer["configuration"]}
    capabilities = read_capabilities(answer)
    if capabilities:
        body["capabilities"] = list(capabilities)
    return rfc8785.dumps(body)


def load(content: bytes) -> dict[str, Any]:
    """Return the answer that a document holds."""
    value: dict[str, Any] = json.loads(content)
    return value


def digest_in(status: EvaluationStatus) -> str:
    """Return the digest of the document that a status refers to, or empty where it has none yet."""
    return next((item.digest for item in status.artifacts if item.name == NAME), "")
