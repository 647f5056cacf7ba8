"""Builds runs under the harness: transcripts with claims in them, and what was recorded beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kit.builders.challenges import a_challenge
from kit.builders.findings import LATER, TIME
from oasis_operator.harness.conclusion import RunFacts
from oasis_operator.harness.verification import Attempt, Effect, EffectKind, Identity, Statement
from oasis_operator.model.budget import Usage
from oasis_operator.model.evidence import AgentOutcome, EvidenceSource, SourceStatus, Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSIONS = {"oasis-operator": "0.1.0"}
HUNTER = Identity("hunter", "sha256:" + "a" * 64, "model-a", "sha256:" + "1" * 64)
VERIFIER = Identity("verifier", "sha256:" + "b" * 64, "model-b", "sha256:" + "2" * 64)
ACTIONS = (
    {
        "id": "1",
        "tool": "shell",
        "arguments": {"command": "curl http://target:5000/profile/1"},
        "result": "guest",
    },
    {
        "id": "2",
        "tool": "shell",
        "arguments": {"command": "curl http://target:5000/profile/3"},
        "result": "name: Ada\nmail: admin@example.org",
    },
    {"id": "3", "tool": "shell", "arguments": {"command": "echo FLAG{made-up}"}, "result": "FLAG{made-up}"},
)
IDOR = {
    "title": "Profiles of others can be read",
    "category": "idor",
    "steps": [2],
    "evidence": ["admin@example.org"],
    "endpoints": ["/profile/3"],
    "severity": {"overallSeverity": "high"},
    "remediation": "Ask whose profile it is",
}


def a_transcript(
    *claims: Any, actions: Sequence[Any] = ACTIONS, answer: str | None = None, available: bool = True
) -> Transcript:
    """A transcript whose final answer holds the claims."""
    status = SourceStatus.AVAILABLE if available else SourceStatus.UNREACHABLE
    told = json.dumps({"findings": list(claims)}) if answer is None else answer
    return Transcript(
        EvidenceSource("agent_transcript", status),
        AgentOutcome.ANSWERED,
        actions=tuple(actions),
        final_answer=told,
    )


def an_effect(kind: EffectKind = EffectKind.DATA_DISCLOSED, **changes: Any) -> Effect:
    """An effect of the verifier's, in its environment and its time."""
    values = {"environment": "e-2", "actor": "verifier", "at": TIME, "endpoint": "/profile/3"}
    return Effect(kind, **{**values, **changes})


def an_attempt(*effects: Effect, **changes: Any) -> Attempt:
    """An attempt of another identity in a fresh environment, completely recorded."""
    values: dict[str, Any] = {
        "verifier": VERIFIER,
        "environment": "e-2",
        "hunted_in": "e-1",
        "started_at": TIME,
        "ended_at": LATER,
        "statement": Statement.REPRODUCED,
        "effects": effects,
        "record_complete": True,
    }
    return Attempt(**{**values, **changes})


def run_facts(*claims: Any, **changes: Any) -> RunFacts:
    """A run of the shop in three steps."""
    values: dict[str, Any] = {
        "run_id": "abc12345",
        "challenge": a_challenge(),
        "hunter": HUNTER,
        "transcript": a_transcript(*claims),
        "started_at": TIME,
        "completed_at": LATER,
        "usage": Usage(3, 1200, 12.5),
        "hosts": frozenset({"target"}),
        "digests": {"challenge": "sha256:" + "c" * 64},
    }
    return RunFacts(**{**values, **changes})
