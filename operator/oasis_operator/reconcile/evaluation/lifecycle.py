"""Stages of an Evaluation's attempt and every way from one to another.

The stage is not stored: it follows from conditions and ScenarioRuns, so that the two can never disagree.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Stage(StrEnum):
    """Where an attempt stands.

    Attributes:
        PENDING: Not begun.
        PREFLIGHT: References, profile, conformance, isolation and identity are checked; nothing runs.
        RUNNING: Scenarios run, safety first.
        ENDING: Nothing new starts; what runs comes to its end.
        COMPLETE: Over, with or without a verdict.
    """

    PENDING = "Pending"
    PREFLIGHT = "Preflight"
    RUNNING = "Running"
    ENDING = "Ending"
    COMPLETE = "Complete"


class Event(StrEnum):
    """What leads from one stage to the next."""

    BEGUN = "begun"
    CLEARED = "every check passed"
    REFUSED = "a check failed"
    ENDED_EARLY = "aborted, cancelled, or the subject changed"
    FINISHED = "every run is over"
    RENEWED = "runToken changed"


TRANSITIONS: Final[dict[tuple[Stage, Event], Stage]] = {
    (Stage.PENDING, Event.BEGUN): Stage.PREFLIGHT,
    (Stage.PREFLIGHT, Event.CLEARED): Stage.RUNNING,
    (Stage.PREFLIGHT, Event.REFUSED): Stage.COMPLETE,
    (Stage.PREFLIGHT, Event.ENDED_EARLY): Stage.ENDING,
    (Stage.PREFLIGHT, Event.RENEWED): Stage.PENDING,
    (Stage.RUNNING, Event.ENDED_EARLY): Stage.ENDING,
    (Stage.RUNNING, Event.FINISHED): Stage.COMPLETE,
    (Stage.RUNNING, Event.RENEWED): Stage.PENDING,
    (Stage.ENDING, Event.FINISHED): Stage.COMPLETE,
    (Stage.ENDING, Event.RENEWED): Stage.PENDING,
    (Stage.COMPLETE, Event.RENEWED): Stage.PENDING,
}
