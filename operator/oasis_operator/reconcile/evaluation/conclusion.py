"""The end of an attempt: verdict and gate from the engine, and the documents that say so.

Spec: 01-core §3.6, 05-reporting §1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.run_inputs import Unassessable
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.engine import gate as gates
from oasis_operator.engine import verdict as verdicts
from oasis_operator.model import gate, result, spec, verdict
from oasis_operator.model.attempt import FAILING_KEPT, Attempt, Ending
from oasis_operator.model.scenario import Classification
from oasis_operator.reconcile.evaluation import policy, reports, standing
from oasis_operator.reconcile.evaluation.standing import Standing
from oasis_operator.resources import conformance, environment_pod, subject

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.api.v1alpha1.evaluation_status import Artifact as StatusArtifact
    from oasis_operator.api.v1alpha1.evaluation_status import SubjectRecord
    from oasis_operator.reconcile.declared import Declaration
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.evaluation.observe import Observed

_WITHOUT_VERDICT = frozenset({str(Reason.CANCELLED), str(Reason.SUBJECT_CHANGED), str(Reason.REPORT_ONLY)})


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What an attempt came to.

    Attributes:
        reason: Why the attempt ended early; empty where it did not.
        message: The same for a person.
        verdict: What the engine says; None where nothing can be said.
        gate: Whether a gate may rely on it; None without a verdict.
        artifacts: The reports.
        record: What is on record of the subject; None where that is not known.
        adapter: Kind of the adapter that drove the agent; empty where it is not known.
        provider: URL of the foreign provider; empty for the operator's own environments.
    """

    reason: str
    message: str
    verdict: verdict.Verdict | None
    gate: gate.Gate | None
    artifacts: tuple[StatusArtifact, ...] = ()
    record: SubjectRecord | None = None
    adapter: str = ""
    provider: str = ""

    @property
    def status(self) -> Verdict | None:
        """The verdict as the API writes it; None where there is none."""
        if self.verdict is None or self.verdict.status is None:
            return None
        return Verdict(self.verdict.status.value)


async def conclude(deps: Deps, seen: Observed, ended: tuple[str, str], now: datetime) -> Conclusion:
    """Return verdict and gate, with the reports stored and the end on record.

    Raises:
        ProviderFault: Reports or record cannot be kept; nothing may be announced then.
        Transient: The API server does not answer for the platform's policies.
    """
    reason, message = ended
    plan = seen.assessment.plan if seen.assessment else None
    if seen.profile is None or plan is None:
        await _note(deps, seen, reason, None, now)
        return Conclusion(reason, message, None, None)
    context = run_context(deps, seen, ended, now)
    found = verdicts.decide(seen.profile, plan, seen.results, context)
    if seen.evaluation.spec.unassessable is Unassessable.REPORT and not reason:
        reason, message = Reason.REPORT_ONLY, "unassessable is Report: diagnostics, and no verdict"
    if reason in _WITHOUT_VERDICT:
        found = _without_verdict(found, message)
    earlier = await _standing(deps, seen, found)
    adapter = subject.adapter_kind(seen.agent) if seen.agent else ""
    provider = _provider_url(seen)
    about = gate.Subject(
        digest=seen.recorded_subject,
        adapter=adapter,
        earlier_failures=earlier.failures,
        record_trouble=earlier.trouble,
        is_image_known=bool(seen.image) or seen.agent is None or seen.agent.image is None,
    )
    basis = policy.basis_of(
        seen.evaluation,
        now,
        adapter=adapter,
        provider=provider,
        scores=policy.scores_of(found.capability) if found.capability else None,
        earlier=policy.earlier_of(earlier),
    )
    held = await policy.read(deps, seen.body["metadata"]["namespace"])
    opens = gates.decide(found, plan, seen.results, about, basis, held)
    stored = await reports.store(deps, seen, (seen.profile, plan), found, opens)
    await _note(deps, seen, reason, found, now)
    return Conclusion(reason, message, found, opens, stored, earlier.record, adapter, provider)


async def _standing(deps: Deps, seen: Observed, found: verdict.Verdict) -> Standing:
    """Return what is on record of the subject; without one there is none."""
    if not seen.recorded_subject:
        return Standing()
    own = (seen.attempt, found.status is result.Status.PASS)
    return await standing.read(deps, seen.body["metadata"], seen.recorded_subject, own)


async def _note(
    deps: Deps, seen: Observed, reason: str, found: verdict.Verdict | None, now: datetime
) -> None:
    """Put the end of the attempt on record before the status announces it.

    Where the record is damaged it shuts every gate of the subject as it is, so that a failure may be told.

    Raises:
        ProviderFault: The record cannot be kept.
    """
    try:
        await deps.attempts.note(_ended(seen, reason, found, now))
    except errors.ProviderFault as error:
        passed = found is not None and found.status is result.Status.PASS
        if error.reason != gates.RECORD_UNREADABLE or passed:
            raise


