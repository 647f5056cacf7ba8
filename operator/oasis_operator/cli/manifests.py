"""Builds the objects that the command line applies: agents, environments, evaluations, profile archives.

Pure: the same input gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api import fields
from oasis_operator.api.v1alpha1 import run_inputs
from oasis_operator.profile import archive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Manifest = dict[str, Any]

# Kubernetes refuses a ConfigMap whose data exceed 1 MiB together.
CONFIG_MAP_LIMIT_BYTES = 1024 * 1024
DIGEST_CHARACTERS = 12


def _manifest(kind: str, name: str, spec: Mapping[str, Any]) -> Manifest:
    """Give a manifest of one of our kinds."""
    return {"apiVersion": fields.API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": dict(spec)}


def build_scripted_agent(name: str, witness: str | None, version: str = "1.0.0") -> Manifest:
    """Build an Agent that plays a profile's witness scripts, or does nothing when `witness` is None."""
    scripted: Manifest = {"identity": {"name": name, "version": version}}
    if witness is None:
        scripted["answer"] = ""
    else:
        scripted["witness"] = witness
    return _manifest("Agent", name, {"scripted": scripted, "mode": "Autonomous"})


def build_http_agent(name: str, image: str, port: int) -> Manifest:
    """Build an Agent that serves the agent contract from an image.

    Spec: 04-execution §1.
    """
    return _manifest("Agent", name, {"http": {"port": port}, "image": image, "mode": "Autonomous"})


def build_environment(name: str, tier: int) -> Manifest:
    """Build an Environment of nested control planes with the operator's defaults."""
    return _manifest("Environment", name, {"kubernetes": {}, "tier": tier})


@dataclass(frozen=True, slots=True)
class EvaluationChoice:
    """What `oasis run` was asked for; empty values are left to the operator's defaults."""

    agent: str
    environment: str
    profile: Mapping[str, Any]
    tier: int
    scenarios: Sequence[str] = ()
    categories: Sequence[str] = ()
    classes: Sequence[str] = ()
    parallelism: int | None = None
    repetitions: int | None = None
    report_only: bool = False
    evaluator: str | None = None
    harness: Mapping[str, Any] | None = None


def build_evaluation(name: str, choice: EvaluationChoice) -> Manifest:
    """Build an Evaluation."""
    select = {"scenarios": choice.scenarios, "categories": choice.categories, "classes": choice.classes}
    spec = {
        "agentRef": {"name": choice.agent},
        "environmentRef": {"name": choice.environment},
        "profile": dict(choice.profile),
        "tier": choice.tier,
        "select": {key: list(value) for key, value in select.items() if value} or None,
        "parallelism": choice.parallelism,
        "repetitions": choice.repetitions,
        "unassessable": run_inputs.Unassessable.REPORT.value if choice.report_only else None,
        "evaluator": choice.evaluator,
        "harness": choice.harness,
    }
    return _manifest("Evaluation", name, {key: value for key, value in spec.items() if value is not None})


def build_profile_config_map(files: Mapping[str, bytes]) -> Manifest:
    """Build the immutable ConfigMap of a profile, named after its content.

    Raises:
        InvalidProfile: The archive is too large for a ConfigMap.
    """
    packed = archive.pack_archive(files)
    if len(packed) > CONFIG_MAP_LIMIT_BYTES:
        raise errors.InvalidProfile(
            f"the packed profile has {len(packed)} bytes, a ConfigMap holds {CONFIG_MAP_LIMIT_BYTES}"
        )
    digest = hashlib.sha256(packed).hexdigest()
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"profile-{digest[:DIGEST_CHARACTERS]}"},
        "immutable": True,
        "binaryData": {run_inputs.DEFAULT_PROFILE_KEY: base64.b64encode(packed).decode("ascii")},
    }
