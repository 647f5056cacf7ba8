"""An environment that is booted ahead: its pod and keys, how it is seen, and the patch that claims it.

The pod owns its Secret, so that one patch of the pod hands both over and whoever removes the pod removes its
keys. A pod in a pool has the labels of every sandbox pod, so that the deny policy holds it from its first
moment; no policy of a run selects it before the claim.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.api import fields
from oasis_operator.resources import environment_pod, kinds, labels, manifests, names, network_policy
from oasis_operator.resources.pod_state import PodState, pod_state
from oasis_operator.resources.run import RunObjects, keys_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.environment import EnvironmentSpec, WarmPool
    from oasis_operator.settings import Settings

Operation = dict[str, Any]

DEFAULT_AGE: Final = "1h"
LONGEST_RUN_SECONDS: Final = 24 * 3600
"""Time that an environment has left at the least when it is claimed; a longer run boots its own."""

_EARLIEST: Final = 0.8
_LABELS: Final = "/metadata/labels"


@dataclass(frozen=True, slots=True)
class Template:
    """What the environments of one pool are made from.

    Attributes:
        hash: Differs whenever the pods would; a label value.
        age_seconds: Age at which an environment that nobody claimed is replaced, up to a fifth earlier.
        deadline_seconds: After this the kubelet ends an unclaimed pod, whatever became of the operator.
        spec: The pod's spec, but for the names in it.
    """

    hash: str
    age_seconds: float
    deadline_seconds: int
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """One pod of a pool.

    Attributes:
        name: Its name.
        version: Its resource version, for deletions that must not meet a claim.
        template: Hash of the template that it was made from.
        created: When it was made.
        state: How it fares.
    """

    name: str
    version: str
    template: str
    created: datetime
    state: PodState

    @property
    def token(self) -> str:
        """What its pod and its Secret are named by."""
        return names.world_of(self.name)

    @property
    def is_broken(self) -> bool:
        """Whether it can never be claimed: something of it ended or began anew."""
        pod = self.state
        return pod.is_over or pod.is_lost or any(item.ended or item.restarts for item in pod.containers)

    @property
    def is_ready(self) -> bool:
        """Whether its kubelet has seen the environment up and nothing of it has gone wrong since."""
        pod = self.state
        up = [pod.container(name) for name in (environment_pod.CONTROL_PLANE, environment_pod.PROBE)]
        whole = not (self.is_broken or pod.deleting) and pod.phase == "Running" and bool(pod.ip)
        return whole and all(item.running and item.ready for item in up)

    def expires(self, age_seconds: float) -> datetime:
        """Return when it is too old; members made together do not all go together."""
        share = int(hashlib.sha256(self.name.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF
        return self.created + timedelta(seconds=age_seconds * (_EARLIEST + (1 - _EARLIEST) * share))


def template_of(spec: EnvironmentSpec, settings: Settings) -> Template | None:
    """Return what the pool of an Environment is made from; None where it asks for none."""
    pool = pool_of(spec)
    if pool is None:
        return None
    age = fields.duration_seconds(pool.max_age or DEFAULT_AGE)
    deadline = math.ceil(age) + LONGEST_RUN_SECONDS
    wanted = _pod_spec("", deadline, spec, settings)
    text = json.dumps(wanted, sort_keys=True, separators=(",", ":"))
    return Template(names.opaque_token("template", text), age, deadline, wanted)


def pool_of(spec: EnvironmentSpec) -> WarmPool | None:
    """Return the pool that an Environment asks for, or None."""
    pool = spec.kubernetes.warm_pool if spec.kubernetes else None
    return pool if pool is not None and pool.size > 0 else None


def build_warm_pod(
    token: str, environment: Mapping[str, Any], spec: EnvironmentSpec, settings: Settings, template: Template
) -> dict[str, Any]:
    """Return the pod of an environment that is booted ahead, owned by its Environment."""
    meta = environment["metadata"]
    marks = labels.pool_labels(token, meta["uid"], template.hash)
    owner = _owner(kinds.ENVIRONMENT, environment)
    built = manifests.metadata(names.environment_pod(token), meta["namespace"], marks, owner)
    built["annotations"] = {labels.ENVIRONMENT: meta["name"]}
    return manifests.pod(built, _pod_spec(token, template.deadline_seconds, spec, settings))


def build_warm_secret(pod: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, Any]:
    """Return the Secret of an environment that is booted ahead, owned by its pod as it was created."""
    meta = pod["metadata"]
    token = names.world_of(meta["name"])
    owner = _owner(kinds.POD, pod)
    marks = {labels.RUN: token}
    return keys_secret(manifests.metadata(names.secret(token), meta["namespace"], marks, owner), data)


def member_of(pod: Mapping[str, Any]) -> Member | None:
    """Return what is to be seen of a pod in a pool; None for a pod without a creation time."""
    meta, state = pod["metadata"], pod_state(pod)
    if state is None or not state.created:
        return None
    return Member(
        name=meta["name"],
        version=meta["resourceVersion"],
        template=state.labels.get(labels.TEMPLATE, ""),
        created=datetime.fromisoformat(state.created),
        state=state,
    )


def claimable(member: Member, template: Template, run: RunObjects, now: datetime) -> bool:
    """Tell whether a run may try to claim a member, as far as its pod tells."""
    return (
        member.is_ready
        and member.template == template.hash
        and now < member.expires(template.age_seconds)
        and run.deadline_seconds <= LONGEST_RUN_SECONDS
    )


def claim(member: Member, environment_uid: str, run: RunObjects, now: datetime) -> tuple[Operation, ...]:
    """Return the JSON patch that gives a member to a run, whole or not at all.

    It does not fit a pod that is in no pool any more, so that of two runs one gets it. The kubelet's
    deadline, which may only come nearer, becomes that of the run.
    """
    age = max(0, math.ceil((now - member.created).total_seconds()))
    run_uid = run.owner["uid"]
    return (
        {"op": "test", "path": "/metadata/uid", "value": member.state.uid},
        # What is not there counts as null: a pod that is going away is not claimed.
        {"op": "test", "path": "/metadata/deletionTimestamp", "value": None},
        {"op": "test", "path": _label(labels.POOL), "value": environment_uid},
        {"op": "test", "path": _label(labels.TEMPLATE), "value": member.template},
        {"op": "remove", "path": _label(labels.POOL)},
        {"op": "replace", "path": _label(labels.RUN), "value": run.id},
        {"op": "add", "path": _label(labels.SCENARIO_RUN), "value": labels.label_value(run.name)},
        {"op": "add", "path": _label(labels.RUN_UID), "value": run_uid},
        {"op": "replace", "path": "/metadata/ownerReferences", "value": [dict(run.owner)]},
        {"op": "replace", "path": "/spec/activeDeadlineSeconds", "value": age + run.deadline_seconds},
    )


def _pod_spec(token: str, deadline_seconds: int, spec: EnvironmentSpec, settings: Settings) -> dict[str, Any]:
    """Return the spec of an environment whose kubelet tells when it is up, since nobody else asks it."""
    built = environment_pod.environment_spec(token, deadline_seconds, spec, settings)
    for container in built["containers"]:
        if container["name"] == environment_pod.PROBE:
            container["startupProbe"] = _booted(int(settings.timeouts.provisioning))
    return built


def _booted(patience_seconds: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": "/healthz", "port": network_policy.SIDECAR_PORT, "scheme": "HTTPS"},
        "periodSeconds": 1,
        "timeoutSeconds": 2,
        "failureThreshold": max(1, patience_seconds),
    }


def _owner(kind: kinds.Kind, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a controller reference that holds up no deletion, which would need a right of its own."""
    return {**manifests.owner_reference(kind, body), "blockOwnerDeletion": False}


def _label(key: str) -> str:
    """Return the JSON pointer to a label."""
    return f"{_LABELS}/{key.replace('~', '~0').replace('/', '~1')}"
