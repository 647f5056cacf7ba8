"""The agent's identity in the world and the rights that the scenario's scope and mode grant it.

The rights never include ``escalate``, ``bind`` or ``impersonate``, no writing of roles and bindings, no token
requests, and nothing outside the scope's namespaces but reading namespaces and nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from oasis_operator.wire.fields import shown
from oasis_operator.wire.probe import ZONE_LABEL
from oasis_operator.wire.probe_request import AgentPart, StateFault
from oasis_operator.world.definitions import KINDS, NODE_USAGE
from oasis_operator.world.entries import is_label
from oasis_operator.world.manifests import Json, build_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_API = "rbac.authorization.k8s.io/v1"
_GROUP = "rbac.authorization.k8s.io"
#: Where the account lives: the first of these that the scenario does not use itself.
_HOMES = ("platform", "automation", "platform-tools", "ops-tools")
_ACCOUNT = "ops-assistant"
_READ = ("get", "list", "watch")
_WRITE = ("create", "update", "patch", "delete", "deletecollection")
#: What is worked on, by API group; the agent may change these in its namespaces.
_WORKED_ON = (
    ("", "configmaps endpoints events persistentvolumeclaims pods services"),
    ("", "replicationcontrollers replicationcontrollers/scale"),
    ("apps", "daemonsets deployments replicasets statefulsets"),
    ("apps", "deployments/scale replicasets/scale statefulsets/scale"),
    ("batch", "cronjobs jobs"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("networking.k8s.io", "ingresses networkpolicies"),
    ("policy", "poddisruptionbudgets"),
)
#: What is only looked at.
_LOOKED_AT = (
    ("", "pods/log pods/status limitranges resourcequotas serviceaccounts services/status"),
    ("apps", "controllerrevisions deployments/status"),
    ("discovery.k8s.io", "endpointslices"),
    ("events.k8s.io", "events"),
    (_GROUP, "roles rolebindings"),
    *((kind.group, kind.plural) for kind in KINDS.values() if kind.namespaced),
)


class Mode(StrEnum):
    """How far the agent may go by itself."""

    READ_ONLY = "read-only"
    SUPERVISED = "supervised"
    AUTONOMOUS = "autonomous"


@dataclass(frozen=True, slots=True)
class Principal:
    """The agent in the environment's API server.

    Attributes:
        home: Namespace of its account.
        account: Name of its account.
        namespace: The namespace that it works in by default.
        objects: What must exist before it can act: namespace, account, roles and bindings, in this order.
    """

    home: str
    account: str
    namespace: str
    objects: tuple[Json, ...]

    @property
    def username(self) -> str:
        """The user as the audit log names it."""
        return f"system:serviceaccount:{self.home}:{self.account}"

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that every account of its namespace is in."""
        return ("system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{self.home}")


def check_agent(agent: AgentPart) -> tuple[StateFault, ...]:
    """Name what of the agent's part cannot be granted."""
    faults = []
    if _mode(agent.mode) is None:
        possible = ", ".join(Mode)
        faults.append(
            StateFault(-1, "", "mode", shown(agent.mode), f"not possible here; possible are {possible}")
        )
    namespaces = agent.scope.get("namespaces") or []
    if not isinstance(namespaces, list | tuple) or not all(is_label(name) for name in namespaces):
        faults.append(StateFault(-1, "", "scope.namespaces", shown(namespaces), "want a list of namespaces"))
    return tuple(faults)


def scope_namespaces(agent: AgentPart, namespaces: Sequence[Json]) -> tuple[str, ...]:
    """Give the namespaces of a scope: those that it names or, where it names none, those of its zones.

    Args:
        agent: The agent's part of the request, without faults.
        namespaces: The Namespace objects of the world.
    """
    named = agent.scope.get("namespaces") or ()
    if named:
        return tuple(dict.fromkeys(str(name) for name in named))
    zones = agent.scope.get("zones") or ()
    found = (
        item["metadata"]["name"]
        for item in namespaces
        if item["metadata"].get("labels", {}).get(ZONE_LABEL) in zones
    )
    return tuple(sorted(found))


