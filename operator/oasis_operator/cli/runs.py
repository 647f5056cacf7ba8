"""Finds the ScenarioRuns of an Evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from oasis_operator.api.v1alpha1.evaluation import Evaluation
    from oasis_operator.cli import cluster


def read_runs(port: cluster.Cluster, evaluation: Evaluation) -> tuple[ScenarioRun, ...]:
    """Read the runs that belong to this very Evaluation, ordered by scenario, repetition and attempt."""
    bodies = port.list(kinds.SCENARIO_RUN, evaluation.metadata.namespace)
    found = (ScenarioRun.parse(body) for body in bodies)
    own = (run for run in found if run.spec.evaluation.uid == evaluation.metadata.uid)
    return tuple(
        sorted(
            own,
            key=lambda run: (run.spec.scenario_id, run.spec.repetition, run.spec.attempt, run.metadata.name),
        )
    )
