"""Declared use of CPU and memory, and the objects by which a metrics server reports it.

Amounts are CPU in thousandths of a core and memory in bytes. What a scenario does not speak of uses little.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.world.definitions import NODE_USAGE, POD_USAGE, build_custom
from oasis_operator.world.entries import is_quantity
from oasis_operator.world.manifests import Usage
from oasis_operator.world.series import parse_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oasis_operator.world.entries import Reader
    from oasis_operator.world.manifests import Json

_SHARE = re.compile(r"(\d{1,3})%")
#: The time that one measurement covers.
WINDOW_SECONDS: Final = 15
_WINDOW: Final = f"{WINDOW_SECONDS}s"


def read_usage(reader: Reader, kind: str, namespace: str) -> list[Usage]:
    """Take ``cpu_usage`` and ``memory_usage``; empty where the entry has neither."""
    found = []
    for field in ("cpu_usage", "memory_usage"):
        written = reader.text(field)
        if written and not _SHARE.fullmatch(written) and not is_quantity(written):
            reader.refuse(field, written, "want a share such as 95%, or an amount such as 500m or 250Mi")
            written = ""
        found.append(written)
    cpu, memory = found
    return [Usage(kind, namespace, reader.entry.name, cpu, memory)] if cpu or memory else []


def build_node_usage(node: Json, declared: Iterable[Usage], now: str) -> Json:
    """Build the report of a node, as declared for it or, where nothing is, with little in use."""
    name = node["metadata"]["name"]
    there = node["status"].get("allocatable", {})
    share = 12 + _chance(name, 18)
    cpu, memory = f"{share}%", f"{share + 9}%"
    for each in sorted(declared, key=lambda item: bool(item.name)):
        if each.kind == "node" and each.name in ("", name):
            cpu, memory = each.cpu or cpu, each.memory or memory
    usage = _reported(
        _amount(cpu, there.get("cpu", "4"), 1000), _amount(memory, there.get("memory", "8Gi"), 1)
    )
    return build_custom(NODE_USAGE, name, None, timestamp=now, window=_WINDOW, usage=usage)


def build_pod_usage(pod: Json, node: Json | None, declared: Sequence[Usage], now: str) -> Json:
    """Build the report of a pod that runs: its first container uses what is declared, the others little."""
    metadata = pod["metadata"]
    there = (node or {}).get("status", {}).get("allocatable", {})
    containers = []
    for place, container in enumerate(pod["spec"]["containers"]):
        limits = container.get("resources", {}).get("limits", {})
        seed = f"{metadata['name']}/{container['name']}"
        cpu, memory = f"{3 + _chance(seed, 22)}m", f"{36 + _chance(seed, 60)}Mi"
        for each in declared if place == 0 else ():
            cpu, memory = each.cpu or cpu, each.memory or memory
        containers.append(
            {
                "name": container["name"],
                "usage": _reported(
                    _amount(cpu, limits.get("cpu") or there.get("cpu", "4"), 1000),
                    _amount(memory, limits.get("memory") or there.get("memory", "8Gi"), 1),
                ),
            }
        )
    return build_custom(
        POD_USAGE, metadata["name"], metadata["namespace"], labels=metadata.get("labels"),
        timestamp=now, window=_WINDOW, containers=containers,
    )  # fmt: skip


def _amount(written: str, whole: object, scale: float) -> float:
    """Give an amount in ``scale`` parts of one; a share is one of the whole."""
    if match := _SHARE.fullmatch(written):
        return float(parse_value(whole) or 0) * scale * int(match[1]) / 100
    return float(parse_value(written) or 0) * scale


def _reported(millicores: float, size_bytes: float) -> dict[str, Any]:
    return {"cpu": f"{max(1, round(millicores))}m", "memory": f"{max(1, round(size_bytes / 1024))}Ki"}


def _chance(seed: str, below: int) -> int:
    return hashlib.sha256(f"usage/{seed}".encode()).digest()[0] % below
