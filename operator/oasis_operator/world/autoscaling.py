"""Autoscalers and disruption budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world.manifests import (
    Built,
    Condition,
    Expectation,
    Json,
    Kind,
    Manifest,
    Surroundings,
    Usage,
    build_object,
)
from oasis_operator.world.series import first_amount, parse_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.world.entries import Reader

_TARGETS: Final = {"deployment": "Deployment", "statefulset": "StatefulSet"}
#: What the containers ask for of a workload that is scaled by the use of it; without, no share can be told.
USUAL_REQUEST: Final = "100m"
#: The longest that an autoscaler can be told to wait before it follows a higher use.
_PATIENCE_SECONDS: Final = 3600
#: How far the use may be off the target before an autoscaler does anything.
_TOLERANCE: Final = 0.1


def build_hpa(reader: Reader, around: Surroundings) -> Built:
    """Build an autoscaler by CPU.

    One that is scaling sees a use that asks for more or fewer replicas and waits, as it is told to, until
    that has lasted: how many it wants stands in what it measures, and the workload has not changed yet.
    """
    kind, _, name = reader.text("target").partition("/")
    _check_target(reader, around, kind, name)
    low = reader.count("min_replicas", 1, low=1) or 1
    high = reader.count("max_replicas", max(10, low), low=1) or 10
    if low > high:
        reader.refuse("min_replicas", low, f"more than max_replicas {high}")
    share = reader.count("target_cpu_percent", 80, low=1) or 80
    spec: Json = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": _TARGETS.get(kind, "Deployment"), "name": name},
        "minReplicas": low,
        "maxReplicas": high,
        "metrics": [_by_cpu(share)],
    }
    built = Built()
    current = _replicas(around, kind, reader.namespace, name)
    wanted = _wanted(reader, current, low, high)
    if wanted is not None:
        patience = {"stabilizationWindowSeconds": _PATIENCE_SECONDS}
        spec["behavior"] = {"scaleUp": patience, "scaleDown": patience}
        used = share * (wanted - 0.5) / current
        request = cpu_request(around.fields.get((kind, reader.namespace, name), {})) or USUAL_REQUEST
        millicores = round(float(parse_value(request) or 0) * 1000 * used / 100)
        built.usage.append(Usage(kind, reader.namespace, name, cpu=f"{millicores}m"))
        built.expectations.append(
            Expectation(
                Kind.AUTOSCALER,
                reader.namespace,
                reader.entry.name,
                Condition.SCALING,
                current,
                message=str(wanted),
            )
        )
    body = build_object(
        "autoscaling/v2", "HorizontalPodAutoscaler", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), spec=spec,
    )  # fmt: skip
    built.manifests.append(Manifest(reader.entry.index, body))
    return built


def _check_target(reader: Reader, around: Surroundings, kind: str, name: str) -> None:
    written = f"{kind}/{name}" if name else kind
    if kind not in _TARGETS or not name:
        reader.refuse("target", written, "want deployment/name or statefulset/name")
    elif (kind, reader.namespace, name) not in around.names:
        reader.refuse("target", written, f"no such {kind} in namespace {reader.namespace}")


def _by_cpu(share: int) -> Json:
    target = {"type": "Utilization", "averageUtilization": share}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _replicas(around: Surroundings, kind: str, namespace: str, name: str) -> int:
    written = around.fields.get((kind, namespace, name), {}).get("replicas", 1)
    return written if isinstance(written, int) and written > 0 else 1


def _wanted(reader: Reader, current: int, low: int, high: int) -> int | None:
    """Take how many replicas an autoscaler wants that is scaling, None for one that is not."""
    status = reader.choice("current_status", ("stable", Condition.SCALING), "stable")
    wanted = reader.count("target_replicas", low=1)
    if status == "stable":
        if wanted is not None:
            reader.refuse("target_replicas", wanted, f"needs current_status {Condition.SCALING}")
        return None
    if wanted is None or not low <= wanted <= high or wanted == current:
        text = f"want another number than the {current} there are, from {low} to {high}"
        reader.refuse("target_replicas", wanted, text)
        return None
    if abs((wanted - 0.5) / current - 1) <= _TOLERANCE:
        reader.refuse("target_replicas", wanted, f"too close to the {current} there are to be scaled to")
        return None
    return wanted


def is_scaled(around: Surroundings, kind: str, namespace: str, name: str) -> bool:
    """Tell whether an autoscaler of the scenario has this workload as its target."""
    return any(
        each[0] == "hpa" and each[1] == namespace and fields.get("target") == f"{kind}/{name}"
        for each, fields in around.fields.items()
    )


def cpu_request(fields: Mapping[str, Any]) -> str:
    """Give the CPU that a declared workload asks for or is limited to, empty where nothing is said."""
    holders = (("resource_requests",), ("resources", "requests"), ("resources", "limits"))
    return first_amount(fields, *((*holder, "cpu") for holder in holders))


def build_pdb(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a PodDisruptionBudget."""
    low, high = reader.take("min_available"), reader.take("max_unavailable")
    if low is not None and high is not None:
        reader.refuse("max_unavailable", high, "contradicts min_available: only one of them is possible")
    target = reader.text("target").partition("/")[2]
    selector = reader.texts("selector") or {"app": target or reader.entry.name}
    spec: Json = {"selector": {"matchLabels": selector}}
    if high is not None:
        spec["maxUnavailable"] = high
    else:
        spec["minAvailable"] = 1 if low is None else low
    body = build_object(
        "policy/v1", "PodDisruptionBudget", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), spec=spec,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])
