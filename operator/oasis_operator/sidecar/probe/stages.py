"""Life-cycle stages for the failing conditions of a scenario, appended to those that a cluster boots with.

A stage picks its pods by namespace, owner and the exact containers that were declared, so nothing on the pods
gives it away, and a pod with other containers, such as a corrected image, starts as any other. Where several
stages match, weight decides: those here have weight 1, the boot stages that start pods weight 0.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.sidecar.probe.failing_pod import TEMPLATE
from oasis_operator.world.manifests import Condition, Expectation, Json, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Members of a container that decide, beside its limits, whether it is still the one declared to fail.
#: Requests do not: the API server fills them in for pods but not for templates of pods.
IDENTITY = ("name", "image", "command", "args", "env", "envFrom")
_HASH = "[bcdfghjklmnpqrstvwxz2456789]{1,10}"
_OWNERS = {Kind.STATEFULSET: "StatefulSet", Kind.DAEMONSET: "DaemonSet", Kind.JOB: "Job"}
_AGAIN_MILLISECONDS = 300_000
_SLOW_START_MILLISECONDS = 240_000


@dataclass(frozen=True, slots=True)
class Failure:
    """How a failing container looks.

    Attributes:
        waiting: Reason of its waiting state.
        text: Message of its waiting state; ``<container>`` and the like stand for names of the pod at hand.
        last: Reason of its last termination, empty where it never ran.
        code: Exit code of its last termination.
        phase: Phase of the pod.
        state: What the container does: ``waiting``, ``running`` without being ready, or ``terminated``.
        reason: Reason of the pod as a whole.
        message: Message of the pod as a whole.
    """

    waiting: str
    text: str
    last: str
    code: int
    phase: str
    state: str = "waiting"
    reason: str = ""
    message: str = ""


_RESTARTING = "back-off {delay} restarting failed container=<container> pod=<pod>_{namespace}(<uid>)"
FAILURES: Mapping[Condition, Failure] = {
    Condition.CRASH_LOOP: Failure("CrashLoopBackOff", _RESTARTING, "Error", 1, "Running"),
    Condition.OOM_KILLED: Failure("CrashLoopBackOff", _RESTARTING, "OOMKilled", 137, "Running"),
    Condition.ERROR: Failure(
        "RunContainerError", "failed to start container <container>", "Error", 128, "Running"
    ),
    Condition.INIT_ERROR: Failure("CrashLoopBackOff", _RESTARTING, "Error", 1, "Pending"),
    Condition.IMAGE_PULL: Failure(
        "ImagePullBackOff",
        'Back-off pulling image "<image>": ErrImagePull: failed to pull and unpack image "<image>":'
        " not found",
        "",
        0,
        "Pending",
    ),
    Condition.CONFIG_ERROR: Failure("CreateContainerConfigError", "{message}", "", 0, "Pending"),
    Condition.UNREADY: Failure("", "", "", 0, "Running", state="running"),
    # Its new pods are slow to become ready, so that the update is still going on when the agent looks.
    Condition.ROLLING_UPDATE: Failure("", "", "", 0, "Running", state="running"),
    Condition.FAILED: Failure("", "", "Error", 1, "Failed", state="terminated"),
    Condition.EVICTED: Failure(
        "", "", "Error", 137, "Failed", state="terminated", reason="Evicted",
        message="The node was low on resource: memory. Threshold quantity: 100Mi, available: 74632Ki.",
    ),
}  # fmt: skip
#: What a node does to a pod once: one of that name made later starts as any other.
ONCE = frozenset({Condition.EVICTED})


def is_failing(expectation: Expectation) -> bool:
    """Tell whether a condition needs stages of its own."""
    return expectation.condition in FAILURES


def back_off(restarts: int) -> str:
    """Give the delay that a node waits after so many restarts: doubled each time, up to five minutes."""
    seconds = min(10 * 2 ** max(min(restarts, 10) - 1, 0), 300)
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def owner_kind(expectation: Expectation) -> str | None:
    """Give the kind of whatever owns a workload's pods, None for a pod of its own."""
    return "ReplicaSet" if expectation.kind is Kind.DEPLOYMENT else _OWNERS.get(expectation.kind)


def owner_pattern(expectation: Expectation) -> str:
    """Give the pattern of the names of those owners: a ReplicaSet has its Deployment's name and a hash."""
    name = re.escape(expectation.name).replace("\\-", "-")
    return f"^{name}-{_HASH}$" if expectation.kind is Kind.DEPLOYMENT else f"^{name}$"


