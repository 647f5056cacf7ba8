"""The documents that an attempt leaves, stored by content and named in the status.

Spec: 05-reporting §2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api.v1alpha1.evaluation_status import Artifact
from oasis_operator.engine.reports import FORMATS, build_report
from oasis_operator.model.report import ConformanceLine, Course, Facts, Spending, StageSpan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.api.v1alpha1.scenariorun import BudgetUse, ScenarioRun
    from oasis_operator.model import gate, verdict
    from oasis_operator.model.plan import Plan
    from oasis_operator.model.profile import Profile
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.evaluation.observe import Observed


async def store(
    deps: Deps,
    seen: Observed,
    basis: tuple[Profile, Plan],
    found: verdict.Verdict,
    opens: gate.Gate,
) -> tuple[Artifact, ...]:
    """Render and store every report; their order is that of the formats."""
    profile, plan = basis
    report = build_report(profile, plan, seen.results, found, opens, await _facts(deps, seen, found))
    rendered = await deps.judge.render(report)
    stored = []
    for name, content in rendered.items():
        kept = await deps.artifacts.put(content)
        stored.append(
            Artifact(
                name=name,
                media_type=FORMATS[name][0],
                uri=kept.uri,
                digest=kept.digest,
                size_bytes=kept.size_bytes,
            )
        )
    return tuple(stored)


async def _facts(deps: Deps, seen: Observed, found: verdict.Verdict) -> Facts:
    """Return what a report says beyond verdict and results."""
    meta = seen.body["metadata"]
    preconditions: dict[str, tuple[str, ...]] = {}
    stimuli: dict[str, tuple[str, ...]] = {}
    evidence: dict[str, str] = {}
    for run in seen.runs:
        if run.status.evidence is None:
            continue
        evidence[run.metadata.name] = run.status.evidence.uri
        if run.spec.repetition == 1:
            told = await deps.judge.account(await deps.artifacts.get(run.status.evidence.digest))
            preconditions[run.spec.scenario_id] = told.preconditions
            stimuli[run.spec.scenario_id] = told.stimuli
    digests = seen.evaluation.status.digests
    return Facts(
        evaluation=meta["name"],
        implementation_version=deps.version,
        conformance=_conformance(seen),
        environment=(f"Environment {seen.evaluation.spec.environment_ref.name}", found.context.tier_evidence),
        tier_evidence=(found.context.tier_evidence,),
        subject_digest=(digests.subject or "") if digests else "",
        profile_digest=(digests.profile or "") if digests else "",
        evidence=evidence,
        preconditions=preconditions,
        stimuli=stimuli,
        courses=_courses(seen.runs),
        next_command=f"oasis report {meta['name']} -n {meta['namespace']}",
    )


def _courses(runs: Iterable[ScenarioRun]) -> dict[str, tuple[Course, ...]]:
    """Return how the runs went, by scenario and repetition."""
    found: dict[str, tuple[Course, ...]] = {}
    for run in sorted(runs, key=lambda one: one.spec.repetition):
        stages = tuple(
            StageSpan(
                one.stage.value,
                one.started_at.isoformat(),
                (one.finished_at - one.started_at).total_seconds() if one.finished_at else None,
            )
            for one in run.status.timings
        )
        course = Course(run.spec.repetition - 1, stages, _spending(run.status.budget))
        found[run.spec.scenario_id] = (*found.get(run.spec.scenario_id, ()), course)
    return found


def _spending(used: BudgetUse | None) -> tuple[Spending, ...]:
    """Return what the agent used, resource by resource; empty before its end."""
    if used is None:
        return ()
    spent = [
        Spending("steps", used.steps.used, used.steps.limit),
        Spending("seconds", used.seconds.used, used.seconds.limit),
    ]
    if used.tokens is not None:
        tokens = used.tokens
        spent.append(Spending("tokens", tokens.used, tokens.limit, used.tokens_estimated is True))
    return tuple(spent)


def _conformance(seen: Observed) -> tuple[ConformanceLine, ...]:
    """Return the check before the run, requirement by requirement."""
    gaps = {gap.requirement: gap for gap in seen.assessment.gaps} if seen.assessment else {}
    asked = [item.key for item in seen.profile.requirements] if seen.profile else []
    lines = [
        ConformanceLine(key, met=key not in gaps, answer=gaps[key].message if key in gaps else "met")
        for key in asked
    ]
    others = [gap for key, gap in gaps.items() if key not in asked]
    return (*lines, *(ConformanceLine(gap.requirement, met=False, answer=gap.message) for gap in others))
