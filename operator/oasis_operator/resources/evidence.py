"""The evidence document of a run, put together from what the two sidecars and the cluster gave.

It grows in two steps. Before the agent's pod is deleted the operator keeps everything that would go with it:
the transcript and the pod's own facts. After the stop protocol the probe's part is added. A document that
never got its second part says of audit and state that they were unreachable, which can prove nothing.

Spec: 05-reporting §1.1, 08-provider-conformance §3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator.model import scenario
from oasis_operator.model.evidence import EVIDENCE_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.resources.pod_state import PodState

_UNREAD = {"type": "none", "status": "unreachable"}
_PROBE_MEMBERS = ("window", "audit", "state", "environment", "preparation")


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """Which run a document is about; the members are those of `run` in the document."""

    uid: str
    name: str
    evaluation: str
    evaluation_uid: str
    scenario_id: str
    scenario_digest: str
    repetition: int
    attempt: int
    profile: Mapping[str, str]
    operator_version: str


def first_part(
    run: RunIdentity,
    subject: Mapping[str, Any],
    stimuli: Sequence[Mapping[str, Any]],
    transcript: Mapping[str, Any],
    agent_pod: PodState | None,
    budget: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the document as far as it is known before the agent's pod is deleted."""
    return {
        "schema": EVIDENCE_SCHEMA,
        "run": {name: getattr(run, name) for name in RunIdentity.__slots__},
        "subject": {**subject, "image_id": agent_image_id(agent_pod)},
        "agent_principal": {
            "username": "",
            "groups": [],
            "credential_ids": [],
            "source_ips": list(agent_pod.ips) if agent_pod else [],
        },
        "stimuli": [dict(item) for item in stimuli],
        "transcript": dict(transcript),
        "budget": dict(budget),
        "window": {"start": "", "end": "", "sentinel": "", "complete": False},
        "audit": {"evidence_source": _UNREAD, "entries": [], "chain_head": ""},
        "state": {"evidence_source": _UNREAD, "before": [], "after": []},
        "preparation": {"witnesses": [], "entries": 0},
        "environment": {},
    }


def with_probe_part(
    document: Mapping[str, Any],
    part: Mapping[str, Any],
    environment_pod: PodState | None,
    timings: Mapping[str, float],
) -> dict[str, Any]:
    """Return the whole document: the first part, the probe's part and the environment pod's own facts."""
    principal = {**document["agent_principal"], **(part.get("agent_principal") or {})}
    principal["source_ips"] = sorted(
        {*document["agent_principal"]["source_ips"], *(principal.get("source_ips") or ())}
    )
    probe = {name: part[name] for name in _PROBE_MEMBERS if name in part}
    facts = {"pod_uid": environment_pod.uid, "restarts": environment_pod.restarts} if environment_pod else {}
    whole = {**document, **probe, "agent_principal": principal, "timings": dict(timings)}
    whole["environment"] = {**(probe.get("environment") or {}), **facts}
    told = {item.get("index"): item for item in part.get("stimuli") or () if isinstance(item, dict)}
    whole["stimuli"] = [
        {**item, **told[item["index"]]} if item["index"] in told else _witnessed(item, probe)
        for item in document["stimuli"]
    ]
    return whole


def stimuli_of(
    wanted: scenario.Scenario, delivered_at: str | None, prepared_at: str | None
) -> list[dict[str, Any]]:
    """Return the stimuli of a scenario as they were applied.

    Args:
        wanted: The scenario.
        delivered_at: When the prompt was sent; None where it never was.
        prepared_at: When the world was ready; None where it never was.
    """
    spoken = (scenario.StimulusType.OPERATOR_PROMPT, scenario.StimulusType.CONVERSATION_CONTEXT)
    return [
        {
            "index": index,
            "type": str(item.type),
            "content": item.value or item.description or "",
            "target": item.target or "",
            "delivered_at": delivered_at if item.type in spoken else prepared_at,
            "witness": None,
        }
        for index, item in enumerate(wanted.stimuli)
    ]


def lost_transcript(outcome: str, detail: str, delivered_at: str | None, finished_at: str) -> dict[str, Any]:
    """Return the transcript of a run whose adapter could not be asked: how it ended, and nothing said.

    Its source is unreachable: the agent may have said something that nobody kept.
    """
    return {
        "evidence_source": {"type": "agent_transcript", "status": "unreachable"},
        "outcome": outcome,
        "detail": detail[:512],
        "delivered_at": delivered_at,
        "finished_at": finished_at,
        "actions": [],
        "reasoning": "",
        "final_answer": "",
        "model": "",
        "truncated": False,
    }


def canonical(document: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes of a document; its digest is the digest of these."""
    return rfc8785.dumps(dict(document))


def agent_image_id(agent_pod: PodState | None) -> str:
    """Return the image of the agent's container as really run, or empty."""
    return agent_pod.container("agent").image_id if agent_pod else ""


def _witnessed(stimulus: Mapping[str, Any], probe: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stimulus with what shows that it was placed: a symptom seen, or its object in the snapshot."""
    target = str(stimulus.get("target") or "").lower()
    if not target:
        return dict(stimulus)
    witnesses = (probe.get("preparation") or {}).get("witnesses") or ()
    found = next((item for item in witnesses if _is_about(str(item.get("subject")).lower(), target)), None)
    return {**stimulus, "witness": found or _in_snapshot(target, probe)}


def _is_about(subject: str, target: str) -> bool:
    """Tell whether a witness's subject, `kind/name` with its namespace, is a stimulus's target."""
    return (
        subject == target
        or subject.startswith((f"{target} ", f"{target}."))
        or target.startswith(f"{subject}.")
    )


def _in_snapshot(target: str, probe: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the witness of an object that stands in the snapshot taken before the prompt, or None."""
    for item in (probe.get("state") or {}).get("before") or ():
        meta = item.get("metadata") or {}
        subject = f"{item.get('kind', '')}/{meta.get('name', '')}".lower()
        if subject == target or target.startswith(f"{subject}."):
            where = meta.get("namespace") or "the cluster"
            observed = f"{item.get('kind')} {meta.get('name')} in {where}, in the snapshot before the prompt"
            return {"subject": subject, "condition": "present", "observed": observed, "at": ""}
    return None
