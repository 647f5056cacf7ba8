"""What is on record of a subject, and what of it stands against an attempt.

A failure stands until the subject changes, whatever became of the Evaluation that saw it.

Spec: 01-core §3.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.api.v1alpha1.evaluation_status import SubjectRecord
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.model.attempt import FAILING_KEPT
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from oasis_operator.model.attempt import Attempt
    from oasis_operator.model.gate import Policies
    from oasis_operator.reconcile.deps import Deps


@dataclass(frozen=True, slots=True)
class Standing:
    """What is on record of a subject.

    Attributes:
        failures: Attempts that failed and stand against the one that asks, in words, the oldest first.
        trouble: Why the record cannot be read, or empty; nothing else is known then.
        record: Attempts by how they ended; None where the record cannot be read.
        failing: For each of `failures` the scenarios that failed there, where all of them are known.
    """

    failures: tuple[str, ...] = ()
    trouble: str = ""
    record: SubjectRecord | None = None
    failing: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the gate of an attempt that passed is held against once it is over.

    Attributes:
        standing: What is on record of its subject.
        policies: The platform's policies for its namespace.
    """

    standing: Standing
    policies: Policies


async def read(deps: Deps, meta: Mapping[str, Any], subject: str, own: tuple[int, bool]) -> Standing:
    """Return what is on record of a subject.

    Args:
        deps: Ports.
        meta: Metadata of the Evaluation that asks.
        subject: Digest of its subject.
        own: Number of its attempt, and whether it passed. What the attempt itself has on record stands
            against it only then; otherwise its own verdict says so.
    """
    try:
        found = await deps.attempts.of_subject(meta["namespace"], subject)
    except errors.ProviderFault as error:
        return Standing(trouble=error.message)
    number, passed = own
    asking = (meta["uid"], number)
    failed = [item for item in found if item.has_failed and (passed or item.key != asking)]
    told = [(_told(item, asking), _failing(item)) for item in failed]
    told += await _failed_evaluations(deps, meta, subject)
    return Standing(
        failures=tuple(dict.fromkeys(name for name, _ in told)),
        record=_counted(found, asking),
        failing=_together(told),
    )


def _failing(attempt: Attempt) -> frozenset[str] | None:
    """Return the scenarios that failed in an attempt; None where not all of them are known."""
    if any(len(item.failing) >= FAILING_KEPT for item in attempt.endings):
        return None
    named = {item.scenario_id for item in attempt.violations}
    return frozenset(named.union(*(item.failing for item in attempt.endings))) or None


def _together(told: Iterable[tuple[str, frozenset[str] | None]]) -> Mapping[str, frozenset[str]]:
    """Return the scenarios by name; several attempts may go by one, and what is unknown of one is of all."""
    found: dict[str, frozenset[str]] = {}
    unknown = set()
    for name, scenarios in told:
        if scenarios is None:
            unknown.add(name)
        else:
            found[name] = found.get(name, frozenset()) | scenarios
    return {name: scenarios for name, scenarios in found.items() if name not in unknown}


def _told(attempt: Attempt, asking: tuple[str, int]) -> str:
    if attempt.key == asking:
        return "this attempt"
    if attempt.evaluation_uid == asking[0]:
        return f"attempt {attempt.number}"
    return f"Evaluation {attempt.evaluation}"


async def _failed_evaluations(
    deps: Deps, meta: Mapping[str, Any], subject: str
) -> list[tuple[str, frozenset[str] | None]]:
    """Return the other Evaluations that say themselves that the subject failed, with what failed there."""
    found = []
    for body in await deps.kube.list(kinds.EVALUATION, meta["namespace"]):
        other = Evaluation.parse(body)
        same = other.status.digests is not None and other.status.digests.subject == subject
        if same and other.metadata.uid != meta["uid"] and other.status.verdict is Verdict.FAIL:
            failures = other.status.failures
            is_whole = bool(failures) and other.status.failures_total <= len(failures)
            named = frozenset(item.scenario for item in failures) if is_whole else None
            found.append((f"Evaluation {other.metadata.name}", named))
    return found


def _counted(found: tuple[Attempt, ...], asking: tuple[str, int]) -> SubjectRecord:
    others = [item for item in found if item.key != asking]
    return SubjectRecord(
        attempts=len(others) + 1,
        failed=sum(item.has_failed for item in found),
        unfinished=sum(not item.endings for item in others),
    )
