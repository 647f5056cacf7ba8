"""The compilation of a scenario's state into a plan.

Each kind has one builder. What a builder cannot do exactly it refuses, with the field and what is possible; a
plan with faults is never carried out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from oasis_operator.wire.fields import shown
from oasis_operator.wire.probe import ENCODED_SUFFIX
from oasis_operator.wire.probe_request import StateFault
from oasis_operator.world import cluster, configuration, limits
from oasis_operator.world.commands import read_commands
from oasis_operator.world.definitions import DEFINITION, KINDS, NODE_USAGE, POD_USAGE, build_definition
from oasis_operator.world.entries import (
    Entry,
    Reader,
    canonical_kind,
    is_label,
    is_subdomain,
    parse_entry,
)
from oasis_operator.world.implied import WORKLOADS, complete_entries
from oasis_operator.world.manifests import (
    Built,
    CommandAnswer,
    Expectation,
    Json,
    LogLines,
    Manifest,
    Recovery,
    Surroundings,
    Usage,
    build_object,
)
from oasis_operator.world.monitoring import tools
from oasis_operator.world.registry import BUILDERS
from oasis_operator.world.speakers import find_silent

if TYPE_CHECKING:
    from oasis_operator.world.injection import Injection

_UNNAMED = frozenset({"nodes", "events"})
_CLUSTER_WIDE = frozenset({"namespace", "node", "nodes", "storageclass", "clusterrole", "clusterrolebinding"})
_LABEL_NAMED = frozenset({"namespace", "service"})
#: Objects are created rank by rank, those of one rank side by side; kinds that stand nowhere here come last.
_RANKS = (
    ("Namespace", "Node", "StorageClass", "PersistentVolume", "ClusterRole", DEFINITION),
    ("ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim", "Role", "LimitRange", "NetworkPolicy"),
    ("Service", "RoleBinding", "ClusterRoleBinding", "PodDisruptionBudget", "ResourceQuota"),
    ("Deployment", "StatefulSet", "DaemonSet", "Pod", "Job", "CronJob"),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a scenario's state comes to.

    Attributes:
        ranks: Objects to create, rank by rank; the first one, of what others need to exist, may be empty.
        expectations: Conditions to be seen, in the order of the entries.
        logs: Log lines to keep.
        commands: What commands print in containers.
        node_count: How many nodes there are to be, None where the scenario does not say.
        node_allocatable: Amounts that each of them has instead of the usual ones.
        usage: What is declared to be used of CPU and memory; empty where nothing is measured.
        recoveries: How metrics answer to changes of their workloads.
        values: Containment literals by reference; stored forms have a reference of their own.
        faults: Why the plan cannot be carried out, empty where it can.
        injections: What stimuli place, those of before the prompt first.
        state: The entries that it is made of, with what is placed before the prompt.
    """

    ranks: tuple[tuple[Manifest, ...], ...]
    expectations: tuple[Expectation, ...]
    logs: tuple[LogLines, ...]
    commands: tuple[CommandAnswer, ...]
    node_count: int | None
    node_allocatable: Mapping[str, str]
    usage: tuple[Usage, ...]
    recoveries: tuple[Recovery, ...]
    values: Mapping[str, str]
    faults: tuple[StateFault, ...]
    injections: tuple[Injection, ...] = ()
    state: tuple[Mapping[str, Any], ...] = ()


def build_plan(
    state: Sequence[Mapping[str, Any]],
    *,
    scope_namespaces: Sequence[str] = (),
    containment: Sequence[str] = (),
    now: str,
) -> Plan:
    """Compile a scenario's state.

    Args:
        state: The entries, in the scenario's order.
        scope_namespaces: Namespaces that the agent's scope names; they exist even where the state is silent.
        containment: Value references that must resolve against the state.
        now: The moment of preparation, RFC 3339.

    Returns:
        A plan whose ``faults`` name everything that is statically impossible.

    Spec: 02-scenarios §1.3.
    """
    faults: list[StateFault] = list(limits.find_unreadable(state))
    if faults:
        return replace(build_plan((), now=now), faults=tuple(faults))
    entries = _named(complete_entries(_parse(state, faults), faults), faults)
    around = _surroundings(entries, now)
    built = [part for entry in entries if (part := _build(entry, around, faults)) is not None]
    manifests = [manifest for part in built for manifest in part.manifests]
    usage = tuple(item for part in built for item in part.usage)
    logs = tuple(item for part in built for item in part.logs)
    found = tools.find_tools(manifests, state, has_logs=bool(logs))
    manifests += tools.build_services(found, manifests)
    spoken_of = (*scope_namespaces, *([tools.NAMESPACE] if found else []))
    manifests = [
        *_implied_namespaces(entries, manifests, spoken_of, faults),
        *_definitions(manifests, measured=bool(usage)),
        *manifests,
    ]
    _refuse_duplicates(manifests, state, faults)
    commands = tuple(item for part in built for item in part.commands)
    faults.extend((*limits.find_faults(manifests, state), *limits.find_wordy(logs, commands)))
    faults.extend(find_silent(entries, [item for part in built for item in part.expectations]))
    counts = [part.node_count for part in built if part.node_count is not None]
    return Plan(
        ranks=_ranked(manifests),
        expectations=tuple(item for part in built for item in part.expectations),
        logs=logs,
        commands=commands,
        node_count=counts[-1] if counts else None,
        node_allocatable={key: value for part in built for key, value in part.node_allocatable.items()},
        usage=usage,
        recoveries=tuple(item for part in built for item in part.recoveries),
        values=_containment(entries, containment, faults),
        faults=tuple(sorted(faults, key=lambda item: item.index)),
    )


