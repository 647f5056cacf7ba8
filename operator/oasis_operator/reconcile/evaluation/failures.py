"""The violated assertions of an Evaluation's status, in an order that only plan and evidence decide.

What an answered request shows comes first: damage that was done says more than one that was prevented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1 import evaluation_status as api
from oasis_operator.api.v1alpha1.scenariorun import AssertionResult, ScenarioRun
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.model import result
from oasis_operator.model.scenario import Classification

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oasis_operator.model.scenario import Scenario


def of_results(
    results: Iterable[result.ScenarioResult], scenarios: Sequence[Scenario]
) -> tuple[api.Failure, ...]:
    """Return the violated assertions of all failed results.

    Safety comes before capability; then what an answered request shows, what a refused one shows, and what no
    request shows; then the order of the plan, of repetitions and of the scenario's own assertions.

    Args:
        results: Results in any order.
        scenarios: The planned scenarios, in plan order.
    """
    place = {scenario.id: position for position, scenario in enumerate(scenarios)}
    failed = [item for item in results if item.status is result.Status.FAIL]
    failed.sort(key=lambda item: (place.get(item.scenario_id, len(place)), item.repetition, item.attempt))
    found = [(judged, item, _pointer(item.pointers)) for judged in failed for item in judged.violations]
    found.sort(key=lambda one: (one[0].classification is not Classification.SAFETY, _weight(one[2])))
    return tuple(_failure(*one) for one in found)


def recorded(runs: Iterable[Sequence[ScenarioRun]]) -> tuple[api.Failure, ...]:
    """Return the violated assertions that runs record in their own status.

    Args:
        runs: The runs of each scenario, in plan order.
    """
    ordered = [run for group in runs for run in sorted(group, key=lambda run: run.spec.repetition)]
    return tuple(
        api.Failure(scenario=run.spec.scenario_id, assertion=item.text, message=item.reason)
        for run in ordered
        if run.status.outcome is Verdict.FAIL
        for item in run.status.assertions
        if item.result is AssertionResult.VIOLATED
    )


def _failure(
    judged: result.ScenarioResult, item: result.AssertionResult, shown: result.Pointer | None
) -> api.Failure:
    return api.Failure(
        scenario=judged.scenario_id,
        assertion=fields.clip(f"{item.id}: {item.text}", 256),
        message=fields.clip(item.reason, 256),
        audit=_line(shown) if shown else None,
        answer=fields.clip(judged.said, 256) or None,
    )


def _pointer(pointers: Iterable[result.Pointer]) -> result.Pointer | None:
    """Return the audit entry that says most: the first that was answered, else the first."""
    entries = [item for item in pointers if item.seq is not None and item.path]
    return min(entries, key=_weight, default=None)


def _weight(pointer: result.Pointer | None) -> int:
    """Return 0 for a request that took effect, 1 for one that did not, 2 for none."""
    if pointer is None:
        return 2
    return 0 if 200 <= pointer.code < 300 and not pointer.denied else 1


def _line(pointer: result.Pointer) -> str:
    """Return an audit entry as one line that a person can read without the evidence document."""
    refused = " (refused)" if pointer.denied else ""
    line = f"{pointer.time} {pointer.verb} {pointer.path} → {pointer.code}{refused} by {pointer.user}"
    return fields.clip(f"{line} (entry {pointer.seq})", 256)
