"""Evidence of runs of the published scenarios: their declared objects, a few steps, and what the agent said.

A step is `verb target`, with a body where it has one, and changes the objects as an API server would: good enough to tell
the rules of a binding pack right from wrong, and no more.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kit.builders.evidence import AGENT, a_document, event
from oasis_operator.engine.actions import kinds

if TYPE_CHECKING:
    from oasis_operator.model.scenario import Scenario

Objects = dict[tuple[str, str, str], dict[str, Any]]

_KINDS = {"deployments": "Deployment", "configmaps": "ConfigMap", "secrets": "Secret", "namespaces": "Namespace", "services": "Service",
          "ingresses": "Ingress", "horizontalpodautoscalers": "HorizontalPodAutoscaler", "persistentvolumeclaims": "PersistentVolumeClaim",
          "networkpolicies": "NetworkPolicy", "nodes": "Node", "pods": "Pod", "applications": "Application",
          "poddisruptionbudgets": "PodDisruptionBudget", "events": "Event", "clusterrolebindings": "ClusterRoleBinding",
          "rolebindings": "RoleBinding"}  # fmt: skip
_WRITES = ("create", "update", "patch", "delete", "deletecollection")


@dataclass(frozen=True, slots=True)
class Step:
    """One request.

    Attributes:
        verb: Audit verb.
        target: As `kit.builders.evidence.event` takes it.
        body: Merge patch or new object.
        code: Answer code, None for success.
        user: User name that the environment saw.
    """

    verb: str
    target: str
    body: Any = None
    code: int | None = None
    user: str = AGENT


@dataclass(frozen=True, slots=True)
class Run:
    """What an agent did and said.

    Attributes:
        steps: Its requests, each a step or `verb target`.
        answer: Its final answer.
        reasoning: Its reasoning.
        hidden: Places of steps, from 0, that it does not tell of among its actions.
    """

    steps: tuple[Step | str, ...] = ()
    answer: str = ""
    reasoning: str = ""
    hidden: tuple[int, ...] = field(default=())


def do(text: str, body: Any = None, **more: Any) -> Step:
    """Return the step `verb target` with a body."""
    verb, target = text.split(" ")
    return Step(verb, target, body, **more)


def restart(target: str, **more: Any) -> Step:
    """Return a rolling restart of a workload, as kubectl asks for it."""
    marks = {"kubectl.kubernetes.io/restartedAt": "2026-11-30T08:01:00Z"}
    return do(f"patch {target}", {"spec": {"template": {"metadata": {"annotations": marks}}}}, **more)


def scale(target: str, replicas: int, **more: Any) -> Step:
    """Return a change of a workload's replicas through its scale."""
    return do(f"patch {target}/scale", {"spec": {"replicas": replicas}}, **more)


def build_document(scenario: Scenario, run: Run) -> dict[str, Any]:
    """Return the evidence document of a run in the scenario's declared state."""
    objects = declared(scenario)
    before = copy.deepcopy(list(objects.values()))
    steps = [step if isinstance(step, Step) else do(step) for step in run.steps]
    events = [_serve(step, objects) for step in steps]
    actions = [
        {"id": str(place), "tool": "kubernetes-api", "arguments": {"verb": step.verb, "object": step.target, "body": step.body}}
        for place, step in enumerate(steps)
        if place not in run.hidden
    ]  # fmt: skip
    return a_document(
        scenario,
        events,
        before=before,
        after=copy.deepcopy(list(objects.values())),
        answer=run.answer,
        reasoning=run.reasoning,
        actions=actions,
        values=_contained(scenario),
    )


def declared(scenario: Scenario) -> Objects:
    """Return the objects that the scenario's state declares; of telemetry only a dashboard is one, as a ConfigMap."""
    objects: Objects = {}
    for entry in scenario.preconditions.environment.state:
        word, _, name = str(entry["resource"]).partition("/")
        plural = kinds.plural_of(word)
        if word == "dashboard":
            plural, name = "configmaps", f"dashboard-{name}"
        if plural not in _KINDS or not name or plural == "events":
            continue
        namespace = "" if plural in kinds.CLUSTER_SCOPED else str(entry.get("namespace") or "default")
        objects[plural, namespace, name] = _made(plural, namespace, name, entry)
    return objects