def _parse(state: Sequence[Mapping[str, Any]], faults: list[StateFault]) -> list[Entry]:
    entries = []
    for index, raw in enumerate(state):
        entry = parse_entry(index, raw, BUILDERS)
        if isinstance(entry, StateFault):
            faults.append(entry)
        else:
            entries.append(entry)
    return entries


def _named(entries: Sequence[Entry], faults: list[StateFault]) -> list[Entry]:
    """Keep the entries whose kind is built and whose name can exist."""
    kept = []
    for entry in entries:
        if (problem := _name_problem(entry)) is None:
            kept.append(entry)
        else:
            field, value = ("kind", entry.kind) if entry.kind not in BUILDERS else ("name", entry.name)
            faults.append(StateFault(entry.index, entry.resource, field, shown(value), problem))
    return kept


def _name_problem(entry: Entry) -> str | None:
    if entry.kind not in BUILDERS:
        return f"not possible here; possible are {', '.join(sorted(BUILDERS))}"
    if not entry.name:
        return None if entry.kind in _UNNAMED else "want a name: kind/name"
    if entry.kind in _LABEL_NAMED:
        return None if is_label(entry.name) else "want at most 63 lower-case letters, digits and dashes"
    return (
        None if is_subdomain(entry.name) else "want at most 253 lower-case letters, digits, dashes and dots"
    )


def _surroundings(entries: Sequence[Entry], now: str) -> Surroundings:
    keys = {}
    for entry in entries:
        if entry.kind in ("configmap", "secret"):
            members = (entry.fields.get(member) for member in ("data", "string_data", "stringData"))
            declared = frozenset(
                str(key) for member in members if isinstance(member, Mapping) for key in member
            )
            keys[entry.kind, entry.namespace or "default", entry.name] = declared
    fields = {(entry.kind, entry.namespace or "default", entry.name): entry.fields for entry in entries}
    return Surroundings(now, frozenset(fields), keys, fields)


def _build(entry: Entry, around: Surroundings, faults: list[StateFault]) -> Built | None:
    found: list[StateFault] = []
    reader = Reader(entry, found)
    zone = reader.text("zone") if entry.kind in WORKLOADS else ""
    commands = read_commands(reader) if entry.kind in WORKLOADS else ()
    built = BUILDERS[entry.kind](reader, around)
    built.commands.extend(commands)
    reader.finish()
    faults.extend(found)
    if zone and not found:
        built.manifests.insert(0, _zoned_namespace(entry, zone))
    return None if found else built


def _zoned_namespace(entry: Entry, zone: str) -> Manifest:
    """Build the namespace that a workload's ``zone`` speaks of; it merges with the namespace's own entry."""
    raw = Entry(entry.index, entry.resource, "namespace", entry.namespace or "default", None, {"zone": zone})
    return cluster.build_namespace(Reader(raw, []), Surroundings("")).manifests[0]


def _implied_namespaces(
    entries: Sequence[Entry], manifests: list[Manifest], scope: Sequence[str], faults: list[StateFault]
) -> list[Manifest]:
    """Give the namespaces that are only spoken of, and merge those that several entries describe."""
    declared: dict[str, Manifest] = {}
    for manifest in [item for item in manifests if item.body["kind"] == "Namespace"]:
        name = manifest.body["metadata"]["name"]
        if name in declared and manifest is not declared[name]:
            manifests.remove(manifest)
            _merge(declared[name], manifest, faults)
        else:
            declared[name] = manifest
    spoken_of = {entry.namespace or "default" for entry in entries if entry.kind not in _CLUSTER_WIDE}
    spoken_of |= {
        entry.name for entry in entries if entry.kind == "events" and entry.name and not entry.namespace
    }
    spoken_of |= {name for name in scope if is_label(name)}
    missing = sorted(spoken_of - set(declared) - {"default"})
    return [Manifest(-1, build_object("v1", "Namespace", name, None)) for name in missing]


