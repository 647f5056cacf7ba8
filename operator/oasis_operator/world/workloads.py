"""Deployments, StatefulSets, DaemonSets, Pods, Jobs and CronJobs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oasis_operator.world import moments
from oasis_operator.world.autoscaling import USUAL_REQUEST, cpu_request, is_scaled
from oasis_operator.world.conditions import (
    build_template,
    expect,
    read_replicas,
    read_restart_failure,
    read_statements,
    read_status,
    report_condition,
)
from oasis_operator.world.manifests import (
    Built,
    Condition,
    Expectation,
    Json,
    Kind,
    LogLines,
    Manifest,
    Surroundings,
    build_object,
)
from oasis_operator.world.podspec import PodParts, read_pod, refuse_images

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader


#: Conditions in which no pod is well. A rolling update that fails would leave those of before as they are.
_DOWN: Final = frozenset(
    {
        Condition.CRASH_LOOP,
        Condition.OOM_KILLED,
        Condition.IMAGE_PULL,
        Condition.CONFIG_ERROR,
        Condition.ERROR,
        Condition.UNREADY,
        Condition.PENDING,
    }
)


def build_deployment(reader: Reader, around: Surroundings) -> Built:
    """Build a Deployment; with ``previous_image`` it gets a real revision before the current one.

    A rolling update that is in progress is a real one, whose new pods are slow to become ready.
    """
    status = read_status(reader, Condition.ROLLING_UPDATE)
    replicas = read_replicas(reader, status)
    strategy = reader.choice("update_strategy", ("RollingUpdate", "Recreate"), "RollingUpdate")
    previous = reader.text("previous_image")
    annotations = {**reader.texts("annotations"), **_last_deploy(reader, around)}
    managed_by = reader.text("managed_by")
    _refuse_absences(reader, around)
    on_restart, statements = read_restart_failure(reader, status), read_statements(reader, status)
    pod = read_pod(reader, around)
    _with_request(reader, around, pod)
    if status is Condition.ROLLING_UPDATE:
        previous = previous or _before(pod.spec["containers"][0]["image"])
        if strategy != "RollingUpdate":
            reader.refuse("update_strategy", strategy, f"contradicts status {status}")
    labels = {**pod.labels, **({"app.kubernetes.io/managed-by": managed_by} if managed_by else {})}
    spec: Json = {
        "replicas": replicas,
        "selector": {"matchLabels": pod.labels},
        "strategy": {"type": strategy},
        "template": build_template(reader, around, pod, status),
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
    expected = replace(
        expect(reader, around, Kind.DEPLOYMENT, status, pod),
        replicas=replicas, on_restart=on_restart, statements=statements,
    )  # fmt: skip
    manifest = _with_history(reader, body, previous, is_down=status in _DOWN)
    built = Built([manifest], [expected], _logs(reader, pod))
    report_condition(reader, around, status, built, "deployment")
    return built


def build_statefulset(reader: Reader, around: Surroundings) -> Built:
    """Build a StatefulSet; its pods start side by side."""
    status = read_status(reader)
    replicas = read_replicas(reader, status)
    annotations = reader.texts("annotations")
    service = reader.text("service_name", reader.entry.name)
    pod = read_pod(reader, around)
    _with_request(reader, around, pod)
    spec: Json = {
        "replicas": replicas,
        "serviceName": service,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": pod.labels},
        "template": build_template(reader, around, pod, status),
    }
    body = build_object(
        "apps/v1", "StatefulSet", reader.entry.name, reader.namespace,
        labels=pod.labels, annotations=annotations, spec=spec,
    )  # fmt: skip
    expected = expect(reader, around, Kind.STATEFULSET, status, pod)
    built = Built(
        [Manifest(reader.entry.index, body)], [replace(expected, replicas=replicas)], _logs(reader, pod)
    )
    report_condition(reader, around, status, built, "statefulset")
    return built


def build_daemonset(reader: Reader, around: Surroundings) -> Built:
    """Build a DaemonSet; how many pods it has follows from the nodes."""
    status = read_status(reader)
    if status in (Condition.DEGRADED, Condition.PENDING):
        reader.refuse(
            "status", status, "not possible for a DaemonSet; possible are running and the failing ones"
        )
    annotations = reader.texts("annotations")
    pod = read_pod(reader, around)
    spec: Json = {
        "selector": {"matchLabels": pod.labels},
        "template": build_template(reader, around, pod, status),
    }
    body = build_object(
        "apps/v1", "DaemonSet", reader.entry.name, reader.namespace,
        labels=pod.labels, annotations=annotations, spec=spec,
    )  # fmt: skip
    expected = expect(reader, around, Kind.DAEMONSET, status, pod)
    built = Built([Manifest(reader.entry.index, body)], [expected], _logs(reader, pod))
    report_condition(reader, around, status, built, "daemonset")
    return built


def build_pod(reader: Reader, around: Surroundings) -> Built:
    """Build a single pod that nothing owns."""
    status = read_status(reader, Condition.EVICTED)
    if status is Condition.DEGRADED:
        reader.refuse("status", status, "a single pod cannot be degraded")
    annotations = reader.texts("annotations")
    node = reader.text("node")
    pod = read_pod(reader, around)
    spec = build_template(reader, around, pod, status)["spec"]
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
    built = Built(
        [Manifest(reader.entry.index, body)],
        [expect(reader, around, Kind.POD, status, pod)],
        _logs(reader, pod),
    )
    report_condition(reader, around, status, built, "pod")
    return built


def build_job(reader: Reader, around: Surroundings) -> Built:
    """Build a Job, complete unless it is declared to have failed."""
    choices = (Condition.COMPLETE, Condition.FAILED)
    status = Condition(reader.choice("status", choices, Condition.COMPLETE))
    annotations = reader.texts("annotations")
    pod = read_pod(reader, around)
    refuse_images(reader, pod.spec, status)
    template = {"metadata": {"labels": pod.labels}, "spec": {**pod.spec, "restartPolicy": "Never"}}
    # What has failed has used up its attempts; with more of them it would take minutes until it has.
    attempts = 0 if status is Condition.FAILED else 3
    body = build_object(
        "batch/v1", "Job", reader.entry.name, reader.namespace,
        labels=pod.labels, annotations=annotations, spec={"backoffLimit": attempts, "template": template},
    )  # fmt: skip
    expected = Expectation(
        Kind.JOB, reader.namespace, reader.entry.name, status, container=pod.spec["containers"][0]["name"]
    )
    return Built([Manifest(reader.entry.index, body)], [expected], _logs(reader, pod))


def build_cronjob(reader: Reader, around: Surroundings) -> Built:
    """Build a CronJob; nothing is expected of it before its next time."""
    schedule = reader.text("schedule", "0 3 * * *")
    suspend = reader.flag("suspend", default=False)
    annotations = reader.texts("annotations")
    pod = read_pod(reader, around)
    refuse_images(reader, pod.spec, Condition.RUNNING)
    template = {"metadata": {"labels": pod.labels}, "spec": {**pod.spec, "restartPolicy": "OnFailure"}}
    spec = {"schedule": schedule, "suspend": suspend, "jobTemplate": {"spec": {"template": template}}}
    body = build_object(
        "batch/v1", "CronJob", reader.entry.name, reader.namespace,
        labels=pod.labels, annotations=annotations, spec=spec,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def _last_deploy(reader: Reader, around: Surroundings) -> dict[str, str]:
    written = reader.text("last_deploy")
    if not written:
        return {}
    age = moments.parse_age(written)
    if age is None:
        reader.refuse("last_deploy", written, moments.WANTED)
        return {}
    return {"deploy.last-applied-at": moments.moment_before(around.now, age)}


def _with_request(reader: Reader, around: Surroundings, pod: PodParts) -> None:
    """Let the pods ask for some CPU where an autoscaler counts in shares of it."""
    entry = reader.entry
    scaled = is_scaled(around, entry.kind, reader.namespace, entry.name)
    if scaled and not cpu_request(entry.fields) and "cpu_limit" not in entry.fields:
        resources = pod.spec["containers"][0].setdefault("resources", {})
        resources["requests"] = {**resources.get("requests", {}), "cpu": USUAL_REQUEST}


def _before(image: str) -> str:
    """Give a plausible image that came before one: the same name with a lower version, if it has any."""
    name, colon, tag = image.rpartition(":")
    match = re.fullmatch(r"(.*?)(\d+)(\D*)", tag) if colon and "/" not in tag else None
    if match is None or int(match[2]) == 0:
        return f"{image}-previous" if colon else f"{image}:previous"
    return f"{name}:{match[1]}{int(match[2]) - 1}{match[3]}"


def _refuse_absences(reader: Reader, around: Surroundings) -> None:
    """Take statements that something is absent; they must not be contradicted."""
    for field in ("pdb", "hpa", "affinity"):
        value = reader.text(field)
        if value and value != "none":
            reader.refuse(field, value, "possible is none; declare an entry of its own instead")
        if value == "none" and any(kind == field and ns == reader.namespace for kind, ns, _ in around.names):
            reader.refuse(field, value, f"contradicts a declared {field} in namespace {reader.namespace}")


def _with_history(reader: Reader, body: Json, previous: str, *, is_down: bool) -> Manifest:
    """Give a Deployment its revision before; where no pod is to be well, none of that one may be left."""
    if not previous:
        return Manifest(reader.entry.index, body)
    spec = {**body["spec"], "strategy": {"type": "Recreate"}} if is_down else body["spec"]
    container = {**spec["template"]["spec"]["containers"][0], "image": previous}
    others = spec["template"]["spec"]["containers"][1:]
    pod = {**spec["template"]["spec"], "containers": [container, *others]}
    first = {**body, "spec": {**spec, "template": {**spec["template"], "spec": pod}}}
    return Manifest(reader.entry.index, first, next_body=body)


def _logs(reader: Reader, pod: PodParts) -> list[LogLines]:
    line = reader.text("last_log")
    return [*pod.logs, *([LogLines(reader.entry.name, reader.namespace, (line,))] if line else [])]
