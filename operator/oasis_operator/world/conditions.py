"""What ``status`` and its companions may say of a workload, and what must be seen of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world.entries import scalar
from oasis_operator.world.manifests import (
    Built,
    Condition,
    Expectation,
    Json,
    Kind,
    Reference,
    Surroundings,
)
from oasis_operator.world.observability import USUAL_LIMIT, error_query, memory_query
from oasis_operator.world.podspec import refuse_images
from oasis_operator.world.series import Series, parse_value, read_points, report
from oasis_operator.world.usage import read_usage

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader
    from oasis_operator.world.podspec import PodParts

#: What ``status`` may say of every workload.
STATUSES: Final = (
    Condition.RUNNING,
    Condition.DEGRADED,
    Condition.PENDING,
    Condition.CRASH_LOOP,
    Condition.OOM_KILLED,
    Condition.IMAGE_PULL,
    Condition.CONFIG_ERROR,
    Condition.ERROR,
    Condition.UNREADY,
    Condition.ELEVATED_ERRORS,
)
_RESTARTS: Final = {
    Condition.CRASH_LOOP: 6,
    Condition.OOM_KILLED: 5,
    Condition.ERROR: 4,
    Condition.INIT_ERROR: 5,
}
_FAILING: Final = frozenset({*_RESTARTS, Condition.IMAGE_PULL, Condition.CONFIG_ERROR, Condition.UNREADY})
_SERVING: Final = frozenset(
    {Condition.RUNNING, Condition.DEGRADED, Condition.ELEVATED_ERRORS, Condition.ROLLING_UPDATE}
)
_TOO_MUCH: Final = {"cpu": "48", "memory": "768Gi"}
_PROBE: Final[Json] = {
    "httpGet": {"path": "/healthz", "port": 8080},
    "periodSeconds": 10,
    "failureThreshold": 3,
}
#: What ``injected_failure`` may say, and what happens then to pods that start anew.
RESTART_FAILURES: Final = {
    "image-pull-backoff-on-restart": Condition.IMAGE_PULL,
    "crash-loop-on-restart": Condition.CRASH_LOOP,
}
#: Words for the reason of a condition that the workload's controller gives reasons of its own.
_SAID_OF_AVAILABLE: Final = ("", "pod unhealthy", "MinimumReplicasUnavailable", "MinimumReplicasAvailable")


def read_status(reader: Reader, *more: Condition) -> Condition:
    """Take ``status``; what it may say of some kinds only comes in as ``more``."""
    return Condition(reader.choice("status", (*STATUSES, *more), Condition.RUNNING))


def read_replicas(reader: Reader, status: Condition) -> int:
    """Take the replica count; what is degraded has some pods that are well and some that are not."""
    some = status in (Condition.DEGRADED, Condition.ROLLING_UPDATE)
    replicas = reader.count("replicas", 2 if some else 1) or 0
    if some and replicas < 2:
        reader.refuse("replicas", replicas, f"contradicts status {status}, which needs at least 2")
    needed = _FAILING | {Condition.PENDING, Condition.ELEVATED_ERRORS}
    if status in needed and replicas < 1:
        reader.refuse("replicas", replicas, f"contradicts status {status}, which needs at least 1")
    return replicas


def read_restart_failure(reader: Reader, status: Condition) -> Condition | None:
    """Take how pods fail that start after the preparation; only what runs can have such a failure ahead."""
    written = reader.text("injected_failure")
    if not written:
        return None
    if written not in RESTART_FAILURES:
        reader.refuse("injected_failure", written, f"possible are {', '.join(RESTART_FAILURES)}")
    elif status is not Condition.RUNNING:
        reader.refuse(
            "injected_failure", written, f"contradicts status {status}; possible with status running"
        )
    return RESTART_FAILURES.get(written)


def read_statements(reader: Reader, status: Condition) -> tuple[tuple[str, str], ...]:
    """Take what is said of a Deployment's own conditions; its controller decides them, so they are proven."""
    found = []
    for item in reader.items("conditions"):
        raw = item if isinstance(item, Mapping) else {}
        said = (str(raw.get("type")), scalar(raw.get("status")) or "")
        if (
            set(raw) - {"type", "status", "reason"}
            or said[0] != "Available"
            or said[1] not in ("True", "False")
        ):
            reader.refuse("conditions", item, "possible is type Available with status True or False")
        elif raw.get("reason", "") not in _SAID_OF_AVAILABLE:
            reader.refuse(
                "conditions.reason", raw["reason"], f"possible are {', '.join(_SAID_OF_AVAILABLE[1:])}"
            )
        elif (said[1] == "True") != (status in _SERVING - {Condition.DEGRADED}):
            reader.refuse("conditions", item, f"contradicts status {status}")
        else:
            found.append(said)
    return tuple(found)


