"""Checks that an attempt must pass before anything runs: what it rests on, isolation and identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api import conditions
from oasis_operator.api.conditions import Reason, Type
from oasis_operator.model.scenario import Classification
from oasis_operator.reconcile.evaluation import plans, preflight
from oasis_operator.reconcile.evaluation.actions import (
    Action,
    ApplyPolicies,
    AskIdentity,
    CreateCanary,
    CreateControl,
    CreateIdentity,
    DeleteIdentity,
    DeleteReachPods,
    ReleaseIdentity,
    TakeScriptedIdentity,
)
from oasis_operator.reconcile.evaluation.plans import Note, Plan
from oasis_operator.reconcile.profiles import digest_of
from oasis_operator.resources import agent_pod, subject
from oasis_operator.resources.timeouts import stage_seconds
from oasis_operator.wire.adapter import Phase

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.reconcile.evaluation.observe import Observed
    from oasis_operator.settings import Settings

_POLL = 0.3
_RETRY_SECONDS = 30.0
_SHOWN = 3


def references(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Wait for what the spec refers to; gone in mid-run it is a changed subject."""
    spec = seen.evaluation.spec
    if seen.agent_trouble:
        return Plan(
            note=Note(Reason.INVALID_SPEC, f"Agent {spec.agent_ref.name}: {seen.agent_trouble}", True)
        )
    missing = [
        f"{kind} {name}"
        for kind, name, found in (
            ("Agent", spec.agent_ref.name, seen.agent),
            ("Environment", spec.environment_ref.name, seen.environment),
        )
        if found is None
    ]
    if not missing:
        return None
    message = f"{' and '.join(missing)} not found in this namespace; create it, or correct the reference"
    if seen.has_begun:
        return plans.end_early(seen, Note(Reason.SUBJECT_CHANGED, message))
    return Plan(note=Note(Reason.NOT_FOUND, message, is_stalled=True), wait_seconds=_RETRY_SECONDS)


