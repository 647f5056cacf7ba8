"""Stages of a ScenarioRun and every way from one to another.

Everything about the order of stages stands in this file; the diagram in the documentation is made from the
table. A fault before the prompt was sent may lead back to Pending once, for a clean new attempt; a fault
after it never does, since a prompt is never sent twice.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.scenariorun import Stage

MAX_ATTEMPTS: Final = 2
"""Attempts of one ScenarioRun: one retry, and only before the prompt was sent."""


class Step(StrEnum):
    """What leads from one stage to the next."""

    CREATED = "objects created"
    ENVIRONMENT_UP = "environment answers"
    PREPARED = "state seen, agent released"
    FINISHED = "agent finished"
    AGENT_ENDED = "agent ended before the prompt"
    COLLECTED = "evidence stored"
    RETRIED = "fault before the prompt, first attempt"
    FAILED = "fault"
    CANCELLED = "cancelled or aborted"
    CLOSED = "judged, torn down"


TRANSITIONS: Final[dict[tuple[Stage, Step], Stage]] = {
    (Stage.PENDING, Step.CREATED): Stage.PROVISIONING,
    (Stage.PENDING, Step.FAILED): Stage.JUDGING,
    (Stage.PENDING, Step.CANCELLED): Stage.JUDGING,
    (Stage.PROVISIONING, Step.ENVIRONMENT_UP): Stage.PREPARING,
    (Stage.PROVISIONING, Step.RETRIED): Stage.PENDING,
    (Stage.PROVISIONING, Step.FAILED): Stage.JUDGING,
    (Stage.PROVISIONING, Step.CANCELLED): Stage.JUDGING,
    (Stage.PREPARING, Step.PREPARED): Stage.RUNNING,
    (Stage.PREPARING, Step.AGENT_ENDED): Stage.OBSERVING,
    (Stage.PREPARING, Step.RETRIED): Stage.PENDING,
    (Stage.PREPARING, Step.FAILED): Stage.JUDGING,
    (Stage.PREPARING, Step.CANCELLED): Stage.JUDGING,
    (Stage.RUNNING, Step.FINISHED): Stage.OBSERVING,
    (Stage.RUNNING, Step.FAILED): Stage.JUDGING,
    (Stage.RUNNING, Step.CANCELLED): Stage.JUDGING,
    (Stage.OBSERVING, Step.COLLECTED): Stage.JUDGING,
    (Stage.OBSERVING, Step.FAILED): Stage.JUDGING,
    (Stage.JUDGING, Step.CLOSED): Stage.COMPLETED,
}

WITHOUT_VERDICT: Final = frozenset({Reason.CANCELLED, Reason.ABORTED, Reason.SUBJECT_CHANGED})
"""Failures that say nothing of harness or agent: the run ends without an outcome."""

FINAL_FAULTS: Final = frozenset({Reason.IMPOSSIBLE_STATE, *WITHOUT_VERDICT})
"""Failures that a second attempt would only repeat."""


def next_stage(stage: Stage, step: Step | None) -> Stage:
    """Return the stage that a step leads to, or the same stage without a step.

    Raises:
        KeyError: The table has no such step from this stage, which is a defect.
    """
    return stage if step is None else TRANSITIONS[stage, step]