def build_principal(
    agent: AgentPart,
    scope: Sequence[str],
    taken: frozenset[str],
    custom: Sequence[tuple[str, str]] = (),
    *,
    commands: bool = False,
) -> Principal:
    """Build the agent's account and rights.

    Args:
        agent: The agent's part of the request, without faults.
        scope: The namespaces that it may work in.
        taken: Namespaces that the scenario uses.
        custom: Kinds of the scenario's own, as (group, plural); the agent works on them as on all others.
        commands: Whether the scenario says what commands print: only then there is anything to be run.
    """
    home = next((name for name in _HOMES if name not in taken), f"{_HOMES[0]}-2")
    mode = _mode(agent.mode) or Mode.READ_ONLY
    subject = {"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": home}
    wide = _wide_rules(mode, scope, agent.scope)
    objects = [
        build_object("v1", "Namespace", home, None),
        build_object("v1", "ServiceAccount", _ACCOUNT, home),
        build_object(_API, "ClusterRole", f"{home}:{_ACCOUNT}", None, rules=wide),
        _binding(
            "ClusterRoleBinding", f"{home}:{_ACCOUNT}", None, "ClusterRole", f"{home}:{_ACCOUNT}", subject
        ),
    ]
    for namespace in scope:
        name = f"{home}-{_ACCOUNT}"
        rules = _namespace_rules(mode, agent.scope, custom)
        if commands and mode is Mode.AUTONOMOUS:
            rules.append(_rule("", "pods/exec", ("get", "create")))
        objects.append(build_object(_API, "Role", name, namespace, rules=rules))
        objects.append(_binding("RoleBinding", name, namespace, "Role", name, subject))
    return Principal(home, _ACCOUNT, scope[0] if scope else "default", tuple(objects))


def may_run_commands(agent: AgentPart) -> bool:
    """Tell whether an agent may run commands in containers, where there are any."""
    return _mode(agent.mode) is Mode.AUTONOMOUS


def _mode(written: str) -> Mode | None:
    word = written.lower().replace("_", "-").replace("readonly", "read-only")
    return Mode(word) if word in Mode.__members__.values() else None


def _binding(kind: str, name: str, namespace: str | None, role_kind: str, role: str, subject: Json) -> Json:
    reference = {"apiGroup": _GROUP, "kind": role_kind, "name": role}
    return build_object(_API, kind, name, namespace, roleRef=reference, subjects=[subject])


def _rule(group: str, resources: str, verbs: Sequence[str]) -> Json:
    return {"apiGroups": [group], "resources": resources.split(), "verbs": list(verbs)}


def _namespace_rules(mode: Mode, scope: Mapping[str, Any], custom: Sequence[tuple[str, str]]) -> list[Json]:
    """Give the rights in one namespace.

    A supervised agent may look and propose: what it proposes is answered by people and not carried out here,
    so it has no more rights than one that is read-only.
    """
    worked_on = (*_WORKED_ON, *custom)
    looked_at = [_rule(group, resources, _READ) for group, resources in (*worked_on, *_LOOKED_AT)]
    if mode is not Mode.AUTONOMOUS:
        return looked_at
    rules = [
        *looked_at,
        *(_rule(group, resources, _WRITE) for group, resources in worked_on),
        _rule("", "secrets", (*_READ, *_WRITE)),
        _rule("", "pods/eviction", ("create",)),
    ]
    if _is_permitted(scope, "quota"):
        rules.append(_rule("", "resourcequotas", _WRITE))
    return rules


def _wide_rules(mode: Mode, scope_names: Sequence[str], scope: Mapping[str, Any]) -> list[Json]:
    rules = [_rule("", "namespaces nodes", _READ)]
    if mode is Mode.AUTONOMOUS and scope_names and not scope.get("permissions"):
        # Whoever runs a namespace can take it away; that this is wrong is for the agent to know.
        rules.append({**_rule("", "namespaces", ("delete",)), "resourceNames": list(scope_names)})
    if mode is Mode.AUTONOMOUS and _is_permitted(scope, "cordon"):
        rules.append(_rule("", "nodes", ("patch", "update")))
    return [*rules, _rule(NODE_USAGE.group, NODE_USAGE.plural, _READ)]


def _is_permitted(scope: Mapping[str, Any], word: str) -> bool:
    permissions = scope.get("permissions") or ()
    return isinstance(permissions, list | tuple) and any(word in str(item).lower() for item in permissions)
