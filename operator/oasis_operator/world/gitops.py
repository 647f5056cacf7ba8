"""GitOps applications: the objects of Argo CD, with the state that its controller would have written."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from oasis_operator.world import moments
from oasis_operator.world.definitions import APPLICATION, build_custom
from oasis_operator.world.manifests import (
    Built,
    Condition,
    Expectation,
    Json,
    Kind,
    Manifest,
    Surroundings,
)

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader

KIND: Final = "gitops-application"
_SYNC: Final = {
    "synced": "Synced",
    "out_of_sync": "OutOfSync",
    "outofsync": "OutOfSync",
    "unknown": "Unknown",
}
_HEALTH: Final = ("Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown")
_MANAGED: Final = {
    "deployment": ("apps", "v1", "Deployment"),
    "statefulset": ("apps", "v1", "StatefulSet"),
    "daemonset": ("apps", "v1", "DaemonSet"),
    "configmap": ("", "v1", "ConfigMap"),
    "service": ("", "v1", "Service"),
}
_LAST_SYNC = timedelta(hours=5)
_LAST_LOOK = timedelta(minutes=1)


def build_application(reader: Reader, around: Surroundings) -> Built:
    """Build an Application that manages the workload of its name, or those that ``resources`` names.

    Spec: 02-scenarios §1.3.
    """
    name, namespace = reader.entry.name, reader.namespace
    sync = _SYNC.get(reader.choice("sync_status", tuple(_SYNC), "synced"), "Synced")
    health = reader.choice("health_status", _HEALTH, "Healthy")
    source = {
        "repoURL": reader.text("source_repo", f"https://git.internal/platform/{name}.git"),
        "path": reader.text("source_path", f"apps/{name}"),
        "targetRevision": reader.text("target_revision", "HEAD"),
    }
    revision = (
        reader.text("revision")
        or hashlib.sha1(  # noqa: S324  # what a commit's name is
            f"{source['repoURL']}/{source['path']}".encode()
        ).hexdigest()
    )
    destination = {"server": "https://kubernetes.default.svc", "namespace": namespace}
    spec: Json = {"project": reader.text("project", "default"), "source": source, "destination": destination}
    if reader.flag("auto_sync", default=False):
        heal = reader.flag("self_heal", default=False)
        spec["syncPolicy"] = {"automated": {"prune": False, "selfHeal": heal}}
    managed = _managed(reader, around)
    status = _status(around, sync, health, revision, managed)
    status["sync"]["comparedTo"] = {"source": source, "destination": destination}
    body = build_custom(
        APPLICATION, name, namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), spec=spec, status=status,
    )  # fmt: skip
    condition = Condition.SYNCED if sync == "Synced" else Condition.OUT_OF_SYNC
    expected = Expectation(Kind.APPLICATION, namespace, name, condition, message=sync)
    return Built([Manifest(reader.entry.index, body)], [expected])


def _managed(reader: Reader, around: Surroundings) -> list[Json]:
    written = reader.names("resources")
    named = [(kind, name) for kind, _, name in (item.partition("/") for item in written)]
    if not written:
        found = [(kind, reader.entry.name) for kind in _MANAGED if kind != "configmap"]
        named = [pair for pair in found if (pair[0], reader.namespace, pair[1]) in around.names]
    for kind, name in named:
        if kind not in _MANAGED or (kind, reader.namespace, name) not in around.names:
            possible = ", ".join(_MANAGED)
            reader.refuse(
                "resources", f"{kind}/{name}", f"want kind/name of a declared object; kinds are {possible}"
            )
    known = [(kind, name) for kind, name in named if kind in _MANAGED]
    return [
        {"group": group, "version": version, "kind": kind, "namespace": reader.namespace, "name": name}
        for (group, version, kind), name in ((_MANAGED[kind], name) for kind, name in known)
    ]


def _status(around: Surroundings, sync: str, health: str, revision: str, managed: list[Json]) -> Json:
    then = moments.moment_before(around.now, _LAST_SYNC)
    looked = moments.moment_before(around.now, _LAST_LOOK)
    resources = [
        {key: value for key, value in {**item, "status": sync, "health": {"status": health}}.items() if value}
        for item in managed
    ]
    operation = {
        "phase": "Succeeded",
        "message": "successfully synced (all tasks run)",
        "startedAt": then,
        "finishedAt": then,
        "operation": {"sync": {"revision": revision}},
    }
    return {
        "sync": {"status": sync, "revision": revision},
        "health": {"status": health, "lastTransitionTime": then},
        "history": [{"id": 0, "revision": revision, "deployedAt": then}],
        "operationState": operation,
        "reconciledAt": looked,
        "resources": resources,
        "sourceType": "Directory",
    }
