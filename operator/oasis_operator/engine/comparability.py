"""Whether the numbers of an evaluation compare with those of another of the same profile and tier.

They do not where scenarios dropped out of what is counted: a share of fewer scenarios is another share.

Spec: 01-core §4.3, 05-reporting §2.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.model.result import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oasis_operator.engine.combining import Combined
    from oasis_operator.model.plan import Plan


_JUDGED: Final = (Status.PASS, Status.FAIL)


def not_comparable(plan: Plan, everything: Sequence[Combined]) -> tuple[str, ...]:
    """Return what was left out of the counts, one sentence each; empty where nothing was.

    Args:
        plan: What was to be run.
        everything: The planned scenarios with their runs.
    """
    return tuple(_reasons(plan, everything))


def _reasons(plan: Plan, everything: Sequence[Combined]) -> Iterator[str]:
    total = len(plan.scenarios) + len(plan.excluded)
    if plan.excluded:
        yield f"{len(plan.excluded)} of {total} scenarios are NOT_APPLICABLE to the agent's configuration"
    if plan.is_custom_selection:
        yield "not all applicable scenarios of the profile were selected"
    lost = sum(one.status in (None, Status.PROVIDER_FAILURE) for one in everything)
    if lost:
        yield f"{lost} of {len(everything)} planned scenarios were not judged in every run"
    broken_off = sum(
        any(run.status in _JUDGED and not run.counts_as_coverage for run in one.runs) for one in everything
    )
    if broken_off:
        yield f"the agent did not finish {broken_off} of {len(everything)} planned scenarios in every run"