def _ended(seen: Observed, reason: str, found: verdict.Verdict | None, now: datetime) -> Attempt:
    """Return the end of the attempt as it goes on record, before the status announces it."""
    meta, digests = seen.body["metadata"], seen.evaluation.status.digests
    failed = {
        item.scenario_id
        for item in seen.results
        if item.status is result.Status.FAIL and item.classification is Classification.SAFETY
    }
    planned = seen.assessment.plan.scenarios if seen.assessment and seen.assessment.plan else ()
    ending = Ending(
        verdict=found.status.value if found and found.status else "",
        reason=reason,
        failing=tuple(item.id for item in planned if item.id in failed)[:FAILING_KEPT],
        evidence=evidence_digest(seen),
        at=now.isoformat(),
    )
    return Attempt(
        namespace=meta["namespace"],
        subject=seen.recorded_subject,
        evaluation=meta["name"],
        evaluation_uid=meta["uid"],
        number=seen.attempt,
        profile=(digests.profile or "") if digests else "",
        endings=(ending,),
    )


def evidence_digest(seen: Observed) -> str:
    """Return the digest over the evidence of all runs, in order of their names."""
    kept = [run.status.evidence.digest if run.status.evidence else "" for run in seen.runs]
    return subject.digest({"runs": kept})


def _without_verdict(found: verdict.Verdict, why: str) -> verdict.Verdict:
    """Return diagnostics: an attempt that was cancelled, changed or only reports has no verdict."""
    return replace(found, safety=None, status=None, no_verdict_reason=why, capability=None)


def run_context(deps: Deps, seen: Observed, ended: tuple[str, str], now: datetime) -> verdict.RunContext:
    """Return the facts of a run that its results do not hold.

    Spec: 05-reporting §2.1, 05-reporting §2.2.
    """
    status, chosen = seen.evaluation.status, seen.evaluation.spec
    identity = seen.answer["identity"] if seen.answer else {}
    began = status.start_time or now
    aborted = ended[0] == Reason.ABORTED
    foreign = _foreign(seen)
    tier_holds, tier_evidence = _declared_tier(seen, foreign) if foreign else _tier(seen)
    return verdict.RunContext(
        agent=str(identity.get("name") or ""),
        agent_version=str(identity.get("version") or ""),
        provider=foreign.provider if foreign else conformance.PROVIDER,
        provider_version=foreign.version if foreign else deps.version,
        tier_evidence=tier_evidence,
        tier_verified=tier_holds,
        conformance_check=_conformance(seen),
        evaluator=chosen.evaluator or "",
        timestamp=now.isoformat(),
        duration_seconds=round((now - began).total_seconds(), 3),
        core_version=spec.SPEC_VERSION,
        aborted=aborted,
        abort_reason=ended[1] if aborted else "",
        repetitions=chosen.repetitions,
        resumed=False,
    )


def _tier(seen: Observed) -> tuple[bool, str]:
    """Return whether the claimed tier's characteristics hold, and what shows it.

    Spec: 01-core §5, 08-provider-conformance §3.6.
    """
    tier = seen.evaluation.spec.tier
    kubernetes = seen.environment.kubernetes if seen.environment else None
    nodes = environment_pod.DEFAULT_NODES
    if kubernetes is not None and kubernetes.nodes is not None:
        nodes = kubernetes.nodes
    wanted = seen.profile.tier(tier) if seen.profile else None
    asked = wanted.inputs.get("nodes") if wanted else None
    holds = tier <= conformance.TIER_SUPPORTED and (not isinstance(asked, int) or nodes >= asked)
    text = f"tier {tier}: one nested control plane per scenario with RBAC and audit, {nodes} simulated nodes"
    return holds, text


def _provider_url(seen: Observed) -> str:
    """Return the URL of another's provider; empty where the worlds are the operator's own."""
    own = seen.environment
    return own.provider.url if own and own.provider else ""


def _foreign(seen: Observed) -> Declaration | None:
    """Return what another's provider declared, None where the worlds are the operator's own."""
    told = seen.assessment.declaration if seen.assessment else None
    return told if told and told.is_foreign else None


def _declared_tier(seen: Observed, told: Declaration) -> tuple[bool, str]:
    """Return whether a provider declares the claimed tier, and its words for it.

    Nothing of it was measured here, which the evidence says.
    """
    tier, requirements = seen.evaluation.spec.tier, told.answer.get("requirements")
    declared = requirements.get("complexity_tier_supported") if isinstance(requirements, dict) else None
    holds = isinstance(declared, int) and not isinstance(declared, bool) and declared >= tier
    return holds, f"tier {tier}: {told.provider} {told.version} declares tier {declared!r}; not measured"


def _conformance(seen: Observed) -> str:
    gaps = seen.assessment.gaps if seen.assessment else ()
    asked = len(seen.profile.requirements) if seen.profile else 0
    return f"{len(gaps)} gaps in {asked} requirements" if gaps else f"{asked} requirements met"
