"""The subject of an evaluation as one digest: everything that makes the agent what it is."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator.api import fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1 import agent, environment
    from oasis_operator.settings import Images


ADAPTERS = ("scripted", "http", "cli", "openai", "anthropic")
"""Members of an Agent's spec of which exactly one is given."""

_IMAGE_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")


def digest(value: Mapping[str, Any]) -> str:
    """Return `sha256:` and the digest of the canonical JSON of a value."""
    return f"sha256:{hashlib.sha256(rfc8785.dumps(dict(value))).hexdigest()}"


def subject_digest(spec: agent.AgentSpec, image: str = "") -> str:
    """Return the digest of an agent: image, entry point, variables, adapter, tools, mode and configuration.

    A Secret counts by its name; its content never reaches the operator.

    Args:
        spec: The agent as it is declared.
        image: Digest of its image as really run, since a tag may name another one tomorrow; empty where there
            is none or it is not known.
    """
    declared = fields.dump(spec)
    return digest({"spec": declared, "image": image} if image else declared)


def image_digest(image_id: str, reference: str | None) -> str:
    """Return the digest of an agent's image, or empty where neither the cluster nor the reference tells it.

    Args:
        image_id: What the pod's status says of the image as really run; it counts before the reference.
        reference: The image as the Agent names it, which may be pinned; None for an agent without one.
    """
    told = (_IMAGE_DIGEST.search(text) for text in (image_id, reference or ""))
    return next((match[0] for match in told if match), "")


def environment_digest(spec: environment.EnvironmentSpec, images: Images) -> str:
    """Return the digest of an environment with the images that it is made from."""
    return digest(
        {"spec": fields.dump(spec), "images": {"sandbox": images.sandbox, "sidecar": images.sidecar}}
    )


def world_digest(spec: environment.EnvironmentSpec) -> str:
    """Return the digest of what makes an environment's worlds, whatever is kept ready of them."""
    own = spec.kubernetes
    if own is not None:
        spec = spec.model_copy(update={"kubernetes": own.model_copy(update={"warm_pool": None})})
    return digest({"spec": fields.dump(spec)})


def adapter_kind(spec: agent.AgentSpec) -> str:
    """Return the name of the adapter that drives the agent."""
    return next(name for name in ADAPTERS if getattr(spec, name) is not None)
