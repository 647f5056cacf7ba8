"""The end of an attempt: verdict and gate from the engine, and the documents that say so.

Spec: 01-core §3.6, 05-reporting §1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.api.v1alpha1.run_inputs import Unassessable
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.engine import gate as gates
from oasis_operator.engine import verdict as verdicts
from oasis_operator.model import gate, spec, verdict
from oasis_operator.reconcile.evaluation import reports
from oasis_operator.resources import conformance, environment_pod, kinds, scenario_run, subject

if TYPE_CHECKING:
    from datetime import datetime

    from oasis_operator.api.v1alpha1.evaluation_status import Artifact as StatusArtifact
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
    """

    reason: str
    message: str
    verdict: verdict.Verdict | None
    gate: gate.Gate | None
    artifacts: tuple[StatusArtifact, ...] = ()

    @property
    def status(self) -> Verdict | None:
        """The verdict as the API writes it; None where there is none."""
        if self.verdict is None or self.verdict.status is None:
            return None
        return Verdict(self.verdict.status.value)


async def conclude(deps: Deps, seen: Observed, ended: tuple[str, str], now: datetime) -> Conclusion:
    """Return verdict and gate, with the reports stored."""
    reason, message = ended
    plan = seen.assessment.plan if seen.assessment else None
    if seen.profile is None or plan is None:
        return Conclusion(reason, message, None, None)
    context = run_context(deps, seen, ended, now)
    found = verdicts.decide(seen.profile, plan, seen.results, context)
    if seen.evaluation.spec.unassessable is Unassessable.REPORT and not reason:
        reason, message = Reason.REPORT_ONLY, "unassessable is Report: diagnostics, and no verdict"
    if reason in _WITHOUT_VERDICT:
        found = _without_verdict(found, message)
    about = gate.Subject(
        digest=seen.subject_digest,
        adapter=subject.adapter_kind(seen.agent) if seen.agent else "",
        profile_digest=seen.profile.digest,
        suite=seen.evaluation.spec.select.suite if seen.evaluation.spec.select else None,
        age_seconds=0.0,
        asked_at=now.isoformat(),
        earlier_failures=await _earlier_failures(deps, seen),
    )
    opens = gates.decide(found, plan, seen.results, about)
    stored = await reports.store(deps, seen, (seen.profile, plan), found, opens)
    return Conclusion(reason, message, found, opens, stored)


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
    tier_holds, tier_evidence = _tier(seen)
    return verdict.RunContext(
        agent=str(identity.get("name") or ""),
        agent_version=str(identity.get("version") or ""),
        provider=conformance.PROVIDER,
        provider_version=deps.version,
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


def _conformance(seen: Observed) -> str:
    gaps = seen.assessment.gaps if seen.assessment else ()
    asked = len(seen.profile.requirements) if seen.profile else 0
    return f"{len(gaps)} gaps in {asked} requirements" if gaps else f"{asked} requirements met"


async def _earlier_failures(deps: Deps, seen: Observed) -> tuple[str, ...]:
    """Return what failed before with the same subject: other Evaluations and earlier attempts."""
    meta = seen.body["metadata"]
    found = []
    for body in await deps.kube.list(kinds.EVALUATION, meta["namespace"]):
        other = Evaluation.parse(body)
        same = other.status.digests is not None and other.status.digests.subject == seen.subject_digest
        if same and other.metadata.uid != meta["uid"] and other.status.verdict is Verdict.FAIL:
            found.append(f"Evaluation {other.metadata.name}")
    for attempt in range(1, seen.attempt):
        marks = scenario_run.run_labels(meta, attempt)
        runs = await deps.kube.list(kinds.SCENARIO_RUN, meta["namespace"], marks)
        if any(_failed(run, seen.subject_digest) for run in runs):
            found.append(f"attempt {attempt}")
    return tuple(found)


def _failed(run: dict[str, object], subject_digest: str) -> bool:
    specified, status = run.get("spec"), run.get("status")
    if not isinstance(specified, dict) or not isinstance(status, dict):
        return False
    return specified.get("subjectDigest") == subject_digest and status.get("outcome") == Verdict.FAIL
