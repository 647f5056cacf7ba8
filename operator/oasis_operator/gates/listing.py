"""From Evaluations and policies to the list of subjects that admission lets in.

A subject is on it for as long as a gate may rely on its verdict, read by the one place that interprets
verdicts. A policy that cannot be read may be for any namespace, so that nobody is let in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api.v1alpha1.admissionlist import (
    POLICIES_LISTED,
    SUBJECTS_LISTED,
    AdmissionListSpec,
    AdmittedSubject,
    AdmittingPolicy,
)
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.api.v1alpha1.evaluationpolicy import EvaluationPolicy, Mode
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.cli.outcome import read_outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

_STALE = "Stale:"


@dataclass(frozen=True, slots=True)
class Listing:
    """What a look at the cluster gave.

    Attributes:
        spec: The list.
        lapsed: Passed Evaluations whose verdict is older than a policy allows.
        troubles: What could not be read, in words; empty where everything could.
    """

    spec: AdmissionListSpec
    lapsed: int
    troubles: tuple[str, ...] = ()


def build_listing(
    evaluations: Iterable[Mapping[str, Any]], policies: Iterable[Mapping[str, Any]], now: datetime
) -> Listing:
    """Return the list as the cluster has it now.

    Args:
        evaluations: All Evaluations, as the API server gives them.
        policies: All EvaluationPolicies.
        now: The time; becomes the sign of life.
    """
    troubles: list[str] = []
    read = [one for body in evaluations if (one := _evaluation(body, troubles)) is not None]
    held, unreadable = _policies(policies)
    open_ = () if unreadable else tuple(_admitted(read, now))
    kept = open_[:SUBJECTS_LISTED]
    spec = AdmissionListSpec(renewed_at=now, policies=held, subjects=kept, left_out=len(open_) - len(kept))
    return Listing(spec, sum(map(_has_lapsed, read)), (*troubles, *unreadable))


def _evaluation(body: Mapping[str, Any], troubles: list[str]) -> Evaluation | None:
    """Read an Evaluation; one that cannot be read lets nobody in and stops no other one."""
    try:
        return Evaluation.parse(body)
    except errors.InvalidSpec as error:
        meta = body["metadata"]
        troubles.append(f"Evaluation {meta['namespace']}/{meta['name']}: {error.message}")
        return None


def _policies(
    bodies: Iterable[Mapping[str, Any]],
) -> tuple[tuple[AdmittingPolicy, ...], tuple[str, ...]]:
    """Return the policies that shut gates, by name, and what could not be read."""
    held, troubles = [], []
    for body in bodies:
        try:
            policy = EvaluationPolicy.parse(body)
        except errors.InvalidSpec as error:
            troubles.append(f"EvaluationPolicy {body['metadata']['name']}: {error.message}")
            continue
        if policy.spec.mode is Mode.ENFORCE:
            held.append(
                AdmittingPolicy(
                    name=policy.metadata.name,
                    selector=policy.spec.namespace_selector,
                    evaluated_in=policy.spec.evaluated_in or (),
                )
            )
    if len(held) > POLICIES_LISTED:
        troubles.append(
            f"{len(held)} EvaluationPolicies in mode Enforce, admission holds {POLICIES_LISTED}: merge some"
        )
        held = held[:POLICIES_LISTED]
    return tuple(sorted(held, key=lambda one: one.name)), tuple(troubles)


def _admitted(evaluations: Sequence[Evaluation], now: datetime) -> Iterator[AdmittedSubject]:
    """Yield the subjects that may be let in, the latest verdict first."""
    failed = _failures(evaluations)
    latest = sorted(evaluations, key=lambda one: _ended(one, now), reverse=True)
    for one in latest:
        status, gate = one.status, one.status.gateable
        if status.workload is None or gate is None or not read_outcome(one).gateable:
            continue
        if gate.until is not None and gate.until < now:
            continue
        # Fields that no pod shows, such as the declared mode, must be no way round a failure.
        if failed.get(status.workload.text, set()) - {_subject(one)}:
            continue
        yield AdmittedSubject(
            text=status.workload.text,
            rights=status.workload.rights,
            namespace=one.metadata.namespace,
            evaluation=one.metadata.name,
            policies=gate.policies,
            until=gate.until,
        )


def _failures(evaluations: Iterable[Evaluation]) -> dict[str, set[str]]:
    """Return the subjects that failed, by what a workload of theirs would be."""
    failed: dict[str, set[str]] = {}
    for one in evaluations:
        if one.status.verdict is Verdict.FAIL and one.status.workload is not None:
            failed.setdefault(one.status.workload.text, set()).add(_subject(one))
    return failed


def _subject(one: Evaluation) -> str:
    return (one.status.digests.subject or "") if one.status.digests else ""


def _ended(one: Evaluation, now: datetime) -> tuple[datetime, str, str]:
    return (one.status.completion_time or now, one.metadata.namespace, one.metadata.name)


def _has_lapsed(one: Evaluation) -> bool:
    gate = one.status.gateable
    return (
        one.status.verdict is Verdict.PASS
        and gate is not None
        and any(reason.startswith(_STALE) for reason in gate.reasons)
    )
