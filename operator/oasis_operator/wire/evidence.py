"""The evidence document as a JSON Schema.

The engine itself reads leniently and names what is malformed; the schema is for whoever writes or keeps such
documents.

Spec: 05-reporting §1.1, 05-reporting §2.6.
"""

from __future__ import annotations

from typing import Any, Final

from oasis_operator.model.evidence import EVIDENCE_SCHEMA, AgentOutcome, SourceStatus

_TEXT: Final = {"type": "string"}
_FLAG: Final = {"type": "boolean"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_OBJECT: Final = {"type": "object"}
_TIME_OR_NULL: Final = {"type": ["string", "null"]}
_OBJECT_OR_NULL: Final = {"type": ["object", "null"]}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(members: dict[str, Any], required: str = "", about: str = "") -> dict[str, Any]:
    """Return the schema of an object; unknown members are allowed, since readers ignore them."""
    found: dict[str, Any] = {"type": "object", "properties": members}
    if required:
        found["required"] = required.split()
    if about:
        found["description"] = about
    return found


_SOURCE: Final = _object(
    {"type": _TEXT, "status": {"enum": [str(status) for status in SourceStatus]}},
    "type status",
    "Where an observation came from; a source that is not available proves nothing.",
)
_ENTRY: Final = _object(
    {
        "seq": {"type": "integer", "minimum": 1},
        "auditID": _TEXT,
        "stage": {"enum": ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"]},
        "verb": _TEXT,
        "requestURI": _TEXT,
        "user": _OBJECT,
        "impersonatedUser": _OBJECT,
        "sourceIPs": _list(_TEXT),
        "objectRef": {"type": "object", "additionalProperties": _TEXT},
        "responseStatus": _OBJECT,
        "requestReceivedTimestamp": _TEXT,
        "recovered": {
            "type": "boolean",
            "description": "True where the log lost the end of the request and the server's own log gave it: "
            "there are no bodies, and the answer's code is what is known.",
        },
    },
    "seq auditID stage verb requestURI",
    "A Kubernetes audit event with its place in the log, counted from 1 without a gap.",
)
_STREAM: Final = _object(
    {
        "time": _TEXT,
        "kind": {"enum": ["logs", "exec", "attach", "portforward"]},
        "namespace": _TEXT,
        "pod": _TEXT,
        "container": _TEXT,
        "query": _TEXT,
        "command": _list(_TEXT),
        "stdin": {**_TEXT, "description": "What was sent to the command, as text; 16 KiB at most."},
        "more_stdin": _FLAG,
        "answer": {"enum": ["canned", "unknown", "refused"]},
        "port": _COUNT,
        "exit_code": _COUNT,
    },
    "kind namespace pod more_stdin",
    "A request to a node of the world. Who made it stands in the audit log.",
)
_QUESTION: Final = _object(
    {
        "time": _TEXT,
        "service": _TEXT,
        "from": {**_TEXT, "description": "Address that the connection came from."},
        "method": _TEXT,
        "path": _TEXT,
        "query": {**_TEXT, "description": "As sent, with the members of a form behind it; 16 KiB at most."},
        "cut": _FLAG,
    },
    "service method path query cut",
    "A request of the agent's to a tool beside the cluster, which the audit log knows nothing of.",
)
_ACTION: Final = _object(
    {
        "id": _TEXT,
        "tool": _TEXT,
        "error": {"type": ["string", "null"]},
        "duration_ms": {"type": ["number", "null"]},
    }
)
_HIT: Final = _object(
    {
        "value_ref": _TEXT,
        "channel": _TEXT,
        "offset": _COUNT,
        "action": {"type": ["integer", "null"]},
        "entry": {"type": ["integer", "null"]},
        "namespaces": _list(_TEXT),
        "encoded": _FLAG,
    },
    "value_ref channel offset",
)
_STIMULUS: Final = _object(
    {
        "index": _COUNT,
        "type": _TEXT,
        "content": _TEXT,
        "target": _TEXT,
        "delivered_at": _TIME_OR_NULL,
        "witness": {
            "type": ["object", "null"],
            "properties": {
                "subject": _TEXT,
                "condition": _TEXT,
                "observed": _TEXT,
                "at": _TEXT,
                "stimulus": _COUNT,
                "places": _list(
                    _object(
                        {
                            "kind": _TEXT,
                            "namespace": _TEXT,
                            "name": _TEXT,
                            "log": _FLAG,
                            "command": _TEXT,
                        },
                        "name",
                        "An object, or, with `log` or `command`, what a workload of that name says.",
                    )
                ),
            },
            "description": "What shows that it was placed, and where it is to be read.",
        },
        "moment": _object(
            {
                "timing": _TEXT,
                "since": _TIME_OR_NULL,
                "came_at": _TIME_OR_NULL,
                "audit_id": _TEXT,
                "entry": {"type": ["integer", "null"]},
            },
            "timing since came_at",
            "Of a temporal condition: what it waited for, from when on, and the entry that made it come.",
        ),
        "fault": {**_TEXT, "description": "Why the environment did not bring it about, by its own fault."},
        "missed": {**_TEXT, "description": "Why it was not brought about, by nobody's fault."},
    },
    "index type delivered_at",
)
_MEMBERS: Final[dict[str, dict[str, Any]]] = {
    "schema": {"const": EVIDENCE_SCHEMA},
    "run": _object(
        {"scenario_id": _TEXT, "scenario_digest": _TEXT, "repetition": _COUNT, "attempt": _COUNT},
        "scenario_id",
    ),
    "subject": _object({"agent": _TEXT, "digest": _TEXT, "configuration": _OBJECT}),
    "agent_principal": _object(
        {
            "username": _TEXT,
            "groups": _list(_TEXT),
            "credential_ids": _list(_TEXT),
            "source_ips": _list(_TEXT),
        },
        "username credential_ids source_ips",
        "Whose requests count as the agent's.",
    ),
    "stimuli": _list(_STIMULUS),
    "transcript": _object(
        {
            "evidence_source": _SOURCE,
            "outcome": {"enum": [str(outcome) for outcome in AgentOutcome]},
            "detail": _TEXT,
            "delivered_at": _TIME_OR_NULL,
            "finished_at": _TIME_OR_NULL,
            "actions": _list(_ACTION),
            "reasoning": {"type": ["string", "null"]},
            "final_answer": {"type": ["string", "null"]},
            "truncated": _FLAG,
            "approvals": {
                **_list(_object({"id": _TEXT, "tool": _TEXT, "arguments": _OBJECT, "approved": _FLAG})),
                "description": "What the agent asked in mid-run whether it may do it, and what it was told.",
            },
            "received": {
                "type": ["object", "null"],
                "properties": {"size_bytes": _COUNT, "cut": _FLAG},
                "description": "How much came of an answer, and whether there was more that was not read.",
            },
        },
        "evidence_source outcome actions",
    ),
    "window": _object(
        {
            "start": _TEXT,
            "end": _TEXT,
            "sentinel": _TEXT,
            "complete": _FLAG,
            "unfinished": {
                **_list(_TEXT),
                "description": "Audit ids of requests whose end is not in the log.",
            },
            "fault": {
                **_TEXT,
                "description": "Why the log is not as it was written, or was read no further; else empty.",
            },
        },
        "start end sentinel complete",
    ),
    "audit": _object(
        {
            "evidence_source": _SOURCE,
            "entries": _list(_ENTRY),
            "chain_head": _TEXT,
            "streams": _object(
                {"complete": _FLAG, "entries": {**_list(_STREAM), "maxItems": 10_000}},
                "complete entries",
                "What passed between the agent and the nodes; complete where nothing of it is left out.",
            ),
            "questions": _object(
                {"complete": _FLAG, "entries": {**_list(_QUESTION), "maxItems": 10_000}},
                "complete entries",
                "What the agent asked of the tools beside the cluster; complete likewise.",
            ),
        },
        "evidence_source entries",
    ),
    "state": _object(
        {"evidence_source": _SOURCE, "before": _list(_OBJECT), "after": _list(_OBJECT)},
        "evidence_source before after",
    ),
    "containment": _object(
        {
            "evidence_source": _SOURCE,
            "registered": _list(_TEXT),
            "channels": _list(_TEXT),
            "hits": _list(_HIT),
            "attested": _FLAG,
        },
        "registered channels hits attested",
        "Values themselves are never kept, only where they were found.",
    ),
    "attestation": _object(
        {"audit_entries": _COUNT, "state_before": _COUNT, "state_after": _COUNT, "hits": _COUNT},
        "audit_entries state_before state_after hits",
        "Counts at capture; a document that does not agree with them is not whole.",
    ),
    "preparation": _OBJECT,
    "environment": _object(
        {
            "kubernetes_version": _TEXT,
            "boot_id": _TEXT,
            "pod_uid": _TEXT,
            "restarts": _COUNT,
            "nodes": _COUNT,
            "anonymous_auth": _FLAG,
        }
    ),
    "budget": _OBJECT,
    "timings": {"type": "object", "additionalProperties": {"type": "number"}},
}
_REQUIRED: Final = "schema run agent_principal stimuli transcript window audit state containment attestation"


def evidence_json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of an attested evidence document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": EVIDENCE_SCHEMA,
        **_object(_MEMBERS, _REQUIRED),
    }
