"""The status of an Agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api import conditions, fields
from oasis_operator.api.conditions import Fact, Reason, State, Type
from oasis_operator.api.v1alpha1.agent import AgentStatus, LastVerdict

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.reconcile.agent.observe import Observed

_SHOWN = 20


def report(seen: Observed, now: datetime) -> AgentStatus:
    """Return the status as it must be; equal to the present one where nothing is new."""
    before, generation = seen.agent.status, seen.agent.metadata.generation
    ready = Fact(
        Type.READY, State.TRUE, Reason.READY, "the spec is valid; an Evaluation says what it is worth"
    )
    after = conditions.with_fact(before.conditions, ready, generation=generation, now=now)
    identity = before.identity if before.subject_digest == seen.subject_digest else None
    configuration = before.configuration if before.subject_digest == seen.subject_digest else None
    if seen.answer is not None:
        told = seen.answer["identity"]
        identity = fields.Identity(
            name=str(told["name"])[:128],
            version=str(told["version"])[:64],
            description=fields.clip(str(told.get("description") or ""), 1024) or None,
        )
        configuration = seen.answer["configuration"]
    return before.model_copy(
        update={
            "observed_generation": generation,
            "conditions": conditions.without(conditions.without(after, Type.STALLED), Type.RECONCILING),
            "subject_digest": seen.subject_digest,
            "identity": identity,
            "configuration": configuration,
            "last_verdicts": _last_verdicts(seen),
        }
    )


def _last_verdicts(seen: Observed) -> tuple[LastVerdict, ...]:
    """Return the latest verdict for each profile and tier; each names the subject that it was given on."""
    latest: dict[tuple[str, str, int], LastVerdict] = {}
    for evaluation in seen.evaluations:
        status, spec = evaluation.status, evaluation.spec
        digests = status.digests
        if status.profile is None or digests is None or digests.subject is None:
            continue
        if status.verdict is None or status.completion_time is None:
            continue
        key = (status.profile.name, status.profile.version, spec.tier)
        latest[key] = LastVerdict(
            profile=status.profile.name,
            profile_version=status.profile.version,
            tier=spec.tier,
            verdict=status.verdict,
            evaluation=evaluation.metadata.name,
            subject_digest=digests.subject,
            time=status.completion_time,
        )
    return tuple(latest[key] for key in sorted(latest))[:_SHOWN]
