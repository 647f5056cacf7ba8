"""The subject of an evaluation as one digest: everything that makes the agent what it is."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator.api import fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1 import agent, environment
    from oasis_operator.settings import Images


def digest(value: Mapping[str, Any]) -> str:
    """Return `sha256:` and the digest of the canonical JSON of a value."""
    return f"sha256:{hashlib.sha256(rfc8785.dumps(dict(value))).hexdigest()}"


def subject_digest(spec: agent.AgentSpec) -> str:
    """Return the digest of an agent: image, entry point, variables, adapter, tools, mode and configuration.

    A Secret counts by its name; its content never reaches the operator.
    """
    return digest(fields.dump(spec))


def environment_digest(spec: environment.EnvironmentSpec, images: Images) -> str:
    """Return the digest of an environment with the images that it is made from."""
    return digest(
        {"spec": fields.dump(spec), "images": {"sandbox": images.sandbox, "sidecar": images.sidecar}}
    )


def adapter_kind(spec: agent.AgentSpec) -> str:
    """Return the name of the adapter that drives the agent."""
    return "scripted" if spec.scripted is not None else "http"
