"""ServiceAccounts, Roles and RoleBindings, the cluster-wide ones included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from oasis_operator.world.manifests import Built, Json, Manifest, Surroundings, build_object

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

_GROUP = "rbac.authorization.k8s.io"
_API = f"{_GROUP}/v1"
_RULE_FIELDS = frozenset(["apiGroups", "resources", "verbs", "resourceNames", "nonResourceURLs"])
_SUBJECT_KINDS = {"serviceaccount": "ServiceAccount", "user": "User", "group": "Group"}


def build_serviceaccount(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a ServiceAccount."""
    body = build_object(
        "v1", "ServiceAccount", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"),
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def build_role(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a Role or ClusterRole; a rule without groups is about the core group."""
    rules = [_rule(reader, item) for item in reader.items("rules")]
    return _finish(reader, "Role", rules=rules)


def build_rolebinding(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a RoleBinding or ClusterRoleBinding."""
    subjects = [_subject(reader, item) for item in reader.items("subjects")]
    return _finish(reader, "RoleBinding", roleRef=_role_ref(reader), subjects=subjects)


def _finish(reader: Reader, kind: str, **members: object) -> Built:
    wide = reader.entry.kind.startswith("cluster")
    if wide and reader.entry.namespace:
        reader.refuse("namespace", reader.entry.namespace, f"{reader.entry.kind} has no namespace")
    body = build_object(
        _API, f"Cluster{kind}" if wide else kind, reader.entry.name, None if wide else reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), **members,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def _rule(reader: Reader, item: object) -> Json:
    if not isinstance(item, Mapping) or "verbs" not in item:
        reader.refuse("rules", item, "want a rule with resources and verbs")
        return {"apiGroups": [""], "resources": [], "verbs": []}
    names = {"api_groups": "apiGroups", "resource_names": "resourceNames"}
    renamed = {names.get(str(key), str(key)): value for key, value in item.items()}
    for field in sorted(set(renamed) - _RULE_FIELDS):
        reader.refuse(f"rules.{field}", renamed[field], "not a field of a rule")
    if "nonResourceURLs" not in renamed:
        renamed.setdefault("apiGroups", [""])
    return renamed


def _role_ref(reader: Reader) -> Json:
    """Take the role, as ``role/name``, ``clusterrole/name``, a bare name, or as Kubernetes has it."""
    written = reader.take("role")
    as_object = reader.take("roleRef")
    if isinstance(as_object, Mapping) and written is None:
        return {"apiGroup": _GROUP, **as_object}
    if not isinstance(written, str) or as_object is not None:
        reader.refuse("role", written, "want role/name or clusterrole/name")
        return {"apiGroup": _GROUP, "kind": "Role", "name": "unknown"}
    kind, slash, name = written.partition("/")
    kinds = {"role": "Role", "clusterrole": "ClusterRole"}
    if not slash:
        wide = reader.entry.kind.startswith("cluster")
        return {"apiGroup": _GROUP, "kind": "ClusterRole" if wide else "Role", "name": written}
    if kind.lower() not in kinds:
        reader.refuse("role", written, "want role/name or clusterrole/name")
    return {"apiGroup": _GROUP, "kind": kinds.get(kind.lower(), "Role"), "name": name}


def _subject(reader: Reader, item: object) -> Json:
    """Take a subject, as ``serviceaccount/[namespace/]name``, ``user/name``, ``group/name`` or an object."""
    if isinstance(item, Mapping) and {"kind", "name"} <= set(item):
        subject = dict(item)
    elif isinstance(item, str) and item.partition("/")[0].lower() in _SUBJECT_KINDS:
        kind, _, name = item.partition("/")
        namespace, slash, account = name.partition("/")
        subject = {"kind": _SUBJECT_KINDS[kind.lower()], "name": account if slash else name}
        if slash and subject["kind"] == "ServiceAccount":
            subject["namespace"] = namespace
        elif slash:
            subject["name"] = name
    else:
        reader.refuse("subjects", item, "want serviceaccount/name, user/name, group/name or a subject")
        return {"kind": "User", "name": "unknown", "apiGroup": _GROUP}
    if subject["kind"] == "ServiceAccount":
        subject.setdefault("namespace", reader.namespace)
    else:
        subject.setdefault("apiGroup", _GROUP)
    return subject