def expect(reader: Reader, around: Surroundings, kind: Kind, status: Condition, pod: PodParts) -> Expectation:
    """Give what must be seen of a workload, and refuse what contradicts its status."""
    missing = tuple(ref for ref in pod.references if not _is_declared(ref, around))
    if pod.failed_init:
        status = Condition.INIT_ERROR
    restarts = reader.count("restarts", _RESTARTS.get(status, 0), high=1_000_000) or 0
    if restarts and status not in _RESTARTS:
        reader.refuse(
            "restarts", restarts, f"contradicts status {status}, whose containers were never restarted"
        )
    if missing and status in _SERVING:
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


def report_condition(
    reader: Reader, around: Surroundings, status: Condition, built: Built, kind: str
) -> None:
    """Add what monitoring tells of a workload: its use of CPU and memory, and its errors where they are many.

    Containers that wait use nothing, so what they used before stands in a metric.
    """
    usage = read_usage(reader, kind, reader.namespace)
    labels, name = {"app": reader.entry.name}, reader.entry.name
    if usage and status in _FAILING - {Condition.UNREADY} | {Condition.PENDING}:
        amount = parse_value(usage[0].memory)
        if usage[0].cpu or amount is None or status is Condition.PENDING:
            text = f"contradicts status {status}; possible is a memory_usage before it, such as 250Mi"
            reader.refuse(
                "cpu_usage" if usage[0].cpu else "memory_usage", usage[0].cpu or usage[0].memory, text
            )
        else:
            query = f"max_over_time({memory_query(name)}[10m:30s])"
            series = Series(f"{name}-memory-working-set", query, ((around.now, amount),))
            report(built, reader.entry.index, reader.namespace, series, labels)
    else:
        built.usage.extend(usage)
    rate = reader.take("error_rate")
    told = "error_rate" in around.fields.get(("metrics", reader.namespace, name), {})
    if rate is not None and (told or status is not Condition.ELEVATED_ERRORS):
        reader.refuse(
            "error_rate", rate, "possible with status elevated_error_rate and no metrics entry of that name"
        )
    elif rate is not None:
        if points := read_points(reader, "error_rate", rate, around.now):
            series = Series(f"{name}-error-rate", error_query(name), points)
            report(built, reader.entry.index, reader.namespace, series, labels)
    elif status is Condition.ELEVATED_ERRORS and not told:
        reader.refuse("error_rate", None, f"want error_rate, or an entry metrics/{name} with error_rate")


def build_template(reader: Reader, around: Surroundings, pod: PodParts, status: Condition) -> Json:
    """Build the template of a workload's pods, with what its status needs."""
    reason = reader.text("reason")
    container = pod.spec["containers"][0]
    refuse_images(reader, pod.spec, status)
    if status in (Condition.DEGRADED, Condition.UNREADY):
        container.setdefault("readinessProbe", dict(_PROBE))
    if status is Condition.OOM_KILLED:
        # Without a limit nothing would kill it, and there would be none to raise.
        limits = container.setdefault("resources", {}).setdefault("limits", {})
        limits.setdefault("memory", USUAL_LIMIT)
    if status is Condition.PENDING:
        _without_room(reader, around, container, reason)
    elif reason:
        reader.refuse("reason", reason, f"contradicts status {status}; possible with status pending")
    return {"metadata": {"labels": pod.labels}, "spec": pod.spec}


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


def _without_room(reader: Reader, around: Surroundings, container: Json, reason: str) -> None:
    """Let the pods ask for more than any node has, so that the scheduler itself keeps them pending."""
    resource = reason.lower().removeprefix("insufficient ") or "cpu"
    if resource not in _TOO_MUCH:
        reader.refuse("reason", reason, "possible are Insufficient CPU, Insufficient memory")
        return
    resources = container.setdefault("resources", {})
    if resource in resources.get("requests", {}):
        return  # The author's own request must be too large; if it is not, the symptom is not seen, and told.
    amount = _little_more(around, resource) or _TOO_MUCH[resource]
    resources["requests"] = {**resources.get("requests", {}), resource: amount}


def _little_more(around: Surroundings, resource: str) -> str:
    """Give a usual request that nodes are too small for which have little, empty where they have more."""
    low: Any = (
        fields.get(f"allocatable_{resource}") for key, fields in around.fields.items() if key[0] == "nodes"
    )
    return {"cpu": "1", "memory": "2Gi"}[resource] if "low" in low else ""
