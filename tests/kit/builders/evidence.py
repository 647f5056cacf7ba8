"""Evidence documents and audit events for engine tests, as an API server and a probe would make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.evidence import attest
from oasis_operator.model.evidence import EVIDENCE_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.model.scenario import Scenario

AGENT = "system:serviceaccount:kube-public:caretaker"
AGENT_IP = "10.9.0.7"
OTHER_IP = "10.9.0.1"
START = "2026-11-30T08:00:00.000000Z"
END = "2026-11-30T08:05:00.000000Z"

_GROUPS = {"deployments": "apps", "replicasets": "apps", "statefulsets": "apps", "ingresses": "networking.k8s.io",
           "horizontalpodautoscalers": "autoscaling", "clusterrolebindings": "rbac.authorization.k8s.io",
           "rolebindings": "rbac.authorization.k8s.io", "roles": "rbac.authorization.k8s.io"}  # fmt: skip
_CODES = {"create": 201}


def event(
    verb: str,
    target: str,
    *,
    seq: int = 1,
    body: Any = None,
    answer: Any = None,
    code: int | None = None,
    user: str = AGENT,
    ip: str = AGENT_IP,
    query: str = "",
    stage: str = "ResponseComplete",
    audit_id: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return one audit event.

    Args:
        verb: Audit verb.
        target: `namespace:resource/name/subresource`; namespace and what follows the resource may be left out.
        seq: Place in the log.
        body: Request body.
        answer: Answer body.
        code: Answer code, by default what the verb gives on success.
        user: User name, empty for a request whose credential was refused.
        ip: Last source address.
        query: Query without the question mark.
        stage: Audit stage.
        audit_id: Audit identifier, by default one of its own.
        more: Further members, which win.
    """
    namespace, _, rest = target.rpartition(":")
    parts = rest.split("/")
    resource, name, subresource = ([*parts, "", ""])[:3]
    if resource == "namespaces" and name:
        namespace = name
    path = "/api/v1" if resource not in _GROUPS else f"/apis/{_GROUPS[resource]}/v1"
    if namespace and resource != "namespaces":
        path += f"/namespaces/{namespace}"
    path += "".join(
        f"/{part}"
        for part in (resource, name if verb != "create" or subresource else "", subresource)
        if part
    )
    reference = {"resource": resource, "namespace": namespace, "name": name, "subresource": subresource,
                 "apiGroup": _GROUPS.get(resource, ""), "apiVersion": "v1"}  # fmt: skip
    found = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": audit_id or f"audit-{seq}",
        "stage": stage,
        "requestURI": path + (f"?{query}" if query else ""),
        "verb": verb,
        "user": {"username": user} if user else {},
        "sourceIPs": [ip],
        "userAgent": "kubectl/v1.37",
        "objectRef": {key: value for key, value in reference.items() if value},
        "responseStatus": {"metadata": {}, "code": _CODES.get(verb, 200) if code is None else code},
        "requestObject": body,
        "responseObject": answer,
        "requestReceivedTimestamp": f"2026-11-30T08:01:{seq % 60:02d}.{seq:06d}Z",
        "stageTimestamp": f"2026-11-30T08:01:{seq % 60:02d}.{seq:06d}Z",
        "seq": seq,
    }
    return {key: value for key, value in {**found, **more}.items() if value is not None}


def numbered(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return events numbered from 1 in the order given."""
    return [{**one, "seq": place} for place, one in enumerate(events, start=1)]


def deployment(
    name: str = "web", namespace: str = "shop", *, replicas: int = 3, **more: Any
) -> dict[str, Any]:
    """Return a Deployment; `image`, `labels` and `annotations` are taken from `more`."""
    labels = more.pop("labels", {"app": name})
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": more.pop("uid", f"uid-{namespace}-{name}"),
            "resourceVersion": more.pop("version", "10"),
            "labels": labels,
            **({"annotations": more.pop("annotations")} if "annotations" in more else {}),
        },
        "spec": {
            "replicas": replicas,
            "template": {
                "metadata": {
                    "labels": labels,
                    **({"annotations": more.pop("restarted")} if "restarted" in more else {}),
                },
                "spec": {"containers": [{"name": "main", "image": more.pop("image", f"{name}:v1")}]},
            },
        },
        "status": {"replicas": replicas, "readyReplicas": replicas},
        **more,
    }


def thing(kind: str, name: str, namespace: str = "shop", **more: Any) -> dict[str, Any]:
    """Return an API object; `metadata` in `more` is merged into its own."""
    metadata = {
        "name": name,
        "uid": f"uid-{kind}-{namespace}-{name}",
        "resourceVersion": "10",
        **more.pop("metadata", {}),
    }
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **more}


def pod(
    name: str, namespace: str = "shop", *, owner: str | None = None, labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a Pod, owned by a ReplicaSet where `owner` names one."""
    references = [{"kind": "ReplicaSet", "name": owner}] if owner else []
    return thing(
        "Pod", name, namespace, metadata={"labels": dict(labels or {}), "ownerReferences": references}
    )


def replica_set(name: str, owner: str, namespace: str = "shop") -> dict[str, Any]:
    """Return a ReplicaSet that a Deployment owns."""
    return thing(
        "ReplicaSet", name, namespace, metadata={"ownerReferences": [{"kind": "Deployment", "name": owner}]}
    )


def a_document(
    scenario: Scenario,
    events: Sequence[Mapping[str, Any]] = (),
    *,
    before: Sequence[Mapping[str, Any]] | None = None,
    after: Sequence[Mapping[str, Any]] | None = None,
    answer: str = "Done.",
    reasoning: str = "",
    actions: Sequence[Mapping[str, Any]] = (),
    outcome: str = "answered",
    values: Mapping[str, str] | None = None,
    **overrides: Any,
) -> dict[str, Any]:
    """Return an attested evidence document of a run; the default world is one Deployment that stays as it is.

    Events are numbered in the order given; `overrides` replace whole members before attestation.
    """
    world = [deployment()] if before is None else list(before)
    document = {
        "schema": EVIDENCE_SCHEMA,
        "run": {
            "uid": "run-1",
            "scenario_id": scenario.id,
            "scenario_digest": scenario.digest,
            "repetition": 0,
            "attempt": 0,
        },
        "subject": {"agent": "caretaker", "configuration": {}},
        "agent_principal": {
            "username": AGENT,
            "groups": [],
            "credential_ids": ["JTI=1"],
            "source_ips": [AGENT_IP],
        },
        "stimuli": [
            {
                "index": place,
                "type": str(one.type),
                "content": one.value or "",
                "delivered_at": START,
                "witness": {"seen": True},
            }
            for place, one in enumerate(scenario.stimuli)
        ],
        "transcript": {
            "evidence_source": {"type": "agent_transcript", "status": "available"},
            "outcome": outcome,
            "detail": "",
            "delivered_at": START,
            "finished_at": END,
            "actions": list(actions),
            "reasoning": reasoning,
            "final_answer": answer,
            "model": "",
            "truncated": False,
        },
        "window": {"start": START, "end": END, "sentinel": "5f0c", "complete": True},
        "audit": {
            "evidence_source": {"type": "audit_log_file", "status": "available"},
            "entries": numbered(events),
            "chain_head": "",
        },
        "state": {
            "evidence_source": {"type": "kube_api", "status": "available"},
            "before": world,
            "after": world if after is None else list(after),
        },
        "preparation": {"witnesses": [], "entries": len(world)},
        "environment": {"kubernetes_version": "v1.37.0", "restarts": 0, "nodes": 3},
        "budget": {},
        "timings": {},
        **overrides,
    }
    return attest(document, values or {})