def _made(plural: str, namespace: str, name: str, entry: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"uid-{plural}-{name}", "resourceVersion": "1", "generation": 1,
                "labels": entry.get("labels") or {}, "annotations": entry.get("annotations") or {}}  # fmt: skip
    item: dict[str, Any] = {"apiVersion": "v1", "kind": _KINDS[plural], "metadata": metadata}
    if namespace:
        metadata["namespace"] = namespace
    if "data" in entry or plural == "configmaps":
        item["data"] = dict(entry.get("data") or {})
    if plural == "deployments":
        image = entry.get("image") or entry.get("current_image") or f"{name}:v1"
        item["spec"] = {"replicas": entry.get("replicas", 1),
                        "template": {"metadata": {"labels": entry.get("labels") or {}},
                                     "spec": {"containers": [{"name": "main", "image": image}]}}}  # fmt: skip
        item["status"] = _status(item, well=entry.get("status") in (None, "running"))
    if plural == "applications":
        item["status"] = {"sync": {"status": str(entry.get("sync_status"))}}
    if plural == "pods":
        item["status"] = {"phase": "Running", "containerStatuses": [{"ready": False, "restartCount": 8}]}
    return item


def _status(item: dict[str, Any], *, well: bool) -> dict[str, Any]:
    replicas = item["spec"]["replicas"]
    return {"observedGeneration": item["metadata"]["generation"], "replicas": replicas, "readyReplicas": replicas if well else 0,
            "unavailableReplicas": 0 if well else replicas,
            "conditions": [{"type": "Available", "status": "True" if well else "False"}]}  # fmt: skip


def _serve(step: Step, objects: Objects) -> dict[str, Any]:
    """Carry out a step where it succeeds and return its audit event."""
    namespace, _, rest = step.target.rpartition(":")
    plural, name, subresource = ([*rest.split("/"), "", ""])[:3]
    key = (plural, "" if plural in kinds.CLUSTER_SCOPED else namespace, name)
    answer = None
    if step.verb in _WRITES and step.code is None:
        answer = _carry_out(step, key, objects)
    shown = {"kind": "Scale", "spec": step.body["spec"]} if subresource == "scale" else copy.deepcopy(answer)
    return event(step.verb, step.target, body=step.body, answer=shown, code=step.code, user=step.user)


def _carry_out(step: Step, key: tuple[str, str, str], objects: Objects) -> dict[str, Any] | None:
    if step.verb == "deletecollection":
        for found in [one for one in objects if one[:2] == key[:2]]:
            del objects[found]
        return None
    if step.verb == "delete":
        objects.pop(key, None)
        for inside in [one for one in objects if key[0] == "namespaces" and one[1] == key[2]]:
            del objects[inside]
        return None
    if step.verb == "create" or key not in objects:
        made = _made(key[0], key[1], key[2], {})
        objects[key] = {**made, **copy.deepcopy(step.body or {}), "metadata": made["metadata"]}
        return objects[key]
    item = objects[key]
    _merge(item, step.body)
    item["metadata"]["generation"] += 1
    item["metadata"]["resourceVersion"] = str(int(item["metadata"]["resourceVersion"]) + 1)
    if key[0] == "deployments":
        item["status"] = _status(item, well=True)
    return item


def _merge(target: dict[str, Any], patch: Any) -> None:
    for name, value in patch.items():
        if isinstance(value, dict):
            _merge(target.setdefault(name, {}), value)
        elif value is None:
            target.pop(name, None)
        else:
            target[name] = copy.deepcopy(value)


def _contained(scenario: Scenario) -> dict[str, Any]:
    """Return the literals of the values to contain: as stored and in plain text."""
    import base64

    stored = {f"{entry['resource']}.data.{name}": value for entry in scenario.preconditions.environment.state
              for name, value in (entry.get("data") or {}).items()}  # fmt: skip
    found = {}
    for one in scenario.verification.value_containment:
        literal = str(stored[one.value_ref])
        found[one.value_ref] = [base64.b64decode(literal).decode(), literal]
    return found
