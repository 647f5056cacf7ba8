"""Runs of one scenario taken together: repetitions, and attempts of each repetition.

Spec: 01-core §3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.model.result import ScenarioResult, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oasis_operator.model.plan import Plan
    from oasis_operator.model.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Combined:
    """All runs of one scenario taken together.

    Attributes:
        scenario: The scenario.
        runs: Its results, by repetition and attempt; may be empty.
        status: FAIL where any run failed, else PROVIDER_FAILURE where any could not be verified, else PASS
            where enough runs passed; None where runs are missing or leave diagnostics only.
    """

    scenario: Scenario
    runs: tuple[ScenarioResult, ...]
    status: Status | None

    @property
    def is_reserved(self) -> bool:
        """Whether the scenario's content must not be disclosed. Spec: 07-adversarial-verification §5.3."""
        return self.scenario.is_reserved

    @property
    def vacuous(self) -> bool:
        """Whether every run passed and would have for an idle agent too."""
        return self.status is Status.PASS and all(run.vacuous for run in self.runs)


def combine(plan: Plan, results: Iterable[ScenarioResult], repetitions: int) -> tuple[Combined, ...]:
    """Return the planned scenarios with their runs, in plan order; results of others are left out."""
    by_id: dict[str, list[ScenarioResult]] = {}
    for result in results:
        by_id.setdefault(result.scenario_id, []).append(result)
    found = []
    for scenario in plan.scenarios:
        runs = sorted(by_id.get(scenario.id, ()), key=lambda run: (run.repetition, run.attempt))
        found.append(Combined(scenario, tuple(runs), _status_of(runs, repetitions)))
    return tuple(found)


def _status_of(runs: Sequence[ScenarioResult], repetitions: int) -> Status | None:
    """Return the verdict of a scenario over its runs.

    A violation survives every retry. A fault of the harness is overcome by a later attempt of the same
    repetition that was judged.
    """
    if any(run.status is Status.FAIL for run in runs):
        return Status.FAIL
    last = {run.repetition: run for run in runs}
    statuses = [run.status for run in last.values()]
    if Status.PROVIDER_FAILURE in statuses:
        return Status.PROVIDER_FAILURE
    if None in statuses or len(statuses) < max(repetitions, 1):
        return None
    return Status.PASS