def _merge(first: Manifest, second: Manifest, faults: list[StateFault]) -> None:
    labels = first.body["metadata"].setdefault("labels", {})
    for key, value in second.body["metadata"].get("labels", {}).items():
        if labels.setdefault(key, value) != value:
            where = f"namespace/{first.body['metadata']['name']}"
            faults.append(
                StateFault(
                    second.index, where, key, shown(value), f"contradicts {labels[key]} of another entry"
                )
            )


def _definitions(manifests: Sequence[Manifest], *, measured: bool) -> list[Manifest]:
    """Give the definitions of the kinds that the world has objects of, or will have once it is measured."""
    used = {manifest.body["kind"] for manifest in manifests}
    used |= {POD_USAGE.kind, NODE_USAGE.kind} if measured else set()
    return [Manifest(-1, build_definition(kind)) for name, kind in KINDS.items() if name in used]


def _refuse_duplicates(
    manifests: Sequence[Manifest], state: Sequence[Mapping[str, Any]], faults: list[StateFault]
) -> None:
    seen: dict[tuple[Any, ...], int] = {}
    for manifest in manifests:
        metadata = manifest.body["metadata"]
        key = (
            manifest.body["apiVersion"],
            manifest.body["kind"],
            metadata.get("namespace"),
            metadata["name"],
        )
        first = seen.setdefault(key, manifest.index)
        if first != manifest.index and first >= 0 and manifest.index >= 0:
            resource = str(state[manifest.index].get("resource", metadata["name"]))
            faults.append(StateFault(manifest.index, resource, "", "", f"declared before, as state[{first}]"))


def _ranked(manifests: Sequence[Manifest]) -> tuple[tuple[Manifest, ...], ...]:
    listed = {kind for kinds in _RANKS for kind in kinds}
    ranked = [tuple(item for item in manifests if item.body["kind"] in kinds) for kinds in _RANKS]
    ranked.append(tuple(item for item in manifests if item.body["kind"] not in listed))
    # The first rank is there even where it is empty: between it and the others, failures are made ready.
    return (ranked[0], *(rank for rank in ranked[1:] if rank))


def _containment(
    entries: Sequence[Entry], references: Sequence[str], faults: list[StateFault]
) -> dict[str, str]:
    """Resolve references such as ``secret/db-credentials.data.DB_PASSWORD`` to literals."""
    values: dict[str, str] = {}
    for reference in references:
        resolved = _resolve(entries, reference)
        if resolved is None or not resolved[0]:
            faults.append(
                StateFault(
                    -1,
                    "",
                    "containment",
                    shown(reference),
                    "names no value of the state; want kind/name.data.KEY",
                )
            )
            continue
        values[reference] = resolved[0]
        if resolved[1] is not None:
            values[reference + ENCODED_SUFFIX] = resolved[1]
    return values


def _resolve(entries: Sequence[Entry], reference: str) -> tuple[str, str | None] | None:
    written, _, rest = reference.partition("/")
    for entry in entries:
        for member in ("data", "string_data", "stringData", "annotations", "env"):
            prefix = f"{entry.name}.{member}."
            if entry.kind == canonical_kind(written, BUILDERS) and rest.startswith(prefix):
                found = configuration.containment_values(entry, member, rest.removeprefix(prefix))
                if found is not None:
                    return found
    return None


def objects_of(plan: Plan) -> tuple[Json, ...]:
    """Give the objects of a plan in the order of their creation."""
    return tuple(manifest.body for rank in plan.ranks for manifest in rank)


def custom_kinds(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Give the namespaced kinds that only this scenario has, as (group, plural)."""
    known = {(kind.group, kind.plural) for kind in KINDS.values()}
    specs = [body["spec"] for body in objects_of(plan) if body["kind"] == DEFINITION]
    found = {(spec["group"], spec["names"]["plural"]) for spec in specs if spec["scope"] == "Namespaced"}
    return tuple(sorted(found - known))


def has_commands(plan: Plan) -> bool:
    """Tell whether a scenario says what commands print in its containers, now or in the course of the run."""
    later = (entry for injection in plan.injections for entry in injection.entries)
    return bool(plan.commands) or any(entry.get("exec") for entry in later)
