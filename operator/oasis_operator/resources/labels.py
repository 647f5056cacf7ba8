"""Label and annotation keys on the objects that the operator makes, and values that fit them.

None of these is visible to the agent: the host's API is out of its reach and no downward API volume
is mounted into its container.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "oasis-operator.dev"

SANDBOX = f"{PREFIX}/sandbox"
RUN = f"{PREFIX}/run"
ROLE = f"{PREFIX}/role"
SCENARIO_RUN = f"{PREFIX}/scenario-run"
EVALUATION = f"{PREFIX}/evaluation"
EVALUATION_UID = f"{PREFIX}/evaluation-uid"
ATTEMPT = f"{PREFIX}/attempt"
ROUND = f"{PREFIX}/round"
POOL = f"{PREFIX}/pool"
"""UID of the Environment whose warm pool a pod is in; a claim takes it off."""
TEMPLATE = f"{PREFIX}/template"
"""What a pooled environment was made from; another template makes another value."""
RUN_UID = f"{PREFIX}/run-uid"
"""UID of the ScenarioRun that claimed an environment."""
ENVIRONMENT = f"{PREFIX}/environment"
"""Annotation: name of the Environment whose warm pool a pod is or was in."""
BREAK_GLASS = f"{PREFIX}/break-glass"
"""Label of a workload that somebody lets in past the admission gate; its value is a ticket."""

ROLE_ENVIRONMENT = "environment"
ROLE_AGENT = "agent"
ROLE_CONTROL = "control"
ROLE_CANARY = "canary"
ROLE_IDENTITY = "identity"
ROLE_GATEWAY = "gateway"

OPERATOR_NAME = "oasis-operator"
APP_NAME = "app.kubernetes.io/name"
NAMESPACE_NAME = "kubernetes.io/metadata.name"

_LIMIT = 63


def label_value(name: str) -> str:
    """Return `name` as a label value: itself where it fits, else cut and closed by its digest.

    A custom resource's name may be 253 characters long, a label value 63.
    """
    if len(name) <= _LIMIT:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{name[: _LIMIT - 11].rstrip('-.')}-{digest}"


def sandbox_labels(run_id: str, role: str, *, scenario_run: str) -> dict[str, str]:
    """Return the labels of a pod of one ScenarioRun; the deny policy selects on the first."""
    return {SANDBOX: "true", RUN: run_id, ROLE: role, SCENARIO_RUN: label_value(scenario_run)}


def pool_labels(token: str, environment_uid: str, template: str) -> dict[str, str]:
    """Return the labels of a pod in a warm pool: fenced like every sandbox pod, and of no run."""
    return {
        SANDBOX: "true",
        RUN: token,
        ROLE: ROLE_ENVIRONMENT,
        POOL: environment_uid,
        TEMPLATE: template,
    }


def preflight_labels(token: str, role: str, *, evaluation: str, sandboxed: bool) -> dict[str, str]:
    """Return the labels of a pod of an Evaluation's preflight.

    Args:
        token: Opaque identifier shared by the pods of one preflight attempt.
        role: One of the role constants.
        evaluation: Name of the Evaluation.
        sandboxed: False for the control pod alone, which must escape the deny policy.
    """
    labels = {RUN: token, ROLE: role, EVALUATION: label_value(evaluation)}
    return {SANDBOX: "true", **labels} if sandboxed else labels


def matches(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Tell whether `labels` hold every pair of `selector`."""
    return all(labels.get(key) == value for key, value in selector.items())
