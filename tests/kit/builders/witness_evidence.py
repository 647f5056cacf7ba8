"""Evidence of a witness script without a cluster: the declared objects, changed as an API server would.

Good enough for what witnesses do (reads, merge patches, scaling, deletions, refusals outside the scope), and no more.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from oasis_operator.engine.evidence import attest
from oasis_operator.model.evidence import EVIDENCE_SCHEMA
from oasis_operator.world.plan import build_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.scenario import Scenario
    from oasis_operator.model.witness import WitnessScript

USER = "system:serviceaccount:kube-public:caretaker"
NOW = "2026-11-30T08:00:00.000000Z"
_PLURALS = {"Deployment": "deployments", "ConfigMap": "configmaps", "Secret": "secrets", "Service": "services",
            "PersistentVolumeClaim": "persistentvolumeclaims", "Namespace": "namespaces",
            "PersistentVolume": "persistentvolumes"}  # fmt: skip
_VERBS = {"GET": "get", "PATCH": "patch", "PUT": "update", "POST": "create", "DELETE": "delete"}

Objects = dict[tuple[str, str, str], dict[str, Any]]


def build_evidence(scenario: Scenario, script: WitnessScript) -> dict[str, Any]:
    """Return the attested evidence document of a script that was run in the scenario's declared state."""
    scope = scenario.preconditions.agent.scope.get("namespaces", [])
    refs = [entry.value_ref for entry in scenario.verification.value_containment]
    plan = build_plan(
        scenario.preconditions.environment.state, scope_namespaces=scope, containment=refs, now=NOW
    )
    assert plan.faults == ()
    manifests = [manifest.body for rank in plan.ranks for manifest in rank]
    objects: Objects = {_key(body): _stored(body) for body in copy.deepcopy(manifests)}
    _settle(objects)
    before = copy.deepcopy(list(objects.values()))
    requests = [step["request"] for step in script.steps if "request" in step]
    entries = [_serve(number, request, objects, scope) for number, request in enumerate(requests, start=1)]
    document = {
        "schema": EVIDENCE_SCHEMA,
        "run": {
            "scenario_id": scenario.id,
            "scenario_digest": scenario.digest,
            "repetition": 1,
            "attempt": 1,
        },
        "agent_principal": {"username": USER, "groups": [], "credential_ids": [], "source_ips": ["10.0.0.9"]},
        "stimuli": [
            {
                "index": i,
                "type": str(s.type),
                "content": s.value or s.description or "",
                "delivered_at": NOW,
                "witness": {"subject": s.target} if s.target else None,
            }
            for i, s in enumerate(scenario.stimuli)
        ],
        "transcript": {
            "evidence_source": {"type": "agent_transcript", "status": "available"},
            "outcome": "answered",
            "actions": [_action(number, request) for number, request in enumerate(requests)],
            "reasoning": script.reasoning,
            "final_answer": script.answer,
            "truncated": False,
        },
        "window": {"start": NOW, "end": NOW, "sentinel": "end", "complete": True},
        "audit": {"evidence_source": {"type": "audit_log_file", "status": "available"}, "entries": entries},
        "state": {
            "evidence_source": {"type": "kube_api", "status": "available"},
            "before": before,
            "after": list(objects.values()),
        },
        "environment": {"restarts": 0},
    }
    values: dict[str, list[str]] = {}
    for reference, literal in plan.values.items():
        values.setdefault(reference.partition("#")[0], []).append(literal)
    return attest(document, values)


def _key(body: Mapping[str, Any]) -> tuple[str, str, str]:
    metadata = body["metadata"]
    return _PLURALS[body["kind"]], metadata.get("namespace") or "", metadata["name"]


def _stored(body: dict[str, Any]) -> dict[str, Any]:
    body["metadata"] |= {"generation": 1, "resourceVersion": "1", "uid": f"uid-{body['metadata']['name']}"}
    return body


def _settle(objects: Objects) -> None:
    """Let every workload become what its references allow."""
    for (plural, namespace, _), body in objects.items():
        if plural == "deployments":
            replicas = body["spec"]["replicas"]
            ready = replicas if _has_references(body, namespace, objects) else 0
            body["status"] = {"observedGeneration": body["metadata"]["generation"], "replicas": replicas,
                              "readyReplicas": ready, "unavailableReplicas": replicas - ready}  # fmt: skip


def _has_references(body: Mapping[str, Any], namespace: str, objects: Objects) -> bool:
    for container in body["spec"]["template"]["spec"]["containers"]:
        for variable in container.get("env", []):
            for kind, plural in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
                reference = variable.get("valueFrom", {}).get(kind)
                if reference is None:
                    continue
                holder = objects.get((plural, namespace, reference["name"]), {})
                if reference["key"] not in {**holder.get("data", {}), **holder.get("stringData", {})}:
                    return False
    return True


def _serve(number: int, request: Mapping[str, Any], objects: Objects, scope: list[str]) -> dict[str, Any]:
    """Carry out one request and return its audit entry."""
    parts = request["path"].strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    namespace, plural, name, subresource = (
        ("", *parts, "", "") if len(parts) == 1 else (*parts[1:], "", "")[:4]
    )
    verb = _VERBS[request["method"]]
    if not name:
        verb = {"get": "list", "delete": "deletecollection"}.get(verb, verb)
    key = (plural, namespace, name)
    code = 200 if namespace in scope or (plural, verb) == ("namespaces", "list") else 403
    if code == 200 and verb in ("delete", "patch") and key not in objects:
        code = 404
    answer = _carry_out(verb, key, subresource, request, objects) if code == 200 else None
    reference = {"resource": plural, "namespace": namespace, "name": name, "subresource": subresource}
    return {
        "seq": number,
        "auditID": f"audit-{number}",
        "stage": "ResponseComplete",
        "requestReceivedTimestamp": NOW,
        "verb": verb,
        "requestURI": request["path"],
        "user": {"username": USER},
        "sourceIPs": ["10.0.0.9"],
        "objectRef": {key: value for key, value in reference.items() if value},
        "responseStatus": {"code": code},
        **({"requestObject": request["body"]} if "body" in request else {}),
        **({"responseObject": copy.deepcopy(answer)} if answer is not None else {}),
    }


def _carry_out(
    verb: str, key: tuple[str, str, str], subresource: str, request: Mapping[str, Any], objects: Objects
) -> dict[str, Any] | None:
    if verb == "deletecollection":
        for found in [one for one in objects if one[:2] == key[:2]]:
            del objects[found]
        return {"kind": "List", "items": []}
    if verb == "delete":
        return objects.pop(key)
    if verb == "patch":
        _merge(objects[key], request["body"])
        objects[key]["metadata"]["generation"] += 1
        objects[key]["metadata"]["resourceVersion"] = str(
            int(objects[key]["metadata"]["resourceVersion"]) + 1
        )
        _settle(objects)
        scale = {"kind": "Scale", "metadata": objects[key]["metadata"], "spec": request["body"].get("spec")}
        return scale if subresource == "scale" else objects[key]
    return None


def _merge(target: dict[str, Any], patch: Mapping[str, Any]) -> None:
    for key, value in patch.items():
        if isinstance(value, dict):
            _merge(target.setdefault(key, {}), value)
        else:
            target[key] = value


def _action(number: int, request: Mapping[str, Any]) -> dict[str, Any]:
    arguments = {key: request.get(key) for key in ("method", "path", "query", "body")}
    return {
        "id": str(number),
        "tool": "kubernetes-api",
        "arguments": arguments,
        "result": "{}",
        "error": None,
    }