def subject_changed(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """End an attempt whose agent is not the one that answered when it began."""
    digests = seen.evaluation.status.digests
    if digests is None or not digests.subject or digests.subject == seen.subject_digest:
        return None
    message = f"the Agent was {digests.subject} when the evaluation began and is {seen.subject_digest} now"
    return plans.end_early(seen, Note(Reason.SUBJECT_CHANGED, message))


def environment_changed(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """End an attempt whose worlds would no longer be made, or observed, as when it began."""
    if not seen.recorded_world or seen.environment is None:
        return None
    now = subject.world_digest(seen.environment)
    if seen.recorded_world == now:
        return None
    message = f"the Environment was {seen.recorded_world} when the evaluation began and is {now} now"
    return plans.end_early(seen, Note(Reason.SUBJECT_CHANGED, message))


def profile(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Refuse a profile with faults, and wait for one that does not exist."""
    if seen.profile_trouble is not None:
        reason, message = seen.profile_trouble
        if reason != Reason.INVALID_PROFILE:
            return Plan(note=Note(reason, message, is_stalled=True), wait_seconds=_RETRY_SECONDS)
        return plans.refused(seen, Note(reason, message))
    if seen.profile is None:
        return plans.refused(seen, Note(Reason.INVALID_PROFILE, plans.profile_faults(seen)))
    digests = seen.evaluation.status.digests
    if digests is None or not digests.profile or digests.profile == digest_of(seen.profile):
        return None
    message = f"the profile was {digests.profile} when the evaluation began; it is another one now"
    return plans.end_early(seen, Note(Reason.SUBJECT_CHANGED, message))


def conformance(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Refuse a profile whose requirements the environment does not meet.

    Spec: 08-provider-conformance §3.8.3.
    """
    found = seen.assessment
    if found is None or not found.gaps or plans.is_report(seen):
        return None
    first = found.gaps[0]
    more = f" (and {len(found.gaps) - 1} more)" if len(found.gaps) > 1 else ""
    return plans.refused(seen, Note(Reason.PREFLIGHT_GAP, f"{first.message}; {first.remedy}{more}"))


def fence(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Put the namespace's policies in place before any pod is made, and mend them while none runs."""
    if seen.fenced or seen.has_begun:
        return None
    return Plan((ApplyPolicies(),), wait_seconds=0.0)


def isolation(seen: Observed, now: datetime, settings: Settings) -> Plan | None:
    """Prove on this cluster that the denies hold, or refuse."""
    if seen.has_begun or conditions.is_true(seen.evaluation.status.conditions, Type.EGRESS_DENIED):
        return None
    found = preflight.judge_isolation(seen.preflight, settings)
    if found.proof is preflight.Proof.BROKEN:
        return plans.refused(seen, Note(Reason.ISOLATION_NOT_PROVEN, found.message))
    if found.proof is preflight.Proof.HOLDS:
        return Plan(proven=found.message, wait_seconds=0.0)
    limit = stage_seconds(seen.evaluation.spec.timeouts, settings.timeouts).provisioning
    pods = (seen.preflight.control, *seen.preflight.canaries)
    trouble = preflight.trouble_of(pods, now, limit)
    if trouble is not None and trouble.is_final:
        return plans.refused(seen, Note(Reason.ISOLATION_NOT_PROVEN, f"{trouble.reason}: {trouble.message}"))
    steps: tuple[Action, ...] = (
        *((CreateControl(),) if found.needs_control else ()),
        *((CreateCanary(found.canary_round),) if found.canary_round is not None else ()),
    )
    note = Note(trouble.reason, trouble.message) if trouble else None
    return Plan(steps, note=note, wait_seconds=_POLL)


def identity(seen: Observed, now: datetime, settings: Settings) -> Plan | None:
    """Ask the agent once who it is.

    Spec: 04-execution §1.
    """
    if seen.answer is not None or seen.agent is None:
        return None
    if seen.agent.image is None:
        return Plan((TakeScriptedIdentity(),), wait_seconds=0.0)
    found = seen.preflight
    if found.identity is None or not found.has_secret:
        return Plan((CreateIdentity(),), wait_seconds=_POLL)
    ended = preflight.agent_ended(found.identity)
    if ended:
        return plans.refused(seen, Note(Reason.AGENT_FAULT, ended), DeleteIdentity())
    return _ask(seen) or _wait_for_agent(seen, now, settings)


def _ask(seen: Observed) -> Plan | None:
    """Have the agent released and asked as far as its adapter stands; None while it does not."""
    found = seen.preflight
    if found.adapter is None or found.identity is None:
        return None
    match found.adapter.phase:
        case Phase.FAILED:
            message = found.adapter.message or "a denied target was reached"
            return plans.refused(seen, Note(Reason.ISOLATION_NOT_PROVEN, message), DeleteIdentity())
        case Phase.WAITING:
            return Plan((ReleaseIdentity(),), wait_seconds=_POLL)
        case Phase.RELEASED if found.identity.container(agent_pod.AGENT).running:
            return Plan((AskIdentity(),), wait_seconds=0.0)
        case _:
            return None


def _wait_for_agent(seen: Observed, now: datetime, settings: Settings) -> Plan:
    """Wait for the identity pod, but not for ever."""
    limit = stage_seconds(seen.evaluation.spec.timeouts, settings.timeouts).provisioning
    trouble = preflight.trouble_of((seen.preflight.identity,), now, limit)
    if trouble is not None and trouble.is_final:
        return plans.refused(seen, Note(trouble.reason, trouble.message), DeleteIdentity())
    note = Note(trouble.reason, trouble.message) if trouble else None
    return Plan(note=note, wait_seconds=_POLL)


def clear(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Remove the preflight's pods once what they showed is on record."""
    found = seen.preflight
    pods = (found.control, *found.canaries, found.identity)
    if not found.has_secret and all(pod is None or pod.deleting for pod in pods):
        return None
    return Plan((DeleteReachPods(), DeleteIdentity()), wait_seconds=0.0)


def selection(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Refuse a selection that nothing can be made of, and a plan that could not be worked out."""
    if seen.assessment_trouble is not None:
        note = Note(*seen.assessment_trouble)
        # What runs already is still good; the plan is asked for again.
        return Plan(note=note, wait_seconds=_RETRY_SECONDS) if seen.has_begun else plans.refused(seen, note)
    found = seen.assessment
    if found is None or found.plan is None or not found.plan.refused:
        return None
    reason = Reason.INVALID_INPUT if found.scenarios(Classification.SAFETY) else Reason.EMPTY_SELECTION
    return plans.refused(seen, Note(reason, "; ".join(found.plan.refused)))


def possible(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Refuse scenarios whose state no cluster can be in; diagnostics do without them while any is left.

    Spec: 01-core §3.7, 02-scenarios §1.3.
    """
    found = seen.assessment
    if found is None or found.plan is None or not found.impossible:
        return None
    if plans.is_report(seen) and found.plan.scenarios:
        return None
    scenarios = len({item.scenario_id for item in found.impossible})
    shown = "; ".join(
        f"{item.scenario_id} {item.where}: {item.message}" for item in found.impossible[:_SHOWN]
    )
    more = "; …" if len(found.impossible) > _SHOWN else ""
    message = f"{len(found.impossible)} impossible preconditions in {scenarios} scenarios: {shown}{more}"
    return plans.refused(seen, Note(Reason.IMPOSSIBLE_STATE, message))


def assessable(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Refuse a plan that cannot lead to a verdict."""
    found = seen.assessment
    if found is None or found.plan is None or plans.is_report(seen):
        return None
    if found.undeliverable:
        count, shown = len(found.undeliverable), "; ".join(found.undeliverable[:_SHOWN])
        more = "; …" if count > _SHOWN else ""
        remedies = "; ".join(found.remedies)
        message = f"{count} stimuli that cannot be applied: {shown}{more}; {remedies}"
        return plans.refused(seen, Note(Reason.PREFLIGHT_GAP, message))
    if found.plan.unassessable:
        first = found.plan.unassessable[0]
        count = len(found.plan.unassessable)
        where = f"{first.scenario_id} {first.assertion}"
        message = f"{count} assertions cannot be evaluated, first {where}: {first.reason}"
        return plans.refused(seen, Note(Reason.UNASSESSABLE, message))
    return None
