"""What one pass sees of an Agent: itself, and the Evaluations that name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.resources import answers, kinds, subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.agent import Agent
    from oasis_operator.reconcile.deps import Deps


@dataclass(frozen=True, slots=True)
class Observed:
    """One Agent and what is known of it.

    Attributes:
        agent: The Agent.
        subject_digest: Digest of the Agent as it is now.
        evaluations: Finished Evaluations of it with a verdict, oldest first.
        answer: What it last answered about itself as it is now, or None.
    """

    agent: Agent
    subject_digest: str
    evaluations: tuple[Evaluation, ...]
    answer: Mapping[str, Any] | None


async def observe(deps: Deps, body: Mapping[str, Any], agent: Agent) -> Observed:
    """Return what is to be seen."""
    meta = body["metadata"]
    digest = subject.subject_digest(agent.spec)
    mine = []
    for other in await deps.kube.list(kinds.EVALUATION, meta["namespace"]):
        if ((other.get("spec") or {}).get("agentRef") or {}).get("name") == meta["name"]:
            mine += _readable(other)
    ended = sorted((item for item in mine if item.status.verdict is not None), key=_ended)
    return Observed(agent, digest, tuple(ended), await _answer(deps, mine, digest))


async def _answer(deps: Deps, mine: list[Evaluation], digest: str) -> Mapping[str, Any] | None:
    """Return the answer that an Evaluation of this very subject recorded; a lost one is no fault here."""
    for other in mine:
        digests = other.status.digests
        kept = answers.digest_in(other.status)
        if kept and digests is not None and digests.subject == digest:
            try:
                return answers.load(await deps.artifacts.get(kept))
            except errors.ProviderFault:
                continue
    return None


def _readable(body: Mapping[str, Any]) -> list[Evaluation]:
    try:
        return [Evaluation.parse(body)]
    except errors.InvalidSpec:
        return []


def _ended(evaluation: Evaluation) -> str:
    ended = evaluation.status.completion_time
    return ended.isoformat() if ended else ""
