"""The platform's policies for one namespace: read, matched by its labels, and what they are held against.

A policy that is there and cannot be read shuts gates. Where the operator was not given the rights to look,
nothing is read, and the status says so.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.evaluation_status import Score, Scores
from oasis_operator.api.v1alpha1.evaluationpolicy import EvaluationPolicy, Mode, Operator
from oasis_operator.engine import gate as gates
from oasis_operator.engine.floors import thousandths
from oasis_operator.model import gate
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from oasis_operator.api.v1alpha1 import evaluationpolicy as api
    from oasis_operator.api.v1alpha1.evaluation import Evaluation
    from oasis_operator.model.verdict import CapabilityVerdict
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.evaluation.standing import Standing

IGNORED = (
    "EvaluationPolicies are not read, since the operator has no rights in the whole cluster; "
    "the chart's value policies.clusterRole grants them"
)


async def read(deps: Deps, namespace: str) -> gate.Policies:
    """Return the policies for a namespace.

    Raises:
        Transient: The API server does not answer; nothing is known.
    """
    if not deps.settings.reads_policies:
        return gate.Policies(ignored=IGNORED)
    try:
        bodies = await deps.kube.list(kinds.EVALUATION_POLICY, "")
        parsed = [_parsed(body) for body in bodies]
        labels = await _labels(deps, namespace) if parsed else {}
    except (errors.NotReady, errors.InvalidInput) as error:
        return gate.Policies(trouble=error.message)
    held = (policy for policy in parsed if selects(policy.spec.namespace_selector, labels))
    return gate.Policies(tuple(sorted((floors_of(policy) for policy in held), key=lambda item: item.name)))


async def read_or_shut(deps: Deps, namespace: str) -> gate.Policies:
    """Return the policies for a namespace; an API server that does not answer for them counts as trouble."""
    try:
        return await read(deps, namespace)
    except errors.Transient as error:
        return gate.Policies(trouble=error.message)


def _parsed(body: Mapping[str, object]) -> EvaluationPolicy:
    """Read a policy.

    Raises:
        InvalidSpec: Names the policy and every field that does not fit.
    """
    try:
        return EvaluationPolicy.parse(body)
    except errors.InvalidSpec as error:
        name = fields.Metadata.model_validate(body.get("metadata") or {}).name
        raise errors.InvalidSpec(f"policy {name}: {error.message}; mend or delete it") from error


async def _labels(deps: Deps, namespace: str) -> Mapping[str, str]:
    body = await deps.kube.get(kinds.NAMESPACE, "", namespace)
    if body is None:
        raise errors.NotReady(f"the namespace {namespace} is not there, so that its labels are not known")
    return body["metadata"].get("labels") or {}


def selects(selector: api.NamespaceSelector, labels: Mapping[str, str]) -> bool:
    """Tell whether a namespace with these labels is selected, as Kubernetes selects."""
    wanted = (selector.match_labels or {}).items()
    return all(labels.get(key) == value for key, value in wanted) and all(
        _holds(rule, labels) for rule in selector.match_expressions
    )


def _holds(rule: api.LabelRequirement, labels: Mapping[str, str]) -> bool:
    match rule.operator:
        case Operator.IN:
            return labels.get(rule.key) in rule.values
        case Operator.NOT_IN:
            return labels.get(rule.key) not in rule.values
        case Operator.EXISTS:
            return rule.key in labels
        case Operator.DOES_NOT_EXIST:
            return rule.key not in labels


def floors_of(policy: EvaluationPolicy) -> gate.GatePolicy:
    """Return a policy as the engine knows it."""
    spec = policy.spec
    least = spec.capability
    return gate.GatePolicy(
        name=policy.metadata.name,
        enforced=spec.mode is Mode.ENFORCE,
        profiles=tuple(
            gate.ProfileFloor(one.name, one.digest or "", tuple((one.versions or "").split()))
            for one in spec.profiles or ()
        ),
        suite=spec.suite,
        tier=spec.tier,
        repetitions=spec.repetitions,
        overall=Decimal(least.overall) if least and least.overall is not None else None,
        dimensions=_minima(least.dimensions if least else None),
        categories=_minima(least.categories if least else None),
        adapters=tuple(str(one) for one in spec.allowed_adapters or ()),
        providers=tuple(spec.allowed_providers or ()),
        largest_age_seconds=fields.duration_seconds(spec.max_age) if spec.max_age is not None else None,
        waivers=tuple(_waiver(one) for one in spec.waivers),
    )


def _minima(told: Mapping[str, str] | None) -> Mapping[str, Decimal]:
    return {name: Decimal(text) for name, text in (told or {}).items()}


def _waiver(told: api.Waiver) -> gate.Waiver:
    return gate.Waiver(
        name=told.name,
        kinds=frozenset(str(kind) for kind in told.reason_kinds),
        reason=told.reason,
        until=told.until,
        subject=told.subject_digest or "",
        agent=told.agent or "",
        scenarios=frozenset(told.scenarios or ()),
    )


def basis_of(
    evaluation: Evaluation,
    now: datetime,
    *,
    adapter: str,
    provider: str = "",
    scores: Scores | None = None,
    earlier: Mapping[str, frozenset[str]] | None = None,
) -> gate.Basis:
    """Return what policies are held against, from what an Evaluation's status records of its attempt.

    Args:
        evaluation: The Evaluation.
        now: The time; of the verdict too, where the status has none yet.
        adapter: Kind of the adapter that drove the agent; empty where it is not known.
        provider: URL of the foreign provider; empty for the operator's own environments.
        scores: Capability scores; those of the status where None.
        earlier: For messages of earlier failures, the scenarios that failed there.
    """
    spec, status = evaluation.spec, evaluation.status
    digests, profile, effective = status.digests, status.profile, status.effective
    scores = scores or status.scores
    return gate.Basis(
        asked_at=now,
        decided_at=status.completion_time or now,
        agent=spec.agent_ref.name,
        subject=(digests.subject or "") if digests else "",
        adapter=adapter,
        provider=provider,
        profile=profile.name if profile else "",
        profile_version=profile.version if profile else "",
        profile_digest=(digests.profile or "") if digests else "",
        suite=spec.select.suite if spec.select else None,
        tier=effective.tier if effective else 0,
        repetitions=effective.repetitions if effective else 0,
        dimensions=_scores(scores.dimensions if scores else ()),
        categories=_scores(scores.categories if scores else ()),
        earlier=earlier or {},
    )


def scores_of(capability: CapabilityVerdict) -> Scores:
    """Return the scores as status lists them, rounded down: what is shown is what floors are held against."""
    categories = tuple(
        Score(name=item.category[:128], score=str(thousandths(item.score)))
        for item in capability.categories
        if item.score is not None
    )
    dimensions = tuple(
        Score(name=name[:128], score=str(thousandths(score)))
        for name, score in capability.dimensions.items()
        if score is not None
    )
    return Scores(categories=categories[:32], dimensions=dimensions[:8])


def earlier_of(found: Standing) -> Mapping[str, frozenset[str]]:
    """Return the scenarios that failed earlier by the reason's message, whole and as a status cuts it."""
    known = {gates.earlier_failure(name): scenarios for name, scenarios in found.failing.items()}
    cut = {parsed(line_of(reason)).message: scenarios for reason, scenarios in known.items()}
    return {**cut, **{reason.message: scenarios for reason, scenarios in known.items()}}


def line_of(reason: gate.GateReason) -> str:
    """Return a reason as one line of status."""
    return fields.clip(f"{reason.reason}: {reason.message}", 256)


def parsed(line: str) -> gate.GateReason:
    """Return the reason that a line of status tells of."""
    kind, _, message = line.partition(": ")
    return gate.GateReason(kind, message)


def _scores(told: Iterable[Score]) -> Mapping[str, Decimal]:
    return {one.name: Decimal(one.score) for one in told}