def build_stages(boot: str, failing: Sequence[tuple[Expectation, Sequence[Json]]]) -> str:
    """Build the stages file of a scenario.

    Args:
        boot: The stages that the cluster boots with.
        failing: Failing conditions, each with the containers of its pods as the API server completes them.
    """
    documents = [boot.rstrip() + "\n"]
    for number, (expectation, containers) in enumerate(failing):
        stages = [_stage(f"fail-{number}", expectation, containers, again=False)]
        if FAILURES[expectation.condition].state == "waiting" or _ends(expectation):
            stages.append(_stage(f"fail-{number}-again", expectation, containers, again=True))
        documents.extend(json.dumps(stage) + "\n" for stage in stages)
    return "---\n".join(documents)


def _stage(name: str, expectation: Expectation, containers: Sequence[Json], *, again: bool) -> Json:
    """Take a fresh pod straight to the failure, as if it had long been failing, or keep it there.

    What crashes is restarted every five minutes and crashes again; what waits goes on waiting; what is only
    slow becomes ready.
    """
    spec: Json = {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "weight": 1,
        "selector": {"matchExpressions": _matches(expectation, containers, again=again)},
        "next": {"statusTemplate": _assignments(expectation, again=again) + TEMPLATE},
    }
    if again:
        delay = _SLOW_START_MILLISECONDS if _ends(expectation) else _AGAIN_MILLISECONDS
        spec["delay"] = {"durationMilliseconds": delay, "jitterDurationMilliseconds": delay + 10_000}
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec}


def _ends(expectation: Expectation) -> bool:
    """Tell whether a condition ends by itself after a while."""
    return expectation.condition is Condition.ROLLING_UPDATE


def _matches(expectation: Expectation, containers: Sequence[Json], *, again: bool) -> list[Json]:
    status = ".status.containerStatuses, .status.initContainerStatuses"
    moment = f"[{status} | .[]? | .state.waiting] | any" if again else f"[{status} | .[]?] | length == 0"
    if again and _ends(expectation):
        moment = 'any(.status.conditions[]?; .type == "Ready" and .status == "False")'
    members = members_that_decide(expectation)
    conditions = (
        f".metadata.namespace == {json.dumps(expectation.namespace)}",
        _ownership(expectation),
        f"{_identity_query(expectation, members)} == {json.dumps(identity(containers, members))}",
        moment,
    )
    return [
        {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
        *({"key": condition, "operator": "In", "values": ["true"]} for condition in conditions),
    ]


def _ownership(expectation: Expectation) -> str:
    owner = owner_kind(expectation)
    if owner is None:
        return f".metadata.name == {json.dumps(expectation.name)}"
    pattern = json.dumps(owner_pattern(expectation))
    return f'any(.metadata.ownerReferences[]?; .kind == "{owner}" and (.name | test({pattern})))'


def members_that_decide(expectation: Expectation) -> tuple[str, ...]:
    """Give the members of a container that decide whether it still fails as declared.

    What fails its readiness probe is cured by another probe as well.
    """
    return (*IDENTITY, "readinessProbe") if expectation.condition is Condition.UNREADY else IDENTITY


def identity(containers: Sequence[Json], members: Sequence[str] = IDENTITY) -> list[Json]:
    """Give what makes the containers of a pod the ones that were declared; what is empty counts as absent."""
    return [
        {
            **{member: container.get(member) or None for member in members},
            "limits": container.get("resources", {}).get("limits") or None,
        }
        for container in containers
    ]


def containers_that_decide(expectation: Expectation) -> str:
    """Give which containers of a pod decide whether it still fails as declared: those that fail."""
    return "initContainers" if expectation.condition is Condition.INIT_ERROR else "containers"


def _identity_query(expectation: Expectation, members: Sequence[str]) -> str:
    which = containers_that_decide(expectation)
    absent = "map_values(if . == {} or . == [] then null else . end)"
    return f"[.spec.{which}[]? | {{{', '.join(members)}, limits: .resources.limits}} | {absent}]"


def _assignments(expectation: Expectation, *, again: bool) -> str:
    failure = FAILURES[expectation.condition]
    message = failure.text.format(
        delay=back_off(expectation.restarts), namespace=expectation.namespace, message=expectation.message
    )
    values = {
        "failing": expectation.container,
        "waiting": failure.waiting,
        "message": message,
        "last": failure.last,
        "code": failure.code,
        "phase": failure.phase,
        "mode": failure.state,
        "reason": failure.reason,
        "told": failure.message,
        "init": expectation.condition is Condition.INIT_ERROR,
        "first": expectation.restarts,
        "again": again,
        "well": again and _ends(expectation),
    }
    return "".join(f"{{{{ ${name} := {json.dumps(value)} }}}}" for name, value in values.items())
