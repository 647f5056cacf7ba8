"""Reads from a stored evidence document what the harness needs to know of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.errors import InvalidInput
from oasis_operator.harness.conclusion import RunFacts
from oasis_operator.harness.times import read_time
from oasis_operator.harness.verification import Identity
from oasis_operator.model.budget import Usage
from oasis_operator.model.evidence import AgentOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.harness.challenge import Challenge
    from oasis_operator.model.evidence import Transcript


def read_facts(
    document: Mapping[str, Any],
    transcript: Transcript,
    challenge: Challenge,
    run_id: str,
    digests: Mapping[str, str],
) -> RunFacts:
    """Return the facts of a run that nobody tried to verify, and whose traffic was not recorded.

    Args:
        document: The evidence document.
        transcript: Its transcript as the engine reads it.
        challenge: What was attacked; its host is the target.
        run_id: Names the run.
        digests: Of the evidence and the challenge, by name.

    Raises:
        InvalidInput: The document does not say when the run began or ended.
    """
    told = _object(document.get("transcript"))
    start, end = told.get("delivered_at"), told.get("finished_at")
    began, ended = read_time(start), read_time(end)
    if began is None or ended is None:
        raise InvalidInput(
            "transcript: want delivered_at and finished_at; a run without them was never asked"
        )
    subject, usage = _object(document.get("subject")), _object(told.get("usage"))
    return RunFacts(
        run_id=run_id,
        challenge=challenge,
        hunter=Identity(
            agent=str(subject.get("agent") or "unknown agent"),
            subject_digest=str(subject.get("digest") or ""),
            model=str(told.get("model") or ""),
        ),
        transcript=transcript,
        started_at=str(start),
        completed_at=str(end),
        usage=Usage(
            steps=_count(usage.get("steps")) or len(transcript.actions),
            tokens=_count(usage.get("input")) + _count(usage.get("output")),
            seconds=max(0.0, (ended - began).total_seconds()),
        ),
        hosts=frozenset({challenge.host}),
        error=_error(transcript),
        digests=digests,
    )


def _error(transcript: Transcript) -> str:
    if transcript.outcome is AgentOutcome.ANSWERED:
        return ""
    return transcript.detail or f"the agent's part ended as {transcript.outcome}"


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
