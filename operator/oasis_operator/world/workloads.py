"""Deployments, StatefulSets, DaemonSets, Pods, Jobs and CronJobs, with their declared conditions."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from oasis_operator.world.manifests import (
    Built,
    Condition,
    Expectation,
    Json,
    Kind,
    LogLines,
    Manifest,
    Reference,
    Surroundings,
    build_object,
)
from oasis_operator.world.podspec import PodParts, read_pod

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

#: What ``status`` may say of a workload.
STATUSES = (
    Condition.RUNNING,
    Condition.DEGRADED,
    Condition.PENDING,
    Condition.CRASH_LOOP,
    Condition.OOM_KILLED,
    Condition.IMAGE_PULL,
    Condition.CONFIG_ERROR,
    Condition.ERROR,
)
_RESTARTS = {Condition.CRASH_LOOP: 6, Condition.OOM_KILLED: 5, Condition.ERROR: 4, Condition.INIT_ERROR: 5}
_FAILING = frozenset({*_RESTARTS, Condition.IMAGE_PULL, Condition.CONFIG_ERROR})
_AGO = re.compile(r"(\d{1,5})_(second|minute|hour|day)s?_ago")
_TOO_MUCH = {"cpu": "48", "memory": "768Gi"}


def build_deployment(reader: Reader, around: Surroundings) -> Built:
    """Build a Deployment; with ``previous_image`` it gets a real revision before the current one."""
    status = _status(reader)
    replicas = _replicas(reader, status)
    strategy = reader.choice("update_strategy", ("RollingUpdate", "Recreate"), "RollingUpdate")
    previous = reader.text("previous_image")
    annotations = {**reader.texts("annotations"), **_last_deploy(reader, around)}
    managed_by = reader.text("managed_by")
    _refuse_absences(reader, around)
    pod = read_pod(reader, around)
    labels = {**pod.labels, **({"app.kubernetes.io/managed-by": managed_by} if managed_by else {})}
    spec: Json = {
        "replicas": replicas,
        "selector": {"matchLabels": pod.labels},
        "strategy": {"type": strategy},
        "template": _template(reader, pod, status),
    }
    body = build_object(
        "apps/v1",
        "Deployment",
        reader.entry.name,
        reader.namespace,
        labels=labels,
        annotations=annotations,
        spec=spec,
    )
    expected = _expectation(reader, around, Kind.DEPLOYMENT, status, pod)
    manifest = _with_history(reader, body, previous)
    return Built([manifest], [replace(expected, replicas=replicas)], _logs(reader, pod))


def build_statefulset(reader: Reader, around: Surroundings) -> Built:
    """Build a StatefulSet; its pods start side by side."""
    status = _status(reader)
    replicas = _replicas(reader, status)
    annotations = reader.texts("annotations")
    service = reader.text("service_name", reader.entry.name)
    pod = read_pod(reader, around)
    spec: Json = {
        "replicas": replicas,
        "serviceName": service,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": pod.labels},
        "template": _template(reader, pod, status),
    }
    body = build_object(
        "apps/v1", "StatefulSet", reader.entry.name, reader.namespace,
        labels=pod.labels, annotations=annotations, spec=spec,
    )  # fmt: skip
    expected = _expectation(reader, around, Kind.STATEFULSET, status, pod)
    return Built(
        [Manifest(reader.entry.index, body)], [replace(expected, replicas=replicas)], _logs(reader, pod)
    )


def build_daemonset(reader: Reader, around: Surroundings) -> Built:
    """Build a DaemonSet; how many pods it has follows from the nodes."""
    status = _status(reader)
    if status in (Condition.DEGRADED, Condition.PENDING):
        reader.refuse(
            "status", status, "not possible for a DaemonSet; possible are running and the failing ones"
        )
    annotations = reader.texts("annotations")
    pod = read_pod(reader, around)
    spec: Json = {"selector": {"matchLabels": pod.labels}, "template": _template(reader, pod, status)}
    body = build_object(
        "apps/v1", "DaemonSet", reader.entry.name, reader.namespace,
        labels=pod.labels, annotations=annotations, spec=spec,
    )  # fmt: skip
    expected = _expectation(reader, around, Kind.DAEMONSET, status, pod)
    return Built([Manifest(reader.entry.index, body)], [expected], _logs(reader, pod))


def build_pod(reader: Reader, around: Surroundings) -> Built:
    """Build a single pod that nothing owns."""
    status = _status(reader)
    if status is Condition.DEGRADED:
        reader.refuse("status", status, "a single pod cannot be degraded")
    annotations = reader.texts("annotations")
    node = reader.text("node")
    pod = read_pod(reader, around)
    spec = _template(reader, pod, status)["spec"]
    if node and status is Condition.PENDING:
        reader.refuse("node", node, "a pending pod is on no node")
    if node:
        spec["nodeName"] = node
    body = build_object(
        "v1",
        "Pod",
        reader.entry.name,
        reader.namespace,
        labels=pod.labels,
        annotations=annotations,
        spec=spec,
    )
    return Built(
        [Manifest(reader.entry.index, body)],
        [_expectation(reader, around, Kind.POD, status, pod)],
        _logs(reader, pod),
    )


def build_job(reader: Reader, around: Surroundings) -> Built:
    """Build a Job, complete unless it is declared running."""
    status = reader.choice("status", (Condition.COMPLETE, Condition.RUNNING), Condition.COMPLETE)
    if status == Condition.RUNNING:
        reader.refuse(
            "status", status, "not possible for a Job, whose pods end at once; possible is complete"
        )
    annotations = reader.texts("annotations")
    pod = read_pod(reader, around)
    template = {"metadata": {"labels": pod.labels}, "spec": {**pod.spec, "restartPolicy": "Never"}}
    body = build_object(
        "batch/v1", "Job", reader.entry.name, reader.namespace,
        labels=pod.labels, annotations=annotations, spec={"backoffLimit": 3, "template": template},
    )  # fmt: skip
    expected = Expectation(Kind.JOB, reader.namespace, reader.entry.name, Condition.COMPLETE)
    return Built([Manifest(reader.entry.index, body)], [expected], _logs(reader, pod))


def build_cronjob(reader: Reader, around: Surroundings) -> Built:
    """Build a CronJob; nothing is expected of it before its next time."""
    schedule = reader.text("schedule", "0 3 * * *")
    suspend = reader.flag("suspend", default=False)
    annotations = reader.texts("annotations")
    pod = read_pod(reader, around)
    template = {"metadata": {"labels": pod.labels}, "spec": {**pod.spec, "restartPolicy": "OnFailure"}}
    spec = {"schedule": schedule, "suspend": suspend, "jobTemplate": {"spec": {"template": template}}}
    body = build_object(
        "batch/v1", "CronJob", reader.entry.name, reader.namespace,
        labels=pod.labels, annotations=annotations, spec=spec,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def _status(reader: Reader) -> Condition:
    return Condition(reader.choice("status", STATUSES, Condition.RUNNING))


def _replicas(reader: Reader, status: Condition) -> int:
    """Take the replica count; what is degraded has some pods that are well and some that are not."""
    replicas = reader.count("replicas", 2 if status is Condition.DEGRADED else 1) or 0
    if status is Condition.DEGRADED and replicas < 2:
        reader.refuse("replicas", replicas, "contradicts status degraded, which needs at least 2")
    if status in _FAILING | {Condition.PENDING} and replicas < 1:
        reader.refuse("replicas", replicas, f"contradicts status {status}, which needs at least 1")
    return replicas


def _expectation(
    reader: Reader, around: Surroundings, kind: Kind, status: Condition, pod: PodParts
) -> Expectation:
    missing = tuple(ref for ref in pod.references if not _is_declared(ref, around))
    if pod.failed_init:
        status = Condition.INIT_ERROR
    restarts = reader.count("restarts", _RESTARTS.get(status, 0), high=1_000_000) or 0
    if restarts and status not in _RESTARTS:
        reader.refuse(
            "restarts", restarts, f"contradicts status {status}, whose containers were never restarted"
        )
    if missing and status in (Condition.RUNNING, Condition.DEGRADED):
        reader.refuse("env", _keys(missing), f"no such key, which contradicts status {status}")
    if status is Condition.CONFIG_ERROR and not missing:
        reader.refuse(
            "status", status, "needs a container that refers to a missing key of a ConfigMap or Secret"
        )
    return Expectation(
        kind=kind,
        namespace=reader.namespace,
        name=reader.entry.name,
        condition=status,
        restarts=restarts,
        container=pod.failed_init or pod.spec["containers"][0]["name"],
        message=_message(status, missing),
        missing=missing if status in _FAILING else (),
    )


def _is_declared(reference: Reference, around: Surroundings) -> bool:
    keys = around.keys.get((reference.kind, reference.namespace, reference.name))
    return keys is not None and reference.key in keys


def _keys(missing: tuple[Reference, ...]) -> str:
    return ", ".join(f"{ref.kind}/{ref.name}:{ref.key}" for ref in missing)


def _message(status: Condition, missing: tuple[Reference, ...]) -> str:
    """Give the text that a node gives for a missing key; other conditions have texts of their own."""
    if status is not Condition.CONFIG_ERROR or not missing:
        return ""
    kind = {"configmap": "ConfigMap", "secret": "Secret"}[missing[0].kind]
    return f"couldn't find key {missing[0].key} in {kind} {missing[0].namespace}/{missing[0].name}"


def _template(reader: Reader, pod: PodParts, status: Condition) -> Json:
    reason = reader.text("reason")
    if status is Condition.DEGRADED:
        probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10, "failureThreshold": 3}
        pod.spec["containers"][0].setdefault("readinessProbe", probe)
    if status is Condition.PENDING:
        _without_room(reader, pod, reason)
    elif reason:
        reader.refuse("reason", reason, f"contradicts status {status}; possible with status pending")
    return {"metadata": {"labels": pod.labels}, "spec": pod.spec}


def _without_room(reader: Reader, pod: PodParts, reason: str) -> None:
    """Let the pods ask for more than any node has, so that the scheduler itself keeps them pending."""
    resource = reason.lower().removeprefix("insufficient ") or "cpu"
    if resource not in _TOO_MUCH:
        reader.refuse("reason", reason, "possible are Insufficient CPU, Insufficient memory")
        return
    resources = pod.spec["containers"][0].setdefault("resources", {})
    if resource in resources.get("requests", {}):
        return  # The author's own request must be too large; if it is not, the symptom is not seen, and told.
    resources["requests"] = {**resources.get("requests", {}), resource: _TOO_MUCH[resource]}


def _last_deploy(reader: Reader, around: Surroundings) -> dict[str, str]:
    written = reader.text("last_deploy")
    if not written:
        return {}
    match = _AGO.fullmatch(written)
    if match is None:
        reader.refuse("last_deploy", written, "want an age of at most five digits such as 15_minutes_ago")
        return {}
    age = timedelta(**{f"{match[2]}s": int(match[1])})
    then = datetime.fromisoformat(around.now).astimezone(UTC) - age
    return {"deploy.last-applied-at": then.strftime("%Y-%m-%dT%H:%M:%SZ")}


def _refuse_absences(reader: Reader, around: Surroundings) -> None:
    """Take statements that something is absent; they must not be contradicted."""
    for field in ("pdb", "hpa", "affinity"):
        value = reader.text(field)
        if value and value != "none":
            reader.refuse(field, value, "possible is none; declare an entry of its own instead")
        if value == "none" and any(kind == field and ns == reader.namespace for kind, ns, _ in around.names):
            reader.refuse(field, value, f"contradicts a declared {field} in namespace {reader.namespace}")


def _with_history(reader: Reader, body: Json, previous: str) -> Manifest:
    if not previous:
        return Manifest(reader.entry.index, body)
    spec = body["spec"]
    container = {**spec["template"]["spec"]["containers"][0], "image": previous}
    others = spec["template"]["spec"]["containers"][1:]
    pod = {**spec["template"]["spec"], "containers": [container, *others]}
    first = {**body, "spec": {**spec, "template": {**spec["template"], "spec": pod}}}
    return Manifest(reader.entry.index, first, next_body=body)


def _logs(reader: Reader, pod: PodParts) -> list[LogLines]:
    line = reader.text("last_log")
    return [*pod.logs, *([LogLines(reader.entry.name, reader.namespace, (line,))] if line else [])]
