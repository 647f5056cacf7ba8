"""Entries that others imply, and the namespaces of entries that name none.

An entry may speak of objects without declaring them: a namespace with its deployments, a canary with its
share of the traffic, log lines of a workload that nothing else mentions. They become entries of their own, so
that they are built, checked and proven like all others.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.wire.fields import shown
from oasis_operator.wire.probe_request import StateFault
from oasis_operator.world.entries import Entry, is_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORKLOADS: Final = frozenset({"deployment", "statefulset", "daemonset", "pod", "job", "cronjob"})
#: Kinds that say something about the workload of their name, and are found where it is.
_ABOUT_WORKLOADS: Final = frozenset(
    {"logs", "metrics", "alert", "traces", "gitops-application", "database-migration"}
)
_CANARY: Final = "-canary"
_PERCENT = re.compile(r"(\d{1,3})%")
_USUAL_QUOTA: Final = {"pods": "40", "services": "20", "configmaps": "60"}


def complete_entries(entries: Sequence[Entry], faults: list[StateFault]) -> list[Entry]:
    """Give the entries with their namespaces, and after each those that it implies."""
    homes = _homes(entries)
    named = [
        replace(entry, namespace=homes[entry.name])
        if entry.kind in _ABOUT_WORKLOADS and entry.namespace is None and entry.name in homes
        else entry
        for entry in entries
    ]
    declared = {(entry.kind, entry.namespace or "default", entry.name) for entry in named}
    result = []
    for entry in named:
        own, implied = _expanded(entry, declared, faults)
        result.append(own)
        for each in implied:
            key = (each.kind, each.namespace or "default", each.name)
            if key not in declared:
                declared.add(key)
                result.append(each)
    return result


def _homes(entries: Sequence[Entry]) -> dict[str, str]:
    """Give the namespace of each workload whose name is in one namespace only."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        if entry.kind in WORKLOADS:
            found.setdefault(entry.name, set()).add(entry.namespace or "default")
    return {name: next(iter(places)) for name, places in found.items() if len(places) == 1}


def _expanded(
    entry: Entry, declared: set[tuple[str, str, str]], faults: list[StateFault]
) -> tuple[Entry, list[Entry]]:
    if entry.kind == "namespace":
        return _with_contents(entry, faults)
    if entry.kind == "logs" and not any(
        (kind, entry.namespace or "default", entry.name) in declared for kind in WORKLOADS
    ):
        # Lines that nobody wrote could not be read anywhere.
        return entry, [_implied(entry, "deployment", entry.name, {})]
    if entry.kind == "deployment" and "traffic_weight" in entry.fields:
        return _with_traffic(entry, declared, faults)
    return entry, []


def _with_contents(entry: Entry, faults: list[StateFault]) -> tuple[Entry, list[Entry]]:
    """Take the names of what a namespace holds; each is an ordinary one of its kind."""
    fields = dict(entry.fields)
    contents: list[Entry] = []
    for field, kind, usual in (
        ("deployments", "deployment", {}),
        ("services", "service", {}),
        ("resource_quotas", "resourcequota", {"hard": _USUAL_QUOTA}),
    ):
        names = fields.pop(field, None)
        if names is None:
            continue
        if not isinstance(names, list | tuple) or not all(is_label(name) for name in names):
            faults.append(
                StateFault(entry.index, entry.resource, field, shown(names), "want a list of names")
            )
            continue
        contents += [Entry(entry.index, f"{kind}/{name}", kind, name, entry.name, usual) for name in names]
    return replace(entry, fields=fields), contents


def _with_traffic(
    entry: Entry, declared: set[tuple[str, str, str]], faults: list[StateFault]
) -> tuple[Entry, list[Entry]]:
    """Give a canary its share of the traffic: services for both, and a route for each."""
    fields = dict(entry.fields)
    written = fields.pop("traffic_weight")
    own = replace(entry, fields=fields)
    match = _PERCENT.fullmatch(str(written))
    base = entry.name.removesuffix(_CANARY)
    namespace = entry.namespace or "default"
    if match is None or int(match[1]) > 100:
        faults.append(
            StateFault(
                entry.index, entry.resource, "traffic_weight", shown(written), "want a share such as 10%"
            )
        )
        return own, []
    if base == entry.name or ("deployment", namespace, base) not in declared:
        text = f"want a deployment NAME{_CANARY} beside a declared deployment NAME"
        faults.append(StateFault(entry.index, entry.resource, "traffic_weight", shown(written), text))
        return own, []
    host = f"{base}.example.com"
    annotations = {
        "nginx.ingress.kubernetes.io/canary": "true",
        "nginx.ingress.kubernetes.io/canary-weight": match[1],
    }
    return own, [
        _implied(entry, "service", base, {}),
        _implied(entry, "service", entry.name, {}),
        _implied(entry, "ingress", base, {"backend": base, "host": host}),
        _implied(
            entry, "ingress", entry.name, {"backend": entry.name, "host": host, "annotations": annotations}
        ),
    ]


def _implied(entry: Entry, kind: str, name: str, fields: Mapping[str, Any]) -> Entry:
    return Entry(entry.index, f"{kind}/{name}", kind, name, entry.namespace or "default", fields)
