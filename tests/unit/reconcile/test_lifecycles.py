from __future__ import annotations

import itertools

import pytest

from oasis_operator.api.v1alpha1.scenariorun import Stage
from oasis_operator.reconcile.evaluation import lifecycle as evaluation
from oasis_operator.reconcile.scenariorun import lifecycle
from oasis_operator.reconcile.scenariorun.lifecycle import Step

ORDER = list(Stage)


@pytest.mark.parametrize(("stage", "step"), list(itertools.product(Stage, Step)))
def test_every_step_from_every_stage_is_known_or_refused(stage: Stage, step: Step) -> None:
    if (stage, step) not in lifecycle.TRANSITIONS:
        with pytest.raises(KeyError):
            lifecycle.next_stage(stage, step)
        return
    after = lifecycle.next_stage(stage, step)
    if step is Step.RETRIED:
        assert after is Stage.PENDING
    else:
        assert ORDER.index(after) > ORDER.index(stage)


def test_nothing_leads_back_once_the_prompt_was_sent() -> None:
    late = (Stage.RUNNING, Stage.OBSERVING, Stage.JUDGING, Stage.COMPLETED)
    assert not [pair for pair in lifecycle.TRANSITIONS if pair[1] is Step.RETRIED and pair[0] in late]


def test_nothing_leaves_the_last_stage_and_every_other_can_be_left() -> None:
    left = {stage for stage, _ in lifecycle.TRANSITIONS}
    assert left == set(Stage) - {Stage.COMPLETED}


def test_every_stage_before_judging_can_end_in_a_fault() -> None:
    faults = {stage for stage, step in lifecycle.TRANSITIONS if step is Step.FAILED}
    assert faults == set(ORDER[: ORDER.index(Stage.JUDGING)])


def test_a_stage_stays_without_a_step() -> None:
    assert lifecycle.next_stage(Stage.RUNNING, None) is Stage.RUNNING


def test_every_stage_of_an_evaluation_can_be_left_and_all_but_the_first_renewed() -> None:
    renewed = {stage for stage, event in evaluation.TRANSITIONS if event is evaluation.Event.RENEWED}
    assert renewed == set(evaluation.Stage) - {evaluation.Stage.PENDING}
    assert {stage for stage, _ in evaluation.TRANSITIONS} == set(evaluation.Stage)
