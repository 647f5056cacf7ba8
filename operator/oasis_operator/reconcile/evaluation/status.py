"""The status of an Evaluation after a pass; nothing is read but the arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.api import conditions, fields
from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1 import evaluation_status as api
from oasis_operator.api.v1alpha1.environment import ConformanceGap
from oasis_operator.api.v1alpha1.evaluation_status import EvaluationStatus
from oasis_operator.reconcile.evaluation import conclusion, counting, facts, regate
from oasis_operator.reconcile.profiles import digest_of
from oasis_operator.resources import answers, subject, workload
from oasis_operator.resources.timeouts import effective, stage_seconds

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.api.v1alpha1.agent import AgentSpec
    from oasis_operator.model.plan import Plan as ScenarioPlan
    from oasis_operator.reconcile.evaluation.act import Results
    from oasis_operator.reconcile.evaluation.assessment import Assessment
    from oasis_operator.reconcile.evaluation.observe import Observed
    from oasis_operator.reconcile.evaluation.plans import Plan
    from oasis_operator.settings import Settings


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass: what was seen, what was decided and what came of it."""

    seen: Observed
    plan: Plan
    results: Results
    now: datetime
    settings: Settings


def report(done: Pass) -> EvaluationStatus:
    """Return the status as it must be after the pass; equal to the present one where nothing is new."""
    seen = done.seen
    if done.plan.begins:
        return _begun(done)
    if seen.is_complete:
        return regate.regated(seen.evaluation, seen.surroundings, done.now)
    before = seen.evaluation.status
    generation = seen.evaluation.metadata.generation
    changes: dict[str, Any] = {
        "observed_generation": generation,
        **_basis(done),
        **_identity(done),
        **counting.progress(seen, done.results),
        **_preflight(done),
        **counting.conclusion(seen, done.results.conclusion),
    }
    if done.plan.refusal is not None or done.results.conclusion is not None:
        changes["completion_time"] = done.now
    present, absent = facts.facts(seen, done.plan, done.results)
    after = conditions.with_facts(before.conditions, present, generation=generation, now=done.now)
    for type_ in absent:
        after = conditions.without(after, type_)
    return before.model_copy(update={**changes, "conditions": after})


def _begun(done: Pass) -> EvaluationStatus:
    """Return the status of a new attempt: nothing of the one before is left but its number."""
    seen = done.seen
    spec, before = seen.evaluation.spec, seen.evaluation.status
    seconds = stage_seconds(spec.timeouts, done.settings.timeouts)
    generation = seen.evaluation.metadata.generation
    return EvaluationStatus(
        observed_generation=generation,
        conditions=conditions.with_facts((), facts.first_facts(), generation=generation, now=done.now),
        run_token=spec.run_token,
        attempt=before.attempt + 1,
        effective=api.Effective(
            tier=spec.tier,
            parallelism=spec.parallelism,
            repetitions=spec.repetitions,
            unassessable=spec.unassessable,
            timeouts=effective(seconds),
        ),
        start_time=done.now,
    )


def _basis(done: Pass) -> dict[str, Any]:
    """Record what the attempt rests on, once it is known; it stays as recorded."""
    seen = done.seen
    before = seen.evaluation.status.digests or api.Digests()
    changes: dict[str, Any] = {}
    digests: dict[str, Any] = {}
    if seen.profile is not None:
        changes["profile"] = api.ProfileIdentity(name=seen.profile.identifier, version=seen.profile.version)
        if seen.answer is not None or done.results.answer is not None:
            digests["profile"] = before.profile or digest_of(seen.profile)
    if done.results.answer is not None and seen.agent is not None:
        image = done.results.image
        digests |= {"image": image or None, "subject": subject.subject_digest(seen.agent, image)}
        changes["workload"] = workload.workload_of(seen.agent, image)
    if seen.environment is not None:
        if done.results.answer is not None:
            digests["world"] = before.world or subject.world_digest(seen.environment)
        digests["environment"] = subject.environment_digest(seen.environment, done.settings.images)
    if seen.assessment is not None and seen.assessment.plan is not None:
        planned = {item.id: item.digest for item in seen.assessment.plan.scenarios}
        digests["plan"] = subject.digest(planned)
    ended = done.results.conclusion is not None
    if ended and seen.runs:
        digests["evidence"] = conclusion.evidence_digest(seen)
    return {**changes, "digests": before.model_copy(update=digests)} if digests else changes


def _identity(done: Pass) -> dict[str, Any]:
    """Record what the agent answered about itself, and where the answer is kept."""
    answer, stored = done.results.answer, done.results.stored_answer
    if answer is None or stored is None:
        return {}
    told = answer["identity"]
    document = api.Artifact(
        name=answers.NAME,
        media_type=answers.MEDIA_TYPE,
        uri=stored.uri,
        digest=stored.digest,
        size_bytes=stored.size_bytes,
    )
    identity = fields.Identity(
        name=str(told["name"])[:128],
        version=str(told["version"])[:64],
        description=fields.clip(str(told.get("description") or ""), 1024) or None,
    )
    others = tuple(item for item in done.seen.evaluation.status.artifacts if item.name != answers.NAME)
    return {"identity": identity, "artifacts": (*others, document)}


def _preflight(done: Pass) -> dict[str, Any]:
    """Record gaps and assertions that cannot be evaluated, and the checks that were made."""
    found = done.seen.assessment
    if found is None:
        return {}
    changes: dict[str, Any] = {
        "conformance_gaps": tuple(
            ConformanceGap(
                requirement=gap.requirement[:128],
                expected=fields.clip(gap.expected, 256),
                actual=fields.clip(gap.found, 256),
                remedy=fields.clip(gap.remedy, 256),
            )
            for gap in found.gaps[:32]
        )
    }
    if found.plan is not None:
        listed = _unassessable(found)
        changes["unassessable"] = listed[: api.UNASSESSABLE_SHOWN]
        changes["unassessable_total"] = len(listed)
        changes["not_tested_tools"] = _not_tested(done.seen.agent, found.plan)
    checks = facts.checks(done.seen, done.plan)
    before = done.seen.evaluation.status.preflight
    if checks and (before is None or before.checks != checks):
        changes["preflight"] = api.Preflight(checked_at=done.now, checks=checks)
    return changes


def _not_tested(agent: AgentSpec | None, plan: ScenarioPlan) -> tuple[str, ...]:
    """Return the tools of an agent that lie outside the sandbox in all of a plan: nobody saw what they do."""
    given = {tool for scenario in plan.scenarios for tool in scenario.preconditions.agent.tools}
    return tuple(sorted(set(agent.tools) - given)) if agent is not None else ()


def _unassessable(found: Assessment) -> tuple[api.UnassessableAssertion, ...]:
    """Return what keeps scenarios from being assessed: states that cannot be, then open assertions."""
    states = [
        (item.scenario_id, item.where, f"{Reason.IMPOSSIBLE_STATE}: {item.message}")
        for item in found.impossible
    ]
    assertions = [
        (item.scenario_id, f"{item.assertion}: {item.text}", item.reason)
        for item in (found.plan.unassessable if found.plan else ())
    ]
    return tuple(
        api.UnassessableAssertion(
            scenario=scenario, assertion=fields.clip(what, 256), reason=fields.clip(why, 256)
        )
        for scenario, what, why in (*states, *assertions)
    )
