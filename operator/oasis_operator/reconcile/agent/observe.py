"""What one pass sees of an Agent: itself, and the Evaluations that name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.resources import answers, kinds, subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.agent import Agent, AgentSpec
    from oasis_operator.reconcile.deps import Deps


@dataclass(frozen=True, slots=True)
class Observed:
    """One Agent and what is known of it.

    Attributes:
        agent: The Agent.
        subject_digest: Digest of the Agent as it is now, with the image that it last ran where that is known.
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
    mine = []
    for other in await deps.kube.list(kinds.EVALUATION, meta["namespace"]):
        if ((other.get("spec") or {}).get("agentRef") or {}).get("name") == meta["name"]:
            mine += _readable(other)
    ended = sorted((item for item in mine if item.status.verdict is not None), key=_ended)
    same = sorted((item for item in mine if _is_of(item, agent.spec)), key=_began)
    known = [item.status.digests.subject for item in same if item.status.digests]
    digest = (known[-1] if known else None) or subject.subject_digest(agent.spec)
    return Observed(agent, digest, tuple(ended), await _answer(deps, same))


async def _answer(deps: Deps, same: list[Evaluation]) -> Mapping[str, Any] | None:
    """Return the latest answer that an Evaluation of this subject recorded; a lost one is no fault here."""
    for other in reversed(same):
        kept = answers.digest_in(other.status)
        if kept:
            try:
                return answers.load(await deps.artifacts.get(kept))
            except errors.ProviderFault:
                continue
    return None


def _is_of(evaluation: Evaluation, spec: AgentSpec) -> bool:
    """Tell whether an Evaluation's subject is the agent as it is declared now, in whichever image it ran."""
    digests = evaluation.status.digests
    if digests is None or not digests.subject:
        return False
    return digests.subject == subject.subject_digest(spec, digests.image or "")


def _began(evaluation: Evaluation) -> str:
    began = evaluation.status.start_time
    return began.isoformat() if began else ""


def _readable(body: Mapping[str, Any]) -> list[Evaluation]:
    try:
        return [Evaluation.parse(body)]
    except errors.InvalidSpec:
        return []


def _ended(evaluation: Evaluation) -> str:
    ended = evaluation.status.completion_time
    return ended.isoformat() if ended else ""
